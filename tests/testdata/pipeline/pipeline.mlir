// Third of three modules: imports a function of each of the other two. The
// import's model says that it takes a wait and a signal fence.
// Compile: iree-compile %s %cpu %async -o %t.vmfb
// Run: iree-run-module --module=abs.vmfb --module=mul.vmfb --module=%t.vmfb --function=run --input=4096xf32=-2.0
module @pipeline {
  func.func private @abs.abs(tensor<4096xf32>) -> tensor<4096xf32>
      attributes {iree.abi.model = "coarse-fences", nosideeffects}
  func.func private @mul.mul(tensor<4096xf32>, tensor<4096xf32>)
      -> tensor<4096xf32>
      attributes {iree.abi.model = "coarse-fences", nosideeffects}
  func.func @run(%input: tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = call @abs.abs(%input) : (tensor<4096xf32>) -> tensor<4096xf32>
    %1 = call @mul.mul(%input, %0)
        : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    return %1 : tensor<4096xf32>
  }
}
