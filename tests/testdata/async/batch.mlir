// A function whose calls may be run as one, stacked along the outermost
// dimension, one that says nothing of it, and two that say it wrongly.
// Variants: cpu cpu.async vmvx vmvx.async
module @batch {
  func.func @scale(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>)
      -> (tensor<?x4xf32>, tensor<?x4xf32>)
      attributes {iree.reflection = {"takt.batch_dim" = "0"}} {
    %0 = arith.mulf %x, %y : tensor<?x4xf32>
    %1 = arith.addf %x, %y : tensor<?x4xf32>
    return %0, %1 : tensor<?x4xf32>, tensor<?x4xf32>
  }
  func.func @plain(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
    %0 = arith.addf %x, %x : tensor<?x4xf32>
    return %0 : tensor<?x4xf32>
  }
  func.func @fixed(%x: tensor<4xf32>) -> tensor<4xf32>
      attributes {iree.reflection = {"takt.batch_dim" = "0"}} {
    return %x : tensor<4xf32>
  }
  func.func @columns(%x: tensor<4x?xf32>) -> tensor<4x?xf32>
      attributes {iree.reflection = {"takt.batch_dim" = "1"}} {
    return %x : tensor<4x?xf32>
  }
}
