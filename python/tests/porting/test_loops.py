"""Loops whose number of turns is not known before the call."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import numpy_helper, parser  # noqa: E402

from takt.porting import porter  # noqa: E402
from test_porter import ort_run  # noqa: E402

_X = np.float32([0.5, 1])
# Doubles a state until its largest number reaches `limit`.
_DOUBLES = ("Loop<body = b (int64 i, bool on, float[2] s) => (bool less, float[2] next) "
            "{ next = Mul(s, two) most = ReduceMax<keepdims = 0>(next) less = Less(most, limit) }>")
# Each turn gives a row, too.
_ROWS = ("Loop<body = b (int64 i, bool on, float[2] s) => (bool still, float[2] next, float[2] row) "
         "{ still = Identity(on) next = Add(s, s) row = Exp(s) }>")


def compiled(tmp_path, text, change=lambda graph: None):
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\nnet {text}')
    change(model.graph)
    onnx.save(model, tmp_path / "net.onnx")
    return takt.compile(tmp_path / "net.onnx", cache=tmp_path / "cache").load().net


def without_shapes(graph):
    loop = graph.node[-1].attribute[0].g
    for value in [*graph.output, *loop.input[2:], *loop.output[1:]]:
        value.type.tensor_type.ClearField("shape")


@pytest.mark.parametrize("change", [lambda graph: None, without_shapes])
def test_a_computed_condition_ends_a_loop(needs_compiler, tmp_path, change):
    net = compiled(tmp_path, "(float[2] x, float limit) => (float[2] y) <int64 turns = {60}, bool yes = {1}, "
                   f"float two = {{2}}> {{ y = {_DOUBLES}(turns, yes, x) }}", change)
    for limit, factor in ((0.1, 2), (5, 8), (1e9, 2**30), (1e30, 2.0**60)):
        np.testing.assert_array_equal(net(_X, np.array(limit, np.float32)), _X * np.float32(factor))


def test_a_condition_of_the_call_may_leave_out_all_turns(needs_compiler, tmp_path):
    net = compiled(tmp_path, "(float[2] x, float limit, int64 turns) => (float[2] y) <float two = {2}> { "
                   f"first = ReduceMax<keepdims = 0>(x) yes = Less(first, limit) y = {_DOUBLES}(turns, yes, x) }}")
    for limit, turns, factor in ((0.1, 3, 1), (5, 9, 8), (5, 2, 4), (5, 0, 1)):
        found = net(_X, np.array(limit, np.float32), np.array(turns, np.int64))
        np.testing.assert_array_equal(found, _X * np.float32(factor))


@pytest.mark.parametrize("turns, ends", [
    ("", "few = Less(after, nine) still = And(less, few)"),
    ("many", "few = GreaterOrEqual(nine, after) same = Identity(few) some = And(same, on) still = And(some, less)"),
    ("", "all = Equal(nine, after) enough = Not(less) done = Or(enough, all) still = Not(done)"),
])
def test_a_part_of_the_condition_states_the_limit(turns, ends):
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 21]>\nnet (float[2] x, float limit) => (float[2] y, int64 n) '
        "<int64 many = {9223372036854775807}, bool yes = {1}, float two = {2}, int64 zero = {0}, int64 one = {1}, "
        f"int64 nine = {{9}}> {{ n, y = Loop<body = b (int64 i, bool on, int64 k, float[2] s) => "
        "(bool still, int64 after, float[2] next) { next = Mul(s, two) after = Add(k, one) "
        f"most = ReduceMax<keepdims = 0>(next) less = Less(most, limit) {ends} }}>({turns}, yes, zero, x) }}")
    ported = porter.port(model)
    limits = {each.name: numpy_helper.to_array(each) for each in ported.graph.initializer}
    loop, = (node for node in ported.graph.node if node.op_type == "Loop")
    assert limits[loop.input[0]] == (10 if "GreaterOrEqual" in ends else 9)
    for limit in (0.1, 5, 1e9):
        feeds = {"x": _X, "limit": np.array(limit, np.float32)}
        for wanted, found in zip(ort_run(model, feeds), ort_run(ported, feeds)):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("turns, yes", [(0, 1), (3, 0)])
def test_a_loop_without_turns(needs_compiler, tmp_path, turns, yes):
    net = compiled(tmp_path, f"(float[2] x) => (float[2] y, float[R,2] rows) <int64 turns = {{{turns}}}, "
                   f"bool yes = {{{yes}}}> {{ s, rows = {_ROWS}(turns, yes, x) y = Abs(s) }}")
    y, rows = net(-_X)
    np.testing.assert_array_equal(y, _X)
    assert rows.shape == (0, 2)


@pytest.mark.parametrize("yes", ["yes", ""])
def test_what_turns_give_and_nothing_reads_is_left_out(needs_compiler, tmp_path, yes):
    def change(graph):
        graph.node[-1].input[1] = yes

    net = compiled(tmp_path, "(float[2] x, int64 turns) => (float[2] y) <bool yes = {1}> "
                   f"{{ y, rows = {_ROWS}(turns, yes, x) }}", change)
    np.testing.assert_array_equal(net(_X, np.array(3, np.int64)), 8 * _X)


@pytest.mark.parametrize("text, said", [
    ("(float[2] x, float limit) => (float[2] y) <int64 turns = {9999999}, bool yes = {1}, float two = {2}> "
     f"{{ y = {_DOUBLES}(turns, yes, x) }}",
     "Loop 'y': a condition ends it, so it must state a limit of its turns"),
    ("(float[2] x, int64 turns) => (float[R,2] rows) <bool yes = {1}> "
     f"{{ y, rows = {_ROWS}(turns, yes, x) }}",
     r"Loop 'y': its number of turns must be known, .* for what each turn gives \(rows\)"),
    ("(float[N,2] x, float[2] s) => (float[2] y) { y = Scan<num_scan_inputs = 1, "
     "body = b (float[2] s, float[2] part) => (float[2] next) { next = Add(s, part) }>(s, x) }",
     "Scan 'y': its number of turns must be known"),
])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_loops_are_named(needs_compiler, tmp_path, text, said):
    with pytest.raises(takt.CompileError, match=said):
        compiled(tmp_path, text)
