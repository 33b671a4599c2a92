// A seed of tests/fuzz/corpus/module: control flow, scalars, globals, calls.
// iree-compile --compile-mode=vm --iree-vm-bytecode-module-strip-source-map
//   --iree-vm-emit-polyglot-zip=false
vm.module @control {
  vm.global.i32 private mutable @count = 3 : i32
  vm.global.i64 private mutable @sum : i64
  vm.global.f32 private mutable @scale = 0.5 : f32
  vm.global.ref private mutable @kept : !vm.buffer
  vm.rodata private @text dense<[1, 2, 3, 4, 5]> : tensor<5xi8>

  vm.export @loop
  vm.func @loop(%n: i32) -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^head(%zero, %one : i32, i32)
  ^head(%i: i32, %a: i32):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    vm.cond_br %more, ^body, ^end
  ^body:
    %b = vm.mul.i32 %a, %i : i32
    %c = vm.xor.i32 %b, %n : i32
    %next = vm.add.i32 %i, %one : i32
    vm.br ^head(%next, %c : i32, i32)
  ^end:
    vm.return %a : i32
  }

  vm.export @swap
  vm.func @swap(%n: i32, %x: i64, %y: i64) -> (i64, i64) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^head(%zero, %x, %y : i32, i64, i64)
  ^head(%i: i32, %a: i64, %b: i64):
    %next = vm.add.i32 %i, %one : i32
    %more = vm.cmp.lt.i32.s %next, %n : i32
    vm.cond_br %more, ^head(%next, %b, %a : i32, i64, i64), ^end
  ^end:
    vm.return %a, %b : i64, i64
  }

  vm.export @calls
  vm.func @calls(%n: i32, %x: i64) -> i64 {
    %one = vm.const.i32 1
    %r, %t = vm.call @helper(%n, %x) : (i32, i64) -> (i64, i32)
    %q, %u = vm.call @helper(%t, %r) : (i32, i64) -> (i64, i32)
    vm.return %q : i64
  }
  vm.func private @helper(%n: i32, %x: i64) -> (i64, i32) attributes {inlining_policy = #util.inline.never} {
    %w = vm.ext.i32.i64.s %n : i32 -> i64
    %r = vm.add.i64 %w, %x : i64
    vm.return %r, %n : i64, i32
  }

  vm.export @table
  vm.func @table(%i: i32, %v: i32) -> i32 {
    %c1 = vm.const.i32 10
    %c2 = vm.const.i32 20
    vm.br_table %i {
      default: ^d(%v : i32),
      0: ^a(%c1 : i32),
      1: ^b(%c2 : i32)
    }
  ^d(%x: i32):
    %m = vm.div.i32.s %x, %i : i32
    vm.return %m : i32
  ^a(%y: i32):
    vm.br ^b(%y : i32)
  ^b(%z: i32):
    %r = vm.add.i32 %z, %v : i32
    vm.return %r : i32
  }

  vm.export @globals
  vm.func @globals(%d: i32) -> (i32, i64) {
    %c = vm.global.load.i32 @count : i32
    %n = vm.add.i32 %c, %d : i32
    vm.global.store.i32 %n, @count : i32
    %s = vm.global.load.i64 @sum : i64
    %w = vm.ext.i32.i64.s %n : i32 -> i64
    %t = vm.add.i64 %s, %w : i64
    vm.global.store.i64 %t, @sum : i64
    %f = vm.global.load.f32 @scale : f32
    %g = vm.mul.f32 %f, %f : f32
    vm.global.store.f32 %g, @scale : f32
    %rodata = vm.const.ref.rodata @text : !vm.buffer
    vm.global.store.ref %rodata, @kept : !vm.buffer
    vm.return %n, %t : i32, i64
  }

  vm.export @floats
  vm.func @floats(%a: f32, %b: f32, %i: i32) -> (f32, i32) {
    %c = vm.fma.f32 %a, %b, %a : f32
    %d = vm.rem.f32 %c, %b : f32
    %e = vm.sqrt.f32 %d : f32
    %x = vm.exp.f32 %e : f32
    %m = vm.min.f32 %x, %a : f32
    %q = vm.select.f32 %i, %m, %b : f32
    %j = vm.cast.f32.si32 %q : f32 -> i32
    %l = vm.cmp.lt.f32.o %a, %b : f32
    %r = vm.add.i32 %j, %l : i32
    vm.return %q, %r : f32, i32
  }

  vm.export @fails
  vm.func @fails(%code: i32) {
    vm.cond_fail %code, "as asked"
    vm.return
  }
}
