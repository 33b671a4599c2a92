// One dynamic dimension; buffer_view.dim and shape-specialised dispatch.
// Variants: cpu cpu.async vmvx vmvx.async cpu.dynamic vmvx.dynamic inline
// Run: --input=5xf32=1 --input=5xf32=2
func.func @dadd(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %a, %b : tensor<?xf32>
  return %0 : tensor<?xf32>
}
