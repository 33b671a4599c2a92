// Route A, two devices: the product is placed on @npu, whose executables are
// vmvx bytecode under the format npu-fb. Additions run on @cpu.
// Compile: iree-compile %s --iree-opt-data-tiling -o %t.vmfb
// Compile: iree-compile %s --iree-opt-data-tiling %async -o %t.async.vmfb
#elf = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", cpu_features = "", native_vector_size = 16 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>
#vmvx = #hal.executable.target<"vmvx", "npu-fb", {ukernels = "all", iree.encoding.resolver = #iree_cpu.vmvx_encoding_resolver<>}>
#dev_cpu = #hal.device.target<"local", {ordinal = 0 : index}, [#elf]> : !hal.device
#dev_npu = #hal.device.target<"local", {ordinal = 0 : index}, [#vmvx]> : !hal.device
module attributes {hal.device.targets = {cpu = #dev_cpu, npu = #dev_npu}} {
func.func @run(%x: tensor<32x64xi8>, %w: tensor<64x48xi8>, %b: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %z = arith.constant 0 : i32
  %x2 = arith.addi %x, %x : tensor<32x64xi8>
  %xn = flow.tensor.transfer %x2 : tensor<32x64xi8> to #hal.device.promise<@npu>
  %wn = flow.tensor.transfer %w : tensor<64x48xi8> to #hal.device.promise<@npu>
  %e = tensor.empty() : tensor<32x48xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<32x48xi32>) -> tensor<32x48xi32>
  %m = linalg.matmul ins(%xn, %wn : tensor<32x64xi8>, tensor<64x48xi8>) outs(%f : tensor<32x48xi32>) -> tensor<32x48xi32>
  %mc = flow.tensor.transfer %m : tensor<32x48xi32> to #hal.device.promise<@cpu>
  %o = arith.addi %mc, %b : tensor<32x48xi32>
  return %o : tensor<32x48xi32>
}
}
