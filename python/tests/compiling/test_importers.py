"""What is said of programs that are not read or compiled."""

import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import takt
import together
from takt import errors
from takt.compiling import importers


def said(text):
    """What is left of what a tool prints before it fails."""
    script = f"import sys; sys.stderr.write({text!r}); sys.exit(3)"
    with pytest.raises(errors.CompileError) as caught:
        importers.run_tool([sys.executable, "-c", script], "compiling x")
    head, *rest = str(caught.value).splitlines()
    assert head == "compiling x: exit code 3"
    return rest


def test_errors_name_the_operator():
    assert said("""/tmp/takt-1/program.mlir:37:11: error: 'tensor.cast' op operand type is wrong
    %33 = torch.operator "onnx.Pad"(%32, %16) {torch.onnx.mode = "edge"} : (!torch.vtensor<[1,3],f32>)
          ^
/tmp/takt-1/program.mlir:37:11: note: see current operation: %281 = "tensor.cast"(%280)
  %1 = a long program
""") == ["error: 'tensor.cast' op operand type is wrong (in Pad)"]


def test_an_error_is_said_once():
    line = "program.mlir:1:2: error: no\n  %0 = arith.addf %a, %b\n"
    assert said(line * 3 + "error: unknown flag\n") == ["error: no", "error: unknown flag"]


def test_of_a_trace_the_last_line_is_said():
    assert said("Traceback (most recent call last):\n  File x\nValueError: no shape\n") == ["ValueError: no shape"]


def test_without_an_error_the_last_lines_are_said():
    assert said("".join(f"line {i}\n" for i in range(20))) == [f"line {i}" for i in range(8, 20)]


@pytest.mark.parametrize("opset, kind, cases", [
    (8, "Upsample", [("nearest", 2)]), (9, "Upsample", [("linear", 2), ("nearest", 1.5)]),
    (10, "Resize", [("linear", 1.5), ("nearest", 0.6)])])
def test_old_networks_resize_as_they_did(needs_compiler, tmp_path, opset, kind, cases):
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    x, networks = np.random.default_rng(3).standard_normal((1, 2, 5, 5)).astype(np.float32), {}
    for mode, factor in cases:
        scales = np.array([1, 1, factor, factor], np.float32)
        own = {"scales": scales.tolist()} if opset == 8 else {}
        size = int(5 * factor)
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node(kind, ["x"] if own else ["x", "scales"], ["y"], mode=mode, **own)], "net",
            [onnx.helper.make_tensor_value_info("x", 1, [1, 2, 5, 5])],
            [onnx.helper.make_tensor_value_info("y", 1, [1, 2, size, size])],
            [] if own else [onnx.numpy_helper.from_array(scales, "scales")])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=4)
        networks[mode, factor] = model, [x]
    for case, found in together.results(tmp_path, networks).items():
        session = onnxruntime.InferenceSession(networks[case][0].SerializeToString())
        np.testing.assert_allclose(found, session.run(None, {"x": x})[0], atol=1e-5, err_msg=str(case))


@pytest.mark.parametrize("scales", ["Constant<value = float[4] {1, 1, 2, 1.5}>()", "Identity(known)"])
def test_old_networks_resize_between_other_operators(needs_compiler, tmp_path, scales):
    """The converter of onnx gives another name to what is no result of the network."""
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    model = onnx.parser.parse_model(f"""<ir_version: 4, opset_import: ["" : 9]>
        net (float[1,2,4,4] x, bool c) => (float[1,2,8,6] y) <float[4] known = {{1, 1, 2, 1.5}}> {{
            scales = {scales}
            a = Tanh(x)  b = Upsample<mode = "linear">(a, scales)  d = If(c) <
                then_branch = p () => (float[1,2,8,6] t) {{ s = Upsample<mode = "linear">(x, scales)  t = Neg(s) }},
                else_branch = q () => (float[1,2,8,6] u) {{ u = Neg(b) }}>
            y = Sub(b, d) }}""")
    path, x = tmp_path / "net.onnx", np.random.default_rng(3).standard_normal((1, 2, 4, 4)).astype(np.float32)
    onnx.save(model, path)
    session, net = onnxruntime.InferenceSession(path), takt.compile(path, cache=tmp_path).load().net
    for condition in np.array(True), np.array(False):
        np.testing.assert_allclose(net(x, condition), session.run(None, {"x": x, "c": condition})[0], atol=1e-5)


