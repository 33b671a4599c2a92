// First of three modules that call each other across module lines.
// Compile: iree-compile %s %cpu %async -o %t.vmfb
// Run: iree-run-module --module=%t.vmfb --function=abs --input=4096xf32=-2.5
module @abs {
  func.func @abs(%input: tensor<4096xf32>) -> tensor<4096xf32> {
    %0 = math.absf %input : tensor<4096xf32>
    return %0 : tensor<4096xf32>
  }
}
