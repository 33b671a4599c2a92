"""Loops that only a condition ends."""

import numpy as np
import pytest

import takt
from takt.compiling import whiles

onnx = pytest.importorskip("onnx")

from onnx import parser  # noqa: E402


def network(text):
    return parser.parse_model(f'<ir_version: 10, opset_import: ["" : 21]>\nnet {text}')


# All turns of the first limit would take years. The second loop halves numbers until the greatest falls below 1, and
# counts in each turn up to its square.
LOOPS = """(float[2] x, float limit, float[4] z) => (float[2] y, int64 n, float[4] w, float[1] m)
    <int64 far = {1000000000000}, bool yes = {1}, int64 none = {0}, float two = {2}, float one = {1},
     float half = {0.5}, float[1] zero = {0}> {
      y, n = Loop<body = b (int64 i, bool on, float[2] s, int64 k) => (bool less, float[2] next, int64 last) {
        last = Identity(i)  next = Mul(s, two)  most = ReduceMax<keepdims = 0>(next)  less = Less(most, limit)
      }>(far, yes, x, none)
      w, m = Loop<body = c (int64 j, bool again, float[4] t, float[1] c) => (bool more, float[4] u, float[1] d) {
        u = Mul(t, half)  high = ReduceMax<keepdims = 0>(u)  more = GreaterOrEqual(high, one)
        d = Loop<body = e (int64 l, bool still, float[1] v) => (bool under, float[1] o) {
          o = Add(v, one)  square = Mul(high, high)  below = Less(o, square)  under = Squeeze(below)
        }>(, yes, c)
      }>(, yes, z, zero)
    }"""


def nested(x):
    count = 0
    while True:
        x = x / 2
        while True:
            count += 1
            if not count < x.max() ** 2:
                break
        if not x.max() >= 1:
            return x, [count]


def test_loops_end_by_their_conditions(needs_compiler, tmp_path):
    onnx.save(network(LOOPS), tmp_path / "net.onnx")
    net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load(device="local-sync").function()
    for limit, numbers in ((0.1, [1, 3]), (5, [40, 2]), (1e9, [0.3, 0.1])):
        x, z = np.float32([0.5, 1]), np.float32([*numbers, 1, 0.5])
        *found, w, count = net(x, np.array(limit, np.float32), z)
        turns = max(int(np.ceil(np.log2(limit))), 1)
        np.testing.assert_array_equal(found[0], x * 2**turns)
        assert found[1] == turns - 1
        np.testing.assert_array_equal(w, nested(z)[0])
        np.testing.assert_array_equal(count, nested(z)[1])


def test_states_may_have_open_sizes(needs_compiler, tmp_path):
    model = network("""(float[N,2] x) => (float[N,2] y) <bool yes = {1}, float one = {1}, float half = {0.5}> {
      y = Loop<body = b (int64 i, bool on, float[N,2] s) => (bool more, float[N,2] t) {
        t = Mul(s, half)  most = ReduceMax<keepdims = 0>(t)  more = Greater(most, one) }>(, yes, x) }""")
    onnx.save(model, tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="open"):
        net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load(device="local-sync").function()
    for rows in (1, 3):
        x = np.arange(2 * rows, dtype=np.float32).reshape(rows, 2) * 5
        np.testing.assert_array_equal(net(x), x / 2 ** (3 if rows == 1 else 5))


def test_a_program_without_such_loops_stays():
    program = ('    %1 = torch.operator "onnx.Loop"(%0, %2, %3) : (!torch.vtensor<[],si64>, !torch.vtensor<[],i1>, '
               '!torch.vtensor<[2],f32>) -> !torch.vtensor<[2],f32> {\n')
    assert whiles.lower(program) is program
