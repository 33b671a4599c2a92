// A loop around an await, by 3.8, whose waits do not end a block: the test of what the wait returned is the branch that
// goes back to the loop's first block.
// Variants: v38.vmvx.async
// Run: --input=5 --input=8xf32=1
func.func @loop(%n: i32, %x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> (tensor<8xf32>) : i32 {
    %y = arith.addf %s, %x : tensor<8xf32>
    scf.yield %y : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}
