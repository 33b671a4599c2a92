// An executable whose initializer does not end.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @module {
  vm.global.i32 private mutable @last = 0 : i32
  vm.export @run
  vm.func private @run(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "2"}} {
    vm.return
  }
  vm.initializer {
    %c1 = vm.const.i32 1
    vm.br ^next(%c1 : i32)
  ^next(%i : i32):
    %c0 = vm.const.i32 0
    %c2 = vm.const.i32 2
    %j = vm.add.i32 %i, %c2 : i32
    %goes_on = vm.cmp.ne.i32 %j, %c0 : i32
    vm.cond_br %goes_on, ^next(%j : i32), ^end
  ^end:
    vm.global.store.i32 %j, @last : i32
    vm.return
  }
}
