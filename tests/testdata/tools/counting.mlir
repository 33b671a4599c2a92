// A function whose result depends on the calls before it.
// Compile: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-vm-bytecode-module-strip-source-map -o %t.vmfb
module @counting {
  util.global private mutable @count = 0 : i32
  func.func @next(%by: i32) -> i32 {
    %0 = util.global.load @count : i32
    %1 = arith.addi %0, %by : i32
    util.global.store %1, @count : i32
    return %1 : i32
  }
}
