// Second of three modules: writes the product in place of `rhs`.
// Compile: iree-compile %s %cpu %async -o %t.vmfb
// Run: iree-run-module --module=%t.vmfb --function=mul --input=4096xf32=3 --input=4096xf32=-2.5
module @mul {
  func.func @mul(%lhs: tensor<4096xf32>,
                 %rhs: tensor<4096xf32> {iree.abi.output = 0 : index})
      -> tensor<4096xf32> {
    %0 = arith.mulf %lhs, %rhs : tensor<4096xf32>
    return %0 : tensor<4096xf32>
  }
}
