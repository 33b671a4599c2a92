// Result written in storage the caller passes (iree.abi.output).
// Variants: cpu vmvx
// Run: --input=8xf32=2 '--input=&8xf32'
func.func @acc(%a: tensor<8xf32>, %out: !hal.buffer {iree.abi.output = 0 : index}) -> tensor<8xf32> {
  %0 = arith.addf %a, %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}
