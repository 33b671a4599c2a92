// Forwards every import of the `hal` module that is about channels, which the CPU has none of, so that tests can
// call them with whatever arguments they like. A number at the end of a name
// is how often a repeated tuple repeats.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @hal_channel {
  vm.import private @hal.channel.create(%a0 : !vm.ref<!hal.device>, %a1 : i64, %a2 : i64, %a3 : !vm.buffer, %a4 : !vm.buffer, %a5 : i32, %a6 : i32) -> !vm.ref<!hal.channel>
  vm.import private @hal.channel.split(%a0 : !vm.ref<!hal.channel>, %a1 : i32, %a2 : i32, %a3 : i64) -> !vm.ref<!hal.channel>
  vm.import private @hal.channel.rank_and_count(%a0 : !vm.ref<!hal.channel>) -> (i32, i32)
  vm.import private @hal.command_buffer.collective(%a0 : !vm.ref<!hal.command_buffer>, %a1 : !vm.ref<!hal.channel>, %a2 : i32, %a3 : i32, %a4 : i32, %a5 : i32, %a6 : !vm.ref<!hal.buffer>, %a7 : !vm.ref<!hal.buffer>, %a8 : i64, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64)
  vm.export @channel_create
  vm.func private @channel_create(%p0 : !vm.ref<!hal.device>, %p1 : i64, %p2 : i64, %p3 : !vm.buffer, %p4 : !vm.buffer, %p5 : i32, %p6 : i32) -> !vm.ref<!hal.channel> {
    %r0 = vm.call @hal.channel.create(%p0, %p1, %p2, %p3, %p4, %p5, %p6) : (!vm.ref<!hal.device>, i64, i64, !vm.buffer, !vm.buffer, i32, i32) -> !vm.ref<!hal.channel>
    vm.return %r0 : !vm.ref<!hal.channel>
  }
  vm.export @channel_split
  vm.func private @channel_split(%p0 : !vm.ref<!hal.channel>, %p1 : i32, %p2 : i32, %p3 : i64) -> !vm.ref<!hal.channel> {
    %r0 = vm.call @hal.channel.split(%p0, %p1, %p2, %p3) : (!vm.ref<!hal.channel>, i32, i32, i64) -> !vm.ref<!hal.channel>
    vm.return %r0 : !vm.ref<!hal.channel>
  }
  vm.export @channel_rank_and_count
  vm.func private @channel_rank_and_count(%p0 : !vm.ref<!hal.channel>) -> (i32, i32) {
    %r:2 = vm.call @hal.channel.rank_and_count(%p0) : (!vm.ref<!hal.channel>) -> (i32, i32)
    vm.return %r#0, %r#1 : i32, i32
  }
  vm.export @command_buffer_collective
  vm.func private @command_buffer_collective(%p0 : !vm.ref<!hal.command_buffer>, %p1 : !vm.ref<!hal.channel>, %p2 : i32, %p3 : i32, %p4 : i32, %p5 : i32, %p6 : !vm.ref<!hal.buffer>, %p7 : !vm.ref<!hal.buffer>, %p8 : i64, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64) {
    vm.call @hal.command_buffer.collective(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12) : (!vm.ref<!hal.command_buffer>, !vm.ref<!hal.channel>, i32, i32, i32, i32, !vm.ref<!hal.buffer>, !vm.ref<!hal.buffer>, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
}
