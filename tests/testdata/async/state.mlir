// A program with state: what get() returns after set(x), matmul(a), matmul(b)
// is x a b, in the order in which the calls were issued.
// Variants: cpu cpu.async vmvx vmvx.async
module @state {
  util.global private mutable @x = dense<0.0> : tensor<2x2xf32>
  func.func @set(%x: tensor<2x2xf32>) {
    util.global.store %x, @x : tensor<2x2xf32>
    return
  }
  func.func @matmul(%a: tensor<2x2xf32>) {
    %zero = arith.constant 0.0 : f32
    %x = util.global.load @x : tensor<2x2xf32>
    %empty = tensor.empty() : tensor<2x2xf32>
    %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x2xf32>)
        -> tensor<2x2xf32>
    %0 = linalg.matmul ins(%x, %a : tensor<2x2xf32>, tensor<2x2xf32>)
        outs(%fill : tensor<2x2xf32>) -> tensor<2x2xf32>
    util.global.store %0, @x : tensor<2x2xf32>
    return
  }
  func.func @get() -> tensor<2x2xf32> {
    %x = util.global.load @x : tensor<2x2xf32>
    return %x : tensor<2x2xf32>
  }
}
