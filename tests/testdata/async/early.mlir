// An asynchronous function that signals its fence itself, long before it ends:
// what native module "probe" does with the mark decides how long.
// Compile: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-vm-bytecode-module-strip-source-map -o %t.vmfb
module @early {
  util.func private @probe.mark(i32)
  util.func public @run(%id: i32, %wait: !hal.fence, %signal: !hal.fence) -> i32
      attributes {iree.abi.stub,
                  iree.reflection = {"iree.abi.model" = "coarse-fences"}} {
    hal.fence.signal<%signal : !hal.fence>
    util.call @probe.mark(%id) : (i32) -> ()
    util.return %id : i32
  }
}
