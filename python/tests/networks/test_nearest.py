"""Rounding to integers by two sums."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from takt.networks import graphs, nearest  # noqa: E402


class _Writer(graphs.Changer):
    def __init__(self, model, limits):
        super().__init__(model)
        self.limits = limits

    def changed(self, node):
        steps = nearest.emit_nearest(self, node.input[0], *self.limits)
        return self.onnx.helper.make_node("Identity", [steps], node.output)


@pytest.mark.parametrize("limits", [(), (-100, 27)])
def test_numbers_are_rounded_as_by_round(limits):
    onnxruntime = pytest.importorskip("onnxruntime")
    model = onnx.helper.make_model(onnx.parser.parse_graph("net (float[n] x) => (float[n] y) { y = Round(x) }"),
                                   opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=10)
    found = _Writer(model, limits).run()
    assert "Round" not in {node.op_type for node in found.graph.node}
    halves = np.arange(-300, 300) / 2
    x = np.concatenate([halves, np.nextafter(halves, 1e9), np.random.default_rng(1).normal(0, 1e5, 1000),
                        [-nearest.MOST, nearest.MOST - 0.5, 3e9, -np.inf, np.inf, np.nan]]).astype(np.float32)
    low, high = limits or (-nearest.MOST, nearest.MOST)
    session = onnxruntime.InferenceSession(found.SerializeToString(), providers=["CPUExecutionProvider"])
    want = np.nan_to_num(np.clip(np.rint(x), low, high), nan=low)
    np.testing.assert_array_equal(session.run(None, {"x": x})[0], want)
