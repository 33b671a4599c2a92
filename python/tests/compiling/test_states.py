"""States of loops, which are buffers of their own."""

from takt.compiling import states

_OPEN, _ROW, _NUMBER = "!torch.vtensor<[?,4],f32>", "!torch.vtensor<[4],f32>", "!torch.vtensor<[],si64>"
_BIT = "!torch.vtensor<[],i1>"
_MLIR = f"""module {{
    %5:2 = torch.operator "onnx.Loop"(%1, %2, %3#1, %4) : ({_NUMBER}, {_BIT}, {_OPEN}, {_ROW}) -> ({_OPEN}, {_ROW}) {{
    ^bb0(%arg0: {_NUMBER}, %arg1: {_BIT}, %arg2: {_OPEN}, %arg3: {_ROW}):
      torch.operator_terminator %arg1, %arg2, %arg3 : {_BIT}, {_OPEN}, {_ROW}
    }}
}}
"""


def test_a_state_of_open_sizes_is_apart():
    before, loop, after = states.keep_apart(_MLIR).partition('    %5:2 = torch.operator "onnx.Loop"(%1, %2, ')
    assert loop and after.partition(", %4)")[2] == _MLIR.partition(", %4)")[2]
    state = after.partition(",")[0]
    lines = [line.strip() for line in before.splitlines()[1:]]
    assert lines[0].endswith(f" = torch_c.to_builtin_tensor %3#1 : {_OPEN} -> tensor<?x4xf32>")
    assert sum("util.optimization_barrier" in line for line in lines) == 1
    assert lines[-1].startswith(f"{state} = torch_c.from_builtin_tensor ") and lines[-1].endswith(f" -> {_OPEN}")


def test_other_states_stay():
    for old, new in ((_OPEN, _ROW), (_OPEN, "!torch.list<!torch.vtensor<[?,4],f32>>"), ("onnx.Loop", "onnx.If")):
        text = _MLIR.replace(old, new)
        assert states.keep_apart(text) == text
