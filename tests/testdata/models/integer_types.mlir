// Integers of one width are one type to the callers of a function, whatever sign they have.
// Variants: cpu vmvx
// Run: --function=add_i32 --input=@%D/int32.npy
// Run: --function=add_i32 --input=2xui32="4294967295 7"
// Run: --function=add_i32 --input=2xsi32="-5 6"
// Run: --function=add_i8 --input=@%D/uint8.npy
// Run: --function=add_i8 --input=4xsi8="1 -2 3 -128"
// Run: --function=add_i8 --input=4xi1="01 00 01 00"
// Run: --function=add_i8 --input=4x*8="01 02 7f ff"
// Run: --function=pass_ui8 --input=4xi8="-1 0 1 127"
// Run: --function=pass_ui8 --input=4xsi8="-1 0 1 127"
// Run: --function=invert_i1 --input=4xi8="0 1 0 1"
// Run: --function=invert_i1 --input=4xui8="1 1 0 0"
// Run: --function=add_i16 --input=3xui16="65535 2 3"
// Run: --function=add_i64 --input=2xsi64="-1 4611686018427387903"
module @integer_types {
  func.func @add_i8(%a: tensor<4xi8>) -> tensor<4xi8> {
    %0 = arith.addi %a, %a : tensor<4xi8>
    return %0 : tensor<4xi8>
  }
  func.func @add_i16(%a: tensor<3xi16>) -> tensor<3xi16> {
    %0 = arith.addi %a, %a : tensor<3xi16>
    return %0 : tensor<3xi16>
  }
  func.func @add_i32(%a: tensor<2xi32>) -> tensor<2xi32> {
    %0 = arith.addi %a, %a : tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func @add_i64(%a: tensor<2xi64>) -> tensor<2xi64> {
    %0 = arith.addi %a, %a : tensor<2xi64>
    return %0 : tensor<2xi64>
  }
  func.func @invert_i1(%a: tensor<4xi1>) -> tensor<4xi1> {
    %true = arith.constant dense<true> : tensor<4xi1>
    %0 = arith.xori %a, %true : tensor<4xi1>
    return %0 : tensor<4xi1>
  }
  func.func @pass_ui8(%a: tensor<4xui8>) -> tensor<4xui8> {
    return %a : tensor<4xui8>
  }
}
