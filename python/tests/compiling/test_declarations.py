"""Names, types and shapes of what is compiled."""

import pathlib
import shutil
import subprocess
import sys

import make_policy_tflite
import numpy as np
import pytest

import takt
from takt.compiling import declarations, importers

# As torch-mlir writes it: two functions, the header of one over two lines.
TORCH = """
module {
func.func @act(%joints: !torch.vtensor<[1,8],f32>,
   %arg1: !torch.vtensor<[?,2],si64>) -> (!torch.vtensor<[1,8],f32>, !torch.vtensor<[?,2],si64>) {
  return %joints, %arg1 : !torch.vtensor<[1,8],f32>, !torch.vtensor<[?,2],si64>
}
func.func @see(%image: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> attributes {torch.x = 1 : si64} {
  return %image : !torch.vtensor<[4],f32>
}
}
"""

TENSORS = """
func.func private @helper(tensor<4xf32>) -> tensor<4xf32>
func.func @scale(%gain: tensor<4xf32> {my.attribute = "a, b)"}, %arg1: tensor<4xf32>) -> tensor<4xf32>
    attributes {iree.reflection = {"takt.priority" = "7", "owner" = "arm"}} {
  %0 = arith.mulf %gain, %arg1 : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @both(%x: tensor<?x4xf32> loc("batch"), %n: i32) -> (tensor<?x4xf32>, i32) {
  return %x, %n : tensor<?x4xf32>, i32
}
"""


def names(values):
    return [each["name"] for each in values]


def test_functions_of_pytorch_types_are_declared(needs_compiler, tmp_path):
    module = takt.compile(TORCH, cache=tmp_path).load()
    assert module.act.declaration == (
        "sync func @act(%joints: tensor<1x8xf32>, %input1: tensor<?x2xsi64>) -> "
        "(%output0: tensor<1x8xf32>, %output1: tensor<?x2xsi64>)"
    )
    assert names(module.see.inputs) == ["image"]
    assert module.see.outputs[0]["shape"] == (4,)
    with takt.Instance(workers=1, policy="job-shop") as robot:
        stream = robot.stream(module.on(robot).see)
        stream.map_input(0)[...] = [1, 2, 3, 4]
        stream.publish_input()
        stream.wait_idle(timeout=60)
        assert stream.take().tolist() == [1, 2, 3, 4]


def test_functions_of_tensors_keep_the_names_of_the_program(needs_compiler, tmp_path):
    path = tmp_path / "tensors.mlir"
    path.write_text(TENSORS.replace("func.func private @helper(tensor<4xf32>) -> tensor<4xf32>", ""))
    module = takt.compile(path, cache=tmp_path, priority=9).load()
    assert names(module.scale.inputs) == ["gain", "input1"]
    assert module.scale(gain=np.full(4, 2, np.float32), input1=[1, 2, 3, 4]).tolist() == [2, 4, 6, 8]
    assert names(module.both.inputs)[0] == "x"
    assert module.both.inputs[0]["shape"] == (None, 4)
    # An argument goes before the program's own annotation; the others stay.
    assert module.scale.attribute("takt.priority") == "9"
    assert module.scale.attribute("owner") == "arm"
    assert module.both.attribute("owner") is None


def test_bytecode_is_annotated_like_text(needs_compiler, tmp_path):
    text = tmp_path / "program.mlir"
    text.write_text(TORCH)
    bytecode = tmp_path / "program.mlirbc"
    tool = importers.find_program("iree-ir-tool")
    subprocess.run([tool, "copy", "--emit-bytecode", text, "-o", bytecode], check=True)
    assert bytecode.read_bytes().startswith(b"ML\xefR")
    module = takt.compile(bytecode, cache=tmp_path, deadline=1e-3).load()
    assert module.see.attribute("takt.deadline_ns") == "1000000"
    assert module.see.inputs[0]["shape"] == (4,)


def test_headers_are_read_to_their_ends():
    functions = declarations.find_functions(TENSORS)
    assert [f.name for f in functions] == ["scale", "both"]
    assert [v.type for v in functions[1].outputs] == ["tensor<?x4xf32>", "i32"]
    for damaged in (TENSORS[: TENSORS.index("tensor<?x4xf32> loc")], 'func.func @f("'):
        with pytest.raises(takt.CompileError, match="not closed"):
            declarations.find_functions(damaged)


def test_annotations_of_a_function_that_is_not_there():
    with pytest.raises(takt.CompileError, match="no function 'fly', but act, see"):
        declarations.annotate(TORCH, of_function={"fly": {"takt.priority": "1"}})


