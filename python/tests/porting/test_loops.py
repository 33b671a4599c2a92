"""Loops whose number of turns is not known before the call."""

import numpy as np
import pytest

import takt

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402


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
    ("(float[2] x, int64 turns) => (float[R,2] rows) <bool yes = {1}> "
     f"{{ y, rows = {_ROWS}(turns, yes, x) }}",
     r"Loop 'y': its number of turns must be known, .* for what each turn gives \(rows\)"),
    ("(float[2] x, float limit) => (float[R,2] rows) <bool yes = {1}> { none = SequenceEmpty() y, list = "
     "Loop<body = b (int64 i, bool on, float[2] s, seq(float[2]) l) => (bool less, float[2] next, seq(float[2]) more) "
     "{ next = Add(s, s) more = SequenceInsert(l, s) most = ReduceMax<keepdims = 0>(s) less = Less(most, limit) }>"
     "(, yes, x, none) rows = ConcatFromSequence<axis = 0, new_axis = 1>(list) }",
     r"Loop 'y': a condition ends it, and the compiler has no sequences \(SequenceInsert\)"),
    ("(float[N,2] x, float[2] s) => (float[2] y) { y = Scan<num_scan_inputs = 1, "
     "body = b (float[2] s, float[2] part) => (float[2] next) { next = Add(s, part) }>(s, x) }",
     "Scan 'y': its number of turns must be known"),
])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_other_loops_are_named(needs_compiler, tmp_path, text, said):
    with pytest.raises(takt.CompileError, match=said):
        compiled(tmp_path, text)


def test_a_turn_and_the_network_around_it_bound_their_own_indices(needs_compiler, tmp_path):
    turn = ("Loop<body = b (int64 i, bool on, float[2] s) => (bool still, float[2] next) "
            "{ still = Identity(on) part = Gather(s, at) next = Add(s, part) }>")
    net = compiled(tmp_path, "(float[2] x, int64 turns, int64[1] at) => (float[2] y, float[1] z) <bool yes = {1}> "
                   f"{{ z = Gather(x, at) y = {turn}(turns, yes, x) }}")
    y, z = net(_X, np.array(2, np.int64), np.array([1], np.int64))
    np.testing.assert_array_equal(y, _X + np.float32([1, 1]) + np.float32([2, 2]))
    np.testing.assert_array_equal(z, [1])
