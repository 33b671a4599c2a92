// Forwards every import of the `io_parameters` module that is about parameters, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @io_parameters_calls {
  vm.import private @io_parameters.load(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.buffer, %a5 : i64, %a6 : i32, %a7 : i32, %a8 : !vm.buffer, %a9 : !vm.buffer, %a10 : !vm.buffer) -> !vm.list<!vm.ref<!hal.buffer>>
  vm.import private @io_parameters.gather(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.buffer, %a5 : !vm.ref<!hal.buffer>, %a6 : !vm.buffer, %a7 : !vm.buffer, %a8 : !vm.buffer)
  vm.import private @io_parameters.scatter(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.buffer>, %a5 : !vm.buffer, %a6 : !vm.buffer, %a7 : !vm.buffer, %a8 : !vm.buffer)
  vm.export @load
  vm.func private @load(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.buffer, %p5 : i64, %p6 : i32, %p7 : i32, %p8 : !vm.buffer, %p9 : !vm.buffer, %p10 : !vm.buffer) -> !vm.list<!vm.ref<!hal.buffer>> {
    %r0 = vm.call @io_parameters.load(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.buffer, i64, i32, i32, !vm.buffer, !vm.buffer, !vm.buffer) -> !vm.list<!vm.ref<!hal.buffer>>
    vm.return %r0 : !vm.list<!vm.ref<!hal.buffer>>
  }
  vm.export @gather
  vm.func private @gather(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.buffer, %p5 : !vm.ref<!hal.buffer>, %p6 : !vm.buffer, %p7 : !vm.buffer, %p8 : !vm.buffer) {
    vm.call @io_parameters.gather(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.buffer, !vm.ref<!hal.buffer>, !vm.buffer, !vm.buffer, !vm.buffer) -> ()
    vm.return
  }
  vm.export @scatter
  vm.func private @scatter(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.buffer>, %p5 : !vm.buffer, %p6 : !vm.buffer, %p7 : !vm.buffer, %p8 : !vm.buffer) {
    vm.call @io_parameters.scatter(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.buffer>, !vm.buffer, !vm.buffer, !vm.buffer, !vm.buffer) -> ()
    vm.return
  }
}
