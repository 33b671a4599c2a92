// A mutable global and several dispatches in one executable, by each release of the compiler since 3.8:
// dispatches name their function by its position among the executable's exports.
// Variants: v38.cpu v38.vmvx.async v39.vmvx.async v310.cpu v310.vmvx.async v311.cpu v311.vmvx.async
// Run: --function=step --input=4xf32=1,2,3,4
// Run: --function=mean
util.global private mutable @state = dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
func.func @step(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %s = util.global.load @state : tensor<4xf32>
  %n = arith.mulf %s, %x : tensor<4xf32>
  util.global.store %n, @state : tensor<4xf32>
  %m = func.call @sum(%n) : (tensor<4xf32>) -> tensor<f32>
  return %n, %m : tensor<4xf32>, tensor<f32>
}
func.func @mean() -> tensor<f32> {
  %s = util.global.load @state : tensor<4xf32>
  %m = func.call @sum(%s) : (tensor<4xf32>) -> tensor<f32>
  %c = arith.constant dense<0.25> : tensor<f32>
  %0 = arith.mulf %m, %c : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @sum(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.reduce ins(%x : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) {
      %1 = arith.addf %a, %b : f32
      linalg.yield %1 : f32
    }
  return %0 : tensor<f32>
}
