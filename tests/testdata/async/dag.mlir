// Five functions for a graph of calls that fences order; each writes its
// result in the storage that the caller passes last, so that the calls can be
// issued in any order.
// Variants: cpu cpu.async vmvx vmvx.async
module @dag {
  // u = 2 p
  func.func @fn0(%p: tensor<4xf32>,
                 %u: tensor<4xf32> {iree.abi.output = 0 : index})
      -> tensor<4xf32> {
    %0 = arith.addf %p, %p : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // v = u + 1
  func.func @fn1(%u: tensor<4xf32>,
                 %v: tensor<4xf32> {iree.abi.output = 0 : index})
      -> tensor<4xf32> {
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %0 = arith.addf %u, %one : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // w = u * u
  func.func @fn2(%u: tensor<4xf32>,
                 %w: tensor<4xf32> {iree.abi.output = 0 : index})
      -> tensor<4xf32> {
    %0 = arith.mulf %u, %u : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // x = -q
  func.func @fn3(%q: tensor<4xf32>,
                 %x: tensor<4xf32> {iree.abi.output = 0 : index})
      -> tensor<4xf32> {
    %0 = arith.negf %q : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // y = p - 1
  func.func @fn4(%p: tensor<4xf32>,
                 %y: tensor<4xf32> {iree.abi.output = 0 : index})
      -> tensor<4xf32> {
    %one = arith.constant dense<1.0> : tensor<4xf32>
    %0 = arith.subf %p, %one : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  // Three inputs, each with a fence of its own perhaps: z = a b + c
  func.func @fma(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>,
                 %z: tensor<4xf32> {iree.abi.output = 0 : index})
      -> tensor<4xf32> {
    %0 = arith.mulf %a, %b : tensor<4xf32>
    %1 = arith.addf %0, %c : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  // A step of a random graph: out = a + 2 b, unless `fails` is not 0.
  func.func @step(%fails: i32, %a: tensor<4xf32>, %b: tensor<4xf32>,
                  %out: tensor<4xf32> {iree.abi.output = 0 : index})
      -> tensor<4xf32> {
    %zero = arith.constant 0 : i32
    %works = arith.cmpi eq, %fails, %zero : i32
    cf.assert %works, "asked to fail"
    %0 = arith.addf %a, %b : tensor<4xf32>
    %1 = arith.addf %0, %b : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
