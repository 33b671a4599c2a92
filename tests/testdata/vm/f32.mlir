// Every operation on f32.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Run: --function=arithmetic --input=1.5 --input=-2.25
// Run: --function=arithmetic --input=0.1 --input=0.2
// Run: --function=arithmetic --input=-7.5 --input=2
// Run: --function=arithmetic --input=inf --input=-1
// Run: --function=math --input=0.5 --input=2
// Run: --function=math --input=2 --input=0.5
// Run: --function=math --input=10 --input=-1.5
// Run: --function=math --input=1e-3 --input=3
// Run: --function=compare --input=1.5 --input=-2.25
// Run: --function=compare --input=0.1 --input=0.2
// Run: --function=compare --input=-7.5 --input=2
// Run: --function=compare --input=1 --input=1
// Run: --function=choose --input=0 --input=1.5 --input=2.5 --input=3.5
// Run: --function=choose --input=1 --input=1.5 --input=2.5 --input=3.5
// Run: --function=choose --input=2 --input=1.5 --input=2.5 --input=3.5
// Run: --function=choose --input=3 --input=1.5 --input=2.5 --input=3.5
// Run: --function=constants
// Run: --function=from_integers --input=-1 --input=-1
// Run: --function=from_integers --input=16777217 --input=9007199254740993
// Run: --function=from_integers --input=5 --input=-5000000000
// Run: --function=to_integers --input=2.5
// Run: --function=to_integers --input=-2.5
// Run: --function=to_integers --input=0.4999999
// Run: --function=to_integers --input=1e9
// Run: --function=powers --input=1.1
// Run: --function=powers --input=-2
// Run: --function=powers --input=-0
// Run: --function=powers --input=nan
// Run: --function=powers --input=-inf
vm.module @f32 {
  // What IEEE 754 defines; rem is its remainder, not fmod.
  vm.export @arithmetic
  vm.func @arithmetic(%a: f32, %b: f32)
      -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32) {
    %r0 = vm.add.f32 %a, %b : f32
    %r1 = vm.sub.f32 %a, %b : f32
    %r2 = vm.mul.f32 %a, %b : f32
    %r3 = vm.div.f32 %a, %b : f32
    %r4 = vm.rem.f32 %a, %b : f32
    %r5 = vm.min.f32 %a, %b : f32
    %r6 = vm.max.f32 %a, %b : f32
    %r7 = vm.fma.f32 %a, %b, %a : f32
    %r8 = vm.abs.f32 %a : f32
    %r9 = vm.neg.f32 %a : f32
    %r10 = vm.ceil.f32 %a : f32
    %r11 = vm.floor.f32 %a : f32
    %r12 = vm.round.f32 %a : f32
    %r13 = vm.round.f32.even %a : f32
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13
        : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32
  }

  // What the C mathematics library computes.
  vm.export @math
  vm.func @math(%a: f32, %b: f32)
      -> (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32,
          f32, f32, f32) {
    %r0 = vm.atan2.f32 %a, %b : f32
    %r1 = vm.pow.f32 %a, %b : f32
    %r2 = vm.atan.f32 %a : f32
    %r3 = vm.cos.f32 %a : f32
    %r4 = vm.sin.f32 %a : f32
    %r5 = vm.exp.f32 %a : f32
    %r6 = vm.exp2.f32 %a : f32
    %r7 = vm.expm1.f32 %a : f32
    %r8 = vm.log.f32 %a : f32
    %r9 = vm.log10.f32 %a : f32
    %r10 = vm.log1p.f32 %a : f32
    %r11 = vm.log2.f32 %a : f32
    %r12 = vm.rsqrt.f32 %a : f32
    %r13 = vm.sqrt.f32 %a : f32
    %r14 = vm.tanh.f32 %a : f32
    %r15 = vm.erf.f32 %a : f32
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13, %r14, %r15
        : f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32,
          f32, f32, f32
  }

  // Ordered (NaN: no) and unordered (NaN: yes) comparisons.
  vm.export @compare
  vm.func @compare(%a: f32, %b: f32)
      -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
          i32, i32) {
    %r0 = vm.cmp.eq.f32.o %a, %b : f32
    %r1 = vm.cmp.eq.f32.u %a, %b : f32
    %r2 = vm.cmp.ne.f32.o %a, %b : f32
    %r3 = vm.cmp.ne.f32.u %a, %b : f32
    %r4 = vm.cmp.lt.f32.o %a, %b : f32
    %r5 = vm.cmp.lt.f32.u %a, %b : f32
    %r6 = vm.cmp.lte.f32.o %a, %b : f32
    %r7 = vm.cmp.lte.f32.u %a, %b : f32
    %r8 = vm.cmp.gt.f32.o %a, %b : f32
    %r9 = vm.cmp.gt.f32.u %a, %b : f32
    %r10 = vm.cmp.gte.f32.o %a, %b : f32
    %r11 = vm.cmp.gte.f32.u %a, %b : f32
    %r12 = vm.cmp.nan.f32 %a : f32
    %r13 = vm.cmp.nz.f32.o %a : f32
    %r14 = vm.cmp.nz.f32.u %a : f32
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13, %r14
        : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
          i32, i32
  }

  // A choice of two, and one by index with a default.
  vm.export @choose
  vm.func @choose(%c: i32, %a: f32, %b: f32, %d: f32)
      -> (f32, f32) {
    %r0 = vm.select.f32 %c, %a, %b : f32
    %r1 = vm.switch.f32 %c[%a, %b, %a] else %d : f32
    vm.return %r0, %r1
        : f32, f32
  }

  // Immediates, infinity, NaN and a denormal among them.
  vm.export @constants
  vm.func @constants()
      -> (f32, f32, f32, f32, f32, f32) {
    %r0 = vm.const.f32.zero
    %r1 = vm.const.f32 1.5
    %r2 = vm.const.f32 -0.1
    %r3 = vm.const.f32 0x7F800000
    %r4 = vm.const.f32 0x7FC00000
    %r5 = vm.const.f32 1.0e-40
    vm.return %r0, %r1, %r2, %r3, %r4, %r5
        : f32, f32, f32, f32, f32, f32
  }

  // Integers to floats.
  vm.export @from_integers
  vm.func @from_integers(%i: i32, %j: i64)
      -> (f32, f32, f32, f32, f32) {
    %r0 = vm.cast.si32.f32 %i : i32 -> f32
    %r1 = vm.cast.ui32.f32 %i : i32 -> f32
    %r2 = vm.cast.si64.f32 %j : i64 -> f32
    %r3 = vm.cast.ui64.f32 %j : i64 -> f32
    %r4 = vm.bitcast.i32.f32 %i : i32 -> f32
    vm.return %r0, %r1, %r2, %r3, %r4
        : f32, f32, f32, f32, f32
  }

  // Floats to integers: nearest, ties away from zero.
  vm.export @to_integers
  vm.func @to_integers(%a: f32)
      -> (i32, i32, i64, i64, i32) {
    %r0 = vm.cast.f32.si32 %a : f32 -> i32
    %r1 = vm.cast.f32.ui32 %a : f32 -> i32
    %r2 = vm.cast.f32.si64 %a : f32 -> i64
    %r3 = vm.cast.f32.ui64 %a : f32 -> i64
    %r4 = vm.bitcast.f32.i32 %a : f32 -> i32
    vm.return %r0, %r1, %r2, %r3, %r4
        : i32, i32, i64, i64, i32
  }

  // The bits of powers, each for another exponent.
  vm.export @powers
  vm.func @powers(%a: f32)
      -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32) {
    %n0 = vm.const.i64 0
    %p0 = vm.fpowi.f32 %a, %n0 : f32
    %r0 = vm.bitcast.f32.i32 %p0 : f32 -> i32
    %n1 = vm.const.i64 1
    %p1 = vm.fpowi.f32 %a, %n1 : f32
    %r1 = vm.bitcast.f32.i32 %p1 : f32 -> i32
    %n2 = vm.const.i64 -1
    %p2 = vm.fpowi.f32 %a, %n2 : f32
    %r2 = vm.bitcast.f32.i32 %p2 : f32 -> i32
    %n3 = vm.const.i64 3
    %p3 = vm.fpowi.f32 %a, %n3 : f32
    %r3 = vm.bitcast.f32.i32 %p3 : f32 -> i32
    %n4 = vm.const.i64 -3
    %p4 = vm.fpowi.f32 %a, %n4 : f32
    %r4 = vm.bitcast.f32.i32 %p4 : f32 -> i32
    %n5 = vm.const.i64 100
    %p5 = vm.fpowi.f32 %a, %n5 : f32
    %r5 = vm.bitcast.f32.i32 %p5 : f32 -> i32
    %n6 = vm.const.i64 -100
    %p6 = vm.fpowi.f32 %a, %n6 : f32
    %r6 = vm.bitcast.f32.i32 %p6 : f32 -> i32
    %n7 = vm.const.i64 16777217
    %p7 = vm.fpowi.f32 %a, %n7 : f32
    %r7 = vm.bitcast.f32.i32 %p7 : f32 -> i32
    %n8 = vm.const.i64 -16777217
    %p8 = vm.fpowi.f32 %a, %n8 : f32
    %r8 = vm.bitcast.f32.i32 %p8 : f32 -> i32
    %n9 = vm.const.i64 -140
    %p9 = vm.fpowi.f32 %a, %n9 : f32
    %r9 = vm.bitcast.f32.i32 %p9 : f32 -> i32
    %n10 = vm.const.i64 -1060
    %p10 = vm.fpowi.f32 %a, %n10 : f32
    %r10 = vm.bitcast.f32.i32 %p10 : f32 -> i32
    %n11 = vm.const.i64 2147483648
    %p11 = vm.fpowi.f32 %a, %n11 : f32
    %r11 = vm.bitcast.f32.i32 %p11 : f32 -> i32
    %n12 = vm.const.i64 4294967297
    %p12 = vm.fpowi.f32 %a, %n12 : f32
    %r12 = vm.bitcast.f32.i32 %p12 : f32 -> i32
    %n13 = vm.const.i64 9223372036854775807
    %p13 = vm.fpowi.f32 %a, %n13 : f32
    %r13 = vm.bitcast.f32.i32 %p13 : f32 -> i32
    %n14 = vm.const.i64 -9223372036854775808
    %p14 = vm.fpowi.f32 %a, %n14 : f32
    %r14 = vm.bitcast.f32.i32 %p14 : f32 -> i32
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14
        : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32
  }
}
