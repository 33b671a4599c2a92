// Smallest static dispatch: memoized command buffer + queue.alloca + execute.indirect + fence.await.
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --function=add --input=4xf32=1,2,3,4 --input=4xf32=10
func.func @add(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
