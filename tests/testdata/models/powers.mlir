// Powers with integer exponents, in the host code and in a vmvx kernel.
// Variants: vmvx vmvx.async
// Run: --function=tensor "--input=6xf32=2 -2 0.5 3 1.5 -1" "--input=6xi64=10 -3 4 0 7 9007199254740993"
// Run: --function=scalar --input=1.5 --input=7
func.func @tensor(%a: tensor<6xf32>, %n: tensor<6xi64>) -> tensor<6xf32> {
  %0 = math.fpowi %a, %n : tensor<6xf32>, tensor<6xi64>
  return %0 : tensor<6xf32>
}
func.func @scalar(%a: f32, %n: i64) -> f32 {
  %0 = math.fpowi %a, %n : f32, i64
  return %0 : f32
}
