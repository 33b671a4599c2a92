// Forwards every import of the `check` module that is about expectations, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @check_calls {
  vm.import private @check.expect_true(%a0 : i32)
  vm.import private @check.expect_false(%a0 : i32)
  vm.import private @check.expect_all_true(%a0 : !vm.ref<!hal.device>, %a1 : !vm.ref<!hal.buffer_view>)
  vm.import private @check.expect_eq(%a0 : !vm.ref<!hal.device>, %a1 : !vm.ref<!hal.buffer_view>, %a2 : !vm.ref<!hal.buffer_view>)
  vm.import private @check.expect_almost_eq(%a0 : !vm.ref<!hal.device>, %a1 : !vm.ref<!hal.buffer_view>, %a2 : !vm.ref<!hal.buffer_view>, %a3 : f32, %a4 : f32)
  vm.export @expect_true
  vm.func private @expect_true(%p0 : i32) {
    vm.call @check.expect_true(%p0) : (i32) -> ()
    vm.return
  }
  vm.export @expect_false
  vm.func private @expect_false(%p0 : i32) {
    vm.call @check.expect_false(%p0) : (i32) -> ()
    vm.return
  }
  vm.export @expect_all_true
  vm.func private @expect_all_true(%p0 : !vm.ref<!hal.device>, %p1 : !vm.ref<!hal.buffer_view>) {
    vm.call @check.expect_all_true(%p0, %p1) : (!vm.ref<!hal.device>, !vm.ref<!hal.buffer_view>) -> ()
    vm.return
  }
  vm.export @expect_eq
  vm.func private @expect_eq(%p0 : !vm.ref<!hal.device>, %p1 : !vm.ref<!hal.buffer_view>, %p2 : !vm.ref<!hal.buffer_view>) {
    vm.call @check.expect_eq(%p0, %p1, %p2) : (!vm.ref<!hal.device>, !vm.ref<!hal.buffer_view>, !vm.ref<!hal.buffer_view>) -> ()
    vm.return
  }
  vm.export @expect_almost_eq
  vm.func private @expect_almost_eq(%p0 : !vm.ref<!hal.device>, %p1 : !vm.ref<!hal.buffer_view>, %p2 : !vm.ref<!hal.buffer_view>, %p3 : f32, %p4 : f32) {
    vm.call @check.expect_almost_eq(%p0, %p1, %p2, %p3, %p4) : (!vm.ref<!hal.device>, !vm.ref<!hal.buffer_view>, !vm.ref<!hal.buffer_view>, f32, f32) -> ()
    vm.return
  }
}
