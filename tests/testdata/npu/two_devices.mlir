// Two devices of native code, chosen by flags: the product is placed on @npu.
// Compile: iree-compile %s --iree-hal-target-device=cpu=local[0] --iree-hal-target-device=npu=local[1] --iree-hal-default-device=cpu --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic --iree-llvmcpu-debug-symbols=false -o %t.vmfb
// Run: --module=two_devices.vmfb --device=local-sync --device=local-sync --function=run --input=32x64xi8=1 --input=64x48xi8=3 --input=32x48xi32=5
func.func @run(%x: tensor<32x64xi8>, %w: tensor<64x48xi8>, %b: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %z = arith.constant 0 : i32
  // CPU: double the activations
  %x2 = arith.addi %x, %x : tensor<32x64xi8>
  // -> NPU
  %xn = flow.tensor.transfer %x2 : tensor<32x64xi8> to #hal.device.promise<@npu>
  %wn = flow.tensor.transfer %w : tensor<64x48xi8> to #hal.device.promise<@npu>
  %e = tensor.empty() : tensor<32x48xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<32x48xi32>) -> tensor<32x48xi32>
  %m = linalg.matmul ins(%xn, %wn : tensor<32x64xi8>, tensor<64x48xi8>) outs(%f : tensor<32x48xi32>) -> tensor<32x48xi32>
  // -> CPU
  %mc = flow.tensor.transfer %m : tensor<32x48xi32> to #hal.device.promise<@cpu>
  %o = arith.addi %mc, %b : tensor<32x48xi32>
  return %o : tensor<32x48xi32>
}
