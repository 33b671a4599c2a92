// Byte buffers: sizes, loads and stores of every width, and ranges.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Run: --function=load --input=0
// Run: --function=load --input=1
// Run: --function=load_wide --input=0
// Run: --function=store --input=-2 --input=5000000000 --input=1.5 --input=-0.1
// Run: --function=store --input=65537 --input=-1 --input=0 --input=0
// Run: --function=fill --input=-2 --input=5000000000 --input=1.5 --input=-0.1
// Run: --function=fill --input=258 --input=-1 --input=0 --input=0
// Run: --function=ranges --input=0 --input=13
// Run: --function=ranges --input=7 --input=6
// Fails: OUT_OF_RANGE --function=load_past_end --input=2
// Fails: OUT_OF_RANGE --function=ranges --input=0 --input=14
// Fails: PERMISSION_DENIED --function=store_read_only --input=0
// Fails: PERMISSION_DENIED --function=store_read_only --input=100
// Run: --function=bad_alignment --input=0
// Run: --function=bad_alignment --input=64
// Fails: INVALID_ARGUMENT --function=bad_alignment --input=3
// Fails: INVALID_ARGUMENT --function=null
vm.module @buffers {
  vm.rodata private @bytes dense<[1, -2, 3, -4, 5, -6, 7, -8]> : tensor<8xi8>
  vm.rodata private @text "hello, buffer"

  // Offsets count elements of the width.
  vm.export @load
  vm.func @load(%at: i64) -> (i32, i32, i32, i32, i32) {
    %b = vm.const.ref.rodata @bytes : !vm.buffer
    %0 = vm.buffer.load.i8.u %b[%at] : !vm.buffer -> i32
    %1 = vm.buffer.load.i8.s %b[%at] : !vm.buffer -> i32
    %2 = vm.buffer.load.i16.u %b[%at] : !vm.buffer -> i32
    %3 = vm.buffer.load.i16.s %b[%at] : !vm.buffer -> i32
    %4 = vm.buffer.load.i32 %b[%at] : !vm.buffer -> i32
    vm.return %0, %1, %2, %3, %4 : i32, i32, i32, i32, i32
  }
  vm.export @load_wide
  vm.func @load_wide(%at: i64) -> (i64, f64, f32) {
    %b = vm.const.ref.rodata @bytes : !vm.buffer
    %0 = vm.buffer.load.i64 %b[%at] : !vm.buffer -> i64
    %1 = vm.buffer.load.f64 %b[%at] : !vm.buffer -> f64
    %2 = vm.buffer.load.f32 %b[%at] : !vm.buffer -> f32
    vm.return %0, %1, %2 : i64, f64, f32
  }

  // Stores side by side, then the first 32 bytes as four words.
  vm.export @store
  vm.func @store(%a: i32, %b: i64, %c: f32, %d: f64) -> (i64, i64, i64, i64) {
    %size = vm.const.i64 32
    %alignment = vm.const.i32 16
    %0 = vm.const.i64 0
    %1 = vm.const.i64 1
    %2 = vm.const.i64 2
    %3 = vm.const.i64 3
    %buffer = vm.buffer.alloc %size, %alignment : !vm.buffer
    vm.buffer.store.i8 %a, %buffer[%0] : i32 -> !vm.buffer
    vm.buffer.store.i16 %a, %buffer[%1] : i32 -> !vm.buffer
    vm.buffer.store.i32 %a, %buffer[%1] : i32 -> !vm.buffer
    vm.buffer.store.i64 %b, %buffer[%1] : i64 -> !vm.buffer
    %4 = vm.const.i64 4
    vm.buffer.store.f32 %c, %buffer[%4] : f32 -> !vm.buffer
    vm.buffer.store.f64 %d, %buffer[%3] : f64 -> !vm.buffer
    %r0 = vm.buffer.load.i64 %buffer[%0] : !vm.buffer -> i64
    %r1 = vm.buffer.load.i64 %buffer[%1] : !vm.buffer -> i64
    %r2 = vm.buffer.load.i64 %buffer[%2] : !vm.buffer -> i64
    %r3 = vm.buffer.load.i64 %buffer[%3] : !vm.buffer -> i64
    vm.return %r0, %r1, %r2, %r3 : i64, i64, i64, i64
  }

  // Fills of every width, a range each; the hash of all of it.
  vm.export @fill
  vm.func @fill(%a: i32, %b: i64, %c: f32, %d: f64)
      -> (i64, i64, i64, i64, i64, i64, i64, i64) {
    %size = vm.const.i64 64
    %alignment = vm.const.i32 0
    %0 = vm.const.i64 0
    %1 = vm.const.i64 1
    %2 = vm.const.i64 2
    %3 = vm.const.i64 3
    %4 = vm.const.i64 4
    %5 = vm.const.i64 5
    %6 = vm.const.i64 6
    %7 = vm.const.i64 7
    %10 = vm.const.i64 10
    %buffer = vm.buffer.alloc %size, %alignment : !vm.buffer
    vm.buffer.fill.i8 %buffer, %1, %5, %a : i32 -> !vm.buffer
    vm.buffer.fill.i16 %buffer, %4, %3, %a : i32 -> !vm.buffer
    vm.buffer.fill.i32 %buffer, %4, %2, %a : i32 -> !vm.buffer
    vm.buffer.fill.i64 %buffer, %3, %1, %b : i64 -> !vm.buffer
    vm.buffer.fill.f32 %buffer, %10, %2, %c : f32 -> !vm.buffer
    vm.buffer.fill.f64 %buffer, %6, %1, %d : f64 -> !vm.buffer
    %r0 = vm.buffer.load.i64 %buffer[%0] : !vm.buffer -> i64
    %r1 = vm.buffer.load.i64 %buffer[%1] : !vm.buffer -> i64
    %r2 = vm.buffer.load.i64 %buffer[%2] : !vm.buffer -> i64
    %r3 = vm.buffer.load.i64 %buffer[%3] : !vm.buffer -> i64
    %r5 = vm.buffer.load.i64 %buffer[%5] : !vm.buffer -> i64
    %r6 = vm.buffer.load.i64 %buffer[%6] : !vm.buffer -> i64
    %r7 = vm.buffer.load.i64 %buffer[%7] : !vm.buffer -> i64
    %hash = vm.buffer.hash %buffer, %0, %size : !vm.buffer -> i64
    vm.return %r0, %r1, %r2, %r3, %r5, %r6, %r7, %hash
        : i64, i64, i64, i64, i64, i64, i64, i64
  }

  // A clone of a range, a copy over it, and comparisons with the source.
  vm.export @ranges
  vm.func @ranges(%offset: i64, %length: i64) -> (i64, i32, i32, i64, i64) {
    %alignment = vm.const.i32 64
    %0 = vm.const.i64 0
    %1 = vm.const.i64 1
    %text = vm.const.ref.rodata @text : !vm.buffer
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %clone = vm.buffer.clone %text, %offset, %length, %alignment : !vm.buffer -> !vm.buffer
    %size = vm.buffer.length %clone : !vm.buffer -> i64
    %same = vm.buffer.compare %text, %offset, %clone, %0, %length : !vm.buffer, !vm.buffer
    %hash = vm.buffer.hash %clone, %0, %size : !vm.buffer -> i64
    vm.buffer.copy %bytes, %1, %clone, %0, %1 : !vm.buffer -> !vm.buffer
    %other = vm.buffer.compare %text, %offset, %clone, %0, %length : !vm.buffer, !vm.buffer
    %hash1 = vm.buffer.hash %clone, %0, %size : !vm.buffer -> i64
    vm.return %size, %same, %other, %hash, %hash1 : i64, i32, i32, i64, i64
  }

  // Each of these fails.
  vm.export @load_past_end
  vm.func @load_past_end(%at: i64) -> i32 {
    %b = vm.const.ref.rodata @bytes : !vm.buffer
    %0 = vm.buffer.load.i32 %b[%at] : !vm.buffer -> i32
    vm.return %0 : i32
  }
  vm.export @store_read_only
  vm.func @store_read_only(%at: i64) -> i64 {
    %b = vm.const.ref.rodata @bytes : !vm.buffer
    %0 = vm.const.i32 0
    vm.buffer.store.i8 %0, %b[%at] : i32 -> !vm.buffer
    vm.return %at : i64
  }
  vm.export @bad_alignment
  vm.func @bad_alignment(%alignment: i32) -> i64 {
    %size = vm.const.i64 32
    %buffer = vm.buffer.alloc %size, %alignment : !vm.buffer
    %0 = vm.buffer.length %buffer : !vm.buffer -> i64
    vm.return %0 : i64
  }
  vm.export @null
  vm.func @null() -> i64 {
    %null = vm.const.ref.zero : !vm.buffer
    %0 = vm.buffer.length %null : !vm.buffer -> i64
    vm.return %0 : i64
  }
}
