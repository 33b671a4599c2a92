"""Names for new tensors."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402

from takt.networks import names  # noqa: E402
from takt.porting import porter  # noqa: E402
from takt.rewriting import rewriter  # noqa: E402


def model_of(text, **constants):
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 17]>\n' + text)
    for name, value in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
    return model


def test_each_name_is_new():
    graph = model_of("net (float[2] takt_a_1) => (float[2] takt_a_4) { takt_a_2 = Relu(takt_a_1) "
                     "takt_a_4 = If(c) <then_branch = inner () => (float[2] takt_a_3) "
                     "{ takt_a_3 = Neg(takt_a_2) }> }", takt_a_5=np.zeros(2, np.float32)).graph
    new = names.Names(graph)
    assert [new.fresh("a"), new.fresh("a"), new.fresh("b")] == ["takt_a_6", "takt_a_7", "takt_b_8"]


@pytest.mark.parametrize("after", [
    "y = ConvTranspose<strides = [2, 2]>(g, w)", "f = Reshape(g, three) y = Conv(f, v)",
])
def test_passes_that_follow_each_other_give_different_names(after):
    rank = 4 if "ConvTranspose" in after else 3
    text = (f"net (float[1,4,6,6] x, float[1,6,6,2] p) => (float[{','.join(['a', 'b', 'c', 'd'][:rank])}] y) "
            f"{{ g = GridSample<align_corners = 1>(x, p) {after} }}")
    weights = {"w": np.ones((4, 4, 3, 3), np.float32), "v": np.ones((4, 4, 3), np.float32),
               "three": np.array([1, 4, 36])}
    used = weights if rank == 3 else {"w": weights["w"]}
    network, kernels = rewriter.rewrite(porter.port(model_of(text, **used)))
    made = [name for node in network.graph.node for name in node.output]
    made += [tensor.name for tensor in network.graph.initializer]
    assert kernels and len(made) == len(set(made))
