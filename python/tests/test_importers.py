"""What is said of programs that are not read or compiled."""

import sys

import pytest

from takt import errors, importers


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
