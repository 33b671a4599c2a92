// Every element type that a view can have, passed through unchanged.
// Variants: cpu
// Run: --function=integers --input="3xi8=-1 2 3" --input="2xi16=-300 7" --input="2xi32=70000 -1" --input="2xi64=9000000000 -2"
// Run: --function=floats --input="4xf16=1.5 -2 65504 0.1" --input="3xbf16=1 2.5 1e30" --input="2xf32=3.25 -1e-3"
// Run: --function=small --input="4xf8E5M2=1 -2 0.5 8" --input="4xf8E4M3FN=1 -2 0.5 8" --input="2xi1=01 00"
// Run: --function=complexes --input="2xcf64=0000803F00000040 0000A04000008040"
func.func @integers(%a: tensor<3xi8>, %b: tensor<2xi16>, %c: tensor<2xi32>, %d: tensor<2xi64>) -> (tensor<3xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>) {
  return %a, %b, %c, %d : tensor<3xi8>, tensor<2xi16>, tensor<2xi32>, tensor<2xi64>
}
func.func @floats(%a: tensor<4xf16>, %b: tensor<3xbf16>, %c: tensor<2xf64>) -> (tensor<4xf16>, tensor<3xbf16>, tensor<2xf64>) {
  return %a, %b, %c : tensor<4xf16>, tensor<3xbf16>, tensor<2xf64>
}
func.func @small(%a: tensor<4xf8E5M2>, %b: tensor<4xf8E4M3FN>, %c: tensor<2xi1>) -> (tensor<4xf8E5M2>, tensor<4xf8E4M3FN>, tensor<2xi1>) {
  return %a, %b, %c : tensor<4xf8E5M2>, tensor<4xf8E4M3FN>, tensor<2xi1>
}
func.func @complexes(%a: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  return %a : tensor<2xcomplex<f32>>
}
