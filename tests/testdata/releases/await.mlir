// Awaits a fence that it is given, by each release of the compiler since 3.8. Up to 3.10 that is a plain call.
// Compile: iree-compile@v38 %s --compile-mode=vm -o %t.v38.vmfb
// Compile: iree-compile@v310 %s --compile-mode=vm -o %t.v310.vmfb
// Compile: iree-compile@v311 %s --compile-mode=vm -o %t.v311.vmfb
vm.module public @await {
  vm.import private @hal.fence.await(%timeout_millis : i32, %flags : i64, %fences : !vm.ref<!hal.fence> ...) -> i32 attributes {minimum_version = 6 : i32, vm.yield}
  vm.export @once
  vm.func private @once(%fence : !vm.ref<!hal.fence>, %value : i32) -> (i32, i32) {
    %forever = vm.const.i32 -1
    %flags = vm.const.i64.zero
    %status = vm.call.variadic @hal.fence.await(%forever, %flags, [%fence]) : (i32, i64, !vm.ref<!hal.fence> ...) -> i32
    vm.return %status, %value : i32, i32
  }
  // From inside of another function, which is called plainly in every version.
  vm.export @nested
  vm.func private @nested(%fence : !vm.ref<!hal.fence>, %value : i32) -> (i32, i32) {
    %0:2 = vm.call @once(%fence, %value) : (!vm.ref<!hal.fence>, i32) -> (i32, i32)
    %1 = vm.add.i32 %0#1, %value : i32
    vm.return %0#0, %1 : i32, i32
  }
}
