// Route A' where the two ways differ in grids and in the layouts that they would
// choose for themselves: each executable of @npu has both variants.
// Compile: iree-compile %s --iree-opt-data-tiling --iree-hal-link-executables=false -o %t.vmfb
// Run: --module=either_way.vmfb --function=run --input=64x256xi8=2 --input=256x128xi8=3
#elf = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", cpu_features = "", native_vector_size = 16 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf", iree.encoding.resolver = #iree_cpu.cpu_encoding_resolver<>}>
#vmvx = #hal.executable.target<"vmvx", "npu-fb", {ukernels = "all", iree.encoding.resolver = #iree_cpu.vmvx_encoding_resolver<>}>
#dev_cpu = #hal.device.target<"local", {ordinal = 0 : index}, [#elf]> : !hal.device
#dev_npu = #hal.device.target<"local", {ordinal = 0 : index}, [#vmvx]> : !hal.device
module attributes {hal.device.targets = {cpu = #dev_cpu, npu = #hal.device.select<[#dev_npu, #dev_cpu]> : !hal.device}} {
func.func @run(%x: tensor<64x256xi8>, %w: tensor<256x128xi8>) -> tensor<64x128xi32> {
  %z = arith.constant 0 : i32
  %xn = flow.tensor.transfer %x : tensor<64x256xi8> to #hal.device.promise<@npu>
  %wn = flow.tensor.transfer %w : tensor<256x128xi8> to #hal.device.promise<@npu>
  %e = tensor.empty() : tensor<64x128xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<64x128xi32>) -> tensor<64x128xi32>
  %m = linalg.matmul ins(%xn, %wn : tensor<64x256xi8>, tensor<256x128xi8>) outs(%f : tensor<64x128xi32>) -> tensor<64x128xi32>
  %mc = flow.tensor.transfer %m : tensor<64x128xi32> to #hal.device.promise<@cpu>
  return %mc : tensor<64x128xi32>
}
}
