// From make_policy.py: torque = max(joints w + b, 0), mean = mean(torque).
// Variants: cpu
module {
  func.func @policy(%arg0: !torch.vtensor<[1,4],f32>) -> (!torch.vtensor<[1,3],f32>, !torch.vtensor<[1,1],f32>) attributes {torch.onnx_meta.ir_version = 9 : si64, torch.onnx_meta.opset_version = 17 : si64, torch.onnx_meta.producer_name = "", torch.onnx_meta.producer_version = ""} {
    %0 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[[1.000000e+00, 0.000000e+00, -1.000000e+00], [0.000000e+00, 1.000000e+00, 0.000000e+00], [1.000000e+00, 1.000000e+00, 0.000000e+00], [-1.000000e+00, 2.000000e+00, 0.000000e+00]]> : tensor<4x3xf32>} : () -> !torch.vtensor<[4,3],f32> 
    %1 = torch.operator "onnx.Constant"() {torch.onnx.value = dense<[0.000000e+00, 1.000000e+00, 2.000000e+00]> : tensor<3xf32>} : () -> !torch.vtensor<[3],f32> 
    %none = torch.constant.none
    %2 = torch.operator "onnx.Gemm"(%arg0, %0, %1) : (!torch.vtensor<[1,4],f32>, !torch.vtensor<[4,3],f32>, !torch.vtensor<[3],f32>) -> !torch.vtensor<[1,3],f32> 
    %3 = torch.operator "onnx.Relu"(%2) : (!torch.vtensor<[1,3],f32>) -> !torch.vtensor<[1,3],f32> 
    %4 = torch.operator "onnx.ReduceMean"(%3) {torch.onnx.axes = [1 : si64], torch.onnx.keepdims = 1 : si64} : (!torch.vtensor<[1,3],f32>) -> !torch.vtensor<[1,1],f32> 
    return %3, %4 : !torch.vtensor<[1,3],f32>, !torch.vtensor<[1,1],f32>
  }
}

