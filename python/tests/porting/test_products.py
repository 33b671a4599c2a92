"""Products of matrices whose rows are open."""

import numpy as np
import pytest

import together

onnx = pytest.importorskip("onnx")

from onnx import numpy_helper, parser  # noqa: E402

from takt.networks import inference  # noqa: E402
from takt.porting import porter  # noqa: E402

W = np.random.default_rng(0).standard_normal((3, 16, 16)).astype(np.float32) / 4


def network(body, **weights):
    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 18]>
        net (float[N,L,16] x) => (float[N,L,16] y) {{ {body} }}""")
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in weights.items())
    return model


# Attention of one head: the recipe channels_last does not take it.
ATTENTION = network("""q = MatMul(x, wq)  k = MatMul(x, wk)  v = MatMul(x, wv)  turned = Transpose<perm = [0,2,1]>(k)
                       scores = MatMul(q, turned)  shares = Softmax(scores)  y = MatMul(shares, v)""",
                    wq=W[0], wk=W[1], wv=W[2])


def test_rows_meet_a_matrix_in_one_product():
    ported = porter.port(ATTENTION)
    sizes = inference.sizes_of(ported.graph)
    sizes.update((tensor.name, list(tensor.dims)) for tensor in ported.graph.initializer)
    ranks = [[len(sizes[name]) for name in node.input] for node in ported.graph.node if node.op_type == "MatMul"]
    assert ranks == [[2, 2]] * 3 + [[3, 3]] * 2
    assert porter.port(network("y = MatMul(x, w)", w=W)).graph.node[0].op_type == "MatMul"


def test_it_is_the_same_product(needs_compiler, tmp_path):
    x = np.random.default_rng(1).standard_normal((3, 5, 16)).astype(np.float32)
    with pytest.warns(UserWarning, match="open"):
        y = together.result(tmp_path, ATTENTION, [x], recipe="open", device="local-sync")
    scores = np.exp((x @ W[0]) @ (x @ W[1]).transpose(0, 2, 1))
    np.testing.assert_allclose(y, scores / scores.sum(-1, keepdims=True) @ (x @ W[2]), atol=1e-5)
