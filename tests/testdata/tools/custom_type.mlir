// A module that names a type of its own, which only a program that registers it can run.
// Compile: iree-compile %s --iree-execution-model=host-only -o %t.vmfb
module @custom_type {
  func.func private @custom.string.create(%length: i32) -> !custom.string
  func.func private @custom.string.length(%string: !custom.string) -> i32
  func.func @run(%length: i32) -> i32 {
    %string = call @custom.string.create(%length) : (i32) -> !custom.string
    %result = call @custom.string.length(%string) : (!custom.string) -> i32
    return %result : i32
  }
  func.func @pass(%string: !custom.string) -> !custom.string {
    return %string : !custom.string
  }
}
