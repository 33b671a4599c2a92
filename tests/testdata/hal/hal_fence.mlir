// Forwards every import of the `hal` module that is about fences, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_fence {
  vm.import private @hal.fence.create(%a0 : !vm.ref<!hal.device>, %a1 : i64) -> !vm.ref<!hal.fence>
  vm.import private @hal.fence.join(%a0 : i64, %a1 : !vm.ref<!hal.fence> ...) -> !vm.ref<!hal.fence>
  vm.import private @hal.fence.query(%a0 : !vm.ref<!hal.fence>) -> i32
  vm.import private @hal.fence.signal(%a0 : !vm.ref<!hal.fence>)
  vm.import private @hal.fence.fail(%a0 : !vm.ref<!hal.fence>, %a1 : i32)
  vm.import private @hal.fence.await(%a0 : i32, %a1 : i64, %a2 : !vm.ref<!hal.fence> ...) -> i32 attributes {vm.yield}
  vm.export @fence_create
  vm.func private @fence_create(%p0 : !vm.ref<!hal.device>, %p1 : i64) -> !vm.ref<!hal.fence> {
    %r0 = vm.call @hal.fence.create(%p0, %p1) : (!vm.ref<!hal.device>, i64) -> !vm.ref<!hal.fence>
    vm.return %r0 : !vm.ref<!hal.fence>
  }
  vm.export @fence_join_0
  vm.func private @fence_join_0(%p0 : i64) -> !vm.ref<!hal.fence> {
    %r0 = vm.call.variadic @hal.fence.join(%p0, []) : (i64, !vm.ref<!hal.fence> ...) -> !vm.ref<!hal.fence>
    vm.return %r0 : !vm.ref<!hal.fence>
  }
  vm.export @fence_join_1
  vm.func private @fence_join_1(%p0 : i64, %p1 : !vm.ref<!hal.fence>) -> !vm.ref<!hal.fence> {
    %r0 = vm.call.variadic @hal.fence.join(%p0, [%p1]) : (i64, !vm.ref<!hal.fence> ...) -> !vm.ref<!hal.fence>
    vm.return %r0 : !vm.ref<!hal.fence>
  }
  vm.export @fence_join_3
  vm.func private @fence_join_3(%p0 : i64, %p1 : !vm.ref<!hal.fence>, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>) -> !vm.ref<!hal.fence> {
    %r0 = vm.call.variadic @hal.fence.join(%p0, [%p1, %p2, %p3]) : (i64, !vm.ref<!hal.fence> ...) -> !vm.ref<!hal.fence>
    vm.return %r0 : !vm.ref<!hal.fence>
  }
  vm.export @fence_query
  vm.func private @fence_query(%p0 : !vm.ref<!hal.fence>) -> i32 {
    %r0 = vm.call @hal.fence.query(%p0) : (!vm.ref<!hal.fence>) -> i32
    vm.return %r0 : i32
  }
  vm.export @fence_signal
  vm.func private @fence_signal(%p0 : !vm.ref<!hal.fence>) {
    vm.call @hal.fence.signal(%p0) : (!vm.ref<!hal.fence>) -> ()
    vm.return
  }
  vm.export @fence_fail
  vm.func private @fence_fail(%p0 : !vm.ref<!hal.fence>, %p1 : i32) {
    vm.call @hal.fence.fail(%p0, %p1) : (!vm.ref<!hal.fence>, i32) -> ()
    vm.return
  }
  vm.export @fence_await_0
  vm.func private @fence_await_0(%p0 : i32, %p1 : i64) -> i32 {
    vm.call.variadic.yieldable @hal.fence.await(%p0, %p1) <segment_sizes = dense<[-1, -1, 0]> : vector<3xi16>, segment_types = [i32, i64, !vm.ref<!hal.fence>]> : (i32, i64) -> ^bb1 (i32)
  ^bb1(%r0: i32):
    vm.return %r0 : i32
  }
  vm.export @fence_await_1
  vm.func private @fence_await_1(%p0 : i32, %p1 : i64, %p2 : !vm.ref<!hal.fence>) -> i32 {
    vm.call.variadic.yieldable @hal.fence.await(%p0, %p1, %p2) <segment_sizes = dense<[-1, -1, 1]> : vector<3xi16>, segment_types = [i32, i64, !vm.ref<!hal.fence>]> : (i32, i64, !vm.ref<!hal.fence>) -> ^bb1 (i32)
  ^bb1(%r0: i32):
    vm.return %r0 : i32
  }
  vm.export @fence_await_3
  vm.func private @fence_await_3(%p0 : i32, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.fence>) -> i32 {
    vm.call.variadic.yieldable @hal.fence.await(%p0, %p1, %p2, %p3, %p4) <segment_sizes = dense<[-1, -1, 3]> : vector<3xi16>, segment_types = [i32, i64, !vm.ref<!hal.fence>]> : (i32, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>) -> ^bb1 (i32)
  ^bb1(%r0: i32):
    vm.return %r0 : i32
  }
  vm.export @fence_await_33
  vm.func private @fence_await_33(%p0 : i32, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.fence>, %p5 : !vm.ref<!hal.fence>, %p6 : !vm.ref<!hal.fence>, %p7 : !vm.ref<!hal.fence>, %p8 : !vm.ref<!hal.fence>, %p9 : !vm.ref<!hal.fence>, %p10 : !vm.ref<!hal.fence>, %p11 : !vm.ref<!hal.fence>, %p12 : !vm.ref<!hal.fence>, %p13 : !vm.ref<!hal.fence>, %p14 : !vm.ref<!hal.fence>, %p15 : !vm.ref<!hal.fence>, %p16 : !vm.ref<!hal.fence>, %p17 : !vm.ref<!hal.fence>, %p18 : !vm.ref<!hal.fence>, %p19 : !vm.ref<!hal.fence>, %p20 : !vm.ref<!hal.fence>, %p21 : !vm.ref<!hal.fence>, %p22 : !vm.ref<!hal.fence>, %p23 : !vm.ref<!hal.fence>, %p24 : !vm.ref<!hal.fence>, %p25 : !vm.ref<!hal.fence>, %p26 : !vm.ref<!hal.fence>, %p27 : !vm.ref<!hal.fence>, %p28 : !vm.ref<!hal.fence>, %p29 : !vm.ref<!hal.fence>, %p30 : !vm.ref<!hal.fence>, %p31 : !vm.ref<!hal.fence>, %p32 : !vm.ref<!hal.fence>, %p33 : !vm.ref<!hal.fence>, %p34 : !vm.ref<!hal.fence>) -> i32 {
    vm.call.variadic.yieldable @hal.fence.await(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15, %p16, %p17, %p18, %p19, %p20, %p21, %p22, %p23, %p24, %p25, %p26, %p27, %p28, %p29, %p30, %p31, %p32, %p33, %p34) <segment_sizes = dense<[-1, -1, 33]> : vector<3xi16>, segment_types = [i32, i64, !vm.ref<!hal.fence>]> : (i32, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>) -> ^bb1 (i32)
  ^bb1(%r0: i32):
    vm.return %r0 : i32
  }
}
