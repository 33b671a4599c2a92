// Third of three modules: imports a function of each of the other two. The
// import's model says that it takes a wait and a signal fence.
// Compile: iree-compile@v38 %s %cpu %async -o %t.v38.vmfb
// Compile: iree-compile@v39 %s %cpu %async -o %t.v39.vmfb
// Compile: iree-compile@v310 %s %cpu %async -o %t.v310.vmfb
// Compile: iree-compile@v311 %s %cpu %async -o %t.v311.vmfb
// Run: --module=abs.v38.vmfb --module=mul.v38.vmfb --module=%t.v38.vmfb --function=run --input=8xf32=-2.0
// Run: --module=abs.v39.vmfb --module=mul.v39.vmfb --module=%t.v39.vmfb --function=run --input=8xf32=-2.0
// Run: --module=abs.v310.vmfb --module=mul.v310.vmfb --module=%t.v310.vmfb --function=run --input=8xf32=-2.0
// Run: --module=abs.v311.vmfb --module=mul.v311.vmfb --module=%t.v311.vmfb --function=run --input=8xf32=-2.0
module @pipeline {
  func.func private @abs.abs(tensor<8xf32>) -> tensor<8xf32>
      attributes {iree.abi.model = "coarse-fences", nosideeffects}
  func.func private @mul.mul(tensor<8xf32>, tensor<8xf32>)
      -> tensor<8xf32>
      attributes {iree.abi.model = "coarse-fences", nosideeffects}
  func.func @run(%input: tensor<8xf32>) -> tensor<8xf32> {
    %0 = call @abs.abs(%input) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = call @mul.mul(%input, %0)
        : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
