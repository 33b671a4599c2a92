// Forwards every import of the `hal` module that is about devices, their queues, files and executables, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_device {
  vm.import private @hal.devices.count() -> i32
  vm.import private @hal.devices.get(%a0 : i32) -> !vm.ref<!hal.device>
  vm.import private @hal.device.allocator(%a0 : !vm.ref<!hal.device>) -> !vm.ref<!hal.allocator>
  vm.import private @hal.device.query.i64(%a0 : !vm.ref<!hal.device>, %a1 : !vm.buffer, %a2 : !vm.buffer) -> (i32, i64)
  vm.import private @hal.device.queue.alloca(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : i64, %a5 : i32, %a6 : i32, %a7 : i64, %a8 : i64) -> !vm.ref<!hal.buffer>
  vm.import private @hal.device.queue.dealloca(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.buffer>, %a5 : i64)
  vm.import private @hal.device.queue.fill(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.buffer>, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i32, %a9 : i64)
  vm.import private @hal.device.queue.update(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.buffer, %a5 : i64, %a6 : !vm.ref<!hal.buffer>, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @hal.device.queue.copy(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.buffer>, %a5 : i64, %a6 : !vm.ref<!hal.buffer>, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @hal.device.queue.read(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.file>, %a5 : i64, %a6 : !vm.ref<!hal.buffer>, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @hal.device.queue.write(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.buffer>, %a5 : i64, %a6 : !vm.ref<!hal.file>, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @hal.device.queue.barrier(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : i64)
  vm.import private @hal.device.queue.execute(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.command_buffer>, %a5 : i64)
  vm.import private @hal.device.queue.execute.indirect(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : !vm.ref<!hal.fence>, %a3 : !vm.ref<!hal.fence>, %a4 : !vm.ref<!hal.command_buffer>, %a5 : i64, %a6 : tuple<!vm.ref<!hal.buffer>, i64, i64> ...)
  vm.import private @hal.device.queue.flush(%a0 : !vm.ref<!hal.device>, %a1 : i64)
  vm.import private @hal.ex.file.from_memory(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : i32, %a3 : !vm.buffer, %a4 : i64, %a5 : i64, %a6 : i32) -> !vm.ref<!hal.file>
  vm.export @devices_count
  vm.func private @devices_count() -> i32 {
    %r0 = vm.call @hal.devices.count() : () -> i32
    vm.return %r0 : i32
  }
  vm.export @devices_get
  vm.func private @devices_get(%p0 : i32) -> !vm.ref<!hal.device> {
    %r0 = vm.call @hal.devices.get(%p0) : (i32) -> !vm.ref<!hal.device>
    vm.return %r0 : !vm.ref<!hal.device>
  }
  vm.export @device_allocator
  vm.func private @device_allocator(%p0 : !vm.ref<!hal.device>) -> !vm.ref<!hal.allocator> {
    %r0 = vm.call @hal.device.allocator(%p0) : (!vm.ref<!hal.device>) -> !vm.ref<!hal.allocator>
    vm.return %r0 : !vm.ref<!hal.allocator>
  }
  vm.export @device_query_i64
  vm.func private @device_query_i64(%p0 : !vm.ref<!hal.device>, %p1 : !vm.buffer, %p2 : !vm.buffer) -> (i32, i64) {
    %r:2 = vm.call @hal.device.query.i64(%p0, %p1, %p2) : (!vm.ref<!hal.device>, !vm.buffer, !vm.buffer) -> (i32, i64)
    vm.return %r#0, %r#1 : i32, i64
  }
  vm.export @device_queue_alloca
  vm.func private @device_queue_alloca(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : i64, %p5 : i32, %p6 : i32, %p7 : i64, %p8 : i64) -> !vm.ref<!hal.buffer> {
    %r0 = vm.call @hal.device.queue.alloca(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, i64, i32, i32, i64, i64) -> !vm.ref<!hal.buffer>
    vm.return %r0 : !vm.ref<!hal.buffer>
  }
  vm.export @device_queue_dealloca
  vm.func private @device_queue_dealloca(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.buffer>, %p5 : i64) {
    vm.call @hal.device.queue.dealloca(%p0, %p1, %p2, %p3, %p4, %p5) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.buffer>, i64) -> ()
    vm.return
  }
  vm.export @device_queue_fill
  vm.func private @device_queue_fill(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.buffer>, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i32, %p9 : i64) {
    vm.call @hal.device.queue.fill(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.buffer>, i64, i64, i64, i32, i64) -> ()
    vm.return
  }
  vm.export @device_queue_update
  vm.func private @device_queue_update(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.buffer, %p5 : i64, %p6 : !vm.ref<!hal.buffer>, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @hal.device.queue.update(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.buffer, i64, !vm.ref<!hal.buffer>, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @device_queue_copy
  vm.func private @device_queue_copy(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.buffer>, %p5 : i64, %p6 : !vm.ref<!hal.buffer>, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @hal.device.queue.copy(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.buffer>, i64, !vm.ref<!hal.buffer>, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @device_queue_read
  vm.func private @device_queue_read(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.file>, %p5 : i64, %p6 : !vm.ref<!hal.buffer>, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @hal.device.queue.read(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.file>, i64, !vm.ref<!hal.buffer>, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @device_queue_write
  vm.func private @device_queue_write(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.buffer>, %p5 : i64, %p6 : !vm.ref<!hal.file>, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @hal.device.queue.write(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.buffer>, i64, !vm.ref<!hal.file>, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @device_queue_barrier
  vm.func private @device_queue_barrier(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : i64) {
    vm.call @hal.device.queue.barrier(%p0, %p1, %p2, %p3, %p4) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, i64) -> ()
    vm.return
  }
  vm.export @device_queue_execute
  vm.func private @device_queue_execute(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.command_buffer>, %p5 : i64) {
    vm.call @hal.device.queue.execute(%p0, %p1, %p2, %p3, %p4, %p5) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.command_buffer>, i64) -> ()
    vm.return
  }
  vm.export @device_queue_execute_indirect_0
  vm.func private @device_queue_execute_indirect_0(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.command_buffer>, %p5 : i64) {
    vm.call.variadic @hal.device.queue.execute.indirect(%p0, %p1, %p2, %p3, %p4, %p5, []) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.command_buffer>, i64, tuple<!vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @device_queue_execute_indirect_1
  vm.func private @device_queue_execute_indirect_1(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.command_buffer>, %p5 : i64, %p6 : !vm.ref<!hal.buffer>, %p7 : i64, %p8 : i64) {
    vm.call.variadic @hal.device.queue.execute.indirect(%p0, %p1, %p2, %p3, %p4, %p5, [(%p6, %p7, %p8)]) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.command_buffer>, i64, tuple<!vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @device_queue_execute_indirect_3
  vm.func private @device_queue_execute_indirect_3(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : !vm.ref<!hal.fence>, %p3 : !vm.ref<!hal.fence>, %p4 : !vm.ref<!hal.command_buffer>, %p5 : i64, %p6 : !vm.ref<!hal.buffer>, %p7 : i64, %p8 : i64, %p9 : !vm.ref<!hal.buffer>, %p10 : i64, %p11 : i64, %p12 : !vm.ref<!hal.buffer>, %p13 : i64, %p14 : i64) {
    vm.call.variadic @hal.device.queue.execute.indirect(%p0, %p1, %p2, %p3, %p4, %p5, [(%p6, %p7, %p8), (%p9, %p10, %p11), (%p12, %p13, %p14)]) : (!vm.ref<!hal.device>, i64, !vm.ref<!hal.fence>, !vm.ref<!hal.fence>, !vm.ref<!hal.command_buffer>, i64, tuple<!vm.ref<!hal.buffer>, i64, i64> ...)
    vm.return
  }
  vm.export @device_queue_flush
  vm.func private @device_queue_flush(%p0 : !vm.ref<!hal.device>, %p1 : i64) {
    vm.call @hal.device.queue.flush(%p0, %p1) : (!vm.ref<!hal.device>, i64) -> ()
    vm.return
  }
  vm.export @ex_file_from_memory
  vm.func private @ex_file_from_memory(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : i32, %p3 : !vm.buffer, %p4 : i64, %p5 : i64, %p6 : i32) -> !vm.ref<!hal.file> {
    %r0 = vm.call @hal.ex.file.from_memory(%p0, %p1, %p2, %p3, %p4, %p5, %p6) : (!vm.ref<!hal.device>, i64, i32, !vm.buffer, i64, i64, i32) -> !vm.ref<!hal.file>
    vm.return %r0 : !vm.ref<!hal.file>
  }
}
