"""From what people have to MLIR: ONNX, StableHLO, JAX, PyTorch, TFLite."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from typing import Any

from .errors import CompileError


@dataclasses.dataclass
class Source:
    """A program as MLIR, and what is known of it beyond that."""

    mlir: bytes  # Text or bytecode.
    input_type: str = "auto"  # Of iree-compile.
    is_quantized: bool = False
    # Names of the inputs and results of the only function, where the importer
    # loses them.
    input_names: list[str] = dataclasses.field(default_factory=list)
    output_names: list[str] = dataclasses.field(default_factory=list)


def read(model: Any) -> Source:
    """`model`: a path (.onnx, .mlir, .mlirbc, .stablehlo, .tflite), MLIR text or
    bytecode, a `jax.jit(f).lower(...)`, or a `torch.export.ExportedProgram`."""
    if isinstance(model, (str, os.PathLike)) and not _is_mlir_text(model):
        path = pathlib.Path(model)
        if not path.exists():
            raise FileNotFoundError(f"there is no model {path}")
        if path.suffix == ".onnx":
            return _read_onnx(path)
        if path.suffix == ".tflite":
            return _read_tflite(path)
        return Source(path.read_bytes())
    if isinstance(model, str):
        return Source(model.encode())
    if isinstance(model, (bytes, bytearray)):
        return Source(bytes(model))
    if hasattr(model, "as_text") and hasattr(model, "compile"):  # jax.stages.Lowered
        return Source(model.as_text(dialect="stablehlo").encode(), "stablehlo")
    if hasattr(model, "graph_module") and hasattr(model, "module"):
        return _read_torch(model)
    raise TypeError(f"a {type(model).__name__} is no model that takt.compile() can read")


def _is_mlir_text(model: str | os.PathLike) -> bool:
    return isinstance(model, str) and ("\n" in model or model.lstrip().startswith("module"))


def _read_onnx(path: pathlib.Path) -> Source:
    try:
        import onnx
    except ImportError as error:
        raise CompileError("ONNX models need the package onnx: pip install takt[compile]") from error
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        target = os.path.join(scratch, "model.mlir")
        # An older opset means what the newer one says; the importer converts it.
        run_tool(
            [sys.executable, "-m", "iree.compiler.tools.import_onnx", os.fspath(path),
             "-o", target, "--opset-version=17"],
            f"importing {path}",
        )
        mlir = pathlib.Path(target).read_bytes()
    graph = onnx.load(os.fspath(path), load_external_data=False).graph
    constants = {tensor.name for tensor in graph.initializer}
    return Source(
        mlir,
        input_type="onnx",
        is_quantized=any(node.op_type == "QuantizeLinear" for node in graph.node),
        input_names=[value.name for value in graph.input if value.name not in constants],
        output_names=[value.name for value in graph.output],
    )


def _read_torch(program: Any) -> Source:
    try:
        import torch
    except ImportError as error:
        raise CompileError("PyTorch programs need the package torch") from error
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        path = pathlib.Path(scratch, "program.onnx")
        args, kwargs = program.example_inputs
        torch.onnx.export(program.module(), args, os.fspath(path), kwargs=kwargs, dynamo=True)
        return _read_onnx(path)


def _read_tflite(path: pathlib.Path) -> Source:
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        target = os.path.join(scratch, "model.mlirbc")
        run_tool(
            ["tosa-converter-for-tflite", os.fspath(path), "--bytecode", "-o", target],
            f"importing {path}",
            missing="TFLite models need the package tosa-converter-for-tflite",
        )
        return Source(pathlib.Path(target).read_bytes(), "tosa")


def run_tool(command: list[str], what: str, *, missing: str = "", timeout: float | None = None) -> None:
    """Runs a tool. What it prints is in the CompileError if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except FileNotFoundError as error:
        raise CompileError(missing or f"{what}: there is no {command[0]}") from error
    except subprocess.TimeoutExpired as error:
        raise CompileError(f"{what}: not done within {timeout:g} s") from error
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        # The last lines name the cause; the rest is the program around it.
        tail = "\n".join(line[:300] for line in said[-12:])
        raise CompileError(f"{what}: exit code {done.returncode}\n{tail}")


# func.func @name(%arg0: T, ...) -> (T, ...) attributes {...} {
_FUNCTION = re.compile(r"^(\s*func\.func )(public )?@(\"[^\"]*\"|[\w.$-]+)\((.*)$")
_TORCH_TENSOR = re.compile(r"!torch\.vtensor<\[([^\]]*)\],(\w+)>")


def annotate(source: Source, reflection: dict[str, str]) -> bytes:
    """The MLIR with `reflection` as attributes of its public functions, and with
    declarations (names, types and shapes) where the importer gives none."""
    if source.mlir.startswith(b"ML\xefR"):  # Bytecode.
        if reflection:
            raise CompileError("annotations need MLIR as text, not as bytecode")
        return source.mlir
    lines = source.mlir.decode().split("\n")
    functions = [i for i, line in enumerate(lines) if _FUNCTION.match(line)]
    for i in functions:
        attributes = dict(reflection)
        if len(functions) == 1 and source.input_names:
            declaration = _declaration(lines[i], source)
            if declaration:
                attributes.setdefault("iree.abi.declaration", declaration)
        if attributes:
            lines[i] = _with_reflection(lines[i], attributes)
    return "\n".join(lines).encode()


def _declaration(line: str, source: Source) -> str | None:
    match = _FUNCTION.match(line)
    arguments, arrow, results = match.group(4).partition("->")
    results = results.partition("attributes")[0]
    types = [_tensor_type(*found) for found in _TORCH_TENSOR.findall(arguments)]
    result_types = [_tensor_type(*found) for found in _TORCH_TENSOR.findall(results)]
    if not arrow or len(types) != len(source.input_names):
        return None
    if len(result_types) != len(source.output_names):
        return None
    inputs = ", ".join(f"%{_word(n)}: {t}" for n, t in zip(source.input_names, types))
    outputs = ", ".join(f"%{_word(n)}: {t}" for n, t in zip(source.output_names, result_types))
    return f"sync func @{match.group(3)}({inputs}) -> ({outputs})"


def _tensor_type(shape: str, element: str) -> str:
    dimensions = [d.strip() for d in shape.split(",") if d.strip()]
    return "tensor<" + "".join(f"{d}x" for d in dimensions) + element + ">"


def _word(name: str) -> str:
    return re.sub(r"[^\w.$-]", "_", name)


def _with_reflection(line: str, attributes: dict[str, str]) -> str:
    pairs = ", ".join(f'"{key}" = "{_escaped(value)}"' for key, value in attributes.items())
    entry = f"iree.reflection = {{{pairs}}}"
    if " attributes {" in line:
        return line.replace(" attributes {", f" attributes {{{entry}, ", 1)
    body = line.rstrip()
    if not body.endswith("{"):
        raise CompileError(f"cannot annotate the function in: {body[:120]}")
    return f"{body[:-1].rstrip()} attributes {{{entry}}} {{"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
