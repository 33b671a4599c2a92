// Forwards every import of the `hal_inline` module, so that tests can call them with whatever arguments they like. A
// number at the end of a name is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_inline_calls {
  vm.import private @hal_inline.buffer.allocate(%a0 : i32, %a1 : i64) -> (!vm.ref<!hal.buffer>, !vm.buffer)
  vm.import private @hal_inline.buffer.allocate.initialized(%a0 : i32, %a1 : !vm.buffer, %a2 : i64, %a3 : i64) -> (!vm.ref<!hal.buffer>, !vm.buffer)
  vm.import private @hal_inline.buffer.wrap(%a0 : !vm.buffer, %a1 : i64, %a2 : i64) -> !vm.ref<!hal.buffer>
  vm.import private @hal_inline.buffer.subspan(%a0 : !vm.ref<!hal.buffer>, %a1 : i64, %a2 : i64) -> !vm.ref<!hal.buffer>
  vm.import private @hal_inline.buffer.length(%a0 : !vm.ref<!hal.buffer>) -> i64
  vm.import private @hal_inline.buffer.storage(%a0 : !vm.ref<!hal.buffer>) -> !vm.buffer
  vm.import private @hal_inline.buffer_view.create(%a0 : !vm.ref<!hal.buffer>, %a1 : i64, %a2 : i64, %a3 : i32, %a4 : i32, %a5 : i64 ...) -> !vm.ref<!hal.buffer_view>
  vm.import private @hal_inline.buffer_view.assert(%a0 : !vm.ref<!hal.buffer_view>, %a1 : !vm.buffer, %a2 : i32, %a3 : i32, %a4 : i64 ...)
  vm.import private @hal_inline.buffer_view.buffer(%a0 : !vm.ref<!hal.buffer_view>) -> !vm.ref<!hal.buffer>
  vm.import private @hal_inline.buffer_view.element_type(%a0 : !vm.ref<!hal.buffer_view>) -> i32
  vm.import private @hal_inline.buffer_view.encoding_type(%a0 : !vm.ref<!hal.buffer_view>) -> i32
  vm.import private @hal_inline.buffer_view.rank(%a0 : !vm.ref<!hal.buffer_view>) -> i32
  vm.import private @hal_inline.buffer_view.dim(%a0 : !vm.ref<!hal.buffer_view>, %a1 : i32) -> i64
  vm.import private @hal_inline.buffer_view.trace(%a0 : !vm.buffer, %a1 : !vm.ref<!hal.buffer_view> ...)
  vm.import private @hal_inline.device.query.i64(%a0 : !vm.buffer, %a1 : !vm.buffer) -> (i32, i64)
  vm.export @buffer_allocate
  vm.func private @buffer_allocate(%p0 : i32, %p1 : i64) -> (!vm.ref<!hal.buffer>, !vm.buffer) {
    %r:2 = vm.call @hal_inline.buffer.allocate(%p0, %p1) : (i32, i64) -> (!vm.ref<!hal.buffer>, !vm.buffer)
    vm.return %r#0, %r#1 : !vm.ref<!hal.buffer>, !vm.buffer
  }
  vm.export @buffer_allocate_initialized
  vm.func private @buffer_allocate_initialized(%p0 : i32, %p1 : !vm.buffer, %p2 : i64, %p3 : i64) -> (!vm.ref<!hal.buffer>, !vm.buffer) {
    %r:2 = vm.call @hal_inline.buffer.allocate.initialized(%p0, %p1, %p2, %p3) : (i32, !vm.buffer, i64, i64) -> (!vm.ref<!hal.buffer>, !vm.buffer)
    vm.return %r#0, %r#1 : !vm.ref<!hal.buffer>, !vm.buffer
  }
  vm.export @buffer_wrap
  vm.func private @buffer_wrap(%p0 : !vm.buffer, %p1 : i64, %p2 : i64) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal_inline.buffer.wrap(%p0, %p1, %p2) : (!vm.buffer, i64, i64) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @buffer_subspan
  vm.func private @buffer_subspan(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal_inline.buffer.subspan(%p0, %p1, %p2) : (!vm.ref<!hal.buffer>, i64, i64) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @buffer_length
  vm.func private @buffer_length(%p0 : !vm.ref<!hal.buffer>) -> i64 {
    %r0 = vm.call @hal_inline.buffer.length(%p0) : (!vm.ref<!hal.buffer>) -> i64
    vm.return %r0 : i64
  }
  vm.export @buffer_storage
  vm.func private @buffer_storage(%p0 : !vm.ref<!hal.buffer>) -> !vm.buffer {
    %r0 = vm.call @hal_inline.buffer.storage(%p0) : (!vm.ref<!hal.buffer>) -> !vm.buffer
    vm.return %r0 : !vm.buffer
  }
  vm.export @buffer_view_create_0
  vm.func private @buffer_view_create_0(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64, %p3 : i32, %p4 : i32) -> !vm.ref<!hal.buffer_view> {
    %r0 = vm.call.variadic @hal_inline.buffer_view.create(%p0, %p1, %p2, %p3, %p4, []) : (!vm.ref<!hal.buffer>, i64, i64, i32, i32, i64 ...) -> !vm.ref<!hal.buffer_view>
    vm.return %r0 : !vm.ref<!hal.buffer_view>
  }
  vm.export @buffer_view_create_2
  vm.func private @buffer_view_create_2(%p0 : !vm.ref<!hal.buffer>, %p1 : i64, %p2 : i64, %p3 : i32, %p4 : i32, %p5 : i64, %p6 : i64) -> !vm.ref<!hal.buffer_view> {
    %r0 = vm.call.variadic @hal_inline.buffer_view.create(%p0, %p1, %p2, %p3, %p4, [%p5, %p6]) : (!vm.ref<!hal.buffer>, i64, i64, i32, i32, i64 ...) -> !vm.ref<!hal.buffer_view>
    vm.return %r0 : !vm.ref<!hal.buffer_view>
  }
  vm.export @buffer_view_assert_2
  vm.func private @buffer_view_assert_2(%p0 : !vm.ref<!hal.buffer_view>, %p1 : !vm.buffer, %p2 : i32, %p3 : i32, %p4 : i64, %p5 : i64) {
    vm.call.variadic @hal_inline.buffer_view.assert(%p0, %p1, %p2, %p3, [%p4, %p5]) : (!vm.ref<!hal.buffer_view>, !vm.buffer, i32, i32, i64 ...)
    vm.return
  }
  vm.export @buffer_view_buffer
  vm.func private @buffer_view_buffer(%p0 : !vm.ref<!hal.buffer_view>) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal_inline.buffer_view.buffer(%p0) : (!vm.ref<!hal.buffer_view>) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @buffer_view_element_type
  vm.func private @buffer_view_element_type(%p0 : !vm.ref<!hal.buffer_view>) -> i32 {
    %r0 = vm.call @hal_inline.buffer_view.element_type(%p0) : (!vm.ref<!hal.buffer_view>) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_view_encoding_type
  vm.func private @buffer_view_encoding_type(%p0 : !vm.ref<!hal.buffer_view>) -> i32 {
    %r0 = vm.call @hal_inline.buffer_view.encoding_type(%p0) : (!vm.ref<!hal.buffer_view>) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_view_rank
  vm.func private @buffer_view_rank(%p0 : !vm.ref<!hal.buffer_view>) -> i32 {
    %r0 = vm.call @hal_inline.buffer_view.rank(%p0) : (!vm.ref<!hal.buffer_view>) -> i32
    vm.return %r0 : i32
  }
  vm.export @buffer_view_dim
  vm.func private @buffer_view_dim(%p0 : !vm.ref<!hal.buffer_view>, %p1 : i32) -> i64 {
    %r0 = vm.call @hal_inline.buffer_view.dim(%p0, %p1) : (!vm.ref<!hal.buffer_view>, i32) -> i64
    vm.return %r0 : i64
  }
  vm.export @buffer_view_trace_1
  vm.func private @buffer_view_trace_1(%p0 : !vm.buffer, %p1 : !vm.ref<!hal.buffer_view>) {
    vm.call.variadic @hal_inline.buffer_view.trace(%p0, [%p1]) : (!vm.buffer, !vm.ref<!hal.buffer_view> ...)
    vm.return
  }
  vm.export @device_query_i64
  vm.func private @device_query_i64(%p0 : !vm.buffer, %p1 : !vm.buffer) -> (i32, i64) {
    %r:2 = vm.call @hal_inline.device.query.i64(%p0, %p1) : (!vm.buffer, !vm.buffer) -> (i32, i64)
    vm.return %r#0, %r#1 : i32, i64
  }
}
