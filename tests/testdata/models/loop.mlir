// Run-time trip count; the same command buffer is in flight several times with different binding tables.
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --input=5 --input=128xf32=1
func.func @loop(%n: i32, %x: tensor<128xf32>) -> tensor<128xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<128xf32>) : i32 {
    %y = arith.addf %s, %x : tensor<128xf32>
    scf.yield %y : tensor<128xf32>
  }
  return %r : tensor<128xf32>
}
