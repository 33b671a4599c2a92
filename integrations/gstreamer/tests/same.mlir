func.func @same(%image: tensor<1x48x64x3xi8>) -> tensor<1x48x64x3xi8> {
  return %image : tensor<1x48x64x3xi8>
}
