"""ONNX's own cases of operators that are put in other terms, computed by ONNX's reference."""

import functools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
loader = pytest.importorskip("onnx.backend.test.loader")
pytest.importorskip("onnx.reference")

from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from takt import canonical, portable


@functools.cache
def cases():
    with np.errstate(all="ignore"):
        return {case.name: case for case in loader.load_model_tests(kind="node")}


def check(case, port, gone):
    """All but the first input is a constant where that is what a network has."""
    feeds, results = case.data_sets[0]
    names = [value.name for value in case.model.graph.input]
    ported = port(case.model)
    assert gone not in {node.op_type for node in ported.graph.node}
    found = ReferenceEvaluator(ported).run(None, dict(zip(names, feeds)))
    tolerance = 1e-2 if any(np.asarray(each).dtype == np.float16 for each in results) else 1e-5
    for value, wanted in zip(found, results):
        assert value.shape == wanted.shape and value.dtype == wanted.dtype
        np.testing.assert_allclose(value, wanted, rtol=max(case.rtol, tolerance), atol=tolerance)


def named(prefix, without=()):
    return [name for name in sorted(cases()) if name.startswith(prefix) and not any(part in name for part in without)]


# Numbers that are neither float32 nor float16 stay, and those of a graph that is expanded already.
@pytest.mark.parametrize("name", named("test_attention", ("expanded", "bf16", "bfloat16")))
def test_attention(name):
    check(cases()[name], portable.port, "Attention")


@pytest.mark.parametrize("name", named("test_gridsample"))
def test_grid_sample(name):
    check(cases()[name], canonical.sample, "GridSample")


def check_ported(name, gone, frozen=True):
    """With the inputs but the first as constants, as networks have them."""
    case = cases()[name]
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    feeds = [np.asarray(each) for each in case.data_sets[0][0]]
    others = [value.name for value in model.graph.input][1:]
    if frozen:
        model.graph.initializer.extend(map(numpy_helper.from_array, feeds[1:], others))
        del model.graph.input[1:]
    ported = portable.port(model)
    assert gone not in {node.op_type for node in ported.graph.node}
    names = [value.name for value in ported.graph.input]
    found = ReferenceEvaluator(ported).run(None, dict(zip(names, feeds)))
    for value, wanted in zip(found, case.data_sets[0][1]):
        np.testing.assert_allclose(value, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", named("test_convtranspose_group"))
def test_grouped_transposed_convolutions(name):
    check_ported(name, "ConvTranspose")


@pytest.mark.parametrize("name", named("test_convtranspose_autopad") + named("test_convtranspose_output_shape"))
def test_transposed_convolutions_of_a_stated_size(name):
    check_ported(name, "")


@pytest.mark.parametrize("name", named("test_col2im", ("5d",)))
def test_col2im(name):
    check_ported(name, "Col2Im")


@pytest.mark.parametrize("name", named("test_basic_deform") + named("test_deform"))
def test_deformed_convolutions(name):
    check_ported(name, "DeformConv", frozen=False)


@pytest.mark.parametrize("name", named("test_dft"))
def test_transforms_of_fourier(name):
    check_ported(name, "DFT")


@pytest.mark.parametrize("name", named("test_affine_grid", ("expanded",)) + named("test_det"))
def test_layers(name):
    check_ported(name, "AffineGrid" if "affine" in name else "Det")


@pytest.mark.parametrize("name", named("test_l1normalization") + named("test_l2normalization") + named("test_lpnorm"))
def test_normalization_of_zeros(name):
    check_ported(name, "LpNormalization")


@pytest.mark.parametrize("name", [name for name in sorted(cases()) if name.endswith("_batchwise")])
def test_layers_with_the_sequences_first(name):
    check_ported(name, "", frozen=False)


@pytest.mark.parametrize("name", named("test_matmul_1d_3d") + named("test_matmul_4d_1d"))
def test_products_of_vectors_and_matrices(name):
    check_ported(name, "", frozen=False)


@pytest.mark.parametrize("name", named("test_resize"))
def test_sizes(name):
    is_special = any(part in name for part in ("axes", "antialias", "exclude_outside", "not_", "tf_crop"))
    check_ported(name, "Resize" if is_special else "")


@pytest.mark.parametrize("name", named("test_roialign_aligned"))
def test_regions(name):
    check_ported(name, "RoiAlign", frozen=False)


@pytest.mark.parametrize("name", named("test_swish", ("expanded",)) + named("test_tensorscatter")
                         + named("test_slice_neg_steps") + ["test_spacetodepth_crd_mode_example"])
def test_new_layers_and_modes(name):
    kind = cases()[name].model.graph.node[0].op_type
    check_ported(name, "" if kind == "Slice" else kind, frozen=kind == "Slice")


@pytest.mark.parametrize("name", [name for name in named("test_averagepool") if "ceil" in name])
def test_overhanging_pools(name):
    check_ported(name, "")
