// Tests that pass, tests that fail in each way, and functions that are none.
// Variants: cpu vmvx
func.func @adds() {
  %a = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = arith.addi %a, %a : tensor<4xi32>
  check.expect_eq_const(%b, dense<[2, 4, 6, 8]> : tensor<4xi32>) : tensor<4xi32>
  return
}
func.func @adds_wrong() {
  %a = util.unfoldable_constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %b = arith.addi %a, %a : tensor<4xi32>
  check.expect_eq_const(%b, dense<[2, 4, 7, 8]> : tensor<4xi32>) : tensor<4xi32>
  check.expect_eq_const(%b, dense<[2, 4, 6, 9]> : tensor<4xi32>) : tensor<4xi32>
  return
}
func.func @nearly() {
  %a = util.unfoldable_constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.mulf %a, %a : tensor<2xf32>
  check.expect_almost_eq_const(%b, dense<[1.00001, 4.0]> : tensor<2xf32>, atol 1.0e-4, rtol 0.0) : tensor<2xf32>
  return
}
func.func @fails() {
  %false = util.unfoldable_constant 0 : i32
  check.expect_true(%false) : i32
  return
}
func.func @has_argument(%a: i32) {
  return
}
func.func @has_result() -> i32 {
  %c = arith.constant 3 : i32
  return %c : i32
}
