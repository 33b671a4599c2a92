// Command_buffer.fill_buffer with 1, 2 and 4 byte patterns; three results are ranges of one allocation.
// Variants: cpu cpu.async vmvx vmvx.async cpu.dynamic vmvx.dynamic inline
// Run: --input=256xf32=1 --input=7
func.func @f(%a: tensor<256xf32>, %v: f32) -> (tensor<256xf32>, tensor<64xi8>, tensor<300xi16>) {
  %s = flow.tensor.splat %v : tensor<256xf32>
  %c = arith.constant 5 : i8
  %t = flow.tensor.splat %c : tensor<64xi8>
  %c2 = arith.constant 515 : i16
  %u = flow.tensor.splat %c2 : tensor<300xi16>
  %c0 = arith.constant 0 : index
  %m = arith.addf %a, %a : tensor<256xf32>
  %r = tensor.extract_slice %m[0] [64] [1] : tensor<256xf32> to tensor<64xf32>
  %q = flow.tensor.update %r, %s[%c0] : tensor<64xf32> -> %s as tensor<256xf32>
  return %q, %t, %u : tensor<256xf32>, tensor<64xi8>, tensor<300xi16>
}