@pytest.mark.parametrize("axis", ["", "<axis = 2>"])
def test_an_old_hardmax_has_one_of_all_its_axes(tmp_path, axis):
    onnx = pytest.importorskip("onnx")
    model = onnx.parser.parse_model(f"""<ir_version: 7, opset_import: ["" : 12]>
        net (float[2,3,4,5] x) => (float[2,3,4,5] y) {{ y = Hardmax{axis}(x) }}""")
    onnx.save(model, tmp_path / "net.onnx")
    x = np.random.default_rng(3).standard_normal((2, 3, 4, 5)).astype(np.float32)
    rows = x.reshape(6 if axis else 2, -1)
    wanted = (rows == rows.max(1, keepdims=True)).reshape(x.shape)
    np.testing.assert_array_equal(takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net(x), wanted)


def test_old_slopes_are_those_of_channels(tmp_path):
    onnx = pytest.importorskip("onnx")
    slopes, x = (np.random.default_rng(3).standard_normal(shape).astype(np.float32) for shape in (3, (2, 3, 4, 5)))
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("PRelu", ["x", "slopes"], ["y"])], "net",
        [onnx.helper.make_tensor_value_info("x", 1, x.shape)], [onnx.helper.make_tensor_value_info("y", 1, x.shape)],
        [onnx.numpy_helper.from_array(slopes, "slopes")])
    path = tmp_path / "net.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 6)], ir_version=4), path)
    found = takt.compile(path, cache=tmp_path).load().net(x)
    np.testing.assert_allclose(found, np.where(x < 0, x * slopes.reshape(3, 1, 1), x), atol=1e-6)


@pytest.mark.parametrize("is_inner", [False, True])
def test_old_networks_have_newer_operators(needs_compiler, tmp_path, is_inner):
    """As ONNX Runtime's optimizer writes them, in a branch of an If as well."""
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    helper = onnx.helper
    x, scale = (np.random.default_rng(3).standard_normal(shape).astype(np.float32) for shape in ((2, 8), 8))
    inner = [helper.make_node("LayerNormalization", ["x", "scale"], ["n"], axis=-1)]
    result = helper.make_tensor_value_info("n", 1, [2, 8])
    nodes = inner if not is_inner else [helper.make_node(
        "If", ["c"], ["n"], then_branch=helper.make_graph(inner, "then", [], [result]),
        else_branch=helper.make_graph([helper.make_node("Neg", ["x"], ["n"])], "else", [], [result]))]
    graph = helper.make_graph(
        [helper.make_node("Squeeze", ["x1"], ["x"], axes=[0]), *nodes], "net",  # The axes are an input since opset 13.
        [helper.make_tensor_value_info("x1", 1, [1, 2, 8]), helper.make_tensor_value_info("c", 9, [])], [result],
        [onnx.numpy_helper.from_array(scale, "scale")])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)], ir_version=6), path)
    condition = np.array(True)
    want = onnxruntime.InferenceSession(path).run(None, {"x1": x[None], "c": condition})[0]
    found = takt.compile(path, cache=tmp_path).load().net(x[None], condition)
    np.testing.assert_allclose(found, want, atol=1e-5)


def test_a_program_of_the_wheel_is_found_itself(monkeypatch):
    pytest.importorskip("iree.compiler")
    monkeypatch.delenv("IREE_TOOL_PATH", raising=False)
    found = importers.find_program("iree-compile")
    with open(found, "rb") as file:
        assert file.read(4) == b"\x7fELF"
    monkeypatch.setenv("IREE_TOOL_PATH", "/somewhere")
    assert importers.find_program("iree-compile") != found


def test_a_path_may_begin_like_a_program():
    assert importers.is_file("module.onnx") and importers.is_file("modules/net.mlir")
    assert not importers.is_file("module {}") and not importers.is_file("func.func @f() {\n  return\n}\n")


def test_the_reason_of_a_trace_is_its_exception():
    from takt.compiling import importers

    trace = """Traceback (most recent call last):
  File "tool.py", line 3, in run
    read(tensor)
some.module.ImportError: no bytes in:
name: "zero"
"""
    assert importers._reasons(trace) == 'some.module.ImportError: no bytes in:\nname: "zero"'


