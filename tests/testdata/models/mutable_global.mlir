// Mutable tensor global guarded by a fence global; queue.fill at init, copy_buffer inside a command buffer, fence.join.
// Variants: cpu cpu.async vmvx vmvx.async cpu.dynamic vmvx.dynamic inline
// Run: --function=step --input=16xf32=2
util.global private mutable @state : tensor<16xf32> = dense<0.0> : tensor<16xf32>
util.global private @weights : tensor<16xf32> = dense<[1.0,2.0,3.0,4.0,5.0,6.0,7.0,8.0,9.0,10.0,11.0,12.0,13.0,14.0,15.0,16.0]> : tensor<16xf32>
func.func @step(%x: tensor<16xf32>) -> tensor<16xf32> {
  %s = util.global.load @state : tensor<16xf32>
  %w = util.global.load @weights : tensor<16xf32>
  %m = arith.mulf %x, %w : tensor<16xf32>
  %n = arith.addf %s, %m : tensor<16xf32>
  util.global.store %n, @state : tensor<16xf32>
  return %n : tensor<16xf32>
}
func.func @reset() {
  %z = arith.constant dense<0.0> : tensor<16xf32>
  util.global.store %z, @state : tensor<16xf32>
  return
}
