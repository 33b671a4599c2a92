// Kernels that take longer than any caller waits.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @module {
  vm.import private @vmvx.mmt4d(%lhs : !vm.buffer, %lhs_offset : i64, %lhs_stride : i64, %rhs : !vm.buffer, %rhs_offset : i64, %rhs_stride : i64, %out : !vm.buffer, %out_offset : i64, %out_stride : i64, %m : i64, %n : i64, %k : i64, %m0 : i32, %n0 : i32, %k0 : i32, %flags : i32)
  vm.import private @vmvx.fill.2d.x32(%value : i32, %out : !vm.buffer, %out_offset : i64, %out_stride0 : i64, %size0 : i64, %size1 : i64)

  // Adds 2 to 1 until it is 0.
  vm.export @loop
  vm.func private @loop(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "2"}} {
    %c1 = vm.const.i32 1
    vm.br ^next(%c1 : i32)
  ^next(%i : i32):
    %c0 = vm.const.i32 0
    %c2 = vm.const.i32 2
    %j = vm.add.i32 %i, %c2 : i32
    %goes_on = vm.cmp.ne.i32 %j, %c0 : i32
    vm.cond_br %goes_on, ^next(%j : i32), ^end
  ^end:
    vm.return
  }

  // Writes 1 to each binding. The second one is read first.
  vm.export @write
  vm.func private @write(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "2"}} {
    %c0 = vm.const.i32 0
    %c1 = vm.const.i32 1
    %zero = vm.const.i64 0
    %in = vm.list.get.ref %bindings, %c1 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %value = vm.buffer.load.i32 %in[%zero] : !vm.buffer -> i32
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    vm.buffer.store.i32 %value, %out[%zero] : i32 -> !vm.buffer
    vm.buffer.store.i32 %c1, %in[%zero] : i32 -> !vm.buffer
    vm.return
  }

  // Fills one word 2^31 - 1 times.
  vm.export @fill
  vm.func private @fill(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "2"}} {
    %c0 = vm.const.i32 0
    %zero = vm.const.i64 0
    %one = vm.const.i64 1
    %many = vm.const.i64 2147483647
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    vm.call @vmvx.fill.2d.x32(%c0, %out, %zero, %zero, %many, %one) : (i32, !vm.buffer, i64, i64, i64, i64) -> ()
    vm.return
  }

  // A product of 2^26 products, a thousand times.
  vm.export @multiply
  vm.func private @multiply(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "2"}} {
    %c0 = vm.const.i32 0
    %c1 = vm.const.i32 1
    %c8 = vm.const.i32 8
    %c1000 = vm.const.i32 1000
    %zero = vm.const.i64 0
    %one = vm.const.i64 1
    %sixteen = vm.const.i64 16
    %bytes = vm.const.i64 67108864
    %panel = vm.const.i64 8388608
    %tiles = vm.const.i64 131072
    %align = vm.const.i32 64
    %in = vm.buffer.alloc %bytes, %align : !vm.buffer
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    vm.br ^next(%c0 : i32)
  ^next(%i : i32):
    vm.call @vmvx.mmt4d(%in, %zero, %panel, %in, %zero, %panel, %out, %zero, %sixteen, %one, %one, %tiles, %c8, %c8, %c8, %c1) : (!vm.buffer, i64, i64, !vm.buffer, i64, i64, !vm.buffer, i64, i64, i64, i64, i64, i32, i32, i32, i32) -> ()
    %j = vm.add.i32 %i, %c1 : i32
    %goes_on = vm.cmp.lt.i32.s %j, %c1000 : i32
    vm.cond_br %goes_on, ^next(%j : i32), ^end
  ^end:
    vm.return
  }
}
