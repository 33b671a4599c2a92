// Branches, calls, yields, references and failures.
// Compile: iree-compile %s --compile-mode=vm -o %t.vmfb
// Run: --function=loop --input=10 --input=44
// Run: --function=loop --input=10 --input=45
// Run: --function=loop --input=0 --input=0
// Run: --function=table --input=0
// Run: --function=table --input=1
// Run: --function=table --input=2
// Run: --function=rotate_references --input=0
// Run: --function=rotate_references --input=1
// Run: --function=rotate_references --input=2
// Run: --function=mixed_call --input=1 --input=-5000000000 --input=0.5 --input=0.25
// Run: --function=import_resolved
// Run: --function=import_if_resolved --input=5
// Run: --function=references --input=0 --input=0
// Run: --function=references --input=1 --input=1
// Run: --function=references --input=1 --input=2
// Run: --function=fail_with --input=0
// Run: --function=check --input=5 --input=5
// Run: --function=diagnostics --input=4
// Fails: NOT_FOUND --function=import_call --input=5
// Fails: NOT_FOUND --function=import_call_yieldable --input=5
// Fails: NOT_FOUND --function=import_call_variadic --input=5 --input=6
// Fails: NOT_FOUND --function=import_call_variadic_yieldable --input=5 --input=6
// Fails: INVALID_ARGUMENT --function=bad_cast
// Fails: CANCELLED --function=fail_with --input=1
// Fails: UNKNOWN --function=fail_with --input=2
// Fails: INVALID_ARGUMENT --function=fail_with --input=3
// Fails: NOT_FOUND --function=fail_with --input=5
// Fails: PERMISSION_DENIED --function=fail_with --input=7
// Fails: RESOURCE_EXHAUSTED --function=fail_with --input=8
// Fails: FAILED_PRECONDITION --function=fail_with --input=9
// Fails: ABORTED --function=fail_with --input=10
// Fails: OUT_OF_RANGE --function=fail_with --input=11
// Fails: UNIMPLEMENTED --function=fail_with --input=12
// Fails: INTERNAL --function=fail_with --input=13
// Fails: DATA_LOSS --function=fail_with --input=15
// Fails: FAILED_PRECONDITION --function=check --input=5 --input=6
vm.module @control {
  vm.rodata private @bytes dense<[1, 2, 3]> : tensor<3xi8>
  vm.rodata private @other_bytes dense<[9, 9]> : tensor<2xi8>
  vm.import private optional @absent.function(%a: i32) -> i32
  vm.import private optional @absent.many(%a: i32, %b: i64 ...) -> i32
  vm.import private optional @absent.wait(%a: i32) -> i32 attributes {vm.yield}
  vm.import private optional @absent.wait_many(%a: i32, %b: i64 ...) -> i32 attributes {vm.yield}

  // The sum of 0 ... n - 1, then whether it is above a limit.
  vm.export @loop
  vm.func @loop(%n: i32, %limit: i32) -> (i32, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^head(%zero, %zero : i32, i32)
  ^head(%i: i32, %sum: i32):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    vm.cond_br %more, ^body(%i, %sum : i32, i32), ^end(%sum : i32)
  ^body(%j: i32, %s: i32):
    %next_sum = vm.add.i32 %s, %j : i32
    %next = vm.add.i32 %j, %one : i32
    vm.br ^head(%next, %next_sum : i32, i32)
  ^end(%result: i32):
    %above = vm.cmp.lt.i32.s %limit, %result : i32
    vm.return %result, %above : i32, i32
  }

  // A table of branches: case, other case, default.
  vm.export @table
  vm.func @table(%index: i32) -> i32 {
    %a = vm.const.i32 100
    %b = vm.const.i32 200
    %c = vm.const.i32 -1
    vm.br_table %index {
      default: ^bb3(%c : i32),
      0: ^bb1(%a : i32),
      1: ^bb2(%b : i32),
      2: ^bb1(%b : i32)
    }
  ^bb1(%0: i32):
    %3 = vm.add.i32 %0, %index : i32
    vm.return %3 : i32
  ^bb2(%1: i32):
    %4 = vm.mul.i32 %1, %1 : i32
    vm.return %4 : i32
  ^bb3(%2: i32):
    vm.return %2 : i32
  }

  // References change places at each turn.
  vm.export @rotate_references
  vm.func @rotate_references(%n: i32) -> (i64, i64) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %a = vm.const.ref.rodata @bytes : !vm.buffer
    %b = vm.const.ref.rodata @other_bytes : !vm.buffer
    vm.br ^head(%zero, %a, %b : i32, !vm.buffer, !vm.buffer)
  ^head(%i: i32, %p: !vm.buffer, %q: !vm.buffer):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    vm.cond_br %more, ^body, ^end
  ^body:
    %next = vm.add.i32 %i, %one : i32
    vm.br ^head(%next, %q, %p : i32, !vm.buffer, !vm.buffer)
  ^end:
    %0 = vm.buffer.length %p : !vm.buffer -> i64
    %1 = vm.buffer.length %q : !vm.buffer -> i64
    vm.return %0, %1 : i64, i64
  }

  // Arguments and results of every type.
  vm.func private @mixed_callee(%a: i32, %b: !vm.buffer, %c: i64, %d: f32,
                                %e: !vm.buffer, %f: f64)
      -> (f64, !vm.buffer, i32, i64, f32) attributes {inlining_policy = #util.inline.never} {
    %0 = vm.const.i32 1
    %1 = vm.add.i32 %a, %0 : i32
    vm.return %f, %e, %1, %c, %d : f64, !vm.buffer, i32, i64, f32
  }
  vm.export @mixed_call
  vm.func @mixed_call(%a: i32, %b: i64, %c: f32, %d: f64)
      -> (f64, i64, i32, i64, f32) {
    %bytes = vm.const.ref.rodata @bytes : !vm.buffer
    %other = vm.const.ref.rodata @other_bytes : !vm.buffer
    %0:5 = vm.call @mixed_callee(%a, %bytes, %b, %c, %other, %d)
        : (i32, !vm.buffer, i64, f32, !vm.buffer, f64)
        -> (f64, !vm.buffer, i32, i64, f32)
    %1 = vm.buffer.length %0#1 : !vm.buffer -> i64
    vm.return %0#0, %1, %0#2, %0#3, %0#4 : f64, i64, i32, i64, f32
  }

  // Imports that may be missing: asked for, called, called with a span.
  vm.export @import_resolved
  vm.func @import_resolved() -> i32 {
    %0 = vm.import.resolved @absent.function : i32
    vm.return %0 : i32
  }
  vm.export @import_if_resolved
  vm.func @import_if_resolved(%a: i32) -> i32 {
    %0 = vm.import.resolved @absent.function : i32
    vm.cond_br %0, ^bb1, ^bb2
  ^bb1:
    %1 = vm.call @absent.function(%a) : (i32) -> i32
    vm.return %1 : i32
  ^bb2:
    vm.return %a : i32
  }
  vm.export @import_call
  vm.func @import_call(%a: i32) -> i32 {
    %0 = vm.call @absent.function(%a) : (i32) -> i32
    vm.return %0 : i32
  }
  vm.export @import_call_variadic
  vm.func @import_call_variadic(%a: i32, %b: i64) -> i32 {
    %0 = vm.call.variadic @absent.many(%a, [%b, %b]) : (i32, i64 ...) -> i32
    vm.return %0 : i32
  }
  vm.export @import_call_variadic_yieldable
  vm.func @import_call_variadic_yieldable(%a: i32, %b: i64) -> i32 {
    vm.call.variadic.yieldable @absent.wait_many(%a, %b) <segment_sizes = dense<[-1, 1]> : vector<2xi16>, segment_types = [i32, i64]> : (i32, i64) -> ^next(i32)
  ^next(%0: i32):
    vm.return %0 : i32
  }
  vm.export @import_call_yieldable
  vm.func @import_call_yieldable(%a: i32) -> i32 {
    vm.call.yieldable @absent.wait(%a) : (i32) -> ^next(i32)
  ^next(%0: i32):
    vm.return %0 : i32
  }

  // References: chosen, compared, cast, dropped.
  vm.export @references
  vm.func @references(%condition: i32, %index: i32) -> (i64, i64, i32, i32, i32, i64) {
    %null = vm.const.ref.zero : !vm.buffer
    %a = vm.const.ref.rodata @bytes : !vm.buffer
    %b = vm.const.ref.rodata @other_bytes : !vm.buffer
    %0 = vm.select.ref %condition, %a, %b : !vm.buffer
    %1 = vm.switch.ref %index[%a, %b] else %b : !vm.buffer
    %2 = vm.buffer.length %0 : !vm.buffer -> i64
    %3 = vm.buffer.length %1 : !vm.buffer -> i64
    %4 = vm.cmp.eq.ref %0, %1 : !vm.buffer
    %5 = vm.cmp.ne.ref %0, %null : !vm.buffer
    %6 = vm.cmp.nz.ref %null : !vm.buffer
    %7 = vm.cast.ref.any %0 : !vm.buffer -> !vm.ref<?>
    %8 = vm.cast.any.ref %7 : !vm.ref<?> -> !vm.buffer
    %9 = vm.buffer.length %8 : !vm.buffer -> i64
    vm.return %2, %3, %4, %5, %6, %9 : i64, i64, i32, i32, i32, i64
  }
  vm.export @bad_cast
  vm.func @bad_cast() -> i32 {
    %zero = vm.const.i32 0
    %a = vm.const.ref.rodata @bytes : !vm.buffer
    %0 = vm.cast.ref.any %a : !vm.buffer -> !vm.ref<?>
    %1 = vm.cast.any.ref %0 : !vm.ref<?> -> !vm.list<i32>
    %2 = vm.list.size %1 : (!vm.list<i32>) -> i32
    vm.return %2 : i32
  }

  // Fails with a status, or does not.
  vm.export @fail_with
  vm.func @fail_with(%code: i32) -> i32 {
    %0 = vm.const.i32 0
    %nz = vm.cmp.ne.i32 %code, %0 : i32
    vm.cond_br %nz, ^failing, ^fine
  ^failing:
    vm.fail %code, "the reason why"
  ^fine:
    vm.return %code : i32
  }
  vm.export @check
  vm.func @check(%a: i32, %b: i32) -> i32 {
    vm.check.eq %a, %b, "a and b differ" : i32
    vm.return %a : i32
  }

  // Diagnostics and breakpoints change nothing.
  vm.export @diagnostics
  vm.func @diagnostics(%a: i32) -> i32 {
    vm.trace "value" (%a) : i32
    vm.print "value" (%a) : i32
    vm.break ^next(%a : i32)
  ^next(%0: i32):
    %1 = vm.add.i32 %0, %a : i32
    vm.return %1 : i32
  }
}
