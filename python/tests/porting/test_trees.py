"""Ensembles of trees."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, numpy_helper  # noqa: E402

from takt.porting import porter  # noqa: E402
from test_classic import check, floats, network, stays  # noqa: E402
from test_linear import TRANSFORMS  # noqa: E402
from test_porter import ort_run  # noqa: E402

RESULTS = [TensorProto.INT64, TensorProto.FLOAT]
FEATURES = 4


class Trees:
    """Trees with random splits and leaves, as attributes of the operators.

    classes  whose scores each leaf has."""

    def __init__(self, count, depth, classes, seed=3, modes=("BRANCH_LEQ",), is_positive=False, tracks=False):
        self.random = np.random.default_rng(seed)
        self.own = {f"nodes_{key}": [] for key in ("treeids", "nodeids", "featureids", "values", "modes",
                                                   "truenodeids", "falsenodeids", "missing_value_tracks_true")}
        self.leaves = []
        self.classes, self.modes, self.is_positive, self.tracks = classes, modes, is_positive, tracks
        for tree in range(count):
            self.size = 0
            self.grow(tree, depth)

    def grow(self, tree, depth):
        """A node of at most so many levels below it, with its children; its number."""
        number, at = self.size, len(self.own["nodes_treeids"])
        self.size += 1
        is_leaf = depth == 0 or number > 0 and self.random.random() < 0.2
        values = {
            "treeids": tree, "nodeids": number, "featureids": int(self.random.integers(FEATURES)),
            # There are only a few values, so that features are equal to them.
            "values": float(self.random.integers(-2, 3)) / 2, "modes": "LEAF" if is_leaf else
            str(self.random.choice(self.modes)), "truenodeids": 0, "falsenodeids": 0,
            "missing_value_tracks_true": int(self.tracks and self.random.random() < 0.5)}
        for key, value in values.items():
            self.own[f"nodes_{key}"].append(value)
        if is_leaf:
            weights = self.random.standard_normal(len(self.classes))
            weights = abs(weights) / 9 if self.is_positive else weights
            self.leaves += [(tree, number, each, float(weight)) for each, weight in zip(self.classes, weights)]
        else:
            for side in ("true", "false"):
                self.own[f"nodes_{side}nodeids"][at] = self.grow(tree, depth - 1)
        return number

    def attributes(self, what):
        trees, nodes, ids, weights = zip(*self.leaves)
        return {**self.own, f"{what}_treeids": trees, f"{what}_nodeids": nodes, f"{what}_ids": ids,
                f"{what}_weights": weights}


def points(count, dtype=np.float32):
    """Halves, some of which are thresholds."""
    return (np.random.default_rng(4).integers(-4, 5, (count, FEATURES)) / 2).astype(dtype)


def check_regressor(trees, x=None, targets=1, **own):
    check("TreeEnsembleRegressor", {"x": points(40) if x is None else x}, n_targets=targets,
          **trees.attributes("target"), **own)


@pytest.mark.parametrize("targets", [1, 3])
@pytest.mark.parametrize("kind", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize("has_base", [False, True])
def test_regressor(targets, kind, has_base):
    check_regressor(Trees(7, 4, range(targets)), targets=targets, aggregate_function=kind,
                    **({"base_values": [0.5, 0.25, -1.0][:targets]} if has_base else {}))


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.int32])
def test_other_numbers(dtype):
    check("TreeEnsembleClassifier", {"x": points(20, dtype)}, results=RESULTS, classlabels_int64s=[0, 1, 2],
          **Trees(5, 3, range(3)).attributes("class"))


def test_doubles_are_compared_as_doubles():
    trees = Trees(5, 3, [0])
    x = points(40, np.float64) + np.random.default_rng(8).choice([0, 1e-12], (40, FEATURES))
    own = trees.attributes("target")
    for name in ("nodes_values", "target_weights"):
        own[f"{name}_as_tensor"] = numpy_helper.from_array(np.float64(own.pop(name)))
    check("TreeEnsembleRegressor", {"x": x}, results=[TensorProto.FLOAT], version=3, n_targets=1, **own)


@pytest.mark.parametrize("tracks", [False, True])
@pytest.mark.parametrize("modes", [["BRANCH_LEQ"], ["BRANCH_LT"], ["BRANCH_GTE"], ["BRANCH_GT"], ["BRANCH_EQ"],
                                   ["BRANCH_NEQ"], ["BRANCH_LEQ", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_GT"]])
def test_comparisons(modes, tracks):
    x = points(40)
    x[::3, 1] = np.nan
    x[1::3, 2] = -np.inf
    check_regressor(Trees(6, 5, [0], modes=modes, tracks=tracks), x)


def test_leaves_alone():
    check_regressor(Trees(3, 0, [0, 1]), targets=2)


@pytest.mark.parametrize("how", TRANSFORMS[:-1])
@pytest.mark.parametrize("labels", [[0, 1, 2], [7, 5, 6]])
@pytest.mark.parametrize("base", [None, [0.1, 0.2, -0.3]])
@pytest.mark.parametrize("is_positive", [False, True])
def test_classifier(how, labels, base, is_positive):
    trees = Trees(7, 4, range(3), is_positive=is_positive)
    check("TreeEnsembleClassifier", {"x": points(60)}, results=RESULTS, classlabels_int64s=labels, post_transform=how,
          **({"base_values": base} if base else {}), **trees.attributes("class"))


@pytest.mark.parametrize("how", TRANSFORMS[:-1])
@pytest.mark.parametrize("classes", [[0], [1], [0, 1]])
@pytest.mark.parametrize("base", [[], [0.1], [0.1, 0.2]])
@pytest.mark.parametrize("is_positive", [False, True])
def test_two_classes(how, classes, base, is_positive):
    trees = Trees(5, 3, classes, is_positive=is_positive)
    check("TreeEnsembleClassifier", {"x": points(60)}, results=RESULTS, classlabels_int64s=[5, 7], post_transform=how,
          **({"base_values": base} if base else {}), **trees.attributes("class"))


def test_a_score_that_some_leaves_lack():
    """It must not win where all others are negative."""
    trees = Trees(1, 2, range(3))
    trees.leaves = [(tree, node, each, -abs(weight)) for tree, node, each, weight in trees.leaves
                    if (node, each) != (trees.leaves[0][1], 2)]
    assert stays("TreeEnsembleClassifier", {"x": (TensorProto.FLOAT, [2, 4])}, results=RESULTS,
                 classlabels_int64s=[0, 1, 2], **trees.attributes("class"))


def test_it_compiles(needs_compiler, tmp_path):
    """Some features are no numbers, and some walks end early."""
    trees = Trees(6, 5, range(3), modes=["BRANCH_LEQ", "BRANCH_GT"], tracks=True)
    model = network("TreeEnsembleClassifier", {"x": (TensorProto.FLOAT, [None, 4])}, results=RESULTS,
                    classlabels_int64s=[3, 4, 5], **trees.attributes("class"))
    onnx.save(model, tmp_path / "net.onnx")
    function = takt.compile(tmp_path / "net.onnx", cache=tmp_path, recipe="plain").load(device="local-sync").net
    x = points(50)
    x[::3, 1] = np.nan
    x[1::3, 2] = -np.inf
    for a, b in zip(ort_run(model, {"x": x}), function(x), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)


def test_a_lone_tree_has_company():
    """The compiler takes minutes for a chain of single numbers, so a second tree goes beside it: a leaf."""
    trees = Trees(1, 16, [0], seed=7)
    x = points(1)
    model = network("TreeEnsembleRegressor", {"x": (TensorProto.FLOAT, [1, 4])}, n_targets=1,
                    aggregate_function="MIN", **trees.attributes("target"))
    ported = onnx.shape_inference.infer_shapes(porter.port(model))
    sizes = {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
             for value in ported.graph.value_info}
    walks = [sizes[node.output[0]] for node in ported.graph.node if node.op_type == "GatherElements"]
    assert len(walks) > 10 and all(walk == [1, 2] for walk in walks)
    np.testing.assert_allclose(ort_run(ported, {"x": x})[0], ort_run(model, {"x": x})[0], rtol=1e-6)
