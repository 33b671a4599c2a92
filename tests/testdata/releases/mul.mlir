// Second of three modules: writes the product in place of `rhs`.
// Compile: iree-compile@v38 %s %cpu %async -o %t.v38.vmfb
// Compile: iree-compile@v39 %s %cpu %async -o %t.v39.vmfb
// Compile: iree-compile@v310 %s %cpu %async -o %t.v310.vmfb
// Compile: iree-compile@v311 %s %cpu %async -o %t.v311.vmfb
module @mul {
  func.func @mul(%lhs: tensor<8xf32>,
                 %rhs: tensor<8xf32> {iree.abi.output = 0 : index})
      -> tensor<8xf32> {
    %0 = arith.mulf %lhs, %rhs : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
