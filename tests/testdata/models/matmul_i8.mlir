// I8 x i8 -> i32 matmul; with data tiling + ukernels the VMVX code calls vmvx.pack / vmvx.mmt4d / vmvx.unpack.
// Variants: cpu cpu.async vmvx vmvx.async vmvx.tiled
// Run: --input=32x64xi8=2 --input=64x48xi8=3
func.func @mm_i8(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>) -> tensor<32x48xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x48xi32>
  %f = linalg.fill ins(%z : i32) outs(%e : tensor<32x48xi32>) -> tensor<32x48xi32>
  %0 = linalg.matmul ins(%a, %b : tensor<32x64xi8>, tensor<64x48xi8>) outs(%f : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %0 : tensor<32x48xi32>
}
