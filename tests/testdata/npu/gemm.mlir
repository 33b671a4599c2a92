// Products of random operands on a device of npu-fb alone, and the same on the
// CPU for comparison.
// Compile: iree-compile %s --iree-opt-data-tiling -o %t.vmfb
#vmvx = #hal.executable.target<"vmvx", "npu-fb", {ukernels = "all", iree.encoding.resolver = #iree_cpu.vmvx_encoding_resolver<>}>
#dev_npu = #hal.device.target<"local", [#vmvx]> : !hal.device
module @gemm attributes {hal.device.targets = [#dev_npu]} {
func.func @i8(%a: tensor<64x512xi8>, %b: tensor<512x512xi8>) -> tensor<64x512xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x512xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<64x512xi32>) -> tensor<64x512xi32>
  %m = linalg.matmul ins(%a, %b : tensor<64x512xi8>, tensor<512x512xi8>) outs(%f : tensor<64x512xi32>) -> tensor<64x512xi32>
  return %m : tensor<64x512xi32>
}
func.func @f32(%a: tensor<13x40xf32>, %b: tensor<40x21xf32>) -> tensor<13x21xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<13x21xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<13x21xf32>) -> tensor<13x21xf32>
  %m = linalg.matmul ins(%a, %b : tensor<13x40xf32>, tensor<40x21xf32>) outs(%f : tensor<13x21xf32>) -> tensor<13x21xf32>
  return %m : tensor<13x21xf32>
}
}
