// One argument of each common type, returned unchanged: reference for the tool text formats.
// Variants: cpu
// Run: '--input=2x3xf32=1 2.5 -3 4e10 nan 1e-7' '--input=3xi8=-1 2 3' '--input=2xi1=01 00' '--input=4xf16=1 2 3 4' '--input=2xi64=1 -2' --input=f32=3.14159 --input=0xf32= '--input=3xbf16=1 2 3' --input=7 --input=1.5 --input=9000000000
func.func @io(%a: tensor<2x3xf32>, %b: tensor<3xi8>, %c: tensor<2xi1>, %d: tensor<4xf16>, %e: tensor<2xi64>, %f: tensor<f32>, %g: tensor<0xf32>, %h: tensor<3xbf16>, %s: i32, %t: f32, %u: i64) -> (tensor<2x3xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf16>, tensor<2xi64>, tensor<f32>, tensor<0xf32>, tensor<3xbf16>, i32, f32, i64) {
  return %a, %b, %c, %d, %e, %f, %g, %h, %s, %t, %u : tensor<2x3xf32>, tensor<3xi8>, tensor<2xi1>, tensor<4xf16>, tensor<2xi64>, tensor<f32>, tensor<0xf32>, tensor<3xbf16>, i32, f32, i64
}
