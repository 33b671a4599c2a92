// Update of a slice at a run-time row; copy of an immutable input plus an in-place update.
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --input=16x16xf32=1 --input=4x4xf32=7 --input=i32=5
// Run: --input=16x16xf32=0.5 --input="4x4xf32=1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16" --input=i32=12
func.func @upd(%a: tensor<16x16xf32>, %b: tensor<4x4xf32>, %i: tensor<i32>) -> tensor<16x16xf32> {
  %s = tensor.extract %i[] : tensor<i32>
  %x = arith.index_cast %s : i32 to index
  %0 = tensor.insert_slice %b into %a[%x, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
