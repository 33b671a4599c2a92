// Block arguments that change places, words of 32 and of 64 bits together: the
// compiler orders the moves as if a pair did not overlap its words, and the
// oracle follows. What is printed here is what the source means.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Prints: i32=1 i64=2000000000000 i32=3 i64=4000000000000 --function=rotate --input=0 --input=1 --input=2000000000000 --input=3 --input=4000000000000
// Prints: i32=3 i64=4000000000000 i32=1 i64=2000000000000 --function=rotate --input=1 --input=1 --input=2000000000000 --input=3 --input=4000000000000
// Prints: i32=1 i64=2000000000000 i32=3 i64=4000000000000 --function=rotate --input=2 --input=1 --input=2000000000000 --input=3 --input=4000000000000
// Prints: i32=3 i64=4000000000000 i32=1 i64=2000000000000 --function=rotate --input=7 --input=1 --input=2000000000000 --input=3 --input=4000000000000
// Prints: i32=2 i64=9000000000 --function=table --input=0 --input=5 --input=7 --input=9000000000
// Prints: i32=12 i64=9000000001 --function=table --input=1 --input=5 --input=7 --input=9000000000
// Prints: i32=20 i64=5 i32=10 --function=loop --input=0 --input=2000000000001 --input=10 --input=20 --input=5
// Prints: i32=10 i64=2000000000001 i32=5 --function=loop --input=1 --input=2000000000001 --input=10 --input=20 --input=5
// Prints: i32=5 i64=5 i32=-1454759935 --function=loop --input=2 --input=2000000000001 --input=10 --input=20 --input=5
vm.module @moves {
  // Values change places at each turn: the moves form cycles.
  vm.export @rotate
  vm.func @rotate(%n: i32, %a: i32, %b: i64, %c: i32, %d: i64)
      -> (i32, i64, i32, i64) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^head(%zero, %a, %b, %c, %d : i32, i32, i64, i32, i64)
  ^head(%i: i32, %p: i32, %q: i64, %r: i32, %s: i64):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    vm.cond_br %more, ^body, ^end
  ^body:
    %next = vm.add.i32 %i, %one : i32
    vm.br ^head(%next, %r, %s, %p, %q : i32, i32, i64, i32, i64)
  ^end:
    vm.return %p, %q, %r, %s : i32, i64, i32, i64
  }

  // The last value of a case goes where another came from.
  vm.export @table
  vm.func @table(%index: i32, %a: i32, %b: i32, %c: i64) -> (i32, i64) {
    %one = vm.const.i64 1
    %d = vm.add.i64 %c, %one : i64
    %e = vm.add.i32 %a, %b : i32
    vm.br_table %index {
      default: ^end(%e, %d : i32, i64),
      0: ^other(%b, %c, %a : i32, i64, i32)
    }
  ^other(%0: i32, %1: i64, %2: i32):
    %5 = vm.sub.i32 %0, %2 : i32
    vm.br ^end(%5, %1 : i32, i64)
  ^end(%3: i32, %4: i64):
    vm.return %3, %4 : i32, i64
  }

  // Four values, one narrowed, at each turn.
  vm.export @loop
  vm.func @loop(%n: i32, %a: i64, %b: i32, %c: i32, %d: i64) -> (i32, i64, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^head(%b, %c, %a, %d, %zero : i32, i32, i64, i64, i32)
  ^head(%p: i32, %q: i32, %r: i64, %s: i64, %i: i32):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    %next = vm.add.i32 %i, %one : i32
    %lo = vm.trunc.i64.i32 %s : i64 -> i32
    vm.cond_br %more, ^head(%lo, %p, %s, %r, %next : i32, i32, i64, i64, i32), ^end(%q, %s, %p : i32, i64, i32)
  ^end(%x: i32, %y: i64, %z: i32):
    vm.return %x, %y, %z : i32, i64, i32
  }
}
