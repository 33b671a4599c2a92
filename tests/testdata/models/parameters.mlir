// Weights loaded through io_parameters.load (scope "model").
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --parameters=model=%D/weights.irpa --input=4x64xf32=1
// Run: --parameters=model=%D/weights.safetensors --input=4x64xf32=0.5
util.global private @w0 = #flow.parameter.named<"model"::"w0"> : tensor<64x32xf32>
util.global private @w1 = #flow.parameter.named<"model"::"w1"> : tensor<32xf32>
func.func @f(%x: tensor<4x64xf32>) -> tensor<4x32xf32> {
  %w0 = util.global.load @w0 : tensor<64x32xf32>
  %w1 = util.global.load @w1 : tensor<32xf32>
  %e = tensor.empty() : tensor<4x32xf32>
  %b = linalg.broadcast ins(%w1 : tensor<32xf32>) outs(%e : tensor<4x32xf32>) dimensions = [0]
  %0 = linalg.matmul ins(%x, %w0 : tensor<4x64xf32>, tensor<64x32xf32>) outs(%b : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %0 : tensor<4x32xf32>
}
