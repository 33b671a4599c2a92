// Forwards every import of the `hal_loader` module, so that tests can call them with whatever arguments they like. A
// number at the end of a name is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_loader_calls {
  vm.import private @hal_loader.executable.query_support(%a0 : !vm.buffer) -> i32
  vm.import private @hal_loader.executable.load(%a0 : !vm.buffer, %a1 : !vm.buffer, %a2 : !vm.buffer) -> !vm.ref<!hal.executable>
  vm.import private @hal_loader.executable.dispatch(%a0 : !vm.ref<!hal.executable>, %a1 : i64, %a2 : i32, %a3 : i32, %a4 : i32, %a5 : i32 ..., %a6 : tuple<!vm.buffer, i64, i64> ...) attributes {minimum_version = 1 : i32}
  vm.import private @hal_loader.executable.lookup.function(%a0 : !vm.ref<!hal.executable>, %a1 : !vm.buffer) -> i64 attributes {minimum_version = 1 : i32}
  vm.export @executable_query_support
  vm.func private @executable_query_support(%p0 : !vm.buffer) -> i32 {
    %r0 = vm.call @hal_loader.executable.query_support(%p0) : (!vm.buffer) -> i32
    vm.return %r0 : i32
  }
  vm.export @executable_load
  vm.func private @executable_load(%p0 : !vm.buffer, %p1 : !vm.buffer, %p2 : !vm.buffer) -> !vm.ref<!hal.executable> {
    %r0 = vm.call @hal_loader.executable.load(%p0, %p1, %p2) : (!vm.buffer, !vm.buffer, !vm.buffer) -> !vm.ref<!hal.executable>
    vm.return %r0 : !vm.ref<!hal.executable>
  }
  vm.export @executable_dispatch_0_0
  vm.func private @executable_dispatch_0_0(%p0 : !vm.ref<!hal.executable>, %p1 : i64, %p2 : i32, %p3 : i32, %p4 : i32) {
    vm.call.variadic @hal_loader.executable.dispatch(%p0, %p1, %p2, %p3, %p4, [], []) : (!vm.ref<!hal.executable>, i64, i32, i32, i32, i32 ..., tuple<!vm.buffer, i64, i64> ...)
    vm.return
  }
  vm.export @executable_dispatch_0_3
  vm.func private @executable_dispatch_0_3(%p0 : !vm.ref<!hal.executable>, %p1 : i64, %p2 : i32, %p3 : i32, %p4 : i32, %p5 : !vm.buffer, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : !vm.buffer, %p12 : i64, %p13 : i64) {
    vm.call.variadic @hal_loader.executable.dispatch(%p0, %p1, %p2, %p3, %p4, [], [(%p5, %p6, %p7), (%p8, %p9, %p10), (%p11, %p12, %p13)]) : (!vm.ref<!hal.executable>, i64, i32, i32, i32, i32 ..., tuple<!vm.buffer, i64, i64> ...)
    vm.return
  }
  vm.export @executable_dispatch_1_1
  vm.func private @executable_dispatch_1_1(%p0 : !vm.ref<!hal.executable>, %p1 : i64, %p2 : i32, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : !vm.buffer, %p7 : i64, %p8 : i64) {
    vm.call.variadic @hal_loader.executable.dispatch(%p0, %p1, %p2, %p3, %p4, [%p5], [(%p6, %p7, %p8)]) : (!vm.ref<!hal.executable>, i64, i32, i32, i32, i32 ..., tuple<!vm.buffer, i64, i64> ...)
    vm.return
  }
  vm.export @executable_lookup_function
  vm.func private @executable_lookup_function(%p0 : !vm.ref<!hal.executable>, %p1 : !vm.buffer) -> i64 {
    %r0 = vm.call @hal_loader.executable.lookup.function(%p0, %p1) : (!vm.ref<!hal.executable>, !vm.buffer) -> i64
    vm.return %r0 : i64
  }
}
