"""How exactly a network asks for its products."""

import pytest

onnx = pytest.importorskip("onnx")

from onnx import helper  # noqa: E402

from takt.networks import levels  # noqa: E402


def model_of(*all_levels):
    nodes = [helper.make_node("MatMulNBits", ["x", "w", "s"], [f"y{i}"], domain="com.microsoft",
                              **({} if level is None else {"accuracy_level": level}))
             for i, level in enumerate(all_levels)]
    return helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["r"]), *nodes], "net", [], []))


@pytest.mark.parametrize("given, are_bytes", [
    ([], False), ([None], False), ([0], False), ([3], False), ([4], True), ([4, 4], True), ([4, None], False),
    ([1, 4], False)])
def test_inputs_may_be_bytes_if_all_products_say_so(given, are_bytes):
    model = model_of(*given)
    assert not levels.are_bytes(model)
    levels.note(model)
    assert levels.are_bytes(model) == are_bytes


@pytest.mark.parametrize("bits, has_bytes", [([], False), ([4], False), ([4, 8], True), ([8], True), ([2], False)])
def test_weights_may_have_eight_bits(bits, has_bytes):
    model = model_of(*[None] * len(bits))
    for node, own in zip(model.graph.node[1:], bits):
        node.attribute.append(helper.make_attribute("bits", own))
    levels.note(model)
    assert levels.has_bytes(model) == has_bytes
    del model.graph.node[1:]
    levels.note(model)
    assert not levels.has_bytes(model)


def test_a_note_of_a_file_is_no_level():
    model = model_of(None)
    model.metadata_props.add(key="takt.accuracy_level", value="4")
    levels.note(model)
    assert not levels.are_bytes(model)
