// A seed of tests/fuzz/corpus/module: lists, buffers, refs, imports, yields.
// iree-compile --compile-mode=vm --iree-vm-bytecode-module-strip-source-map
//   --iree-vm-emit-polyglot-zip=false
vm.module @refs {
  vm.rodata private @text "hello hello hello"
  vm.import private optional @native.scalar(%a: i32, %b: i64, %c: f32) -> i32
  vm.import private optional @native.span(%a: i32, %b: i64 ...) -> i64
  vm.import private optional @native.wait(%a: i32) -> i32 attributes {vm.yield}

  vm.export @lists
  vm.func @lists(%n: i32) -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %list = vm.list.alloc %n : (i32) -> !vm.list<i32>
    vm.list.resize %list, %n : (!vm.list<i32>, i32)
    vm.br ^head(%zero : i32)
  ^head(%i: i32):
    %more = vm.cmp.lt.i32.u %i, %n : i32
    vm.cond_br %more, ^body, ^end
  ^body:
    vm.list.set.i32 %list, %i, %i : (!vm.list<i32>, i32, i32)
    %next = vm.add.i32 %i, %one : i32
    vm.br ^head(%next : i32)
  ^end:
    %size = vm.list.size %list : (!vm.list<i32>) -> i32
    %last = vm.sub.i32 %size, %one : i32
    %v = vm.list.get.i32 %list, %last : (!vm.list<i32>, i32) -> i32
    vm.return %v : i32
  }

  vm.export @variants
  vm.func @variants(%i: i32) -> !vm.list<?> {
    %two = vm.const.i32 2
    %list = vm.list.alloc %two : (i32) -> !vm.list<?>
    vm.list.resize %list, %two : (!vm.list<?>, i32)
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.list.set.i32 %list, %zero, %i : (!vm.list<?>, i32, i32)
    %text = vm.const.ref.rodata @text : !vm.buffer
    vm.list.set.ref %list, %one, %text : (!vm.list<?>, i32, !vm.buffer)
    %r = vm.list.get.ref %list, %i : (!vm.list<?>, i32) -> !vm.buffer
    %nz = vm.cmp.nz.ref %r : !vm.buffer
    vm.cond_br %nz, ^some, ^none
  ^some:
    vm.list.set.ref %list, %zero, %r : (!vm.list<?>, i32, !vm.buffer)
    vm.br ^none
  ^none:
    vm.return %list : !vm.list<?>
  }

  vm.export @buffers
  vm.func @buffers(%n: i64, %v: i32) -> (i64, i32) {
    %align = vm.const.i32 16
    %zero = vm.const.i64 0
    %four = vm.const.i64 4
    %b = vm.buffer.alloc %n, %align : !vm.buffer
    vm.buffer.fill.i32 %b, %zero, %four, %v : i32 -> !vm.buffer
    %text = vm.const.ref.rodata @text : !vm.buffer
    vm.buffer.copy %text, %zero, %b, %four, %four : !vm.buffer -> !vm.buffer
    vm.buffer.store.i8 %v, %b[%four] : i32 -> !vm.buffer
    %x = vm.buffer.load.i16.s %b[%four] : !vm.buffer -> i32
    %c = vm.buffer.clone %b, %zero, %n, %align : !vm.buffer -> !vm.buffer
    %eq = vm.buffer.compare %b, %zero, %c, %zero, %four : !vm.buffer, !vm.buffer
    %h = vm.buffer.hash %c, %zero, %n : !vm.buffer -> i64
    %l = vm.buffer.length %c : !vm.buffer -> i64
    %r = vm.add.i32 %x, %eq : i32
    %s = vm.add.i64 %h, %l : i64
    vm.return %s, %r : i64, i32
  }

  vm.export @imports
  vm.func @imports(%i: i32, %l: i64) -> (i32, i64) {
    %has = vm.import.resolved @native.scalar : i32
    vm.cond_br %has, ^call, ^none
  ^call:
    %f = vm.const.f32 1.5
    %a = vm.call @native.scalar(%i, %l, %f) : (i32, i64, f32) -> i32
    %b = vm.call.variadic @native.span(%i, [%l, %l, %l]) : (i32, i64 ...) -> i64
    vm.call.yieldable @native.wait(%a) : (i32) -> ^woken(i32)
  ^woken(%c: i32):
    vm.return %c, %b : i32, i64
  ^none:
    vm.return %i, %l : i32, i64
  }

  vm.export @yields
  vm.func @yields(%n: i32) -> i32 {
    %one = vm.const.i32 1
    vm.br ^head(%n : i32)
  ^head(%i: i32):
    vm.yield ^after
  ^after:
    %less = vm.sub.i32 %i, %one : i32
    %zero = vm.const.i32 0
    %more = vm.cmp.lt.i32.s %zero, %less : i32
    vm.cond_br %more, ^head(%less : i32), ^end
  ^end:
    vm.return %less : i32
  }

  vm.export @selects
  vm.func @selects(%i: i32, %a: !vm.buffer, %b: !vm.buffer) -> (!vm.buffer, i32) {
    %s = vm.select.ref %i, %a, %b : !vm.buffer
    %e = vm.cmp.eq.ref %s, %a : !vm.buffer
    %w = vm.switch.ref %i[%a, %b] else %s : !vm.buffer
    %q = vm.cmp.ne.ref %w, %b : !vm.buffer
    %r = vm.add.i32 %e, %q : i32
    vm.return %w, %r : !vm.buffer, i32
  }
}
