// Functions that give back what they get, so that the tools' text formats can
// be tested apart from any kernel.
// Compile: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=generic --iree-llvmcpu-debug-symbols=false --iree-input-demote-f64-to-f32=false -o %t.vmfb
// Run: --function=view "--input=2x3xf32=[[1,2,3],[4,5,6]]"
// Run: --function=view --input=2x3xf32=7
// Run: --function=view --input=2x3xf32=
// Run: --function=view --input=2x3xf32
// Run: --function=view --input=xf32=3
// Run: --function=view --input=f32=-1.5
// Run: --function=view --input=2x0x3xf32
// Run: --function=view --input=0x4xf32=
// Run: --function=view "--input=2x2x2xf32=1 2 3 4 5 6 7 8"
// Run: --function=view --input=1x1x1xf32=1
// Run: --function=view "--input=2xi8=128 -128"
// Run: --function=view "--input=2xui8=255 0x10"
// Run: --function=view "--input=2xi16=65535 -32768"
// Run: --function=view "--input=2xi32=4294967295 010"
// Run: --function=view "--input=2xui32=4294967295 0"
// Run: --function=view "--input=2xui64=18446744073709551615 1"
// Run: --function=view "--input=2xi64=9223372036854775807 -9223372036854775808"
// Run: --function=view "--input=4xf32=inf -inf nan 1e39"
// Run: --function=view "--input=5xf32=1e-40 0x1p-3 123456789 1e10 -0"
// Run: --function=view "--input=3xf64=1.23456789 1e100 -1e-300"
// Run: --function=view "--input=5xf16=1.23456789 65519 65520 6e-8 -0"
// Run: --function=view "--input=3xbf16=1.23456789 3.4e38 1e-40"
// Run: --function=view "--input=5xf8E5M2=1.25 61440 61441 nan -2e-5"
// Run: --function=view "--input=5xf8E4M3FN=1.25 464 465 nan 0.0035"
// Run: --function=view "--input=5xf8E5M2FNUZ=1.25 448 1e6 nan -0"
// Run: --function=view "--input=5xf8E4M3FNUZ=1.25 247 248 nan -1"
// Run: --function=view "--input=6xf8E8M0FNU=1.4 1.5 448 1e6 nan 0"
// Run: --function=view "--input=2xi1=01 00"
// Run: --function=view --input=2xi1=01
// Run: --function=view "--input=2x*32=01020304 aabbccdd"
// Run: --function=view --input=1xcf64=0000803f00000040
// Run: --function=view --input=2xcf128=00000000000000000000000000000000
// Run: --function=view "--input=(null)"
// Run: --function=view --input=10xf32=2 --output_max_element_count=3
// Run: --function=view "--input=3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12" --output_max_element_count=6
// Run: --function=view "--input=3x4xf32=1 2 3 4 5 6 7 8 9 10 11 12" --output_max_element_count=4
// Run: --function=view --input=3x4xi1=01 --output_max_element_count=0
// Run: --function=view --input=@%D/arrays.npy
// Run: --function=views --input=@%D/arrays.npy --input=+%D/arrays.npy
// Run: --function=views --input=*%D/arrays.npy
// Run: --function=views --input=2xf32=@%D/floats.bin --input=2xf32=+%D/floats.bin
// Run: --function=mixed --input=2xf32=1 --input=3 --output=- --output=-
// Run: --function=mixed --input=2xf32=1 --input=3 --output= --output=-
// Run: --function=scalars --input=1 --input=1 --input=1 --input=1
// Run: --function=scalars --input=0x10 --input=1e3 --input=0x1F --input=-1e-3
// Run: --function=scalars --input=-1 --input=nan --input=-1 --input=inf
// Run: --function=scalars --input=4294967295 --input=0.1 --input=9223372036854775807 --input=123456789.123456
// Run: --function=buffer "--input=&4xf32=1"
// Run: --function=buffer "--input=(null)"
// Run: --function=bytes
// Run: --function=nothing
// Run: --function=list "--input=2xf32=1 2"
// Run: --function=views "--input=2xf32=1" "--input=3xi32=5" "--expected_output=2xf32=1.00001" "--expected_output=3xi32=5"
// Run: --function=views "--input=2xf32=1" "--input=3xi32=5" "--expected_output=2xf32=1" "--expected_output=(ignored)"
func.func @view(%a: !hal.buffer_view) -> !hal.buffer_view {
  return %a : !hal.buffer_view
}
func.func @views(%a: !hal.buffer_view, %b: !hal.buffer_view) -> (!hal.buffer_view, !hal.buffer_view) {
  return %a, %b : !hal.buffer_view, !hal.buffer_view
}
func.func @mixed(%a: !hal.buffer_view, %b: i32) -> (!hal.buffer_view, i32) {
  return %a, %b : !hal.buffer_view, i32
}
func.func @scalars(%a: i32, %b: f32, %c: i64, %d: f64) -> (i32, f32, i64, f64) {
  return %a, %b, %c, %d : i32, f32, i64, f64
}
func.func @buffer(%a: !hal.buffer) -> !hal.buffer {
  return %a : !hal.buffer
}
func.func @bytes() -> !util.buffer {
  %b = util.buffer.constant : !util.buffer = dense<[1, 2, 3]> : vector<3xi8>
  return %b : !util.buffer
}
func.func @nothing() {
  return
}
func.func @list(%a: !hal.buffer_view) -> !util.list<?> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %i = arith.constant 7 : i32
  %f = arith.constant 2.5 : f32
  %inner = util.list.create %c2 : !util.list<?>
  util.list.resize %inner, %c2 : !util.list<?>
  util.list.set %inner[%c1], %i : i32 -> !util.list<?>
  %outer = util.list.create %c5 : !util.list<?>
  util.list.resize %outer, %c5 : !util.list<?>
  util.list.set %outer[%c0], %i : i32 -> !util.list<?>
  util.list.set %outer[%c1], %f : f32 -> !util.list<?>
  util.list.set %outer[%c2], %a : !hal.buffer_view -> !util.list<?>
  util.list.set %outer[%c3], %inner : !util.list<?> -> !util.list<?>
  return %outer : !util.list<?>
}
