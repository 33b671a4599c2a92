// Forwards every import of the `hal` module that is about executables, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_executable {
  vm.import private @hal.executable.create(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.buffer, %a3 : !vm.buffer, %a4 : !vm.buffer) -> !vm.ref<!hal.executable>
  vm.import private @hal.executable.lookup.function(%a0 : !vm.ref<!hal.executable>, %a1 : !vm.buffer) -> i64 attributes {minimum_version = 7 : i32}
  vm.export @executable_create
  vm.func private @executable_create(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.buffer, %p3 : !vm.buffer, %p4 : !vm.buffer) -> !vm.ref<!hal.executable> {
    %r0 = vm.call @hal.executable.create(%p0, %p1, %p2, %p3, %p4) : (!vm.ref<!hal.device>, i64, !vm.buffer, !vm.buffer, !vm.buffer) -> !vm.ref<!hal.executable>
    vm.return %r0 : !vm.ref<!hal.executable>
  }
  vm.export @executable_lookup_function
  vm.func private @executable_lookup_function(%p0 : !vm.ref<!hal.executable>, %p1 : !vm.buffer) -> i64 {
    %r0 = vm.call @hal.executable.lookup.function(%p0, %p1) : (!vm.ref<!hal.executable>, !vm.buffer) -> i64
    vm.return %r0 : i64
  }
}
