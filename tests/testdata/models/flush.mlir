// A command buffer that writes a buffer between an invalidate and a flush of it.
// Variants: cpu
// Run: "--input=4xi32=1 2 3 4"
func.func @fill(%view: !hal.buffer_view) -> !hal.buffer_view {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %any = arith.constant -1 : i64
  %pattern = arith.constant 7 : i32
  %forever = arith.constant -1 : i32
  %device = hal.devices.get %c0 : !hal.device
  %buffer = hal.buffer_view.buffer<%view : !hal.buffer_view> : !hal.buffer
  %commands = hal.command_buffer.create device(%device : !hal.device) mode("OneShot") categories("Transfer|Dispatch") affinity(%any) : !hal.command_buffer
  hal.command_buffer.invalidate_buffer<%commands : !hal.command_buffer> target(%buffer : !hal.buffer)[%c0, %c16]
  hal.command_buffer.fill_buffer<%commands : !hal.command_buffer> target(%buffer : !hal.buffer)[%c4, %c8] pattern(%pattern : i32) flags("None")
  hal.command_buffer.flush_buffer<%commands : !hal.command_buffer> target(%buffer : !hal.buffer)[%c4, %c8]
  hal.command_buffer.finalize<%commands : !hal.command_buffer>
  %ready = util.null : !hal.fence
  %done = hal.fence.create device(%device : !hal.device) flags("None") : !hal.fence
  hal.device.queue.execute<%device : !hal.device> affinity(%any) wait(%ready) signal(%done) commands(%commands) flags("None")
  %status = hal.fence.await until([%done]) timeout_millis(%forever) flags("None") : i32
  util.status.check_ok %status, "the queue failed"
  return %view : !hal.buffer_view
}
