// The smallest tensor program: what the C API's examples and tests run.
// Compile: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-execution-model=async-external --iree-vm-bytecode-module-strip-source-map -o %t.vmfb
module @simple_async {
  func.func @mul(%lhs: tensor<4xf32>, %rhs: tensor<4xf32>) -> tensor<4xf32>
      attributes {iree.reflection = {"takt.priority" = "200"}} {
    %0 = arith.mulf %lhs, %rhs : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @double(%input: tensor<?x2xf32>) -> tensor<?x2xf32> {
    %0 = arith.addf %input, %input : tensor<?x2xf32>
    return %0 : tensor<?x2xf32>
  }
}
