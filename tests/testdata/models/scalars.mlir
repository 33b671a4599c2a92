// I32/f32 arguments and results next to tensors; scalars reach the kernel as dispatch constants.
// Variants: cpu vmvx cpu.dynamic vmvx.dynamic inline
// Run: --input=21 --input=1.5 '--input=3xf32=1 2 3'
func.func @scal(%a: i32, %b: f32, %t: tensor<3xf32>) -> (i32, f32, tensor<3xf32>) {
  %c = arith.addi %a, %a : i32
  %d = arith.addf %b, %b : f32
  %em = tensor.empty() : tensor<3xf32>
  %e = linalg.fill ins(%d : f32) outs(%em : tensor<3xf32>) -> tensor<3xf32>
  %f = arith.mulf %t, %e : tensor<3xf32>
  return %c, %d, %f : i32, f32, tensor<3xf32>
}
