// Three chained dispatches in one command buffer, one packed transient bound twice per dispatch.
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --input=8x64xf32=1 --input=64x128xf32=0.5 --input=128x32xf32=0.25
func.func @mlp(%x: tensor<8x64xf32>, %w1: tensor<64x128xf32>, %w2: tensor<128x32xf32>) -> tensor<8xf32> {
  %z = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<8x128xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %m1 = linalg.matmul ins(%x, %w1 : tensor<8x64xf32>, tensor<64x128xf32>) outs(%f1 : tensor<8x128xf32>) -> tensor<8x128xf32>
  %e2 = tensor.empty() : tensor<8x32xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %m2 = linalg.matmul ins(%m1, %w2 : tensor<8x128xf32>, tensor<128x32xf32>) outs(%f2 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %e3 = tensor.empty() : tensor<8xf32>
  %f3 = linalg.fill ins(%z : f32) outs(%e3 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.reduce ins(%m2 : tensor<8x32xf32>) outs(%f3 : tensor<8xf32>) dimensions = [1] (%in: f32, %acc: f32) {
    %q = arith.addf %in, %acc : f32
    linalg.yield %q : f32
  }
  return %s : tensor<8xf32>
}
