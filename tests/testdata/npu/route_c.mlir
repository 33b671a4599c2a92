// Route C: native code that imports npu_matmul_i8.
// Compile: iree-compile %s %cpu -o %t.vmfb
module @m {
  stream.executable private @npu_exe {
    stream.executable.export public @matmul workgroups() -> (index, index, index) {
      %c1 = arith.constant 1 : index
      stream.return %c1, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func private @npu_matmul_i8(%a: memref<i8>, %ao: index, %b: memref<i8>, %bo: index, %c: memref<i32>, %co: index, %m: index, %n: index, %k: index) -> i32
        attributes {hal.import.fields = ["processor_id", "processor_data"], llvm.bareptr = true}
      func.func @matmul(%b0: !stream.binding, %b1: !stream.binding, %b2: !stream.binding) {
        %c0 = arith.constant 0 : index
        %m = arith.constant 32 : index
        %n = arith.constant 48 : index
        %k = arith.constant 64 : index
        %A = stream.binding.subspan %b0[%c0] : !stream.binding -> memref<32x64xi8>
        %B = stream.binding.subspan %b1[%c0] : !stream.binding -> memref<64x48xi8>
        %C = stream.binding.subspan %b2[%c0] : !stream.binding -> memref<32x48xi32>
        %a, %ao, %as0, %as1, %at0, %at1 = iree_codegen.extract_strided_metadata %A : memref<32x64xi8> -> memref<i8>, index, index, index, index, index
        %b, %bo, %bs0, %bs1, %bt0, %bt1 = iree_codegen.extract_strided_metadata %B : memref<64x48xi8> -> memref<i8>, index, index, index, index, index
        %c, %co, %cs0, %cs1, %ct0, %ct1 = iree_codegen.extract_strided_metadata %C : memref<32x48xi32> -> memref<i32>, index, index, index, index, index
        %r = func.call @npu_matmul_i8(%a, %ao, %b, %bo, %c, %co, %m, %n, %k) : (memref<i8>, index, memref<i8>, index, memref<i32>, index, index, index, index) -> i32
        return
      }
    }
  }
  func.func @run(%x: tensor<32x64xi8>, %w: tensor<64x48xi8>, %b: tensor<32x48xi32>) -> tensor<32x48xi32> {
    %m = flow.dispatch @npu_exe::@matmul(%x, %w) : (tensor<32x64xi8>, tensor<64x48xi8>) -> tensor<32x48xi32>
    %o = arith.addi %m, %b : tensor<32x48xi32>
    return %o : tensor<32x48xi32>
  }
}
