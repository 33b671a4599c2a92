func.func @invert(%image: tensor<1x48x64x3xi8>) -> tensor<1x48x64x3xi8> {
  %ones = arith.constant dense<-1> : tensor<1x48x64x3xi8>
  %inverted = arith.xori %image, %ones : tensor<1x48x64x3xi8>
  return %inverted : tensor<1x48x64x3xi8>
}
