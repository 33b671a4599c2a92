// Gather by index tensor then softmax.
// Variants: cpu cpu.async vmvx vmvx.async cpu.dynamic vmvx.dynamic inline inline.micro
// Run: --input=100x16xf32=1 --input=8xi32=3
func.func @sg(%t: tensor<100x16xf32>, %i: tensor<8xi32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types=["parallel","parallel"]} ins(%i : tensor<8xi32>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%x: i32, %o: f32):
    %r = arith.index_cast %x : i32 to index
    %c = linalg.index 1 : index
    %v = tensor.extract %t[%r, %c] : tensor<100x16xf32>
    linalg.yield %v : f32
  } -> tensor<8x16xf32>
  %s = linalg.softmax dimension(1) ins(%g : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %s : tensor<8x16xf32>
}
