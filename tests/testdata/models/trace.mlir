// Flow.tensor.trace -> hal.buffer_view.trace (prints "=== after_add ===" then the view).
// Variants: cpu vmvx
// Run: --input=4xf32=1,2,3,4
func.func @t(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %a : tensor<4xf32>
  flow.tensor.trace "after_add" = [%0 : tensor<4xf32>]
  %1 = arith.mulf %0, %a : tensor<4xf32>
  return %1 : tensor<4xf32>
}
