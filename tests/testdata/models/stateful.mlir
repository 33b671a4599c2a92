// Keeps a matrix between calls: set(x), then products with it, then get().
// Variants: cpu cpu.async vmvx
// Run: --function=get
// Run: --function=matmul --input=4x4xf32=2
util.global private mutable @state = dense<1.0> : tensor<4x4xf32>
func.func @set(%x: tensor<4x4xf32>) {
  util.global.store %x, @state : tensor<4x4xf32>
  return
}
func.func @matmul(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %x = util.global.load @state : tensor<4x4xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x4xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%filled : tensor<4x4xf32>) -> tensor<4x4xf32>
  util.global.store %y, @state : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
func.func @get() -> tensor<4x4xf32> {
  %x = util.global.load @state : tensor<4x4xf32>
  return %x : tensor<4x4xf32>
}
