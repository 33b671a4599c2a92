// Functions for streams: two that fit each other, one of another element type,
// and one that can fail.
// Variants: cpu
// Run: --function=plus_one --input=4xf32=1,2,3,4
// Run: --function=whole --input=4xi32=5
module @streams {
  func.func @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = arith.addf %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @plus_one(%x: tensor<4xf32>) -> tensor<4xf32> {
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %0 = arith.addf %x, %one : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @whole(%x: tensor<4xi32>) -> tensor<4xi32> {
    %0 = arith.addi %x, %x : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
  func.func @unless(%fails: i32, %x: tensor<4xf32>) -> tensor<4xf32> {
    %zero = arith.constant 0 : i32
    %works = arith.cmpi eq, %fails, %zero : i32
    cf.assert %works, "asked to fail"
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %0 = arith.mulf %x, %one : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
