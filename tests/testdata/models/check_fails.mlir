// A module that tests itself: one function holds, two do not.
// Variants: cpu vmvx
func.func @holds() {
  %a = util.unfoldable_constant dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const(%a, dense<[1, 2]> : tensor<2xi32>) : tensor<2xi32>
  return
}
func.func @element_differs() {
  %a = util.unfoldable_constant dense<[1, 2, 3]> : tensor<3xi32>
  check.expect_eq_const(%a, dense<[1, 5, 3]> : tensor<3xi32>) : tensor<3xi32>
  return
}
func.func @too_far_off() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_almost_eq_const(%a, dense<[1.0, 2.1]> : tensor<2xf32>, atol 1.0e-4, rtol 0.0) : tensor<2xf32>
  return
}
