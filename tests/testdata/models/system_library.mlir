// Kernels as a shared object of the system, which runs only where a device option allows it.
// Compile: iree-compile %s %cpu --iree-llvmcpu-link-embedded=false -o %t.vmfb
// Fails: allow_system_libraries --input=4xf32=1,2,3,4
// Prints: f32=32 --allow_system_libraries --input=4xf32=1,2,3,4
func.func @f(%a: tensor<4xf32>) -> f32 {
  %0 = arith.addf %a, %a : tensor<4xf32>
  %1 = arith.mulf %0, %a : tensor<4xf32>
  %c3 = arith.constant 3 : index
  %2 = tensor.extract %1[%c3] : tensor<4xf32>
  return %2 : f32
}