@pytest.mark.parametrize("before, after", [
    ("module {\n}", "module @net {\n}"),
    ("module @old {\n}", "module @net {\n}"),
    ('module @"an old {" attributes {a = 1} {\n}', "module @net attributes {a = 1} {\n}"),
    ("module attributes {a = 1} {\n}", "module @net attributes {a = 1} {\n}"),
    ("// module @no {\n#l = loc(unknown)\n!t = i1\n  builtin.module{}",
     "// module @no {\n#l = loc(unknown)\n!t = i1\n  module @net{}"),
    (TENSORS, None),
    ("", None),
])
def test_modules_are_named(before, after):
    assert declarations.name_module(before, "net") == after


def test_names_become_words_that_differ():
    line = (
        "  func.func @f(%arg0: !torch.vtensor<[1,?],f32>, %arg1: !torch.vtensor<[],i1>)"
        " -> (!torch.vtensor<[],si64>) attributes {torch.x = 1 : si64} {"
    )
    text = declarations.annotate(line, names={None: (["a b", "a_b"], ["out/0"])})
    assert "sync func @f(%a_b: tensor<1x?xf32>, %a_b_1: tensor<i1>) -> (%out_0: tensor<si64>)" in text
    assert declarations.word("state['w'][0]") == "state.w.0"


def test_jax_programs_have_the_names_of_their_arguments(needs_compiler, tmp_path):
    jax = pytest.importorskip("jax")

    def act(observation, state):
        return {"action": observation * 2 + state["bias"], "norm": (observation**2).sum()}

    arguments = np.ones(4, np.float32), {"bias": np.ones(4, np.float32)}
    lowered = jax.jit(act).lower(*arguments)
    exported = jax.export.export(jax.jit(act))(*arguments)
    for program in (lowered, exported):
        module = takt.compile(program, cache=tmp_path, priority=3).load()
        assert names(module.main.inputs) == ["observation", "state.bias"]
        assert names(module.main.outputs) == ["action", "norm"]
        assert module.main.attribute("takt.priority") == "3"
        action, norm = module(np.arange(4, dtype=np.float32), np.ones(4, np.float32))
        assert action.tolist() == [1, 3, 5, 7]
        assert norm == 14
    path = tmp_path / "act.stablehlo"
    path.write_bytes(exported.mlir_module_serialized)  # Portable bytecode has no names.
    module = takt.compile(path, cache=tmp_path, priority=3).load()
    assert module.main.inputs[0]["shape"] == (4,)
    assert module.main.attribute("takt.priority") == "3"
    assert module(np.arange(4, dtype=np.float32), np.ones(4, np.float32))[0].tolist() == [1, 3, 5, 7]


@pytest.mark.parametrize("is_by_onnx", [False, True])
def test_tflite_networks_have_the_names_of_their_tensors(needs_compiler, tmp_path, monkeypatch, is_by_onnx):
    if is_by_onnx:
        pytest.importorskip("tf2onnx")
        pytest.importorskip("tensorflow")
    else:
        monkeypatch.setitem(sys.modules, "tf2onnx", None)
        if shutil.which("tosa-converter-for-tflite", path=pathlib.Path(sys.executable).parent) is None:
            pytest.skip("there is no tosa-converter-for-tflite")
    # relu(observation @ w.T + b); make_policy_tflite.py has the weights.
    path = pathlib.Path(__file__).with_name("policy.tflite")
    weights, bias = make_policy_tflite.WEIGHTS, make_policy_tflite.BIAS
    module = takt.compile(path, cache=tmp_path).load()
    assert names(module.main.inputs) == ["observation"]
    assert names(module.main.outputs) == ["action"]
    assert module.main.inputs[0]["shape"] == (1, 8)
    observation = np.arange(8, dtype=np.float32).reshape(1, 8)
    np.testing.assert_allclose(module(observation), np.maximum(observation @ weights.T + bias, 0), rtol=1e-5)


def test_pytorch_programs_have_the_names_of_their_arguments(needs_compiler, tmp_path):
    torch = pytest.importorskip("torch")
    pytest.importorskip("onnxscript")

    class Policy(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(8, 3)

        def forward(self, observation, gain):
            return torch.relu(self.layer(observation)) * gain

    torch.manual_seed(1)
    policy = Policy().eval()
    observation, gain = torch.randn(1, 8), torch.full((3,), 2.0)
    program = torch.export.export(policy, (observation, gain))
    module = takt.compile(program, cache=tmp_path, deadline=5e-3).load()
    function = module.function()
    assert names(function.inputs) == ["observation", "gain"]
    assert function.inputs[0]["shape"] == (1, 8)
    assert function.attribute("takt.deadline_ns") == "5000000"
    # Tensors go in by DLPack.
    action = module(observation, gain=gain)
    np.testing.assert_allclose(action, policy(observation, gain).detach().numpy(), rtol=1e-4, atol=1e-6)


def test_damaged_tflite_files_are_named(needs_compiler, tmp_path):
    path = tmp_path / "damaged.tflite"
    path.write_bytes(b"no model")
    with pytest.raises(takt.CompileError, match="damaged.tflite"):  # With a converter or without one.
        takt.compile(path, cache=tmp_path)