def aligned(values):
    """A copy at a place where calls use it as it is."""
    memory = np.empty(values.nbytes + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    found = memory[begin:begin + values.nbytes].view(values.dtype).reshape(values.shape)
    found[...] = values
    return found


@pytest.mark.parametrize("dtype, sizes", [("float", None), ("double", None), ("float", [{"M": 80}, {"M": 99}])])
def test_arguments_stay_as_they_are(needs_compiler, tmp_path, dtype, sizes):
    pytest.importorskip("onnx")
    from onnx import parser

    columns, networks, arguments = 80 if sizes is None else "M", {}, {}
    random = np.random.default_rng(3)
    kind = np.float32 if dtype == "float" else np.float64
    for text in ("y = ScatterND<reduction = \"add\">(x, i, u)",
                 "a = Identity(x) r = Reshape(a, s) y = ScatterND<reduction = \"add\">(r, i, u)",
                 "y = ScatterElements<reduction = \"add\">(x, j, v)", "y = ScatterND(x, i, u)",
                 "y, k = TopK<axis = 0>(x, n)"):
        networks[text] = parser.parse_model(
            f'<ir_version: 8, opset_import: ["" : 18]>\nnet ({dtype}[90,{columns}] x, int64[7,1] i, '
            f"{dtype}[7,{columns}] u, int64[7,{columns}] j, {dtype}[7,{columns}] v) => ({dtype}[90,{columns}] y) "
            f"<int64[2] s = {{90, -1}}, int64[1] n = {{90}}> {{ {text} }}")
        x, u = random.standard_normal((90, 80)).astype(kind), random.standard_normal((7, 80)).astype(kind)
        arguments[text] = [aligned(x), random.integers(0, 90, (7, 1)), u, random.integers(0, 90, (7, 80)), u]
    before = {text: given[0].copy() for text, given in arguments.items()}
    whole = together.compiled(tmp_path, networks, shapes=sizes)
    first = {text: np.array(y) for text, y in whole.call(arguments).items()}
    for text, y in whole.call(arguments).items():
        np.testing.assert_array_equal(arguments[text][0], before[text], err_msg=text)
        np.testing.assert_array_equal(y, first[text], err_msg=text)


@pytest.mark.parametrize("text", [
    """func.func @f(%x: tensor<64x64xf32>, %i: index) -> tensor<64x64xf32> {
  %v = arith.constant 7.0 : f32
  %t = tensor.insert %v into %x[%i, %i] : tensor<64x64xf32>
  return %t : tensor<64x64xf32>
}
""", """func.func public @f(%x: tensor<64x64xf32>, %i: tensor<i32>) -> (tensor<64x64xf32> {jax.result_info = ""}) {
  %v = stablehlo.constant dense<7.0> : tensor<1x64xf32>
  %0 = stablehlo.dynamic_update_slice %x, %v, %i, %i :
      (tensor<64x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
"""])
def test_arguments_of_other_programs_stay_as_they_are(needs_compiler, tmp_path, text):
    function = takt.compile(text, cache=tmp_path).load().function()
    x = aligned(np.zeros((64, 64), np.float32))
    result = np.array(function(x, np.array(3, np.int32) if "stablehlo" in text else 3))
    assert not x.any() and result[3, 3] == 7


def chosen_powers(folder):
    """A network that takes some of the powers of its input, and an input of it with an index that is none."""
    onnx = pytest.importorskip("onnx")
    from onnx import parser

    model = parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[4] x, float[4] p, int64[2] i) => (float[2] y) { q = Pow(x, p) g = Gather(q, i) y = Tanh(g) }""")
    onnx.save(model, folder / "net.onnx")
    return [np.float32([2, 3, 4, 5]), np.full(4, 2, np.float32), np.int64([1, 99_999_999])]


@pytest.mark.parametrize("place", ["powers.PowerPorter.on_power", "porter.port"])
def test_what_cannot_be_ported_stays_and_indices_are_kept(needs_compiler, monkeypatch, tmp_path, place):
    inputs = chosen_powers(tmp_path)

    def fail(*_):
        raise KeyError("a bug")

    monkeypatch.setattr(f"takt.porting.{place}", fail)
    with pytest.warns(UserWarning, match="as the file has it.*KeyError: 'a bug'"):
        artifact = takt.compile(tmp_path / "net.onnx", cache=tmp_path)
    np.testing.assert_allclose(artifact.load().net(*inputs), np.tanh([9, 25]), rtol=1e-5)
    with pytest.warns(UserWarning, match="KeyError"):  # Of the answer that was kept.
        assert takt.compile(tmp_path / "net.onnx", cache=tmp_path).report["cached"]


def test_networks_whose_indices_cannot_be_kept_are_refused(monkeypatch, tmp_path):
    chosen_powers(tmp_path)

    def fail(*_):
        raise KeyError("a bug")

    monkeypatch.setattr("takt.porting.bounds.bound", fail)
    with pytest.raises(errors.CompileError, match="net.onnx: indices cannot be kept within their tensors: KeyError"):
        takt.compile(tmp_path / "net.onnx", cache=tmp_path)


@pytest.mark.parametrize("opset, cases", [(10, [(2, 0.5), (0.6, 1.5), (0.5, 0.5)]), (9, [(2, 3)])])
def test_images_of_older_opsets(needs_compiler, tmp_path, opset, cases):
    """Along each axis the pixel before or behind is taken, as the axis gets larger or smaller."""
    onnx = pytest.importorskip("onnx")
    x, networks = np.random.default_rng(1).random((1, 1, 6, 4), np.float32), {}
    for factors in cases:
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("Resize" if opset == 10 else "Upsample", ["x", "scales"], ["y"], mode="nearest")],
            "net", [onnx.helper.make_tensor_value_info("x", 1, x.shape)],
            [onnx.helper.make_tensor_value_info("y", 1, None)],
            [onnx.numpy_helper.from_array(np.float32([1, 1, *factors]), "scales")])
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", opset)], ir_version=5)
        networks[factors] = model, [x]
    for factors, found in together.results(tmp_path, networks).items():
        places = [(np.floor if factor >= 1 else np.ceil)(np.arange(int(size * factor)) / factor).astype(int)
                  for size, factor in zip(x.shape[2:], factors)]
        np.testing.assert_array_equal(found, x[:, :, places[0]][..., places[1]], err_msg=str(factors))


@pytest.mark.parametrize("kind", ["Add", "Less"])
def test_sizes_that_a_call_finds_are_not_taken_for_others(needs_compiler, tmp_path, kind):
    """The compiler reads beyond a tensor of one row where it expects as many rows as the other one has."""
    onnx = pytest.importorskip("onnx")
    from onnx import parser

    model = parser.parse_model(f"""<ir_version: 8, opset_import: ["" : 17]>
        net (float[4] x, float[4,3] q) => (float[4,3] y) <float zero = {{0}}> {{
            is_chosen = Greater(x, zero)  places = NonZero(is_chosen)  turned = Transpose<perm = [1, 0]>(places)
            rows = GatherND(q, turned)  z = {kind}(q, rows)  y = Cast<to = 1>(z) }}""")
    onnx.save(model, tmp_path / "net.onnx")
    net = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    q = np.arange(12, dtype=np.float32).reshape(4, 3)
    wanted = {"Add": q + q, "Less": np.zeros((4, 3))}[kind]
    np.testing.assert_array_equal(net(np.ones(4, np.float32), q), wanted)
    with pytest.raises(errors.Error, match="mismatched size for broadcast"):
        net(np.float32([-1, 1, -1, -1]), q)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends them")
def test_tools_end_with_the_process_that_started_them(tmp_path):
    command = ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 60"]
    script = f"from takt.compiling import importers; importers.run_tool({command!r}, 'x')"
    process = subprocess.Popen([sys.executable, "-c", script])
    written, end = tmp_path / "pid", time.monotonic() + 30
    while not (written.exists() and written.read_text().endswith("\n")):
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.02)
    tool = int(written.read_text())
    process.kill()
    process.wait()
    status = pathlib.Path(f"/proc/{tool}/status")
    while status.exists() and "\nState:\tZ" not in status.read_text():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_tool_that_is_missing_is_named():
    with pytest.raises(errors.CompileError, match="there is no takt-has-no-such-tool"):
        importers.run_tool(["takt-has-no-such-tool"], "x")
