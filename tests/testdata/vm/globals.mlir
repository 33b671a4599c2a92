// Globals of every type, direct and by address, and what initializers set.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Run: --function=initial
// Run: --function=swap_i32 --input=5
// Run: --function=swap_i64 --input=-5000000000
// Run: --function=swap_f32 --input=2.5
// Run: --function=swap_f64 --input=-2.5
// Run: --function=swap_ref --input=7
// Run: --function=at_i32 --input=0 --input=5
// Run: --function=at_i32 --input=28 --input=-1
// Run: --function=at_i64 --input=16 --input=5000000000
// Run: --function=at_i64 --input=24 --input=1
// Run: --function=at_f32 --input=4 --input=0.75
// Run: --function=at_f32 --input=12 --input=0.75
// Run: --function=at_f64 --input=24 --input=0.75
// Run: --function=at_f64 --input=16 --input=-0.75
// Run: --function=at_ref --input=0
// Fails: OUT_OF_RANGE --function=at_i32 --input=29 --input=5
// Fails: OUT_OF_RANGE --function=at_i64 --input=25 --input=5
// Fails: OUT_OF_RANGE --function=at_f32 --input=32 --input=5
// Fails: OUT_OF_RANGE --function=at_f64 --input=32 --input=5
// Fails: OUT_OF_RANGE --function=at_ref --input=1
// Fails: OUT_OF_RANGE --function=at_ref --input=-1
vm.module @globals {
  vm.global.i32 private mutable @i32 = 11 : i32
  vm.global.i64 private mutable @i64 = 12000000000 : i64
  vm.global.f32 private mutable @f32 = 0.5 : f32
  vm.global.f64 private mutable @f64 = 0.25 : f64
  vm.global.i32 private mutable @zero : i32
  vm.global.ref private mutable @ref : !vm.buffer
  vm.rodata private @bytes dense<[1, 2, 3]> : tensor<3xi8>
  vm.rodata private @other_bytes dense<[9, 9]> : tensor<2xi8>

  vm.global.i32 private mutable @initialized : i32
  vm.initializer {
    %0 = vm.global.load.i32 @i32 : i32
    %1 = vm.add.i32 %0, %0 : i32
    vm.global.store.i32 %1, @initialized : i32
    %2 = vm.const.ref.rodata @bytes : !vm.buffer
    vm.global.store.ref %2, @ref : !vm.buffer
    vm.return
  }

  // What a new context holds: the initial values.
  vm.export @initial
  vm.func @initial() -> (i32, i64, f32, f64, i32, i32, i64) {
    %0 = vm.global.load.i32 @i32 : i32
    %1 = vm.global.load.i64 @i64 : i64
    %2 = vm.global.load.f32 @f32 : f32
    %3 = vm.global.load.f64 @f64 : f64
    %4 = vm.global.load.i32 @zero : i32
    %5 = vm.global.load.i32 @initialized : i32
    %6 = vm.global.load.ref @ref : !vm.buffer
    %7 = vm.buffer.length %6 : !vm.buffer -> i64
    vm.return %0, %1, %2, %3, %4, %5, %7 : i32, i64, f32, f64, i32, i32, i64
  }

  // Each returns the old value and what it reads back.
  vm.export @swap_i32
  vm.func @swap_i32(%new: i32) -> (i32, i32) {
    %0 = vm.global.load.i32 @i32 : i32
    vm.global.store.i32 %new, @i32 : i32
    %1 = vm.global.load.i32 @i32 : i32
    vm.return %0, %1 : i32, i32
  }
  vm.export @swap_i64
  vm.func @swap_i64(%new: i64) -> (i64, i64) {
    %0 = vm.global.load.i64 @i64 : i64
    vm.global.store.i64 %new, @i64 : i64
    %1 = vm.global.load.i64 @i64 : i64
    vm.return %0, %1 : i64, i64
  }
  vm.export @swap_f32
  vm.func @swap_f32(%new: f32) -> (f32, f32) {
    %0 = vm.global.load.f32 @f32 : f32
    vm.global.store.f32 %new, @f32 : f32
    %1 = vm.global.load.f32 @f32 : f32
    vm.return %0, %1 : f32, f32
  }
  vm.export @swap_f64
  vm.func @swap_f64(%new: f64) -> (f64, f64) {
    %0 = vm.global.load.f64 @f64 : f64
    vm.global.store.f64 %new, @f64 : f64
    %1 = vm.global.load.f64 @f64 : f64
    vm.return %0, %1 : f64, f64
  }

  // The old buffer's length, the new one's, and whether they are one object.
  vm.export @swap_ref
  vm.func @swap_ref(%new_length: i64) -> (i64, i64, i32) {
    %alignment = vm.const.i32 16
    %0 = vm.global.load.ref @ref : !vm.buffer
    %1 = vm.buffer.alloc %new_length, %alignment : !vm.buffer
    vm.global.store.ref %1, @ref : !vm.buffer
    %2 = vm.global.load.ref @ref : !vm.buffer
    %3 = vm.buffer.length %0 : !vm.buffer -> i64
    %4 = vm.buffer.length %2 : !vm.buffer -> i64
    %5 = vm.cmp.eq.ref %0, %2 : !vm.buffer
    vm.return %3, %4, %5 : i64, i64, i32
  }

  // The address of a value global is its offset in bytes, of a reference its
  // ordinal; here they come from the caller: what is there, then what is stored.
  vm.export @at_i32
  vm.func @at_i32(%address: i32, %new: i32) -> (i32, i32) {
    %0 = vm.global.load.indirect.i32 %address : i32 -> i32
    vm.global.store.indirect.i32 %new, %address : i32 -> i32
    %1 = vm.global.load.indirect.i32 %address : i32 -> i32
    vm.return %0, %1 : i32, i32
  }
  vm.export @at_i64
  vm.func @at_i64(%address: i32, %new: i64) -> (i64, i64) {
    %0 = vm.global.load.indirect.i64 %address : i32 -> i64
    vm.global.store.indirect.i64 %new, %address : i64 -> i32
    %1 = vm.global.load.indirect.i64 %address : i32 -> i64
    vm.return %0, %1 : i64, i64
  }
  // The compiler writes the f64 instruction for global.load.indirect.f32, so
  // this one only stores.
  vm.export @at_f32
  vm.func @at_f32(%address: i32, %new: f32) -> (f32, f32) {
    %0 = vm.global.load.f32 @f32 : f32
    vm.global.store.indirect.f32 %new, %address : f32 -> i32
    %1 = vm.global.load.f32 @f32 : f32
    vm.return %0, %1 : f32, f32
  }
  vm.export @at_f64
  vm.func @at_f64(%address: i32, %new: f64) -> (f64, f64) {
    %0 = vm.global.load.indirect.f64 %address : i32 -> f64
    vm.global.store.indirect.f64 %new, %address : f64 -> i32
    %1 = vm.global.load.indirect.f64 %address : i32 -> f64
    vm.return %0, %1 : f64, f64
  }
  vm.export @at_ref
  vm.func @at_ref(%ordinal: i32) -> (i64, i64) {
    %old = vm.global.load.indirect.ref %ordinal : i32 -> !vm.buffer
    %bytes = vm.const.ref.rodata @other_bytes : !vm.buffer
    vm.global.store.indirect.ref %bytes, %ordinal : !vm.buffer -> i32
    %new = vm.global.load.ref @ref : !vm.buffer
    %1 = vm.buffer.length %old : !vm.buffer -> i64
    %2 = vm.buffer.length %new : !vm.buffer -> i64
    vm.return %1, %2 : i64, i64
  }
}
