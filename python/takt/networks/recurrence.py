"""Which recurrent layers Takt's kernels can compute."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

LAYERS = frozenset({"GRU", "LSTM", "RNN"})
USUAL = {"GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "RNN": ["Tanh"]}  # Their functions.
_HIDDEN_MAX = 1 << 13  # As in src/kernels/gru.h.


def has_kernel(node: Any, attributes: Mapping[str, Any], constants: Mapping[str, np.ndarray]) -> bool:
    """Whether a kernel can compute such a layer of floats: one that runs forwards over all steps, with the usual
    functions and constant weights. The sizes of its tensors do not count."""
    inputs = [*node.input, *[""] * 8][:8]
    w, r = constants.get(inputs[1]), constants.get(inputs[2])
    if (w is None or r is None or any(each.dtype != np.float32 or each.shape[0] != 1 for each in (w, r))
            or inputs[3] and inputs[3] not in constants or inputs[4] or r.shape[2] > _HIDDEN_MAX):
        return False
    if node.op_type == "GRU" and attributes.get("linear_before_reset", 0) != 1:
        return False
    if node.op_type == "LSTM" and (attributes.get("input_forget", 0) or inputs[7]):
        return False
    functions = [each.decode() for each in attributes.get("activations", [])]
    return (attributes.get("direction", b"forward") == b"forward" and not attributes.get("layout", 0)
            and "clip" not in attributes and functions in ([], USUAL[node.op_type]))
