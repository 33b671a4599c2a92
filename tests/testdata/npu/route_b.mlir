// Route B: a program of Takt's command format (assemble.py), in the container
// that the compiler puts around an object file.
// Compile: iree-compile %s --iree-hal-executable-object-search-path=%D --iree-hal-link-executables=false -o %t.vmfb
#elf = #hal.executable.target<"llvm-cpu", "embedded-elf-x86_64", {cpu = "generic", cpu_features = "", native_vector_size = 16 : i64, target_triple = "x86_64-unknown-unknown-eabi-elf"}>
#npu = #hal.executable.target<"cuda", "npu-fb", {}>
#dev_cpu = #hal.device.target<"local", {ordinal = 0 : index}, [#elf]> : !hal.device
#dev_npu = #hal.device.target<"local", {ordinal = 0 : index}, [#npu]> : !hal.device
#layout = #hal.pipeline.layout<constants = 3, bindings = [
  #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">,
  #hal.pipeline.binding<storage_buffer, "ReadOnly|Indirect">,
  #hal.pipeline.binding<storage_buffer, Indirect>
], flags = Indirect>
module attributes {hal.device.targets = {cpu = #dev_cpu, npu = #dev_npu}} {
  func.func @run(%x: tensor<32x64xi8>, %w: tensor<64x48xi8>, %b: tensor<32x48xi32>) -> tensor<32x48xi32> {
    %m = arith.constant 32 : i32
    %n = arith.constant 48 : i32
    %k = arith.constant 64 : i32
    %xn = flow.tensor.transfer %x : tensor<32x64xi8> to #hal.device.promise<@npu>
    %wn = flow.tensor.transfer %w : tensor<64x48xi8> to #hal.device.promise<@npu>
    %r = hal.dispatch.extern "npu_matmul_i8"(%m, %n, %k, %xn, %wn) : (i32, i32, i32, tensor<32x64xi8>, tensor<64x48xi8>) -> tensor<32x48xi32>
      count(%device: !hal.device) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        hal.return %c1, %c1, %c1 : index, index, index
      }
      layout(#layout)
      objects({
        #npu ordinal(0) = [#hal.executable.object<{path = "npu_prog.bin"}>]
      })
    %rc = flow.tensor.transfer %r : tensor<32x48xi32> to #hal.device.promise<@cpu>
    %o = arith.addi %rc, %b : tensor<32x48xi32>
    return %o : tensor<32x48xi32>
  }
}
