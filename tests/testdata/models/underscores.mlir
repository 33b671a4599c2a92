// A function whose name begins with two underscores, and so does that of its kernel.
// Variants: cpu vmvx
// Run: --function=__twice --input="4xf32=1 2 3 4"
func.func @__twice(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
