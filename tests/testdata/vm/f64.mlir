// Every operation on f64.
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
// Run: --function=from_integers --input=-1
// Run: --function=from_integers --input=9007199254740993
// Run: --function=from_integers --input=-5000000000
// Run: --function=to_integers --input=2.5
// Run: --function=to_integers --input=-2.5
// Run: --function=to_integers --input=0.4999999
// Run: --function=to_integers --input=1e9
// Run: --function=widths --input=0.1 --input=0.1
// Run: --function=widths --input=1e300 --input=-2.5
// Run: --function=powers --input=1.1
// Run: --function=powers --input=-2
// Run: --function=powers --input=-0
// Run: --function=powers --input=nan
// Run: --function=powers --input=-inf
vm.module @f64 {
  // What IEEE 754 defines; rem is its remainder, not fmod.
  vm.export @arithmetic
  vm.func @arithmetic(%a: f64, %b: f64)
      -> (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64) {
    %r0 = vm.add.f64 %a, %b : f64
    %r1 = vm.sub.f64 %a, %b : f64
    %r2 = vm.mul.f64 %a, %b : f64
    %r3 = vm.div.f64 %a, %b : f64
    %r4 = vm.rem.f64 %a, %b : f64
    %r5 = vm.min.f64 %a, %b : f64
    %r6 = vm.max.f64 %a, %b : f64
    %r7 = vm.fma.f64 %a, %b, %a : f64
    %r8 = vm.abs.f64 %a : f64
    %r9 = vm.neg.f64 %a : f64
    %r10 = vm.ceil.f64 %a : f64
    %r11 = vm.floor.f64 %a : f64
    %r12 = vm.round.f64 %a : f64
    %r13 = vm.round.f64.even %a : f64
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13
        : f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64
  }

  // What the C mathematics library computes.
  vm.export @math
  vm.func @math(%a: f64, %b: f64)
      -> (f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64,
          f64, f64, f64) {
    %r0 = vm.atan2.f64 %a, %b : f64
    %r1 = vm.pow.f64 %a, %b : f64
    %r2 = vm.atan.f64 %a : f64
    %r3 = vm.cos.f64 %a : f64
    %r4 = vm.sin.f64 %a : f64
    %r5 = vm.exp.f64 %a : f64
    %r6 = vm.exp2.f64 %a : f64
    %r7 = vm.expm1.f64 %a : f64
    %r8 = vm.log.f64 %a : f64
    %r9 = vm.log10.f64 %a : f64
    %r10 = vm.log1p.f64 %a : f64
    %r11 = vm.log2.f64 %a : f64
    %r12 = vm.rsqrt.f64 %a : f64
    %r13 = vm.sqrt.f64 %a : f64
    %r14 = vm.tanh.f64 %a : f64
    %r15 = vm.erf.f64 %a : f64
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13, %r14, %r15
        : f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64, f64,
          f64, f64, f64
  }

  // Ordered (NaN: no) and unordered (NaN: yes) comparisons.
  vm.export @compare
  vm.func @compare(%a: f64, %b: f64)
      -> (i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
          i32, i32) {
    %r0 = vm.cmp.eq.f64.o %a, %b : f64
    %r1 = vm.cmp.eq.f64.u %a, %b : f64
    %r2 = vm.cmp.ne.f64.o %a, %b : f64
    %r3 = vm.cmp.ne.f64.u %a, %b : f64
    %r4 = vm.cmp.lt.f64.o %a, %b : f64
    %r5 = vm.cmp.lt.f64.u %a, %b : f64
    %r6 = vm.cmp.lte.f64.o %a, %b : f64
    %r7 = vm.cmp.lte.f64.u %a, %b : f64
    %r8 = vm.cmp.gt.f64.o %a, %b : f64
    %r9 = vm.cmp.gt.f64.u %a, %b : f64
    %r10 = vm.cmp.gte.f64.o %a, %b : f64
    %r11 = vm.cmp.gte.f64.u %a, %b : f64
    %r12 = vm.cmp.nan.f64 %a : f64
    %r13 = vm.cmp.nz.f64.o %a : f64
    %r14 = vm.cmp.nz.f64.u %a : f64
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11,
              %r12, %r13, %r14
        : i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32, i32,
          i32, i32
  }

  // A choice of two, and one by index with a default.
  vm.export @choose
  vm.func @choose(%c: i32, %a: f64, %b: f64, %d: f64)
      -> (f64, f64) {
    %r0 = vm.select.f64 %c, %a, %b : f64
    %r1 = vm.switch.f64 %c[%a, %b, %a] else %d : f64
    vm.return %r0, %r1
        : f64, f64
  }

  // Immediates, infinity, NaN and a denormal among them.
  vm.export @constants
  vm.func @constants()
      -> (f64, f64, f64, f64, f64, f64) {
    %r0 = vm.const.f64.zero
    %r1 = vm.const.f64 1.5
    %r2 = vm.const.f64 -0.1
    %r3 = vm.const.f64 0x7FF0000000000000
    %r4 = vm.const.f64 0x7FF8000000000000
    %r5 = vm.const.f64 1.0e-310
    vm.return %r0, %r1, %r2, %r3, %r4, %r5
        : f64, f64, f64, f64, f64, f64
  }

  // Integers to floats.
  vm.export @from_integers
  vm.func @from_integers(%j: i64)
      -> (f64, f64, f64) {
    %r0 = vm.cast.si64.f64 %j : i64 -> f64
    %r1 = vm.cast.ui64.f64 %j : i64 -> f64
    %r2 = vm.bitcast.i64.f64 %j : i64 -> f64
    vm.return %r0, %r1, %r2
        : f64, f64, f64
  }

  // Floats to integers: nearest, ties away from zero.
  vm.export @to_integers
  vm.func @to_integers(%a: f64)
      -> (i64, i64, i64) {
    %r0 = vm.cast.f64.si64 %a : f64 -> i64
    %r1 = vm.cast.f64.ui64 %a : f64 -> i64
    %r2 = vm.bitcast.f64.i64 %a : f64 -> i64
    vm.return %r0, %r1, %r2
        : i64, i64, i64
  }

  // Between the widths.
  vm.export @widths
  vm.func @widths(%a: f64, %b: f32)
      -> (f32, f64) {
    %r0 = vm.trunc.f64.f32 %a : f64 -> f32
    %r1 = vm.ext.f32.f64 %b : f32 -> f64
    vm.return %r0, %r1
        : f32, f64
  }

  // The bits of powers, each for another exponent.
  vm.export @powers
  vm.func @powers(%a: f64)
      -> (i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64) {
    %n0 = vm.const.i64 0
    %p0 = vm.fpowi.f64 %a, %n0 : f64
    %r0 = vm.bitcast.f64.i64 %p0 : f64 -> i64
    %n1 = vm.const.i64 1
    %p1 = vm.fpowi.f64 %a, %n1 : f64
    %r1 = vm.bitcast.f64.i64 %p1 : f64 -> i64
    %n2 = vm.const.i64 -1
    %p2 = vm.fpowi.f64 %a, %n2 : f64
    %r2 = vm.bitcast.f64.i64 %p2 : f64 -> i64
    %n3 = vm.const.i64 3
    %p3 = vm.fpowi.f64 %a, %n3 : f64
    %r3 = vm.bitcast.f64.i64 %p3 : f64 -> i64
    %n4 = vm.const.i64 -3
    %p4 = vm.fpowi.f64 %a, %n4 : f64
    %r4 = vm.bitcast.f64.i64 %p4 : f64 -> i64
    %n5 = vm.const.i64 100
    %p5 = vm.fpowi.f64 %a, %n5 : f64
    %r5 = vm.bitcast.f64.i64 %p5 : f64 -> i64
    %n6 = vm.const.i64 -100
    %p6 = vm.fpowi.f64 %a, %n6 : f64
    %r6 = vm.bitcast.f64.i64 %p6 : f64 -> i64
    %n7 = vm.const.i64 16777217
    %p7 = vm.fpowi.f64 %a, %n7 : f64
    %r7 = vm.bitcast.f64.i64 %p7 : f64 -> i64
    %n8 = vm.const.i64 -16777217
    %p8 = vm.fpowi.f64 %a, %n8 : f64
    %r8 = vm.bitcast.f64.i64 %p8 : f64 -> i64
    %n9 = vm.const.i64 -140
    %p9 = vm.fpowi.f64 %a, %n9 : f64
    %r9 = vm.bitcast.f64.i64 %p9 : f64 -> i64
    %n10 = vm.const.i64 -1060
    %p10 = vm.fpowi.f64 %a, %n10 : f64
    %r10 = vm.bitcast.f64.i64 %p10 : f64 -> i64
    %n11 = vm.const.i64 2147483648
    %p11 = vm.fpowi.f64 %a, %n11 : f64
    %r11 = vm.bitcast.f64.i64 %p11 : f64 -> i64
    %n12 = vm.const.i64 4294967297
    %p12 = vm.fpowi.f64 %a, %n12 : f64
    %r12 = vm.bitcast.f64.i64 %p12 : f64 -> i64
    %n13 = vm.const.i64 9223372036854775807
    %p13 = vm.fpowi.f64 %a, %n13 : f64
    %r13 = vm.bitcast.f64.i64 %p13 : f64 -> i64
    %n14 = vm.const.i64 -9223372036854775808
    %p14 = vm.fpowi.f64 %a, %n14 : f64
    %r14 = vm.bitcast.f64.i64 %p14 : f64 -> i64
    vm.return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11, %r12, %r13, %r14
        : i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64
  }
}
