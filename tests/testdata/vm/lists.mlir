// Lists of values, of references and of anything.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Run: --function=values_i32 --input=-7 --input=5000000000 --input=2.5
// Run: --function=values_i32 --input=7 --input=-1 --input=-1
// Run: --function=values_f64 --input=0.1 --input=0.1
// Run: --function=values_f64 --input=1e300 --input=-2
// Run: --function=values_i64 --input=-1
// Run: --function=values_i64 --input=5000000000
// Run: --function=values_i8 --input=127
// Run: --function=values_i8 --input=128
// Run: --function=references --input=42
// Run: --function=variants --input=-7 --input=5000000000 --input=2.5 --input=0.1
// Fails: OUT_OF_RANGE --function=get_past_end --input=1
// Fails: OUT_OF_RANGE --function=get_past_end --input=-1
// Fails: OUT_OF_RANGE --function=set_past_end --input=0
// Fails: FAILED_PRECONDITION --function=value_of_empty
vm.module @lists {
  vm.rodata private @bytes dense<[1, 2, 3]> : tensor<3xi8>

  // A list of i32: size before and after, what is set, what is converted.
  vm.export @values_i32
  vm.func @values_i32(%a: i32, %b: i64, %c: f32) -> (i32, i32, i32, i64, i32, f32, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %two = vm.const.i32 2
    %three = vm.const.i32 3
    %list = vm.list.alloc %two : (i32) -> !vm.list<i32>
    vm.list.reserve %list, %three : (!vm.list<i32>, i32)
    %before = vm.list.size %list : (!vm.list<i32>) -> i32
    vm.list.resize %list, %three : (!vm.list<i32>, i32)
    %after = vm.list.size %list : (!vm.list<i32>) -> i32
    vm.list.set.i32 %list, %zero, %a : (!vm.list<i32>, i32, i32)
    vm.list.set.i64 %list, %one, %b : (!vm.list<i32>, i32, i64)
    vm.list.set.f32 %list, %two, %c : (!vm.list<i32>, i32, f32)
    %0 = vm.list.get.i32 %list, %zero : (!vm.list<i32>, i32) -> i32
    %1 = vm.list.get.i64 %list, %one : (!vm.list<i32>, i32) -> i64
    %2 = vm.list.get.i32 %list, %two : (!vm.list<i32>, i32) -> i32
    %3 = vm.list.get.f32 %list, %zero : (!vm.list<i32>, i32) -> f32
    vm.list.resize %list, %one : (!vm.list<i32>, i32)
    %shrunk = vm.list.size %list : (!vm.list<i32>) -> i32
    vm.return %before, %after, %0, %1, %2, %3, %shrunk
        : i32, i32, i32, i64, i32, f32, i32
  }

  vm.export @values_f64
  vm.func @values_f64(%a: f64, %b: f32) -> (f64, f64, f32, f64) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %three = vm.const.i32 3
    %two = vm.const.i32 2
    %list = vm.list.alloc %three : (i32) -> !vm.list<f64>
    vm.list.resize %list, %three : (!vm.list<f64>, i32)
    vm.list.set.f64 %list, %zero, %a : (!vm.list<f64>, i32, f64)
    vm.list.set.f32 %list, %one, %b : (!vm.list<f64>, i32, f32)
    %0 = vm.list.get.f64 %list, %zero : (!vm.list<f64>, i32) -> f64
    %1 = vm.list.get.f64 %list, %one : (!vm.list<f64>, i32) -> f64
    %2 = vm.list.get.f32 %list, %zero : (!vm.list<f64>, i32) -> f32
    %3 = vm.list.get.f64 %list, %two : (!vm.list<f64>, i32) -> f64
    vm.return %0, %1, %2, %3 : f64, f64, f32, f64
  }

  vm.export @values_i64
  vm.func @values_i64(%a: i64) -> (i64, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %list = vm.list.alloc %one : (i32) -> !vm.list<i64>
    vm.list.resize %list, %one : (!vm.list<i64>, i32)
    vm.list.set.i64 %list, %zero, %a : (!vm.list<i64>, i32, i64)
    %0 = vm.list.get.i64 %list, %zero : (!vm.list<i64>, i32) -> i64
    %1 = vm.list.get.i32 %list, %zero : (!vm.list<i64>, i32) -> i32
    vm.return %0, %1 : i64, i32
  }

  // Narrow elements keep their low bits.
  vm.export @values_i8
  vm.func @values_i8(%a: i32) -> (i32, i64) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %list = vm.list.alloc %one : (i32) -> !vm.list<i8>
    vm.list.resize %list, %one : (!vm.list<i8>, i32)
    vm.list.set.i32 %list, %zero, %a : (!vm.list<i8>, i32, i32)
    %0 = vm.list.get.i32 %list, %zero : (!vm.list<i8>, i32) -> i32
    %1 = vm.list.get.i64 %list, %zero : (!vm.list<i8>, i32) -> i64
    vm.return %0, %1 : i32, i64
  }

  // A list of lists: an element is null until it is set.
  vm.export @references
  vm.func @references(%value: i32) -> (i32, i32, i32, i32, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %two = vm.const.i32 2
    %inner = vm.list.alloc %one : (i32) -> !vm.list<i32>
    vm.list.resize %inner, %one : (!vm.list<i32>, i32)
    %list = vm.list.alloc %two : (i32) -> !vm.list<!vm.list<i32>>
    vm.list.resize %list, %two : (!vm.list<!vm.list<i32>>, i32)
    vm.list.set.ref %list, %one, %inner : (!vm.list<!vm.list<i32>>, i32, !vm.list<i32>)
    %0 = vm.list.get.ref %list, %zero : (!vm.list<!vm.list<i32>>, i32) -> !vm.list<i32>
    %1 = vm.list.get.ref %list, %one : (!vm.list<!vm.list<i32>>, i32) -> !vm.list<i32>
    %2 = vm.cmp.nz.ref %0 : !vm.list<i32>
    %3 = vm.cmp.nz.ref %1 : !vm.list<i32>
    %4 = vm.cmp.ne.ref %1, %inner : !vm.list<i32>
    vm.list.set.i32 %inner, %zero, %value : (!vm.list<i32>, i32, i32)
    %5 = vm.list.get.i32 %1, %zero : (!vm.list<i32>, i32) -> i32
    vm.list.resize %list, %one : (!vm.list<!vm.list<i32>>, i32)
    %6 = vm.list.size %list : (!vm.list<!vm.list<i32>>) -> i32
    vm.return %2, %3, %4, %5, %6 : i32, i32, i32, i32, i32
  }

  // A list of anything: values keep their type, and share it with references.
  vm.export @variants
  vm.func @variants(%a: i32, %b: i64, %c: f32, %d: f64) -> (i32, i64, f32, f64, i64, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %two = vm.const.i32 2
    %three = vm.const.i32 3
    %four = vm.const.i32 4
    %six = vm.const.i32 6
    %five = vm.const.i32 5
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %list = vm.list.alloc %six : (i32) -> !vm.list<?>
    vm.list.resize %list, %six : (!vm.list<?>, i32)
    vm.list.set.i32 %list, %zero, %a : (!vm.list<?>, i32, i32)
    vm.list.set.i64 %list, %one, %b : (!vm.list<?>, i32, i64)
    vm.list.set.f32 %list, %two, %c : (!vm.list<?>, i32, f32)
    vm.list.set.f64 %list, %three, %d : (!vm.list<?>, i32, f64)
    vm.list.set.ref %list, %four, %bytes : (!vm.list<?>, i32, !vm.buffer)
    %0 = vm.list.get.i32 %list, %zero : (!vm.list<?>, i32) -> i32
    %1 = vm.list.get.i64 %list, %one : (!vm.list<?>, i32) -> i64
    %2 = vm.list.get.f32 %list, %two : (!vm.list<?>, i32) -> f32
    %3 = vm.list.get.f64 %list, %three : (!vm.list<?>, i32) -> f64
    %4 = vm.list.get.ref %list, %four : (!vm.list<?>, i32) -> !vm.buffer
    %5 = vm.buffer.length %4 : !vm.buffer -> i64
    %6 = vm.list.get.ref %list, %five : (!vm.list<?>, i32) -> !vm.buffer
    %7 = vm.cmp.nz.ref %6 : !vm.buffer
    vm.return %0, %1, %2, %3, %5, %7 : i32, i64, f32, f64, i64, i32
  }

  // Each of these fails.
  vm.export @get_past_end
  vm.func @get_past_end(%index: i32) -> i32 {
    %one = vm.const.i32 1
    %list = vm.list.alloc %one : (i32) -> !vm.list<i32>
    vm.list.resize %list, %one : (!vm.list<i32>, i32)
    %0 = vm.list.get.i32 %list, %index : (!vm.list<i32>, i32) -> i32
    vm.return %0 : i32
  }
  vm.export @set_past_end
  vm.func @set_past_end(%index: i32) -> i32 {
    %one = vm.const.i32 1
    %list = vm.list.alloc %one : (i32) -> !vm.list<i32>
    vm.list.set.i32 %list, %index, %one : (!vm.list<i32>, i32, i32)
    vm.return %index : i32
  }
  vm.export @value_of_empty
  vm.func @value_of_empty() -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %list = vm.list.alloc %one : (i32) -> !vm.list<?>
    vm.list.resize %list, %one : (!vm.list<?>, i32)
    %0 = vm.list.get.i32 %list, %zero : (!vm.list<?>, i32) -> i32
    vm.return %0 : i32
  }
}
