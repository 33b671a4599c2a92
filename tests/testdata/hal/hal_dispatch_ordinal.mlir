// Forwards the dispatches as iree-compile 3.8 to 3.11 import them: the function is an i32, its position among
// the executable's exports. A number at the end of a name is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_dispatch_ordinal {
  vm.import private @hal.command_buffer.dispatch(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.ref<!hal.executable>, %a2 : i32, %a3 : i32, %a4 : i32, %a5 : i32, %a6 : i64, %a7 : i32 ..., %a8 : tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...) attributes {minimum_version = 6 : i32}
  vm.import private @hal.command_buffer.dispatch.indirect(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.ref<!hal.executable>, %a2 : i32, %a3 : i32, %a4 : !vm.ref<!hal.buffer>, %a5 : i64, %a6 : i64, %a7 : i32 ..., %a8 : tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...) attributes {minimum_version = 6 : i32}
  vm.export @command_buffer_dispatch_0_3
  vm.func private @command_buffer_dispatch_0_3(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i32, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64, %p12 : i32, %p13 : i32, %p14 : !vm.ref<!hal.buffer>, %p15 : i64, %p16 : i64, %p17 : i32, %p18 : i32, %p19 : !vm.ref<!hal.buffer>, %p20 : i64, %p21 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], [(%p7, %p8, %p9, %p10, %p11), (%p12, %p13, %p14, %p15, %p16), (%p17, %p18, %p19, %p20, %p21)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i32, i32, i32, i32, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @command_buffer_dispatch_indirect_0_3
  vm.func private @command_buffer_dispatch_indirect_0_3(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.executable>, %p2 : i32, %p3 : i32, %p4 : !vm.ref<!hal.buffer>, %p5 : i64, %p6 : i64, %p7 : i32, %p8 : i32, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64, %p12 : i32, %p13 : i32, %p14 : !vm.ref<!hal.buffer>, %p15 : i64, %p16 : i64, %p17 : i32, %p18 : i32, %p19 : !vm.ref<!hal.buffer>, %p20 : i64, %p21 : i64) {
    vm.call.variadic @hal.command_buffer.dispatch.indirect(%p0, %p1, %p2, %p3, %p4, %p5, %p6, [], [(%p7, %p8, %p9, %p10, %p11), (%p12, %p13, %p14, %p15, %p16), (%p17, %p18, %p19, %p20, %p21)]) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.executable>, i32, i32, !vm.ref<!hal.buffer>, i64, i64, i32 ..., tuple<i32, i32, !vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
}
