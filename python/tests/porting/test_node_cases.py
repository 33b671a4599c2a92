"""ONNX's own cases of operators that are put in other terms, computed by ONNX's reference."""

import functools

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
loader = pytest.importorskip("onnx.backend.test.loader")
pytest.importorskip("onnx.reference")

from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

from takt.porting import porter
from takt.networks import canonical


@functools.cache
def cases():
    with np.errstate(all="ignore"):
        return {case.name: case for case in loader.load_model_tests(kind="node")}


def check(name, gone, frozen=False, port=porter.port, rtol=1e-4, atol=1e-5):
    """The same results without operators of the kind `gone`.

    frozen       all inputs but the first are constants, as networks have them.
    rtol, atol   of float32. Some cases have rounded numbers.
    """
    case = cases()[name]
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    feeds = [np.asarray(each) for each in case.data_sets[0][0]]
    if frozen:
        others = [value.name for value in model.graph.input][1:]
        model.graph.initializer.extend(map(numpy_helper.from_array, feeds[1:], others))
        del model.graph.input[1:]
    ported = port(model)
    assert gone not in {node.op_type for node in ported.graph.node}
    names = [value.name for value in ported.graph.input]
    found = ReferenceEvaluator(ported).run(None, dict(zip(names, feeds)))
    for value, wanted in zip(found, case.data_sets[0][1]):
        assert value.shape == wanted.shape and value.dtype == wanted.dtype
        is_half = np.asarray(wanted).dtype == np.float16
        np.testing.assert_allclose(value, wanted, rtol=1e-2 if is_half else rtol, atol=1e-2 if is_half else atol)


def named(prefix, without=()):
    return [name for name in sorted(cases()) if name.startswith(prefix) and not any(part in name for part in without)]


# Numbers that are neither float32 nor float16 stay, and those of a graph that is expanded already.
@pytest.mark.parametrize("name", named("test_attention", ("expanded", "bf16", "bfloat16")))
def test_attention(name):
    check(name, "Attention")


@pytest.mark.parametrize("name", named("test_unique"))
def test_unique(name):
    check(name, "Unique")


@pytest.mark.parametrize("name", named("test_gridsample"))
def test_grid_sample(name):
    check(name, "GridSample", port=canonical.sample, rtol=1e-3)


@pytest.mark.parametrize("name", named("test_convtranspose_group"))
def test_grouped_transposed_convolutions(name):
    check(name, "ConvTranspose", frozen=True)


@pytest.mark.parametrize("name", named("test_convtranspose_autopad") + named("test_convtranspose_output_shape"))
def test_transposed_convolutions_of_a_stated_size(name):
    check(name, "", frozen=True)


@pytest.mark.parametrize("name", named("test_col2im", ("5d",)))
def test_col2im(name):
    check(name, "Col2Im", frozen=True)


@pytest.mark.parametrize("name", named("test_basic_deform") + named("test_deform"))
def test_deformed_convolutions(name):
    check(name, "DeformConv")


@pytest.mark.parametrize("name", named("test_dft"))
def test_transforms_of_fourier(name):
    check(name, "DFT", frozen=True)


@pytest.mark.parametrize("name", named("test_affine_grid", ("expanded",)) + named("test_det"))
def test_layers(name):
    check(name, "AffineGrid" if "affine" in name else "Det", frozen=True)


@pytest.mark.parametrize("name", named("test_l1normalization") + named("test_l2normalization") + named("test_lpnorm"))
def test_normalization_of_zeros(name):
    check(name, "LpNormalization", frozen=True)


@pytest.mark.parametrize("name", [name for name in sorted(cases()) if name.endswith("_batchwise")])
def test_layers_with_the_sequences_first(name):
    check(name, "")


@pytest.mark.parametrize("name", named("test_matmul_1d_3d") + named("test_matmul_4d_1d"))
def test_products_of_vectors_and_matrices(name):
    check(name, "")


@pytest.mark.parametrize("name", named("test_resize"))
def test_sizes(name):
    is_special = any(part in name for part in ("axes", "antialias", "exclude_outside", "not_", "tf_crop"))
    check(name, "Resize" if is_special else "", frozen=True)


@pytest.mark.parametrize("name", named("test_roialign"))
def test_regions(name):
    check(name, "RoiAlign", atol=1e-4)


@pytest.mark.parametrize("name", named("test_swish", ("expanded",)) + named("test_tensorscatter")
                         + named("test_slice_neg_steps") + ["test_spacetodepth_crd_mode_example"])
def test_new_layers_and_modes(name):
    kind = cases()[name].model.graph.node[0].op_type
    check(name, "" if kind == "Slice" else kind, frozen=kind == "Slice")


@pytest.mark.parametrize("name", named("test_cumprod") + named("test_swiglu", ("expanded", "float16")))
def test_running_products_and_gates(name):
    check(name, cases()[name].model.graph.node[0].op_type, frozen="cumprod" in name)


@pytest.mark.parametrize("name", named("test_maxunpool"))
def test_unpooled_numbers(name):
    case = onnx.ModelProto()
    case.CopyFrom(cases()[name].model)
    check(name, "MaxUnpool", frozen=len(case.graph.input) > 2)


@pytest.mark.parametrize("name", [name for name in named("test_averagepool") if "ceil" in name])
def test_overhanging_pools(name):
    check(name, "", frozen=True, atol=1e-4)
