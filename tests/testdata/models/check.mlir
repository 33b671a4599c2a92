// A module that tests itself: what holds.
// Variants: cpu vmvx
func.func @integers_are_equal() {
  %a = util.unfoldable_constant dense<[1, 2, 3]> : tensor<3xi32>
  %b = arith.addi %a, %a : tensor<3xi32>
  check.expect_eq_const(%b, dense<[2, 4, 6]> : tensor<3xi32>) : tensor<3xi32>
  return
}
func.func @floats_are_close() {
  %a = util.unfoldable_constant dense<[0.0, 1.0]> : tensor<2xf32>
  %b = math.exp %a : tensor<2xf32>
  check.expect_almost_eq_const(%b, dense<[1.0, 2.71828]> : tensor<2xf32>, atol 1.0e-4, rtol 0.0) : tensor<2xf32>
  return
}
func.func @conditions_hold() {
  %a = util.unfoldable_constant dense<[1, 1]> : tensor<2xi32>
  check.expect_all_true(%a) : tensor<2xi32>
  %c1 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i32
  check.expect_true(%c1) : i32
  check.expect_false(%c0) : i32
  return
}
