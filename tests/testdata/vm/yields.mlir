// Functions that give up their thread; the oracle's tool hangs on them.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Prints: i32=20 --function=yields --input=3
// Prints: i32=442 --function=calls_yielding --input=3
vm.module @yields {
  // Gives up the thread between two steps, and in a function called.
  vm.export @yields
  vm.func @yields(%a: i32) -> i32 {
    %one = vm.const.i32 1
    %0 = vm.add.i32 %a, %one : i32
    vm.yield ^next(%0 : i32)
  ^next(%1: i32):
    %2 = vm.mul.i32 %1, %1 : i32
    vm.yield ^last
  ^last:
    %3 = vm.add.i32 %2, %1 : i32
    vm.return %3 : i32
  }
  vm.export @calls_yielding
  vm.func @calls_yielding(%a: i32) -> i32 {
    vm.call.yieldable @yields(%a) : (i32) -> ^next(i32)
  ^next(%0: i32):
    vm.call.yieldable @yields(%0) : (i32) -> ^last(i32)
  ^last(%1: i32):
    %2 = vm.sub.i32 %1, %0 : i32
    vm.return %2 : i32
  }
}
