"""Ensembles of trees (TreeEnsembleRegressor, TreeEnsembleClassifier), in operators of ONNX: a part of `porter`.

All trees are walked at once: for each sample and tree there is the number of the node where it
is. A step gathers that node's feature, threshold and children from tables. There are as many steps
as the deepest tree has levels; a walk that has come to a leaf stays there.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable

import numpy as np

from . import classic

_COMPARISONS = {
    "BRANCH_LEQ": "LessOrEqual", "BRANCH_LT": "Less", "BRANCH_GTE": "GreaterOrEqual", "BRANCH_GT": "Greater",
    "BRANCH_EQ": "Equal",
}
_UNEQUAL = "BRANCH_NEQ"  # As BRANCH_EQ, with the children in the other order.
_LEAF = "LEAF"
_LABELS = (0, 1)  # Where ONNX Runtime gives a place for the label.


@dataclasses.dataclass
class _Trees:
    """Nodes of all trees: the roots first, then level by level. Children are neighbours.

    features, thresholds   by node: what is compared, which is no number (NaN) for a leaf.
    children   the child if the comparison does not hold, followed by the other one; a leaf itself.
    modes      by node: which comparison. A leaf has the mode of the first node.
    tracks     by node: whether a feature that is no number counts as if the comparison held.
    values     [nodes, classes], and whether there is one.
    """

    count: int
    depth: int
    features: np.ndarray
    thresholds: np.ndarray
    children: np.ndarray
    modes: list[str]
    tracks: np.ndarray
    values: np.ndarray
    has_value: np.ndarray

    @property
    def is_leaf(self) -> np.ndarray:
        return self.children == np.arange(len(self.children))

    def are_given(self, classes: slice) -> np.ndarray:
        """Says for each class whether some tree has it in all its leaves. Then each sample has a score of it."""
        leaves = np.flatnonzero(self.is_leaf)
        missing = np.zeros((self.count, self.values.shape[1]), bool)
        np.logical_or.at(missing, self.trees()[leaves], ~self.has_value[leaves])
        return ~missing.all(0)[classes]

    def trees(self) -> np.ndarray:
        """The tree of each node."""
        found = np.arange(len(self.children))
        for node in np.flatnonzero(~self.is_leaf):  # Parents come first.
            found[self.children[node]:self.children[node] + 2] = found[node]
        return found


class TreePorter:
    """The part of the porter that knows them."""

    def tree_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            (classic.DOMAIN, "TreeEnsembleClassifier"): self.on_tree_classifier,
            (classic.DOMAIN, "TreeEnsembleRegressor"): self.on_tree_regressor,
        }

    def on_tree_regressor(self, node: Any) -> bool:
        own, x = self.attributes(node), self.rows_of(node.input[0])
        targets, how = own.get("n_targets", 1), own.get("post_transform", b"NONE").decode()
        kind, base = own.get("aggregate_function", b"SUM").decode(), self.row_of(own, "base_values")
        if x is None or base.size not in (0, 1, targets):
            return False
        trees, count = self.trees_of(own, "target", targets), len(set(own["nodes_treeids"]))
        reduction = {"MIN": "ReduceMin", "MAX": "ReduceMax"}.get(kind, "ReduceSum") if count > 1 else "ReduceSum"
        if reduction != "ReduceSum" and not trees.has_value[trees.is_leaf].all():
            return False
        scores = self.gathered(x, trees, reduction)
        if kind == "AVERAGE":
            scores = self.emit("Div", [scores, self.number(count)])
        if base.size == targets:  # ONNX Runtime does not add one to several.
            scores = self.emit("Add", [scores, self.constant(base)])
        if targets > 1 or how == "PROBIT":
            scores = self.transformed(scores, how)
        self.emit("Identity", [scores], node.output[0])
        return True

    def on_tree_classifier(self, node: Any) -> bool:
        own, x = self.attributes(node), self.rows_of(node.input[0])
        labels, how = own.get("classlabels_int64s", []), own.get("post_transform", b"NONE").decode()
        if x is None or own.get("classlabels_strings") or len(labels) < 2:
            return False
        trees, base = self.trees_of(own, "class", len(labels)), self.row_of(own, "base_values")
        if len(labels) == 2:
            return self.on_pair(node, x, trees, base, how)
        if base.size not in (0, len(labels)):
            return False
        leaves = trees.values[trees.is_leaf & (trees.trees() == 0)]
        # A score that no leaf gives never wins; one that is less than all others need not be looked for.
        if base.size == 0 and not ((trees.values >= 0).all() and (leaves > 0).any(1).all()
                                   or trees.are_given(slice(None)).all()):
            return False
        scores = self.gathered(x, trees, "ReduceSum")
        if base.size:
            scores = self.emit("Add", [scores, self.constant(base)])
        self.name_greatest(scores, labels, node.output[0])
        self.emit("Identity", [self.transformed(scores, how)], node.output[1])
        return True

    def on_pair(self, node: Any, x: str, trees: _Trees, base: np.ndarray, how: str) -> bool:
        """Two classes. Where leaves have scores of the first class alone, these are those of the second one."""
        own = self.attributes(node)
        labels = own["classlabels_int64s"]
        has_first, has_second = trees.has_value.any(0)
        if base.size > 2 or (trees.are_given(slice(None)) != (has_first, has_second)).any():
            return False
        scores = self.gathered(x, trees, "ReduceSum")
        first, second = (self.slice(scores, 1, i, i + 1) for i in range(2))
        # ONNX Runtime's way with two base values, or with one, where each class has its own scores or none.
        if base.size == 2 and has_second:
            second = self.emit("Add", [first, self.constant(base[1:])])
            first = self.emit("Neg", [second]) if has_first else first
        elif base.size and has_first:
            first = self.emit("Add", [first, self.constant(base[:1])])
        decisive, is_share = second if has_second else first, (trees.values >= 0).all()
        is_single = len(set(own["class_ids"])) == 1
        limit = 0.5 if is_single and is_share else 0.0
        if has_second or base.size == 2:
            both = self.transformed(self.emit("Concat", [first, second], axis=1), how)
        else:
            both = self.both_classes(first, not is_share, how)
            if both is None:
                return False
        is_second = self.emit("Greater", [decisive, self.number(limit)])
        self.name_one(is_second, labels if is_single else _LABELS, node.output[0])
        self.emit("Identity", [both], node.output[1])
        return True

    # Walks.

    def gathered(self, x: str, trees: _Trees, how: str) -> str:
        """The scores of all trees, reduced by the operator `how`: [samples, classes]."""
        places, is_single = self.leaves(x, trees), trees.values.shape[1] == 1
        table = self.constant(trees.values[:, 0] if is_single else trees.values)
        found = self.emit("Gather", [table, places], axis=0)
        if how == "ReduceSum":
            return self.emit(how, [found, self.constant([1])], keepdims=int(is_single))
        return self.reduce(how, found, [1], keepdims=int(is_single))

    def leaves(self, x: str, trees: _Trees) -> str:
        """The leaf of each sample in each tree, [samples, trees]."""
        is_double = self.types[x] == self.onnx.TensorProto.DOUBLE
        x = x if is_double else self.as_floats(x)
        thresholds = trees.thresholds.astype(np.float64 if is_double else np.float32)
        tables = [self.constant(each) for each in (
            trees.features.astype(np.int32), thresholds, trees.children.astype(np.int32))]
        roots = np.arange(trees.count)
        places = None
        for _ in range(trees.depth):
            if places is None:
                features, limits, children = (self.constant(self.constants[table][roots]) for table in tables)
                found = self.emit("Gather", [x, features], axis=1)
            else:
                features, limits, children = (self.emit("Gather", [table, places], axis=0) for table in tables)
                found = self.emit("GatherElements", [x, features], axis=1)
            holds = self.compared(found, limits, trees, roots if places is None else places)
            places = self.emit("Add", [children, self.emit("Cast", [holds], to=self.onnx.TensorProto.INT32)])
        if places is None:  # Leaves alone; there is one for each sample all the same.
            zeros = self.emit("Mul", [self.slice(x, 1, 0, 1), self.constant(thresholds.dtype.type(0))])
            zeros = self.emit("Cast", [zeros], to=self.onnx.TensorProto.INT32)
            places = self.emit("Add", [zeros, self.constant(np.arange(trees.count, dtype=np.int32))])
        return places

    def compared(self, found: str, limits: str, trees: _Trees, places: str | np.ndarray) -> str:
        """Whether the comparison of the node holds for each sample and tree."""
        kinds, holds = sorted(set(trees.modes)), None
        for kind in kinds:
            each = self.emit(_COMPARISONS[kind], [found, limits])
            if len(kinds) > 1:
                each = self.emit("And", [each, self.of_nodes(np.array(trees.modes) == kind, places)])
            holds = each if holds is None else self.emit("Or", [holds, each])
        if trees.tracks.any():
            missing = self.emit("And", [self.emit("IsNaN", [found]), self.of_nodes(trees.tracks, places)])
            holds = self.emit("Or", [holds, missing])
        return holds

    def of_nodes(self, table: np.ndarray, places: str | np.ndarray) -> str:
        """Looks the conditions of the nodes up in a table."""
        if isinstance(places, np.ndarray):
            return self.constant(table[places])
        return self.emit("Cast", [self.emit("Gather", [self.constant(table.astype(np.int32)), places], axis=0)],
                         to=self.onnx.TensorProto.BOOL)

    # Tables.

    def row_of(self, own: dict[str, Any], what: str) -> np.ndarray:
        """An attribute of floats, or of a tensor."""
        tensor = own.get(f"{what}_as_tensor")
        if tensor is not None:
            return self.onnx.numpy_helper.to_array(tensor).reshape(-1).astype(np.float32)
        return np.array(own.get(what, []), np.float32)

    def trees_of(self, own: dict[str, Any], what: str, classes: int) -> _Trees:
        """The tables of the node's attributes. `what`: "target" or "class", which begins the names of some.

        A lone tree gets company: the compiler takes minutes for a chain of single numbers."""
        if len(set(own["nodes_treeids"])) == 1:
            own = _with_leaf(own)
        tensor = own.get("nodes_values_as_tensor")
        limits = (self.row_of(own, "nodes_values") if tensor is None
                  else self.onnx.numpy_helper.to_array(tensor).reshape(-1))
        limits = np.resize(limits, len(own["nodes_modes"]))  # That of a leaf does not count.
        numbers = {pair: i for i, pair in enumerate(zip(own["nodes_treeids"], own["nodes_nodeids"]))}
        modes = [mode.decode() for mode in own["nodes_modes"]]
        order, children, depth = _by_levels(own, numbers, modes)
        leaves = np.array([modes[i] == _LEAF for i in order])
        inner = [modes[i] for i in order if modes[i] != _LEAF]
        usual = "BRANCH_EQ" if not inner or inner[0] == _UNEQUAL else inner[0]
        tracks = np.array(own.get("nodes_missing_value_tracks_true") or [0] * len(modes), bool)
        is_turned = np.array([modes[i] == _UNEQUAL for i in order])
        values, has_value = np.zeros((len(order), classes), np.float32), np.zeros((len(order), classes), bool)
        places = {original: place for place, original in enumerate(order)}
        weights = self.row_of(own, f"{what}_weights")
        for tree, name, number, weight in zip(own[f"{what}_treeids"], own[f"{what}_nodeids"], own[f"{what}_ids"],
                                              weights):
            place = places[numbers[tree, name]]
            if leaves[place]:
                values[place, number] += weight
                has_value[place, number] = True
        return _Trees(
            count=len(set(own["nodes_treeids"])), depth=depth,
            features=np.where(leaves, 0, np.array(own["nodes_featureids"])[order]),
            thresholds=np.where(leaves, np.nan, limits[order]), children=children,
            modes=[usual if modes[i] == _LEAF else "BRANCH_EQ" if modes[i] == _UNEQUAL else modes[i] for i in order],
            tracks=tracks[order] & ~leaves & ~is_turned, values=values, has_value=has_value)


def _with_leaf(own: dict[str, Any]) -> dict[str, Any]:
    """The attributes with one more tree, which is a leaf without a value."""
    more = {f"nodes_{key}": 0 for key in ("nodeids", "featureids", "truenodeids", "falsenodeids", "values",
                                          "missing_value_tracks_true")}
    more.update(nodes_treeids=own["nodes_treeids"][0] + 1, nodes_modes=_LEAF.encode())
    return {**own, **{key: [*own[key], value] for key, value in more.items() if own.get(key)}}


def _by_levels(own: dict[str, Any], numbers: dict[tuple[int, int], int], modes: list[str]
               ) -> tuple[list[int], np.ndarray, int]:
    """The nodes in the order of _Trees, as the file counts them, their children, and the number of levels below
    the roots."""
    trees = own["nodes_treeids"]
    order = [i for i, tree in enumerate(trees) if i == 0 or tree != trees[i - 1]]
    if len(order) != len(set(trees)):
        raise ValueError("the nodes of a tree do not follow each other")
    children, depth, begin = [], 0, 0
    while begin < len(order):
        end = len(order)
        for place in range(begin, end):
            i = order[place]
            if modes[i] == _LEAF:
                children.append(place)
                continue
            children.append(len(order))
            both = [numbers[trees[i], own[f"nodes_{side}nodeids"][i]] for side in ("false", "true")]
            order += both[::-1] if modes[i] == _UNEQUAL else both
        if len(order) > len(trees):
            raise ValueError("a node of a tree has two parents")
        depth += len(order) > end
        begin = end
    return order, np.array(children), depth
