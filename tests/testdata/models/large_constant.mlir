// Large embedded constant: allocator.import (may return null) else allocate + ex.file.from_memory + queue.read.
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --input=32x64xi32=41
util.global private @w = #util.byte_pattern<1> : tensor<32x64xi32>
func.func @f(%x: tensor<32x64xi32>) -> tensor<32x64xi32> {
  %c = util.global.load @w : tensor<32x64xi32>
  %0 = arith.addi %x, %c : tensor<32x64xi32>
  return %0 : tensor<32x64xi32>
}
