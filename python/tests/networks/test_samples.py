"""Networks that compute each sample of a batch by itself."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402
from onnx import parser  # noqa: E402

from takt.networks import counting, samples  # noqa: E402


def network(text, **constants):
    """A network in the text form of ONNX, with constants."""
    model = parser.parse_model('<ir_version: 8, opset_import: ["" : 18]>\n' + text)
    for name, value in constants.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(np.asarray(value), name))
    return model


def is_split(body, inputs="float[N,4] x", result="float[N,M] y", **constants):
    try:
        return samples.split(network(f"net ({inputs}) => ({result}) {{ {body} }}", **constants)) is not None
    except counting.Unproved:
        return False


def floats(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


def ints(*values):
    return np.array(values, np.int64)


@pytest.mark.parametrize("body, constants", [
    ("y = Relu(x)", {}),
    ("y = Add(x, row)", {"row": floats(4)}),
    ("y = Add(x, row)", {"row": floats(1, 4)}),
    ("y = MatMul(x, w)", {"w": floats(4, 3)}),
    ("y = Gemm<transB = 1>(x, w, b)", {"w": floats(3, 4), "b": floats(3)}),
    ("t = Transpose(x) y = Gemm<transA = 1>(t, w)", {"w": floats(4, 3)}),
    ("t = Transpose(x) p = MatMul(w, t) y = Transpose(p)", {"w": floats(3, 4)}),
    ("y = Softmax(x)", {}),
    ("y = ReduceSum(x, axes)", {"axes": ints(1)}),
    ("y = LayerNormalization(x, scale)", {"scale": floats(4)}),
    ("y = Concat<axis = -1>(x, x)", {}),
    ("y = Slice(x, starts, ends, axes)", {"starts": ints(1), "ends": ints(3), "axes": ints(1)}),
    ("y = Slice(x, starts, ends)", {"starts": ints(0, 1), "ends": ints(1 << 40, 3)}),
    ("y = Gather<axis = 1>(x, places)", {"places": ints(3, 0)}),
    ("y = Tile(x, copies)", {"copies": ints(1, 2)}),
    ("y = Pad(x, pads)", {"pads": ints(0, 1, 0, 2)}),
    ("y, other = Split<axis = 1>(x, parts)", {"parts": ints(1, 3)}),
    ("y, places = TopK<axis = 1>(x, k)", {"k": ints(2)}),
    ("y = CumSum(x, axis)", {"axis": np.array(1, np.int64)}),
    ("y = Einsum<equation = \"nc,kc->nk\">(x, w)", {"w": floats(3, 4)}),
    ("y = Einsum<equation = \"...c,kc->...k\">(x, w)", {"w": floats(3, 4)}),
    # Siamese networks: both halves go through the same layers.
    ("b = Concat<axis = 0>(x, x) p = MatMul(b, w) l, r = Split<axis = 0, num_outputs = 2>(p) y = Sub(l, r)",
     {"w": floats(4, 3)}),
    ("b = Concat<axis = 0>(x, x) n = Shape<end = 1>(x) end = Add(n, n) y = Slice(b, n, end, zero)", {"zero": ints(0)}),
    # The row of each sample's own table.
    ("n = Shape<end = 1>(x) s = Squeeze(n) r = Range(zero, s, one) offsets = Mul(r, four) t = Reshape(x, column) "
     "m = ArgMax<axis = 1, keepdims = 0>(x) rows = Add(m, offsets) y = Gather<axis = 0>(t, rows)",
     {"zero": np.array(0, np.int64), "one": np.array(1, np.int64), "four": np.array(4, np.int64),
      "column": ints(-1, 1)}),
    ("n = Shape<end = 1>(x) s = Squeeze(n) r = Range(zero, s, one) offsets = Mul(r, four) c = Unsqueeze(offsets, one) "
     "t = Reshape(x, column) rows = Add(c, own) g = Gather<axis = 0>(t, rows) y = Squeeze(g, two)",
     {"zero": np.array(0, np.int64), "one": np.array(1, np.int64), "four": np.array(4, np.int64),
      "column": ints(-1, 1), "own": ints(2, 0), "two": ints(2)}),
    # Too large to be folded.
    ("n = Shape<end = 1>(x) size = Concat<axis = 0>(n, rest) ones = ConstantOfShape(size) "
     "s = ReduceSum<keepdims = 0>(ones, axes) y = Add(x, s)", {"rest": ints(4, 1 << 20), "axes": ints(2)}),
    ("whole = Shape(x) zeros = ConstantOfShape(whole) y = Add(x, zeros)", {}),
    ("n = Shape<end = 1>(x) shape = Concat<axis = 0>(n, rest) t = Reshape(x, shape) y = Flatten(t)",
     {"rest": ints(2, 2)}),
])
def test_samples_stay_apart(body, constants):
    assert is_split(body, **constants)


@pytest.mark.parametrize("body, constants", [
    ("y = ReduceMean(x, axes) ", {"axes": ints(0)}),
    ("mean = ReduceMean(x, axes) y = Sub(x, mean)", {"axes": ints(0)}),
    ("t = Transpose(x) y = MatMul(x, t)", {}),
    ("v = ReduceSum<keepdims = 0>(x, axes) p = MatMul(v, x) y = Add(x, p)", {"axes": ints(1)}),
    ("y = Softmax<axis = 0>(x)", {}),
    ("y = Transpose(x)", {}),
    ("n = Shape<end = 1>(x) f = Cast<to = 1>(n) y = Div(x, f)", {}),
    ("n = Shape<end = 1>(x) s = Squeeze(n) r = Range(zero, s, one) f = Cast<to = 1>(r) c = Unsqueeze(f, last) "
     "y = Add(x, c)", {"zero": np.array(0, np.int64), "one": np.array(1, np.int64), "last": ints(1)}),
    ("y = Slice(x, starts, ends, axes, steps)",
     {"starts": ints(-1), "ends": ints(-(1 << 40)), "axes": ints(0), "steps": ints(-1)}),
    ("y = Concat<axis = 0>(x, x)", {}),
    ("y = Tile(x, copies)", {"copies": ints(2, 1)}),
    ("b = Concat<axis = 0>(x, x) l, r = Split<axis = 0>(b, parts) y = Relu(l)", {"parts": ints(1, -1)}),
    ("b = Concat<axis = 0>(x, x) y = Slice(b, one, end, zero)", {"one": ints(1), "end": ints(-1), "zero": ints(0)}),
    # The row of the sample before it.
    ("n = Shape<end = 1>(x) s = Squeeze(n) r = Range(zero, s, one) offsets = Mul(r, four) t = Reshape(x, column) "
     "m = ArgMax<axis = 1, keepdims = 0>(x) k = Sub(m, four) rows = Add(k, offsets) y = Gather<axis = 0>(t, rows)",
     {"zero": np.array(0, np.int64), "one": np.array(1, np.int64), "four": np.array(4, np.int64),
      "column": ints(-1, 1)}),
    ("y = Gather<axis = 0>(x, places)", {"places": ints(0)}),
    ("y = CumSum(x, axis)", {"axis": np.array(0, np.int64)}),
    ("y = Reshape(x, shape)", {"shape": ints(4, -1)}),
    ("y = Reshape(x, shape)", {"shape": ints(-1, 2)}),  # Two rows of each sample.
    ("y = Einsum<equation = \"nc,mc->nm\">(x, x)", {}),
    ("y = Identity(row)", {"row": floats(1, 4)}),
    ("b, scale, zero = DynamicQuantizeLinear(x) y = DequantizeLinear(b, scale, zero)", {}),
    ("y = NonZero(x)", {}),
])
def test_what_mixes_samples_is_not_split(body, constants):
    result = "int64[R,M] y" if "NonZero" in body else "float[N,M] y"
    assert not is_split(body, result=result, **constants)


@pytest.mark.parametrize("body, is_apart, constants", [
    # Attention of layers whose steps are outermost: steps and samples become one axis and two again.
    ("t = Transpose<perm = [1, 0, 2]>(x) rows = Reshape(t, flat) p = MatMul(rows, w) s = Shape(t) "
     "q = Reshape(p, s) y = Transpose<perm = [1, 0, 2]>(q)", True, {"flat": ints(-1, 4), "w": floats(4, 4)}),
    # The steps of all samples in a row are not a sample.
    ("t = Transpose<perm = [1, 0, 2]>(x) rows = Reshape(t, flat) s = Shape(x) y = Reshape(rows, s)", False,
     {"flat": ints(-1, 4)}),
    ("t = Transpose<perm = [0, 2, 1]>(x) y = MatMul(x, t)", True, {}),
    ("p = MatMul(x, v) y = Unsqueeze(p, one)", True, {"v": floats(4), "one": ints(1)}),
    ("p = MatMul(v, x) y = Unsqueeze(p, one)", True, {"v": floats(5), "one": ints(1)}),
    ("t = Transpose<perm = [1, 0, 2]>(x) p = MatMul(t, v) q = Transpose(p) y = Unsqueeze(q, one)", True,
     {"v": floats(4), "one": ints(1)}),
    ("s = Shape(x) wide = Expand(query, s) p = Mul(wide, x) y = Add(p, x)", True, {"query": floats(1, 5, 4)}),
    ("y = Conv(x, w)", True, {"w": floats(2, 5, 3)}),
    ("t = Transpose<perm = [1, 0, 2]>(x) r, h = GRU<hidden_size = 2>(t, w, u) f = Squeeze(r, one) "
     "y = Transpose<perm = [1, 0, 2]>(f)", True, {"w": floats(1, 6, 4), "u": floats(1, 6, 2), "one": ints(1)}),
    ("t = Transpose<perm = [1, 0, 2]>(x) n = Shape<end = 1>(x) l = Expand(five, n) lengths = Cast<to = 6>(l) "
     "r, h = GRU<hidden_size = 2>(t, w, u, , lengths) f = Squeeze(r, one) y = Transpose<perm = [1, 0, 2]>(f)", True,
     {"w": floats(1, 6, 4), "u": floats(1, 6, 2), "one": ints(1), "five": ints(5)}),
    ("r, h = GRU<hidden_size = 2>(x, w, u) y = Squeeze(r, one)", False,
     {"w": floats(1, 6, 4), "u": floats(1, 6, 2), "one": ints(1)}),
    ("y = InstanceNormalization(x, a, a)", True, {"a": floats(5)}),
    ("y = Gather<axis = 0>(x, places)", False, {"places": ints(0, 0)}),
    ("i = Cast<to = 7>(x) y = Gather<axis = 0>(table, i)", True, {"table": floats(9, 2)}),
])
def test_sequences(body, is_apart, constants):
    rank = 4 if "table" in constants else 3
    dims = ",".join(["N", "A", "B", "C"][:rank])
    assert is_split(body, "float[N,5,4] x", f"float[{dims}] y", **constants) == is_apart


@pytest.mark.parametrize("inputs, body, of_sample", [
    ("float[N,4] x, float[N,4] z", "y = Add(x, z)", [0, 0]),
    ("float[1,4] z, float[N,4] x", "y = Add(x, z)", [None, 0]),
    ("float[unk__7,4] x, float[unk__8,4] z", "y = Add(x, z)", [0, 0]),
    ("float[N,4] x, float[1,N,4] h", "f = Squeeze(h, first) y = Add(x, f)", [0, 1]),
    ("float[N,4] x, float[2,N,4] h", "f = ReduceSum<keepdims = 0>(h, first) y = Add(x, f)", None),
    # The steps of a sequence are no samples.
    ("float[1,N,4] h", "y = Squeeze(h, first)", None),
    ("float[N,4] x, float[M,4] z", "y = Add(x, z)", None),
    ("float[4,N] x", "y = Relu(x)", None),
    ("float[N,M] x", "y = Relu(x)", None),
    ("float[2,4] x", "y = Relu(x)", None),
])
def test_inputs(inputs, body, of_sample):
    found = samples.split(network(f"net ({inputs}) => (float[R,S] y) {{ {body} }}", first=ints(0)))
    assert (None if found is None else found.of_sample) == of_sample


def test_rows_of_a_table_of_all_samples_are_no_result():
    constants = {"zero": np.array(0, np.int64), "one": np.array(1, np.int64), "four": np.array(4, np.int64)}
    body = ("n = Shape<end = 1>(x) s = Squeeze(n) r = Range(zero, s, one) offsets = Mul(r, four) "
            "m = ArgMax<axis = 1, keepdims = 0>(x) y = Add(m, offsets)")
    assert not is_split(body, result="int64[N] y", **constants)


@pytest.mark.parametrize("sizes, is_apart", [
    ("n = Shape<end = 2>(x) size = Concat<axis = 0>(n, wanted) y = Resize(x, , , size)", True),
    ("y = Resize(x, , scales)", True),
    # The scale of the rows depends on the number of samples.
    ("n = Shape<end = 1>(x) f = Cast<to = 1>(n) a = Mul(f, small) row = Add(a, two) "
     "s = Concat<axis = 0>(ones, row, last) y = Resize(x, , s)", False),
])
def test_resize(sizes, is_apart):
    constants = {"wanted": ints(8, 8), "scales": np.array([1, 1, 2, 2], np.float32), "ones": np.ones(2, np.float32),
                 "small": np.array([1e-3], np.float32), "two": np.array([2], np.float32),
                 "last": np.array([2], np.float32)}
    assert is_split(sizes, "float[N,3,4,4] x", "float[N,3,8,8] y", **constants) == is_apart


@pytest.mark.parametrize("text, is_apart", [
    ("m, i = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) "
     "y = MaxUnpool<kernel_shape = [2, 2], strides = [2, 2]>(m, i)", True),
    # The images that are made are not those that were pooled.
    ("m, i = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) "
     "y = MaxUnpool<kernel_shape = [3, 3], strides = [2, 2]>(m, i)", False),
    ("m, y = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x)", False),
    ("m, i = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(x) y = Add(i, i)", False),
])
def test_places_of_maxima(text, is_apart):
    result = "int64[N,3,H,W] y" if "Unpool" not in text else "float[N,3,H,W] y"
    assert is_split(text, "float[N,3,6,6] x", result) == is_apart


def test_the_network_is_one_of_one_sample():
    found = samples.split(network("net (float[N,4] x) => (float[N,4] y) { y = Relu(x) }"))
    assert [dim.dim_value for dim in found.model.graph.input[0].type.tensor_type.shape.dim] == [1, 4]


def test_other_domains_are_not_known():
    model = network("net (float[N,4] x) => (float[N,4] y) { y = Relu(x) }")
    model.graph.node[0].domain = "com.example"
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    with pytest.raises(counting.Unproved, match="Relu, which makes 'y', may mix samples"):
        samples.split(model)
    assert model.graph.input[0].type.tensor_type.elem_type == TensorProto.FLOAT


def test_a_result_without_samples_is_named():
    with pytest.raises(counting.Unproved, match="the outermost dimension of the result 'y' may not count samples"):
        samples.split(network("net (float[N,4] x) => (float[N,M] y) { y = Transpose(x) }"))


def test_the_number_of_samples_may_not_choose_an_operator():
    body = ("n = Shape<end = 1>(x) e = Equal(n, one) c = Squeeze(e) h = If(c) "
            "<then_branch = a () => (float[1,4] p) { p = Relu(s) }, else_branch = b () => (float[1,4] p) "
            "{ p = Neg(s) }> y = Add(x, h)")
    assert not is_split(body, "float[N,4] x, float[1,4] s", one=ints(1))


def test_what_all_samples_share_is_looked_at_once():
    chain = " ".join(f"a{i + 1} = Relu(h{i}) h{i + 1} = Add(h{i}, a{i + 1})" for i in range(100))
    assert is_split(f"h0 = Neg(s) {chain} y = Add(x, h100)", "float[N,4] x, float[1,4] s")


@pytest.mark.parametrize("other", ["string[2] s", "seq(float[2]) s", "complex64[2] s", "float[-1] s"])
def test_other_inputs_are_tensors_of_numbers(other):
    with pytest.raises(counting.Unproved, match="the input 's' is no tensor of numbers"):
        samples.split(network(f"net (float[N,4] x, {other}) => (float[N,4] y) {{ y = Relu(x) }}"))


@pytest.mark.parametrize("index, step, axes, is_apart", [
    ("places", 5, (1, 2), True),
    ("places", 4, (1, 2), False),  # Some rows are of the sample before.
    ("limited", 5, (1, 2), True),
    ("limited", 4, (1, 2), False),
    ("numbers", 5, (1, 2), False),
    ("places", 5, (0, 2), False),  # The offsets are those of another axis.
])
def test_neighbours_in_a_table_of_all_samples(index, step, axes, is_apart):
    body = (f"numbers, places = TopK<axis = 1>(x, two) limited = Clip(numbers, low, high) own = Cast<to = 7>({index}) "
            "n = Shape<end = 1>(x) s = Squeeze(n) r = Range(zero, s, one) m = Mul(r, step) offsets = Unsqueeze(m, axes) rows = Add(own, offsets) "
            "flat = Reshape(rows, all) table = Reshape(x, fours) found = Gather<axis = 0>(table, flat) "
            "y = Reshape(found, apart)")
    constants = {"two": ints(2), "zero": np.array(0), "one": np.array(1), "step": np.array(step), "axes": ints(*axes),
                 "all": ints(-1), "fours": ints(-1, 4), "apart": ints(-1, 8, 4),
                 "low": np.float32(0), "high": np.float32(4)}
    assert is_split(body, "float[N,5,4] x", "float[N,A,B] y", **constants) == is_apart


@pytest.mark.parametrize("rows, columns, is_apart", [
    ("Identity(rows)", "Add(none, two)", True),  # As PyTorch exports m[:, 2] = v.
    ("Sub(last, rows)", "Add(none, two)", False), ("Add(none, two)", "Identity(rows)", False),
    ("Identity(rows)", "Min(rows, two)", False)])
def test_numbers_are_put_into_rows_of_the_own_sample(rows, columns, is_apart):
    body = f"""s = Shape(x) n = Gather(s, zero) r = Range(zero, n, one) rows = Unsqueeze(r, axes) none = Mul(rows, zero)
        last = Sub(n, one) own = {rows} column = {columns} places = Concat<axis = 1>(own, column)
        sums = ReduceSum<keepdims = 0>(x, axes) y = ScatterND(x, places, sums)"""
    zero, one, two = np.arange(3)
    assert is_split(body, zero=zero, one=one, two=two, axes=ints(1)) == is_apart


def test_numbers_are_put_beside_those_of_the_own_sample():
    body = "v, i = TopK<axis = 1>(x, k) y = ScatterElements<axis = 1>(x, i, v)"
    assert is_split(body, k=ints(2))
    assert not is_split(body.replace("ScatterElements<axis = 1>", "ScatterElements<axis = 0>"), k=ints(2))
    turned = "t = Transpose(x) y0 = ScatterND(t, places, row) y = Transpose(y0)"
    assert not is_split(turned, places=ints([1]), row=floats(1, 1))
    assert is_split("t = Transpose(x) row = Slice(t, zero, one) y0 = ScatterND(t, places, row) y = Transpose(y0)",
                    zero=ints(0), one=ints(1), places=ints([1]))


@pytest.mark.parametrize("first, is_apart", [
    ("Identity(each)", True), ("Sub(last, each)", False), ("Mul(each, two)", False), ("Add(each, one)", False)])
@pytest.mark.parametrize("rest", [
    "y = GatherND(x, places)",  # The last valid step of a sequence, as PyTorch exports h[torch.arange(n), lengths].
    "v = ReduceSum<keepdims = 0>(x, axes) y = ScatterND(x, places, v)",
    "t = Transpose<perm = [1, 0, 2]>(x) turned = Concat<axis = 1>(lengths, own) y = GatherND(t, turned)",
])
def test_places_in_the_own_sample(first, is_apart, rest):
    body = f"""s = Shape<end = 1>(x) n = Squeeze(s) each = Range(zero, n, one) last = Sub(n, one) found = {first}
        own = Unsqueeze(found, axes) lengths = Unsqueeze(l, axes) places = Concat<axis = 1>(own, lengths) {rest}"""
    rank = "N,5,3" if "Scatter" in rest else "N,M"
    zero, one, two = np.arange(3)
    assert is_apart == is_split(body, "float[N,5,3] x, int64[N] l", f"float[{rank}] y", zero=zero, one=one, two=two,
                                axes=ints(1))


def test_places_are_read_as_places_alone():
    body = """s = Shape<end = 1>(x) n = Squeeze(s) each = Range(zero, n, one) own = Unsqueeze(each, axes)
        lengths = Unsqueeze(l, axes) places = Concat<axis = 1>(own, lengths) """
    constants = {"zero": np.array(0), "one": np.array(1), "axes": ints(1)}
    inputs = "float[N,5] x, int64[N] l"
    for rest in ("y = Add(places, places)", "y = Identity(places)", "t = Cast<to = 2>(places) y = Cast<to = 7>(t)"):
        assert not is_split(body + rest, inputs, "int64[N,2] y", **constants)
    assert not is_split(body + "t = Transpose(x) y = GatherND(t, places)", inputs, "float[N] y", **constants)
    assert not is_split(body + "y = GatherND(table, places)", inputs, "float[N] y", table=floats(99, 5), **constants)


def test_masks_of_transformers_stay_apart():
    body = """s = Shape<end = 1>(mask) n = Squeeze(s) each = Range(zero, n, one) own = Unsqueeze(each, axes)
        wide = Max(own, keys) size = Shape(wide) rows = Expand({rows}, size) columns = Expand(keys, size)
        r = Unsqueeze(rows, end) c = Unsqueeze(columns, end) places = Concat<axis = -1>(r, c)
        found = GatherND(mask, places) f = Cast<to = 1>(found) y = Add(x, f)"""
    constants = {"zero": np.array(0), "one": np.array(1), "axes": ints(1, 2, 3), "end": ints(-1),
                 "keys": np.arange(5).reshape(1, 1, 1, 5)}
    for rows, is_apart in (("own", True), ("keys", False)):
        assert is_split(body.format(rows=rows), "bool[N,5] mask, float[N,2,5,5] x", "float[N,2,5,5] y",
                        **constants) == is_apart


@pytest.mark.parametrize("body, is_apart", [
    ("t = Transpose<perm = [1, 0, 2]>(x) g = GatherND(t, rows) y = Transpose<perm = [1, 0, 2]>(g)", True),
    ("y = GatherND<batch_dims = 1>(x, own)", True), ("y = GatherND(table, own)", True), ("y = GatherND(x, rows)", False),
    ("n = Shape<end = 1>(x) sizes = Concat<axis = 0>(n, one, one) each = Expand(row, sizes) "
     "y = GatherND<batch_dims = 1>(x, each)", True)])
def test_chosen_rows(body, is_apart):
    assert is_apart == is_split(body, "float[N,5,3] x, int64[N,2,1] own", "float[N,A,B] y", one=ints(1),
                                rows=ints([3], [1], [4]), row=ints([[2]]), table=floats(9, 3))


def test_what_no_result_needs_may_mix_samples():
    assert is_split("y = Relu(x) t = Transpose(x) other = MatMul(x, t)")
    assert is_split("n = Shape(x) square = Mul(n, n) other = ConstantOfShape(square) y = Relu(x)")


def test_the_shape_of_what_counts_samples():
    body = ("n = Shape<end = 1>(x) s = Squeeze(n) r = Range(zero, {size}, one) most = Max(r, r) size = Shape(most) "
            "ones = ConstantOfShape(size) u = Unsqueeze(ones, axis) y = Add(x, u)")
    constants = {"zero": np.array(0), "one": np.array(1), "axis": ints(1)}
    assert is_split(body.format(size="s"), **constants)
    squares = body.format(size="square").replace("r = ", "square = Mul(s, s) r = ")
    assert not is_split(squares.replace("y = Add(x, u)", "f = ReduceSum<keepdims = 0>(ones) y = Mul(x, f)"),
                        **constants)
