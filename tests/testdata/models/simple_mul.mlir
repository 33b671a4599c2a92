// The smallest tensor program: an elementwise product.
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --input="4xf32=1 2 3 4" --input="4xf32=2 4 8 16"
// Run: --input=4xf32=1e-40 --input=4xf32=1
func.func @simple_mul(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
