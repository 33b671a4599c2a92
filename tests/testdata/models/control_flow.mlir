// Data dependent while loop: host reads tensors back (HOST_LOCAL staging, buffer.load) and branches in the VM.
// Variants: cpu cpu.async vmvx vmvx.async
// Run: --input=i32=27
func.func @collatz(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %c0 = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %three = arith.constant dense<3> : tensor<i32>
  %r:2 = scf.while (%v = %n, %i = %c0) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %s = tensor.extract %v[] : tensor<i32>
    %c1 = arith.constant 1 : i32
    %p = arith.cmpi sgt, %s, %c1 : i32
    scf.condition(%p) %v, %i : tensor<i32>, tensor<i32>
  } do {
  ^bb0(%v: tensor<i32>, %i: tensor<i32>):
    %m = arith.remsi %v, %two : tensor<i32>
    %ms = tensor.extract %m[] : tensor<i32>
    %z = arith.constant 0 : i32
    %even = arith.cmpi eq, %ms, %z : i32
    %nv = scf.if %even -> tensor<i32> {
      %d = arith.divsi %v, %two : tensor<i32>
      scf.yield %d : tensor<i32>
    } else {
      %q = arith.muli %v, %three : tensor<i32>
      %q1 = arith.addi %q, %one : tensor<i32>
      scf.yield %q1 : tensor<i32>
    }
    %ni = arith.addi %i, %one : tensor<i32>
    scf.yield %nv, %ni : tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}
