// Functions that may wait for ever. Native module "probe" makes the fence.
// Compile: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-vm-bytecode-module-strip-source-map -o %t.vmfb
module @await {
  util.func private @probe.fence() -> !hal.fence
  // Synchronous: returns once the fence is reached.
  util.func public @wait(%id: i32) -> i32 attributes {iree.abi.stub} {
    %fence = util.call @probe.fence() : () -> !hal.fence
    %forever = arith.constant -1 : i32
    %status = hal.fence.await until([%fence]) timeout_millis(%forever) flags(None) : i32
    util.status.check_ok %status, "the fence failed"
    util.return %id : i32
  }
  // Asynchronous: forgets its signal fence.
  util.func public @forget(%id: i32, %wait: !hal.fence, %signal: !hal.fence) -> i32
      attributes {iree.abi.stub,
                  iree.reflection = {"iree.abi.model" = "coarse-fences"}} {
    util.return %id : i32
  }
  // Asynchronous: its signal comes from the probe's fence, if ever.
  util.func public @pass(%id: i32, %wait: !hal.fence, %signal: !hal.fence) -> i32
      attributes {iree.abi.stub,
                  iree.reflection = {"iree.abi.model" = "coarse-fences"}} {
    %fence = util.call @probe.fence() : () -> !hal.fence
    %device_id = arith.constant 0 : index
    %device = hal.devices.get %device_id : !hal.device
    %affinity = arith.constant -1 : i64
    hal.device.queue.barrier<%device : !hal.device> affinity(%affinity) wait(%fence) signal(%signal) flags(None)
    util.return %id : i32
  }
}
