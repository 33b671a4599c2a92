"""Einsum, as products of matrices."""

import collections

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")

from onnx import helper, numpy_helper

from takt.porting import porter
from test_porter import ort_run


def check(equation, *shapes, dtype=np.float32, weights=()):
    """Returns how many nodes of each kind there are. The operands in `weights` are constants."""
    random = np.random.default_rng(3)
    values = [random.integers(-9, 9, shape).astype(dtype) for shape in shapes]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    names = [f"x{i}" for i in range(len(shapes))]
    wanted = np.einsum(equation, *values)
    graph = helper.make_graph(
        [helper.make_node("Einsum", names, ["y"], equation=equation)], "net",
        [helper.make_tensor_value_info(name, kind, value.shape)
         for i, (name, value) in enumerate(zip(names, values)) if i not in weights],
        [helper.make_tensor_value_info("y", kind, wanted.shape)],
        [numpy_helper.from_array(values[i], names[i]) for i in weights])
    ported = porter.port(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]))
    found = ort_run(ported, {name: value for i, (name, value) in enumerate(zip(names, values)) if i not in weights})
    np.testing.assert_allclose(found[0], wanted, rtol=1e-6)
    kinds = collections.Counter(node.op_type for node in ported.graph.node)
    assert "Einsum" not in kinds
    return kinds


@pytest.mark.parametrize("equation, shapes", [
    ("ij->ji", [(2, 3)]), ("ij->", [(2, 3)]), ("ijk->k", [(2, 3, 4)]), ("i,i->", [(3,), (3,)]),
    ("i,j->ij", [(2,), (3,)]), ("ij,jk", [(2, 3), (3, 4)]), ("ij,kj->ki", [(2, 3), (4, 3)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]), ("bij,bj->bi", [(2, 3, 4), (2, 4)]),
    ("bnhd,bmhd->bhnm", [(2, 3, 4, 5), (2, 6, 4, 5)]), ("bhnm,bmhd->bnhd", [(2, 4, 3, 6), (2, 6, 4, 5)]),
    ("abcd,cdef->efab", [(2, 3, 4, 5), (4, 5, 3, 2)]), ("ijk,ilm->", [(2, 3, 4), (2, 5, 6)]),
    ("ij,ij->ij", [(2, 3), (1, 3)]), ("ij,jk->ik", [(2, 1), (3, 4)]), ("ijk,j->ik", [(2, 3, 4), (3,)]),
    ("...ij,...jk->...ik", [(2, 3, 4, 5), (2, 3, 5, 6)]), ("...ij,jk->ik...", [(2, 3, 4, 5), (5, 6)]),
    ("...i,...i", [(2, 3, 4), (3, 4)]), ("...ij->...", [(2, 3, 4)]), (" i j , j -> i ", [(2, 3), (3,)]),
])
def test_one_or_two_operands(equation, shapes):
    check(equation, *shapes)


@pytest.mark.parametrize("equation, shapes", [
    ("ln,l,lp->pn", [(8, 4), (8,), (8, 6)]), ("bi,bj,bk->ijk", [(2, 3), (2, 4), (2, 5)]),
    ("bclhn,bhcl,bclhp->bchpn", [(1, 4, 8, 2, 4), (1, 2, 4, 8), (1, 4, 8, 2, 8)]),
    ("i,i,i->", [(4,)] * 3), ("ij,jk,kl,lm->im", [(2, 3), (3, 4), (4, 5), (5, 6)]),
    ("i,j,k->kji", [(2,), (3,), (4,)]), ("bij,i,j->b", [(2, 3, 4), (3,), (4,)]),
])
def test_a_label_of_several_operands_is_added_up_at_last(equation, shapes):
    check(equation, *shapes)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float64])
def test_numbers_of_other_types(dtype):
    check("bij,bjk->bki", (2, 3, 4), (2, 4, 5), dtype=dtype)


def test_products_need_no_copies():
    assert check("bhid,bhjd->bhij", (2, 3, 4, 5), (2, 3, 6, 5)) == {"Transpose": 1, "MatMul": 1}
    assert check("bhij,bhjd->bhid", (2, 3, 4, 6), (2, 3, 6, 5)) == {"MatMul": 1}
    assert check("oc,btc->bto", (6, 5), (2, 3, 5), weights=[0]) == {"MatMul": 1}
    assert check("bct,oc->bot", (2, 5, 3), (6, 5), weights=[1]) == {"MatMul": 1, "Transpose": 2}


@pytest.mark.parametrize("equation, shapes", [
    ("k,bki,bkj->bij", [(3,), (2, 3, 4), (2, 3, 5)]), ("bi,bj,bk,bl->bl", [(2, 3), (2, 4), (2, 5), (2, 2)]),
])
def test_more_operands_of_open_sizes_are_taken_in_pairs(equation, shapes):
    random = np.random.default_rng(3)
    feeds = {f"x{i}": random.standard_normal(shape).astype(np.float32) for i, shape in enumerate(shapes)}
    graph = helper.make_graph(
        [helper.make_node("Einsum", list(feeds), ["y"], equation=equation)], "net",
        [helper.make_tensor_value_info(name, 1, ["N" if size == 2 else size for size in value.shape])
         for name, value in feeds.items()], [helper.make_tensor_value_info("y", 1, None)])
    ported = porter.port(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]))
    assert max(len(node.input) for node in ported.graph.node) == 2
    np.testing.assert_allclose(ort_run(ported, feeds)[0], np.einsum(equation, *feeds.values()), rtol=1e-4, atol=1e-5)


def test_diagonals_stay():
    graph = helper.make_graph(
        [helper.make_node("Einsum", ["x"], ["y"], equation="ii->i")], "net",
        [helper.make_tensor_value_info("x", 1, [3, 3])], [helper.make_tensor_value_info("y", 1, [3])])
    ported = porter.port(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]))
    assert [node.op_type for node in ported.graph.node] == ["Einsum"]
