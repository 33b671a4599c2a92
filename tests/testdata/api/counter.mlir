// State of a context, scalars of every kind, and a call of a native module.
// Compile: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=vmvx --iree-input-demote-f64-to-f32=false --iree-vm-bytecode-module-strip-source-map -o %t.vmfb
module @counter {
  func.func private @robot.read(i32, i64, f32, f64) -> i32
  util.global private mutable @count = 0 : i32
  func.func @next(%by: i32) -> i32 {
    %0 = util.global.load @count : i32
    %1 = arith.addi %0, %by : i32
    util.global.store %1, @count : i32
    return %1 : i32
  }
  func.func @scalars(%a: i32, %b: i64, %c: f32, %d: f64) -> (i32, i64, f32, f64) {
    return %a, %b, %c, %d : i32, i64, f32, f64
  }
  func.func @read(%a: i32, %b: i64, %c: f32, %d: f64) -> i32 {
    %0 = call @robot.read(%a, %b, %c, %d) : (i32, i64, f32, f64) -> i32
    return %0 : i32
  }
  func.func @spin(%n: i32) -> i32 {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %0 = scf.while (%i = %c0) : (i32) -> i32 {
      %1 = arith.cmpi ult, %i, %n : i32
      scf.condition(%1) %i : i32
    } do {
    ^bb0(%i: i32):
      %1 = arith.addi %i, %c1 : i32
      scf.yield %1 : i32
    }
    return %0 : i32
  }
  func.func @divide(%a: i32, %b: i32) -> i32 {
    %0 = arith.divsi %a, %b : i32
    return %0 : i32
  }
}
