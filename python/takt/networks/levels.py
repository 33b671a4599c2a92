"""How exactly a network asks for its products with weights of few bits: a property of the model, as the operators that
say so are replaced by others."""

from __future__ import annotations

from typing import Any

_PROPERTY = "takt.accuracy_level"
_BYTES = 4  # accuracy_level of MatMulNBits: inputs are rounded to bytes.


def note(model: Any) -> None:
    """Notes in `model` the least level that its products ask for, if they ask for any. 0 is the most exact one."""
    others = [each for each in model.metadata_props if each.key != _PROPERTY]
    del model.metadata_props[:]
    model.metadata_props.extend(others)
    levels = [next((each.i for each in node.attribute if each.name == "accuracy_level"), 0)
              for node in model.graph.node if node.op_type == "MatMulNBits"]
    if levels:
        model.metadata_props.add(key=_PROPERTY, value=str(min(levels)))


def are_bytes(model: Any) -> bool:
    """Whether its products may round their inputs to bytes."""
    return any(each.key == _PROPERTY and each.value == str(_BYTES) for each in model.metadata_props)
