// Weights that an initializer transposes and scales: with the flags for encoders, that is done ahead of time, and the module
// takes the result as a parameter of the scope "encoded". encode_encoder.mlir is what the compiler writes for its part.
// Compile: iree-compile %s %cpu -o %t.plain.vmfb
// Compile: iree-compile %s %cpu --iree-parameter-encoder-mode=consolidate --iree-parameter-encoder-output-scope=encoded --iree-parameter-encoder-output-file=%t.encoder.mlir -o %t.encoded.vmfb
// Run: --module=encode.plain.vmfb --parameters=model=%D/ramp.safetensors --input=1x64xf32=1,2,3,0,-1,5,0,0,0,0,0,0,0,0,0,0,1,2,3,0,-1,5,0,0,0,0,0,0,0,0,0,0,1,2,3,0,-1,5,0,0,0,0,0,0,0,0,0,0,1,2,3,0,-1,5,0,0,0,0,0,0,0,0,0,1
util.global private @w0 = #flow.parameter.named<"model"::"w0"> : tensor<64x32xf32>
util.global private @w1 = #flow.parameter.named<"model"::"w1"> : tensor<32xf32>
util.global private @packed : tensor<32x64xf32>
util.initializer {
  %w = util.global.load @w0 : tensor<64x32xf32>
  %e = tensor.empty() : tensor<32x64xf32>
  %t = linalg.transpose ins(%w : tensor<64x32xf32>) outs(%e : tensor<32x64xf32>) permutation = [1, 0]
  %two = arith.constant dense<2.0> : tensor<32x64xf32>
  %s = arith.mulf %t, %two : tensor<32x64xf32>
  util.global.store %s, @packed : tensor<32x64xf32>
  util.return
}
func.func @f(%x: tensor<1x64xf32>) -> tensor<1x32xf32> {
  %w = util.global.load @packed : tensor<32x64xf32>
  %b = util.global.load @w1 : tensor<32xf32>
  %e = tensor.empty() : tensor<1x32xf32>
  %init = linalg.broadcast ins(%b : tensor<32xf32>) outs(%e : tensor<1x32xf32>) dimensions = [0]
  %et = tensor.empty() : tensor<64x32xf32>
  %t = linalg.transpose ins(%w : tensor<32x64xf32>) outs(%et : tensor<64x32xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %t : tensor<1x64xf32>, tensor<64x32xf32>) outs(%init : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %0 : tensor<1x32xf32>
}
