module @stream {
  func.func @scale(%x: tensor<8388608xf32>) -> tensor<8388608xf32> {
    %two = arith.constant dense<2.0> : tensor<8388608xf32>
    %y = arith.mulf %x, %two : tensor<8388608xf32>
    return %y : tensor<8388608xf32>
  }
}
