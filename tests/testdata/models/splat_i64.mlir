// Tensors of i64 filled by a constant and by an argument. For vmvx the compiler adds executables of its own for it, whose
// functions are named __builtin_splat_i64 and __builtin_fill_i64.
// Variants: cpu vmvx vmvx.async
// Run: --function=constant
// Run: --function=argument --input=-9000000000
// Run: --function=part "--input=4xi64=1 2 3 4" --input=5000000000
func.func @constant() -> tensor<4xi64> {
  %c = arith.constant dense<7> : tensor<4xi64>
  %0 = util.optimization_barrier %c : tensor<4xi64>
  return %0 : tensor<4xi64>
}
func.func @argument(%v: i64) -> tensor<5xi64> {
  %e = tensor.empty() : tensor<5xi64>
  %0 = linalg.fill ins(%v : i64) outs(%e : tensor<5xi64>) -> tensor<5xi64>
  %1 = util.optimization_barrier %0 : tensor<5xi64>
  return %1 : tensor<5xi64>
}
func.func @part(%a: tensor<4xi64>, %v: i64) -> tensor<4xi64> {
  %c1 = arith.constant 1 : index
  %s = flow.tensor.splat %v : tensor<2xi64>
  %0 = flow.tensor.update %s, %a[%c1] : tensor<2xi64> -> %a as tensor<4xi64>
  return %0 : tensor<4xi64>
}
