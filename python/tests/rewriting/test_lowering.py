"""The calls of kernels in MLIR."""

from takt.rewriting import lowering
from takt.rewriting.kernel_calls import make_kernel


def lowered(kernel):
    """A module with one call of a kernel."""
    line = ('  %1 = torch.operator "onnx.takt.TaktKernel"(%0, %w, %b) {torch.onnx.kernel = 0 : si64} : '
            "(!torch.vtensor<[1,56,56,32],f32>, !torch.vtensor<[9216],f32>, !torch.vtensor<[64],f32>) -> "
            "!torch.vtensor<[1,28,28,64],f32> ")
    return lowering.lower(f"module {{\n{line}\n}}", [kernel])


def test_a_dispatch_says_what_it_computes():
    grouped = make_kernel("takt_conv2d_f32", (1, 56, 56, 32, 28, 28, 64, 3, 3, 2, 2, 1, 1, 1, 1, 2))
    assert "flow.dispatch @takt_kernels::@k0_conv2d_f32_3x3_16to64_28x28(" in lowered(grouped)
    depthwise = make_kernel("takt_depthwise2d_f32", (1, 56, 56, 64, 28, 28, 64, 5, 5, 2, 2, 1, 1, 2, 2, 64))
    assert "@k0_depthwise2d_f32_5x5_1to64_28x28(" in lowered(depthwise)
