// F32 math, f16, bf16 and i64 elementwise.
// Variants: cpu cpu.async
// Run: --input=1000xf32=0.3 --input=1000xf16=2 --input=1000xbf16=1.5 --input=1000xi64=-50
func.func @m(%a: tensor<1000xf32>, %h: tensor<1000xf16>, %d: tensor<1000xbf16>, %i: tensor<1000xi64>) -> (tensor<1000xf32>, tensor<1000xf16>, tensor<1000xbf16>, tensor<1000xi64>) {
  %0 = math.exp %a : tensor<1000xf32>
  %1 = math.tanh %0 : tensor<1000xf32>
  %2 = math.sin %1 : tensor<1000xf32>
  %3 = math.log %2 : tensor<1000xf32>
  %p = math.powf %3, %a : tensor<1000xf32>
  %e = math.erf %p : tensor<1000xf32>
  %h1 = math.sqrt %h : tensor<1000xf16>
  %h2 = arith.addf %h1, %h : tensor<1000xf16>
  %b1 = arith.mulf %d, %d : tensor<1000xbf16>
  %c = arith.constant dense<7> : tensor<1000xi64>
  %i1 = arith.divsi %i, %c : tensor<1000xi64>
  return %e, %h2, %b1, %i1 : tensor<1000xf32>, tensor<1000xf16>, tensor<1000xbf16>, tensor<1000xi64>
}
