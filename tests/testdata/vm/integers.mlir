// Every operation on integers. Division by zero is not here: the oracle dies of it.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Run: --function=arithmetic_i32 --input=7 --input=-3
// Run: --function=arithmetic_i32 --input=-2147483648 --input=1
// Run: --function=arithmetic_i32 --input=2147483647 --input=2147483647
// Run: --function=arithmetic_i64 --input=7 --input=-3
// Run: --function=arithmetic_i64 --input=-9223372036854775808 --input=1
// Run: --function=arithmetic_i64 --input=9223372036854775807 --input=9223372036854775807
// Run: --function=compare_i32 --input=7 --input=-3
// Run: --function=compare_i32 --input=-2147483648 --input=1
// Run: --function=compare_i32 --input=2147483647 --input=2147483647
// Run: --function=compare_i64 --input=7 --input=-3
// Run: --function=compare_i64 --input=-9223372036854775808 --input=1
// Run: --function=compare_i64 --input=9223372036854775807 --input=9223372036854775807
// Run: --function=shift_i32 --input=-5 --input=1
// Run: --function=shift_i32 --input=-5 --input=31
// Run: --function=shift_i32 --input=5 --input=33
// Run: --function=shift_i64 --input=-5 --input=1
// Run: --function=shift_i64 --input=-5000000000 --input=31
// Run: --function=shift_i64 --input=5 --input=65
// Run: --function=choose_i32 --input=0 --input=10 --input=20 --input=30
// Run: --function=choose_i32 --input=1 --input=10 --input=20 --input=30
// Run: --function=choose_i32 --input=2 --input=10 --input=20 --input=30
// Run: --function=choose_i64 --input=0 --input=10 --input=20 --input=3000000000
// Run: --function=choose_i64 --input=1 --input=10 --input=20 --input=3000000000
// Run: --function=choose_i64 --input=2 --input=10 --input=20 --input=3000000000
// Run: --function=constants_i32
// Run: --function=constants_i64
// Run: --function=convert --input=129 --input=-1
// Run: --function=convert --input=32768 --input=4294967297
// Run: --function=convert --input=-1 --input=2147483648
vm.module @integers {
  // Every i32 operation on two values of that type.
  vm.export @arithmetic_i32
  vm.func @arithmetic_i32(%a: i32, %b: i32)
      -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
          i32, i32, i32, i32, i32) {
    %r0 = vm.add.i32 %a, %b : i32
    %r1 = vm.sub.i32 %a, %b : i32
    %r2 = vm.mul.i32 %a, %b : i32
    %r3 = vm.div.i32.s %a, %b : i32
    %r4 = vm.div.i32.u %a, %b : i32
    %r5 = vm.rem.i32.s %a, %b : i32
    %r6 = vm.rem.i32.u %a, %b : i32
    %r7 = vm.and.i32 %a, %b : i32
    %r8 = vm.or.i32 %a, %b : i32
    %r9 = vm.xor.i32 %a, %b : i32
    %r10 = vm.min.i32.s %a, %b : i32
    %r11 = vm.min.i32.u %a, %b : i32
    %r12 = vm.max.i32.s %a, %b : i32
    %r13 = vm.max.i32.u %a, %b : i32
    %r14 = vm.fma.i32 %a, %b, %a : i32
    %r15 = vm.not.i32 %a : i32
    %r16 = vm.abs.i32 %a : i32
    %r17 = vm.ctlz.i32 %a : i32
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13, %r14, %r15, %r16, %r17
        : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
          i32, i32, i32, i32, i32
  }

  // Shifts; the amount is taken modulo the width.
  vm.export @shift_i32
  vm.func @shift_i32(%a: i32, %n: i32)
      -> (i32, i32, i32) {
    %r0 = vm.shl.i32 %a, %n : i32
    %r1 = vm.shr.i32.s %a, %n : i32
    %r2 = vm.shr.i32.u %a, %n : i32
    vm.return %r0, %r1, %r2
        : i32, i32, i32
  }

  // Comparisons, 1 or 0.
  vm.export @compare_i32
  vm.func @compare_i32(%a: i32, %b: i32)
      -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) {
    %r0 = vm.cmp.eq.i32 %a, %b : i32
    %r1 = vm.cmp.ne.i32 %a, %b : i32
    %r2 = vm.cmp.lt.i32.s %a, %b : i32
    %r3 = vm.cmp.lt.i32.u %a, %b : i32
    %r4 = vm.cmp.lte.i32.s %a, %b : i32
    %r5 = vm.cmp.lte.i32.u %a, %b : i32
    %r6 = vm.cmp.gt.i32.s %a, %b : i32
    %r7 = vm.cmp.gt.i32.u %a, %b : i32
    %r8 = vm.cmp.gte.i32.s %a, %b : i32
    %r9 = vm.cmp.gte.i32.u %a, %b : i32
    %r10 = vm.cmp.nz.i32 %a : i32
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10
        : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  }

  // A choice of two, and one by index with a default.
  vm.export @choose_i32
  vm.func @choose_i32(%c: i32, %a: i32, %b: i32, %d: i32)
      -> (i32, i32) {
    %r0 = vm.select.i32 %c, %a, %b : i32
    %r1 = vm.switch.i32 %c[%a, %b, %a] else %d : i32
    vm.return %r0, %r1
        : i32, i32
  }

  // Immediates.
  vm.export @constants_i32
  vm.func @constants_i32()
      -> (i32, i32, i32, i32, i32, i32) {
    %r0 = vm.const.i32 0
    %r1 = vm.const.i32 1
    %r2 = vm.const.i32 -1
    %r3 = vm.const.i32 2147483647
    %r4 = vm.const.i32 -2147483648
    %r5 = vm.const.i32.zero
    vm.return %r0, %r1, %r2, %r3, %r4, %r5
        : i32, i32, i32, i32, i32, i32
  }

  // Every i64 operation on two values of that type.
  vm.export @arithmetic_i64
  vm.func @arithmetic_i64(%a: i64, %b: i64)
      -> (i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64,
          i64, i64, i64, i64, i64) {
    %r0 = vm.add.i64 %a, %b : i64
    %r1 = vm.sub.i64 %a, %b : i64
    %r2 = vm.mul.i64 %a, %b : i64
    %r3 = vm.div.i64.s %a, %b : i64
    %r4 = vm.div.i64.u %a, %b : i64
    %r5 = vm.rem.i64.s %a, %b : i64
    %r6 = vm.rem.i64.u %a, %b : i64
    %r7 = vm.and.i64 %a, %b : i64
    %r8 = vm.or.i64 %a, %b : i64
    %r9 = vm.xor.i64 %a, %b : i64
    %r10 = vm.min.i64.s %a, %b : i64
    %r11 = vm.min.i64.u %a, %b : i64
    %r12 = vm.max.i64.s %a, %b : i64
    %r13 = vm.max.i64.u %a, %b : i64
    %r14 = vm.fma.i64 %a, %b, %a : i64
    %r15 = vm.not.i64 %a : i64
    %r16 = vm.abs.i64 %a : i64
    %r17 = vm.ctlz.i64 %a : i64
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13, %r14, %r15, %r16, %r17
        : i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64,
          i64, i64, i64, i64, i64
  }

  // Shifts; the amount is taken modulo the width.
  vm.export @shift_i64
  vm.func @shift_i64(%a: i64, %n: i32)
      -> (i64, i64, i64) {
    %r0 = vm.shl.i64 %a, %n : i64
    %r1 = vm.shr.i64.s %a, %n : i64
    %r2 = vm.shr.i64.u %a, %n : i64
    vm.return %r0, %r1, %r2
        : i64, i64, i64
  }

  // Comparisons, 1 or 0.
  vm.export @compare_i64
  vm.func @compare_i64(%a: i64, %b: i64)
      -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) {
    %r0 = vm.cmp.eq.i64 %a, %b : i64
    %r1 = vm.cmp.ne.i64 %a, %b : i64
    %r2 = vm.cmp.lt.i64.s %a, %b : i64
    %r3 = vm.cmp.lt.i64.u %a, %b : i64
    %r4 = vm.cmp.lte.i64.s %a, %b : i64
    %r5 = vm.cmp.lte.i64.u %a, %b : i64
    %r6 = vm.cmp.gt.i64.s %a, %b : i64
    %r7 = vm.cmp.gt.i64.u %a, %b : i64
    %r8 = vm.cmp.gte.i64.s %a, %b : i64
    %r9 = vm.cmp.gte.i64.u %a, %b : i64
    %r10 = vm.cmp.nz.i64 %a : i64
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10
        : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  }

  // A choice of two, and one by index with a default.
  vm.export @choose_i64
  vm.func @choose_i64(%c: i32, %a: i64, %b: i64, %d: i64)
      -> (i64, i64) {
    %r0 = vm.select.i64 %c, %a, %b : i64
    %r1 = vm.switch.i64 %c[%a, %b, %a] else %d : i64
    vm.return %r0, %r1
        : i64, i64
  }

  // Immediates.
  vm.export @constants_i64
  vm.func @constants_i64()
      -> (i64, i64, i64, i64, i64, i64, i64) {
    %r0 = vm.const.i64 0
    %r1 = vm.const.i64 1
    %r2 = vm.const.i64 -1
    %r3 = vm.const.i64 9223372036854775807
    %r4 = vm.const.i64 -9223372036854775808
    %r5 = vm.const.i64 4294967296
    %r6 = vm.const.i64.zero
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6
        : i64, i64, i64, i64, i64, i64, i64
  }

  // Truncation and extension.
  vm.export @convert
  vm.func @convert(%a: i32, %b: i64)
      -> (i32, i32, i32, i32, i32, i32, i32, i64, i64) {
    %r0 = vm.trunc.i32.i8 %a : i32 -> i32
    %r1 = vm.trunc.i32.i16 %a : i32 -> i32
    %r2 = vm.trunc.i64.i32 %b : i64 -> i32
    %r3 = vm.ext.i8.i32.s %a : i32 -> i32
    %r4 = vm.ext.i8.i32.u %a : i32 -> i32
    %r5 = vm.ext.i16.i32.s %a : i32 -> i32
    %r6 = vm.ext.i16.i32.u %a : i32 -> i32
    %r7 = vm.ext.i32.i64.s %a : i32 -> i64
    %r8 = vm.ext.i32.i64.u %a : i32 -> i64
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8
        : i32, i32, i32, i32, i32, i32, i32, i64, i64
  }
}
