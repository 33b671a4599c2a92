"""What a network says of its products with weights of few bits: properties of the model, as the operators that say so
are replaced by others."""

from __future__ import annotations

from typing import Any

_PROPERTY = "takt.accuracy_level"
_WIDTH = "takt.weight_bits"
_BYTES = 4  # accuracy_level of MatMulNBits: inputs are rounded to bytes.


def note(model: Any) -> None:
    """Notes in `model` the least level that its products ask for, if they ask for any, and how many bits the widest
    weights have. Level 0 is the most exact one."""
    others = [each for each in model.metadata_props if each.key not in (_PROPERTY, _WIDTH)]
    del model.metadata_props[:]
    model.metadata_props.extend(others)
    products = [{each.name: each.i for each in node.attribute} for node in model.graph.node
                if node.op_type == "MatMulNBits"]
    if products:
        level = min(own.get("accuracy_level", 0) for own in products)
        width = max(own.get("bits", 4) for own in products)
        for key, value in ((_PROPERTY, level), (_WIDTH, width)):
            model.metadata_props.add(key=key, value=str(value))


def are_bytes(model: Any) -> bool:
    """Whether its products may round their inputs to bytes."""
    return _is_noted(model, _PROPERTY, _BYTES)


def has_bytes(model: Any) -> bool:
    """Whether there are weights of eight bits."""
    return _is_noted(model, _WIDTH, 8)


def _is_noted(model: Any, key: str, value: int) -> bool:
    return any(each.key == key and each.value == str(value) for each in model.metadata_props)
