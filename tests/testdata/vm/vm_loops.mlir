// Loops of a million iterations in the VM dialect: what the interpreter costs
// apart from any device. `scalar` is six instructions an iteration, `calls`
// calls an internal function of two arguments in each.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Run: --function=scalar
// Run: --function=calls
vm.module public @vm_loops {
  vm.export @scalar
  vm.func private @scalar() -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %three = vm.const.i32 3
    %count = vm.const.i32 1000000
    vm.br ^loop(%zero, %zero : i32, i32)
  ^loop(%i : i32, %sum : i32):
    %product = vm.mul.i32 %i, %three : i32
    %mixed = vm.xor.i32 %sum, %product : i32
    %next_sum = vm.add.i32 %mixed, %one : i32
    %next_i = vm.add.i32 %i, %one : i32
    %more = vm.cmp.lt.i32.s %next_i, %count : i32
    vm.cond_br %more, ^loop(%next_i, %next_sum : i32, i32), ^done(%next_sum : i32)
  ^done(%result : i32):
    vm.return %result : i32
  }

  vm.func private @step(%i : i32, %sum : i32) -> i32 attributes {inlining_policy = #util.inline.never} {
    %mixed = vm.xor.i32 %sum, %i : i32
    %result = vm.add.i32 %mixed, %i : i32
    vm.return %result : i32
  }
  vm.export @calls
  vm.func private @calls() -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %count = vm.const.i32 1000000
    vm.br ^loop(%zero, %zero : i32, i32)
  ^loop(%i : i32, %sum : i32):
    %next_sum = vm.call @step(%i, %sum) : (i32, i32) -> i32
    %next_i = vm.add.i32 %i, %one : i32
    %more = vm.cmp.lt.i32.s %next_i, %count : i32
    vm.cond_br %more, ^loop(%next_i, %next_sum : i32, i32), ^done(%next_sum : i32)
  ^done(%result : i32):
    vm.return %result : i32
  }
}
