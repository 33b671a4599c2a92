"""Operators on features of scikit-learn's networks (the domain ai.onnx.ml), in those of ONNX: a part of `porter`.

What they compute is what ONNX Runtime computes, also where the standard says less.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

DOMAIN = "ai.onnx.ml"


class ClassicPorter:
    """The part of the porter that knows them."""

    def classic_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            (DOMAIN, "ArrayFeatureExtractor"): self.on_extractor,
            (DOMAIN, "Binarizer"): self.on_binarizer,
            (DOMAIN, "FeatureVectorizer"): self.on_vectorizer,
            (DOMAIN, "Imputer"): self.on_imputer,
            (DOMAIN, "LabelEncoder"): self.on_label_encoder,
            (DOMAIN, "Normalizer"): self.on_normalizer,
            (DOMAIN, "OneHotEncoder"): self.on_one_hot_encoder,
            (DOMAIN, "Scaler"): self.on_scaler,
        }

    # All of them use the rest.

    def as_type(self, name: str, wanted: int) -> str:
        return name if self.types.get(name) == wanted else self.emit("Cast", [name], to=wanted)

    def as_floats(self, name: str) -> str:
        return self.as_type(name, self.onnx.TensorProto.FLOAT)

    def is_number(self, name: str) -> bool:
        """Whether it is known to be a tensor of numbers."""
        return self.types.get(name, 0) not in (0, self.onnx.TensorProto.STRING) and name in self.shapes

    def rows_of(self, name: str) -> str | None:
        """The tensor with a row for each sample: one dimension is that of a single sample. None: it is not
        known, or has more than two."""
        rank = len(self.shapes.get(name, []))
        if not self.is_number(name) or rank not in (1, 2):
            return None
        return name if rank == 2 else self.emit("Reshape", [name, self.constant([1, -1])])

    # The operators.

    def on_scaler(self, node: Any) -> bool:
        own, source = self.attributes(node), node.input[0]
        scale, offset = (np.float32(own.get(key, [])) for key in ("scale", "offset"))
        rank = len(self.shapes.get(source, []))
        if not self.is_number(source) or rank == 0 or scale.shape != offset.shape or rank > 2 and scale.size > 1:
            return False
        if self.types[source] == self.onnx.TensorProto.DOUBLE:
            scale, offset = scale.astype(np.float64), offset.astype(np.float64)
        else:
            source = self.as_floats(source)
        centered = self.emit("Sub", [source, self.constant(offset)])
        self.emit("Cast", [self.emit("Mul", [centered, self.constant(scale)])], node.output[0],
                  to=self.onnx.TensorProto.FLOAT)
        return True

    def on_normalizer(self, node: Any) -> bool:
        source, norm = node.input[0], self.attributes(node).get("norm", b"MAX").decode()
        if not self.is_number(source) or len(self.shapes[source]) not in (1, 2) or norm not in ("MAX", "L1", "L2"):
            return False
        x = self.as_floats(source)
        if norm == "MAX":
            size = self.reduce("ReduceMax", x, [-1])
        elif norm == "L1":
            size = self.emit("ReduceSum", [self.emit("Abs", [x]), self.constant([-1])])
        else:
            size = self.emit("Sqrt", [self.emit("ReduceSum", [self.emit("Mul", [x, x]), self.constant([-1])])])
        is_zero = self.emit("Equal", [size, self.number(0)])
        self.emit("Div", [x, self.emit("Where", [is_zero, self.number(1), size])], node.output[0])
        return True

    def on_binarizer(self, node: Any) -> bool:
        source = node.input[0]
        if not self.is_number(source):
            return False
        threshold = self.number(self.attributes(node).get("threshold", 1.0))
        self.emit("Cast", [self.emit("Greater", [self.as_floats(source), threshold])], node.output[0],
                  to=self.types[source])
        return True

    def on_imputer(self, node: Any) -> bool:
        own, source = self.attributes(node), node.input[0]
        kinds = self.onnx.TensorProto
        if not self.is_number(source) or self.types[source] not in (kinds.FLOAT, kinds.INT64):
            return False
        is_float = self.types[source] == kinds.FLOAT
        replaced = np.float32(own.get("replaced_value_float", 0)) if is_float else own.get("replaced_value_int64", 0)
        values = np.array(own.get("imputed_value_floats" if is_float else "imputed_value_int64s", []),
                          np.float32 if is_float else np.int64)
        sizes = self.shapes[source]
        if values.size == 0 or len(sizes) not in (1, 2) or sizes[-1] is None:
            return False
        if is_float and np.isnan(replaced):
            is_missing = self.emit("IsNaN", [source])
        else:
            is_missing = self.emit("Equal", [source, self.constant(np.array(replaced, values.dtype))])
        values = values if values.size == sizes[-1] else values[:1]
        self.emit("Where", [is_missing, self.constant(values), source], node.output[0])
        return True

    def on_one_hot_encoder(self, node: Any) -> bool:
        source, categories = node.input[0], self.attributes(node).get("cats_int64s", [])
        if not self.is_number(source) or not categories or len(set(categories)) < len(categories):
            return False
        whole = self.as_type(source, self.onnx.TensorProto.INT64)
        single = self.emit("Unsqueeze", [whole, self.constant([-1])])
        same = self.emit("Equal", [single, self.constant(np.array(categories, np.int64))])
        self.emit("Cast", [same], node.output[0], to=self.onnx.TensorProto.FLOAT)
        return True

    def on_label_encoder(self, node: Any) -> bool:
        """A table whose first row is for what is no key."""
        source, own = node.input[0], self.attributes(node)
        keys, values = (self.numbers_of(own, what) for what in ("keys", "values"))
        if not self.is_number(source) or keys is None or values is None or len(keys) != len(values):
            return False
        if self.type_of(keys) != self.types[source]:
            return False
        default = own.get("default_tensor")
        if default is not None:
            default = self.onnx.numpy_helper.to_array(default).reshape(())
        else:
            default = own.get("default_int64", -1) if values.dtype.kind == "i" else own.get("default_float", -0.0)
        single = self.emit("Unsqueeze", [source, self.constant([-1])])
        same = self.emit("Equal", [single, self.constant(keys)])
        if keys.dtype.kind == "f" and np.isnan(keys).any():
            missing = self.emit("And", [self.emit("IsNaN", [single]), self.constant(np.isnan(keys))])
            same = self.emit("Or", [same, missing])
        # The first of equal keys counts: its row is the greatest.
        rows = self.constant(np.arange(len(keys), 0, -1))
        found = self.emit("Where", [same, rows, self.constant(np.int64(0))])
        table = np.array([default, *values[::-1]], values.dtype)
        row = self.reduce("ReduceMax", found, [-1], keepdims=0)
        self.emit("Gather", [self.constant(table), row], node.output[0], axis=0)
        return True

    def numbers_of(self, own: dict[str, Any], what: str) -> np.ndarray | None:
        """The attribute `what` of one of the types of numbers, a row."""
        kinds = {f"{what}_int64s": np.int64, f"{what}_floats": np.float32}
        found = [np.array(own[name], kind) for name, kind in kinds.items() if own.get(name)]
        if own.get(f"{what}_tensor") is not None:
            found.append(self.onnx.numpy_helper.to_array(own[f"{what}_tensor"]).reshape(-1))
        return found[0] if len(found) == 1 and found[0].size and found[0].dtype.kind in "if" else None

    def on_extractor(self, node: Any) -> bool:
        source, places = node.input
        if not self.is_number(source) or not self.shapes[source] or places not in self.shapes:
            return False
        if len(self.shapes[source]) == 1:
            source = self.rows_of(source)
        axis = max(1, len(self.shapes[node.input[0]]) - 1)
        if len(self.shapes[places]) != 1:
            places = self.emit("Reshape", [places, self.constant([-1])])
        self.emit("Gather", [source, places], node.output[0], axis=axis)
        return True

    def on_vectorizer(self, node: Any) -> bool:
        """The features of all inputs in one row. Of each input come so many as the node says."""
        wanted, parts = self.attributes(node).get("inputdimensions", []), []
        if len(wanted) != len(node.input):
            return False
        for name, size in zip(node.input, wanted):
            sizes = self.shapes.get(name, [None])
            features = sizes[1:] if len(sizes) > 1 else sizes
            if not self.is_number(name) or None in features or not sizes:
                return False
            row = self.emit("Reshape", [name, self.constant([1, -1])]) if len(sizes) == 1 else name
            row = self.as_floats(self.emit("Flatten", [row], axis=1) if len(sizes) > 2 else row)
            count = math.prod(features)
            if count > size:
                row = self.slice(row, 1, 0, size)
            elif count < size:
                row = self.emit("Pad", [row, self.constant([0, 0, 0, size - count])])
            parts.append(row)
        self.emit("Concat", parts, node.output[0], axis=1)
        return True
