// A trace in an inline execution model wraps the traced bytes in a buffer. The oracle does not have hal_inline.buffer.wrap.
// Compile: iree-compile %s %inline -o %t.vmfb
// Prints: f32=32 --function=t --input=4xf32=1,2,3,4
func.func @t(%a: tensor<4xf32>) -> f32 {
  %0 = arith.addf %a, %a : tensor<4xf32>
  flow.tensor.trace "after_add" = [%0 : tensor<4xf32>]
  %1 = arith.mulf %0, %a : tensor<4xf32>
  %c3 = arith.constant 3 : index
  %2 = tensor.extract %1[%c3] : tensor<4xf32>
  return %2 : f32
}
