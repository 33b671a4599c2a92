"""Layers of open sizes."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import parser  # noqa: E402

from takt.porting import porter  # noqa: E402
from test_loops import compiled  # noqa: E402
from test_porter import floats, kinds, ort_run  # noqa: E402

EIGHT = "<float[8] s = {1, 2, 3, 4, 5, 6, 7, 8}, float[8] b = {8, 7, 6, 5, 4, 3, 2, 1}>"


@pytest.mark.parametrize("opset, constants, text", [
    (17, EIGHT, "y = InstanceNormalization(x, s, b)"),
    (21, EIGHT, "y = GroupNormalization<num_groups = 2>(x, s, b)"),
    (18, "<float[2] s = {1, 2}, float[2] b = {3, 4}>", "y = GroupNormalization<num_groups = 2>(x, s, b)"),
    (17, "", "y = LRN<size = 3>(x)"),
    (17, "", "y = LRN<size = 5, alpha = 0.5, beta = 0.6, bias = 2.0>(x)"),
    (17, "", "y = LpNormalization<axis = 2>(x)"),
    (17, "<int64[8] pads = {0, -1, 1, -2, 0, 2, -1, 1}>", "y = Pad(x, pads)"),
    (17, "<int64[8] pads = {0, 0, 1, 2, 0, 0, 2, 0}>", 'y = Pad<mode = "reflect">(x, pads)'),
    (17, "<int64[8] pads = {0, 0, 3, 0, 0, 0, 0, 5}>", 'y = Pad<mode = "edge">(x, pads)'),
    (19, "<int64[8] pads = {0, 0, 2, 1, 0, 0, 1, 2}>", 'y = Pad<mode = "wrap">(x, pads)'),
    (17, "", "y = DepthToSpace<blocksize = 2>(x)"),
    (17, "", 'y = DepthToSpace<blocksize = 2, mode = "CRD">(x)'),
    (17, "", "y = SpaceToDepth<blocksize = 2>(x)"),
])
def test_images_of_any_size(opset, constants, text):
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : {opset}]>\n'
                               f"net (float[N,8,H,W] x) => (float[A,B,C,D] y) {constants} {{ {text} }}")
    kind = model.graph.node[-1].op_type
    ported = porter.for_compiler(porter.port(model))
    assert kinds(ported) != [kind] and (kind == "Pad" or kind not in kinds(ported))
    assert "InstanceNormalization" not in kinds(ported)
    for sizes in ((2, 6, 8), (1, 4, 4)) if kind == "SpaceToDepth" else ((2, 5, 6), (1, 3, 4)):
        x = floats(sizes[0], 8, *sizes[1:])
        np.testing.assert_allclose(ort_run(ported, {"x": x})[0], ort_run(model, {"x": x})[0], rtol=1e-4, atol=1e-5)


def test_half_floats_stay():
    model = parser.parse_model('<ir_version: 10, opset_import: ["" : 23]>\nnet (float16[N,8] x, float16[8] s) => '
                               "(float16[N,8] y) { y = RMSNormalization(x, s) }")
    assert kinds(porter.port(model)) == ["RMSNormalization"]


@pytest.mark.parametrize("kind", ["SkipSimplifiedLayerNormalization", "SkipLayerNormalization"])
@pytest.mark.parametrize("is_read", [False, True])
def test_means_that_nothing_reads(kind, is_read):
    model = parser.parse_model('<ir_version: 10, opset_import: ["" : 17, "com.microsoft" : 1]>\nnet (float[2,8] x, '
                               f"float[8] s) => (float[2,8] y) {{ y, mean, spread, total = com.microsoft.{kind}"
                               "(x, x, s) }")
    if is_read:
        model.graph.output.add(name="spread").type.tensor_type.elem_type = onnx.TensorProto.FLOAT
    assert (kind in kinds(porter.port(model))) == is_read


def test_inputs_and_results_that_are_left_out(needs_compiler, tmp_path):
    function = compiled(tmp_path, """(float[6,5,8] x, float[8] s) => (float[3,3,8] part, float[6,5,8] norm,
            float[6,5,1] root, float[6,5,8] alone, float[6,5,8] kept, bool[6,5,8] mask)
            <int64[2] begins = {0, -1}, int64[2] ends = {9, -9}, int64[2] steps = {2, -2}, bool no = {0}>
        {
            part = Slice(x, begins, ends, , steps)
            norm, , root = LayerNormalization(x, s)
            alone, mean, deviation = LayerNormalization<epsilon = 0.5>(x, s)
            kept, mask = Dropout(x, , no)
        }""")
    model = onnx.load(tmp_path / "net.onnx")
    ported = porter.port(model)
    assert "Dropout" not in kinds(ported)
    assert [len(node.output) for node in ported.graph.node if node.op_type == "LayerNormalization"] == [3, 1]
    inputs = {"x": floats(6, 5, 8), "s": floats(8)}
    for wanted, found in zip(ort_run(model, inputs), function(*inputs.values()), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("sizes, axis, results, is_left", [
    ((2, 3, 4, 5), 1, 1, False), ((2, 3, 4, 5), -2, 1, False), ((2, 3, 4, 5), 0, 1, False), ((2, 3, 4, 5), 3, 1, True),
    ((2, 1, 1, 5), 1, 1, True), ((2, 3, 4, 5), 1, 2, True)])
@pytest.mark.parametrize("bias", ["", ", b"])
def test_norms_of_several_axes_are_in_other_terms(sizes, axis, results, is_left, bias):
    def typed(name, shape):
        return f"float[{','.join(map(str, shape))}] {name}"

    own = sizes[axis:]
    model = parser.parse_model(
        f'<ir_version: 10, opset_import: ["" : 18]>\nnet ({typed("x", sizes)}, {typed("s", own)}, {typed("b", own)}) => '
        f"({', '.join(['float[A,B,C,D] y', 'float[E,F,G,H] mean'][:results])}) "
        f"{{ {', '.join(['y', 'mean'][:results])} = LayerNormalization<axis = {axis}, epsilon = 0.1>(x, s{bias}) }}")
    ported = porter.port(model)
    assert ("LayerNormalization" in kinds(ported)) == is_left
    inputs = {"x": floats(*sizes), "s": floats(*own), "b": floats(*own)}
    for wanted, found in zip(ort_run(model, inputs), ort_run(ported, inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_elements_are_left_out_where_a_network_is_trained():
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n'
                               "net (float[4] x, bool trains) => (float[4] y) { y = Dropout(x, , trains) }")
    assert kinds(porter.port(model)) == ["Dropout"]


def test_shapes_without_elements(needs_compiler, tmp_path):
    function = compiled(tmp_path, """(float[0,3] x, int64[4] i) => (float[3,0] a, float[0,3,1] b, int64[2,2] c)
            <int64[2] turned = {3, 0}, int64[3] kept = {0, 3, 1}, int64[2] square = {2, 2}>
        { a = Reshape<allowzero = 1>(x, turned) b = Reshape(x, kept) c = Reshape(i, square) }""")
    a, b, c = function(floats(0, 3), np.arange(4))
    assert (a.shape, a.dtype, b.shape, b.dtype) == ((3, 0), np.float32, (0, 3, 1), np.float32)
    np.testing.assert_array_equal(c, [[0, 1], [2, 3]])
