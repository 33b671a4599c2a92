// What a compiled vmvx executable looks like from outside, with functions that
// show or test what their caller does.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @module {
  vm.import private @vmvx.add.2d.i32(%lhs : !vm.buffer, %lhs_offset : i64, %lhs_stride0 : i64, %lhs_stride1 : i64, %rhs : !vm.buffer, %rhs_offset : i64, %rhs_stride0 : i64, %rhs_stride1 : i64, %out : !vm.buffer, %out_offset : i64, %out_stride0 : i64, %out_stride1 : i64, %size0 : i64, %size1 : i64)
  vm.global.ref private mutable @kept : !vm.buffer
  vm.global.ref private mutable @executable_constants : !vm.buffer
  vm.global.i32 private mutable @calls = 0 : i32

  // Counts the runs of each workgroup, in the order x fastest, z slowest.
  vm.export @count
  vm.func private @count(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %row = vm.mul.i32 %z, %cy : i32
    %row1 = vm.add.i32 %row, %y : i32
    %at = vm.mul.i32 %row1, %cx : i32
    %at1 = vm.add.i32 %at, %x : i32
    %index = vm.ext.i32.i64.s %at1 : i32 -> i64
    %old = vm.buffer.load.i32 %out[%index] : !vm.buffer -> i32
    %c1 = vm.const.i32 1
    %new = vm.add.i32 %old, %c1 : i32
    vm.buffer.store.i32 %new, %out[%index] : i32 -> !vm.buffer
    vm.return
  }

  // Adds its two inputs by an import.
  vm.export @add
  vm.func private @add(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "3"}} {
    %c0 = vm.const.i32 0
    %c1 = vm.const.i32 1
    %c2 = vm.const.i32 2
    %zero = vm.const.i64 0
    %one = vm.const.i64 1
    %four = vm.const.i64 4
    %lhs = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %rhs = vm.list.get.ref %bindings, %c1 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %out = vm.list.get.ref %bindings, %c2 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    vm.call @vmvx.add.2d.i32(%lhs, %zero, %four, %one, %rhs, %zero, %four, %one, %out, %zero, %four, %one, %one, %four) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }

  // Passes the second constant through local memory to the output.
  vm.export @constant
  vm.func private @constant(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "4096", constant_count = "2", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %i0 = vm.const.i64 0
    %i1 = vm.const.i64 1
    %i1023 = vm.const.i64 1023
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %value = vm.buffer.load.i32 %constants[%i1] : !vm.buffer -> i32
    vm.buffer.store.i32 %value, %local[%i1023] : i32 -> !vm.buffer
    %value1 = vm.buffer.load.i32 %local[%i1023] : !vm.buffer -> i32
    vm.buffer.store.i32 %value1, %out[%i0] : i32 -> !vm.buffer
    vm.return
  }

  // The lengths of what it gets, in bytes: local memory, constants, output;
  // and the sizes and counts of workgroups.
  vm.export @shape
  vm.func private @shape(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "8192", constant_count = "3", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %i0 = vm.const.i64 0
    %i1 = vm.const.i64 1
    %i2 = vm.const.i64 2
    %i3 = vm.const.i64 3
    %i4 = vm.const.i64 4
    %i5 = vm.const.i64 5
    %i6 = vm.const.i64 6
    %i7 = vm.const.i64 7
    %i8 = vm.const.i64 8
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %n0 = vm.buffer.length %local : !vm.buffer -> i64
    %n1 = vm.buffer.length %constants : !vm.buffer -> i64
    %n2 = vm.buffer.length %out : !vm.buffer -> i64
    %t0 = vm.trunc.i64.i32 %n0 : i64 -> i32
    %t1 = vm.trunc.i64.i32 %n1 : i64 -> i32
    %t2 = vm.trunc.i64.i32 %n2 : i64 -> i32
    vm.buffer.store.i32 %t0, %out[%i0] : i32 -> !vm.buffer
    vm.buffer.store.i32 %t1, %out[%i1] : i32 -> !vm.buffer
    vm.buffer.store.i32 %t2, %out[%i2] : i32 -> !vm.buffer
    vm.buffer.store.i32 %sx, %out[%i3] : i32 -> !vm.buffer
    vm.buffer.store.i32 %sy, %out[%i4] : i32 -> !vm.buffer
    vm.buffer.store.i32 %sz, %out[%i5] : i32 -> !vm.buffer
    vm.buffer.store.i32 %cx, %out[%i6] : i32 -> !vm.buffer
    vm.buffer.store.i32 %cy, %out[%i7] : i32 -> !vm.buffer
    vm.buffer.store.i32 %cz, %out[%i8] : i32 -> !vm.buffer
    vm.return
  }

  // Fails in workgroup 3.
  vm.export @fail_at_3
  vm.func private @fail_at_3(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "0"}} {
    %c3 = vm.const.i32 3
    %is_3 = vm.cmp.eq.i32 %x, %c3 : i32
    vm.cond_br %is_3, ^bb1, ^bb2
  ^bb1:
    %code = vm.const.i32 9
    vm.fail %code, "workgroup 3 does not like it"
  ^bb2:
    vm.return
  }

  // Reads beyond its binding.
  vm.export @overrun
  vm.func private @overrun(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %n = vm.buffer.length %out : !vm.buffer -> i64
    %value = vm.buffer.load.i32 %out[%n] : !vm.buffer -> i32
    %i0 = vm.const.i64 0
    vm.buffer.store.i32 %value, %out[%i0] : i32 -> !vm.buffer
    vm.return
  }

  // Writes to its constants.
  vm.export @write_constants
  vm.func private @write_constants(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "1", binding_count = "0"}} {
    %i0 = vm.const.i64 0
    vm.buffer.store.i32 %x, %constants[%i0] : i32 -> !vm.buffer
    vm.return
  }

  // Keeps its binding beyond its end, as no compiled code does. Tells how often
  // this context was called before.
  vm.export @keep
  vm.func private @keep(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %c1 = vm.const.i32 1
    %i0 = vm.const.i64 0
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %calls = vm.global.load.i32 @calls : i32
    vm.buffer.store.i32 %calls, %out[%i0] : i32 -> !vm.buffer
    %more = vm.add.i32 %calls, %c1 : i32
    vm.global.store.i32 %more, @calls : i32
    vm.global.store.ref %out, @kept : !vm.buffer
    vm.return
  }

  // As keep, without keeping.
  vm.export @calls_before
  vm.func private @calls_before(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %c1 = vm.const.i32 1
    %i0 = vm.const.i64 0
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %calls = vm.global.load.i32 @calls : i32
    vm.buffer.store.i32 %calls, %out[%i0] : i32 -> !vm.buffer
    %more = vm.add.i32 %calls, %c1 : i32
    vm.global.store.i32 %more, @calls : i32
    vm.return
  }

  // Drops its binding from the list, which is not its own.
  vm.export @empty_list
  vm.func private @empty_list(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    vm.list.resize %bindings, %c0 : (!vm.list<!vm.buffer>, i32)
    vm.return
  }

  // The second executable constant.
  vm.export @executable_constant
  vm.func private @executable_constant(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %i0 = vm.const.i64 0
    %i1 = vm.const.i64 1
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    %all = vm.global.load.ref @executable_constants : !vm.buffer
    %value = vm.buffer.load.i32 %all[%i1] : !vm.buffer -> i32
    vm.buffer.store.i32 %value, %out[%i0] : i32 -> !vm.buffer
    vm.return
  }

  // A workgroup as any other, whose name looks like one of the module's own.
  vm.export @__nine
  vm.func private @__nine(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) attributes {iree.reflection = {local_memory = "0", constant_count = "0", binding_count = "1"}} {
    %c0 = vm.const.i32 0
    %c9 = vm.const.i32 9
    %i0 = vm.const.i64 0
    %out = vm.list.get.ref %bindings, %c0 : (!vm.list<!vm.buffer>, i32) -> !vm.buffer
    vm.buffer.store.i32 %c9, %out[%i0] : i32 -> !vm.buffer
    vm.return
  }

  // No workgroup, by its signature.
  vm.export @__own
  vm.func private @__own(%value : i32) -> i32 {
    vm.return %value : i32
  }

  // No workgroup, by its name.
  vm.export @__notify
  vm.func private @__notify(%local : !vm.buffer, %constants : !vm.buffer, %bindings : !vm.list<!vm.buffer>, %x : i32, %y : i32, %z : i32, %sx : i32, %sy : i32, %sz : i32, %cx : i32, %cy : i32, %cz : i32) {
    vm.return
  }

  vm.export @__set_constants
  vm.func private @__set_constants(%constants : !vm.buffer) {
    vm.global.store.ref %constants, @executable_constants : !vm.buffer
    vm.return
  }
}
