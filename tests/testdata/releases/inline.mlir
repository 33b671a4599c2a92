// Inline execution models by older releases of the compiler. Kernels are named by their position; only 3.8 of those compiles
// inline-dynamic programs.
// Variants: v38.cpu.dynamic v38.vmvx.dynamic v38.inline v311.inline
// Run: --function=two --input=4xf32=1,2,3,4
func.func @two(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %0 = arith.mulf %a, %a : tensor<4xf32>
  %z = arith.constant dense<0.0> : tensor<f32>
  %1 = linalg.reduce ins(%a : tensor<4xf32>) outs(%z : tensor<f32>) dimensions = [0]
    (%in: f32, %out: f32) {
      %s = arith.addf %in, %out : f32
      linalg.yield %s : f32
    }
  return %0, %1 : tensor<4xf32>, tensor<f32>
}
