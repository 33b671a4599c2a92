// Raw !hal.buffer_view / !hal.buffer arguments, tensor.extract to scalars, tensors made from scalars.
// Variants: cpu vmvx
// Run: --function=elems '--input=4xi32=1 2 7 4'
// Run: --function=from_scalars --input=2.5 --input=3
func.func @raw(%v: !hal.buffer_view, %b: !hal.buffer) -> (!hal.buffer_view, !hal.buffer) {
  return %v, %b : !hal.buffer_view, !hal.buffer
}
func.func @elems(%t: tensor<4xi32>) -> (i32, i64, f32, i1) {
  %c2 = arith.constant 2 : index
  %x = tensor.extract %t[%c2] : tensor<4xi32>
  %y = arith.extsi %x : i32 to i64
  %z = arith.sitofp %x : i32 to f32
  %c0 = arith.constant 0 : i32
  %p = arith.cmpi sgt, %x, %c0 : i32
  return %x, %y, %z, %p : i32, i64, f32, i1
}
func.func @from_scalars(%a: f32, %n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %f = linalg.fill ins(%a : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %f : tensor<?xf32>
}
