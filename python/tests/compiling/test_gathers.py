"""Gathers of open sizes."""

import numpy as np
import pytest

import takt
import together
from takt.compiling import gathers

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402


def test_a_mask_by_places_of_a_call_behind_a_product(needs_compiler, tmp_path):
    """24 is no multiple of the lanes of a vector: without a barrier the rest of them read at any address."""
    text = """net (bool[N,24] mask, int64[N,24,2] own, float[N,6,24,32] x) => (float[N,6,24,24] y) {
        places = Unsqueeze(own, axes) found = GatherND(mask, places) turned = Transpose<perm = [0, 1, 3, 2]>(x)
        products = MatMul(x, turned) y = Where(found, products, none) }"""
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>' + text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in (
        ("axes", np.array([1, 2])), ("none", np.float32(-9))))
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="open"):
        artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="channels_last")
    assert artifact.recipe.name == "channels_last"
    rng = np.random.default_rng(0)
    mask, x = rng.random([3, 24]) < 0.7, rng.standard_normal([3, 6, 24, 32]).astype(np.float32)
    own = np.stack([np.arange(3)[:, None].repeat(24, 1), rng.integers(0, 24, [3, 24])], -1)
    expected = np.where(mask[own[..., 0], own[..., 1]][:, None, None], x @ x.swapaxes(2, 3), np.float32(-9))
    found = artifact.load().function()(mask, own, x)
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_gathers_of_known_sizes_and_of_loops_stay():
    line = ('    %1 = torch.operator "onnx.Gather"(%0, %2) {torch.onnx.axis = 0 : si64} : '
            "(!torch.vtensor<[4,8],f32>, !torch.vtensor<[?],si64>) -> !torch.vtensor<[3,8],f32> \n")
    assert gathers.keep_apart(line) == line
    assert gathers.keep_apart("  " + line.replace("[3,8]", "[?,8]")) == "  " + line.replace("[3,8]", "[?,8]")
    kept = gathers.keep_apart(line.replace("[3,8]", "[?,8]"))
    assert "util.optimization_barrier" in kept
    assert "%1 = torch_c.from_builtin_tensor %takt.gather1_r : tensor<?x8xf32>" in kept


_COLUMNS = {
    "a slice": "s = Slice(x, four, five, last) a = Squeeze(s, last)",
    "an element": "a = Gather<axis = 2>(x, element)",
    "a split": "b, c, s = Split<axis = 2>(x, sizes) a = Reshape(s, shape)",
    "rows of it": "b = Gather<axis = -1>(x, element) a = Slice(b, zero, fifty, one)",
    "steps": "a = Slice(y, zero, hundred, one, two)",
    "a turned row": "t = Transpose<perm = [0, 2, 1]>(x) a = Gather<axis = 1>(t, element)",
    "before an axis of one": "u = Unsqueeze(x, three) b = Gather<axis = 2>(u, element) a = Squeeze(b, last)",
}
_TAKEN = {
    "places": "z = GatherElements<axis = 1>(a, places)",
    "backwards": "z = Slice(a, minus, far, one, minus)",
    "sums from the end": "z = CumSum<reverse = 1>(a, element)",
    "put": "n = Neg(a) z = ScatterElements<axis = 1>(a, all, n)",
}


def test_elements_of_a_column(needs_compiler, tmp_path):
    """As detectors choose from scores that lie beside boxes."""
    onnxruntime = pytest.importorskip("onnxruntime")
    random = np.random.default_rng(1)
    inputs = [random.standard_normal(shape).astype(np.float32) for shape in ([1, 100, 6], [1, 100])]
    constants = {"four": [4], "five": [5], "last": [2], "element": 1, "sizes": [1, 4, 1], "shape": [1, 100],
                 "zero": [0], "fifty": [50], "one": [1], "hundred": [100], "two": [2], "three": [3], "minus": [-1],
                 "far": [-1000], "places": [[7, 49, 0, 3, 8, 12, 40, 40, 1]],
                 "all": random.permutation(100)[None]}
    networks = {}
    cases = [(column, "places") for column in _COLUMNS] + [("an element", taken) for taken in _TAKEN]
    for case in dict.fromkeys(cases):
        text = f"{_COLUMNS[case[0]]} {_TAKEN[case[1]]}"
        model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
            net (float[1,100,6] x, float[1,100] y) => (float[1,N] z) {{ {text} }}""")
        model.graph.initializer.extend(
            onnx.numpy_helper.from_array(np.array(value), name) for name, value in constants.items())
        networks[case] = model, inputs
    for case, found in together.results(tmp_path, networks).items():
        session = onnxruntime.InferenceSession(networks[case][0].SerializeToString())
        wanted, = session.run(None, dict(zip("xy", inputs)))
        np.testing.assert_allclose(found, wanted, atol=1e-5, err_msg=str(case))


def test_a_scatter_leaves_what_others_read(needs_compiler, tmp_path):
    """Columns that places choose are in a tensor of their own, which a scatter must not change for its other reader."""
    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[2,6,7] x, int64[5] q) => (float[2,6,5] u, float[2,6,5] v) <int64[2,1] turned = {1, 0}> {
            y = Gather<axis = 2>(x, q) e = Exp(y) u = ScatterND(y, turned, e) v = Neg(y) }""")
    onnx.save(model, tmp_path / "net.onnx")
    x, q = np.random.default_rng(1).standard_normal([2, 6, 7]).astype(np.float32), np.array([3, 1, 6, 6, 0])
    scattered, negative = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().function()(x, q)
    np.testing.assert_allclose(scattered, np.exp(x[::-1, :, q]), atol=1e-5)
    np.testing.assert_array_equal(negative, -x[..., q])


def test_columns_are_copied_for_what_takes_elements_of_them():
    column = ('    %1 = torch.operator "onnx.Gather"(%0, %2) {torch.onnx.axis = 1 : si64} : '
              "(!torch.vtensor<[9,4],f32>, !torch.vtensor<[],si64>) -> !torch.vtensor<[9],f32> \n")
    kept = ('    %4 = torch.operator "onnx.Add"(%1, %3) : '
            "(!torch.vtensor<[9],f32>, !torch.vtensor<[9],f32>) -> !torch.vtensor<[9],f32> \n")
    assert gathers.keep_apart(column + kept) == column + kept
    scattered = ('    %4 = torch.operator "onnx.ScatterElements"(%3, %5, %1) : (!torch.vtensor<[9],f32>, '
                 "!torch.vtensor<[9],si64>, !torch.vtensor<[9],f32>) -> !torch.vtensor<[9],f32> \n")
    assert '"onnx.ScatterElements"(%3, %5, %takt.column4.2.source)' in gathers.keep_apart(column + scattered)
    rows = column.replace("axis = 1", "axis = 0").replace("-> !torch.vtensor<[9]", "-> !torch.vtensor<[4]")
    assert gathers.keep_apart(rows + scattered) == rows + scattered
