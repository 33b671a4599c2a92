// Forwards every import of the `vmvx` module, so that tests can call them with
// whatever arguments they like.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
vm.module public @vmvx_calls {
  vm.import private @vmvx.add.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.sub.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.mul.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.div.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.add.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.sub.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.mul.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.divs.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.divu.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.and.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.or.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.xor.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.shl.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.shrs.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.shru.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : !vm.buffer, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64)
  vm.import private @vmvx.abs.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.ceil.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.exp.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.floor.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.log.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.neg.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.rsqrt.2d.f32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.ctlz.2d.i32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.copy.2d.x8(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.copy.2d.x16(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.copy.2d.x32(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.copy.2d.x64(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64)
  vm.import private @vmvx.fill.2d.x32(%a0 : i32, %a1 : !vm.buffer, %a2 : i64, %a3 : i64, %a4 : i64, %a5 : i64)
  vm.import private @vmvx.mmt4d(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : !vm.buffer, %a4 : i64, %a5 : i64, %a6 : !vm.buffer, %a7 : i64, %a8 : i64, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i32, %a13 : i32, %a14 : i32, %a15 : i32)
  vm.import private @vmvx.pack(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64, %a14 : i64, %a15 : i32)
  vm.import private @vmvx.unpack(%a0 : !vm.buffer, %a1 : i64, %a2 : i64, %a3 : i64, %a4 : !vm.buffer, %a5 : i64, %a6 : i64, %a7 : i64, %a8 : i64, %a9 : i64, %a10 : i64, %a11 : i64, %a12 : i64, %a13 : i64, %a14 : i32)
  vm.import private @vmvx.query_tile_sizes.2d(%a0 : i64, %a1 : i64, %a2 : i32) -> (i64, i64)
  vm.export @add_2d_f32
  vm.func private @add_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.add.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @sub_2d_f32
  vm.func private @sub_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.sub.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @mul_2d_f32
  vm.func private @mul_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.mul.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @div_2d_f32
  vm.func private @div_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.div.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @add_2d_i32
  vm.func private @add_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.add.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @sub_2d_i32
  vm.func private @sub_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.sub.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @mul_2d_i32
  vm.func private @mul_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.mul.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @divs_2d_i32
  vm.func private @divs_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.divs.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @divu_2d_i32
  vm.func private @divu_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.divu.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @and_2d_i32
  vm.func private @and_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.and.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @or_2d_i32
  vm.func private @or_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.or.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @xor_2d_i32
  vm.func private @xor_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.xor.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @shl_2d_i32
  vm.func private @shl_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.shl.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @shrs_2d_i32
  vm.func private @shrs_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.shrs.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @shru_2d_i32
  vm.func private @shru_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : !vm.buffer, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64) {
    vm.call @vmvx.shru.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @abs_2d_f32
  vm.func private @abs_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.abs.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @ceil_2d_f32
  vm.func private @ceil_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.ceil.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @exp_2d_f32
  vm.func private @exp_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.exp.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @floor_2d_f32
  vm.func private @floor_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.floor.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @log_2d_f32
  vm.func private @log_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.log.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @neg_2d_f32
  vm.func private @neg_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.neg.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @rsqrt_2d_f32
  vm.func private @rsqrt_2d_f32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.rsqrt.2d.f32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @ctlz_2d_i32
  vm.func private @ctlz_2d_i32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.ctlz.2d.i32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @copy_2d_x8
  vm.func private @copy_2d_x8(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.copy.2d.x8(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @copy_2d_x16
  vm.func private @copy_2d_x16(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.copy.2d.x16(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @copy_2d_x32
  vm.func private @copy_2d_x32(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.copy.2d.x32(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @copy_2d_x64
  vm.func private @copy_2d_x64(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64) {
    vm.call @vmvx.copy.2d.x64(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @fill_2d_x32
  vm.func private @fill_2d_x32(%p0 : i32, %p1 : !vm.buffer, %p2 : i64, %p3 : i64, %p4 : i64, %p5 : i64) {
    vm.call @vmvx.fill.2d.x32(%p0, %p1, %p2, %p3, %p4, %p5) : (i32, !vm.buffer, i64, i64, i64, i64) -> ()
    vm.return
  }
  vm.export @mmt4d
  vm.func private @mmt4d(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : !vm.buffer, %p4 : i64, %p5 : i64, %p6 : !vm.buffer, %p7 : i64, %p8 : i64, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i32, %p13 : i32, %p14 : i32, %p15 : i32) {
    vm.call @vmvx.mmt4d(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15) : (!vm.buffer, i64, i64, !vm.buffer, i64, i64, !vm.buffer, i64, i64, i64, i64, i64, i32, i32, i32, i32) -> ()
    vm.return
  }
  vm.export @pack
  vm.func private @pack(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64, %p14 : i64, %p15 : i32) {
    vm.call @vmvx.pack(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14, %p15) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64, i64, i64, i64, i64, i64, i32) -> ()
    vm.return
  }
  vm.export @unpack
  vm.func private @unpack(%p0 : !vm.buffer, %p1 : i64, %p2 : i64, %p3 : i64, %p4 : !vm.buffer, %p5 : i64, %p6 : i64, %p7 : i64, %p8 : i64, %p9 : i64, %p10 : i64, %p11 : i64, %p12 : i64, %p13 : i64, %p14 : i32) {
    vm.call @vmvx.unpack(%p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, %p9, %p10, %p11, %p12, %p13, %p14) : (!vm.buffer, i64, i64, i64, !vm.buffer, i64, i64, i64, i64, i64, i64, i64, i64, i64, i32) -> ()
    vm.return
  }
  vm.export @query_tile_sizes_2d
  vm.func private @query_tile_sizes_2d(%p0 : i64, %p1 : i64, %p2 : i32) -> (i64, i64) {
    %r:2 = vm.call @vmvx.query_tile_sizes.2d(%p0, %p1, %p2) : (i64, i64, i32) -> (i64, i64)
    vm.return %r#0, %r#1 : i64, i64
  }
}
