// Tests that all pass.
// Variants: cpu vmvx
func.func @adds() {
  %a = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = arith.addi %a, %a : tensor<4xi32>
  check.expect_eq_const(%b, dense<[2, 4, 6, 8]> : tensor<4xi32>) : tensor<4xi32>
  return
}
func.func @adds_twice() {
  %a = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = arith.addi %a, %a : tensor<4xi32>
  check.expect_eq_const(%b, dense<[2, 4, 6, 8]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%b, dense<[2, 4, 6, 8]> : tensor<4xi32>) : tensor<4xi32>
  return
}
func.func @nearly() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.mulf %a, %a : tensor<2xf32>
  check.expect_almost_eq_const(%b, dense<[1.00001, 4.0]> : tensor<2xf32>, atol 1.0e-4, rtol 0.0) : tensor<2xf32>
  return
}
