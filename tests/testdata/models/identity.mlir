// Constant-only, identity and partial-identity functions (queue.barrier / fence.signal in the async form).
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --function=k
// Run: --function=id --input=4xi32=4
func.func @k() -> tensor<4xi32> {
  %0 = arith.constant dense<[1,2,3,4]> : tensor<4xi32>
  return %0 : tensor<4xi32>
}
func.func @id(%a: tensor<4xi32>) -> tensor<4xi32> {
  return %a : tensor<4xi32>
}
func.func @two(%a: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = arith.addi %a, %a : tensor<4xi32>
  return %0, %a : tensor<4xi32>, tensor<4xi32>
}
