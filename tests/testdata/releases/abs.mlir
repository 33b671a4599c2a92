// First of three modules that call each other across module lines, by each release of the compiler since 3.8.
// Compile: iree-compile@v38 %s %cpu %async -o %t.v38.vmfb
// Compile: iree-compile@v39 %s %cpu %async -o %t.v39.vmfb
// Compile: iree-compile@v310 %s %cpu %async -o %t.v310.vmfb
// Compile: iree-compile@v311 %s %cpu %async -o %t.v311.vmfb
module @abs {
  func.func @abs(%input: tensor<8xf32>) -> tensor<8xf32> {
    %0 = math.absf %input : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
