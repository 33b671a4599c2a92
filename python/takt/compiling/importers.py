"""Importers of models to MLIR text: ONNX, StableHLO, JAX, PyTorch, TFLite."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import Any, Callable, Iterator, Sequence

import numpy as np

from . import (batching, casts, convolutions, crossed, gathers, order, programs, reductions, shared, sizing, states,
               whiles)
from ..porting import bounds, boxes, loops, nans, overhang, porter, tops, unsigned, widening, words
from ..networks import (checks, counting, graphs, image_scales, inference, levels, plain, samples, static_shapes,
                        subgraphs)
from ..errors import CompileError

_OPSET = 17
# The compiler changes a tensor in place for them, also an argument that nothing else reads, or makes a loop of them.
_IN_PLACE = {"GRU", "LSTM", "Loop", "RNN", "Scan", "ScatterElements", "ScatterND", "TensorScatter", "TopK"}
_NEWER = "takt.newer"  # A domain for operators that the opset of a file does not have, while it is converted.
_KEEP_ASSERTIONS = "--iree-opt-strip-assertions=false"
_WEIGHTS_MAX = 1 << 30  # Bytes in the network's own file, which has at most 2 GiB.


@dataclasses.dataclass
class Source:
    """A program as MLIR, and further facts about it."""

    mlir: bytes | None  # Text. None: `network` is imported when the text is needed.
    input_type: str = "auto"  # Of iree-compile.
    is_quantized: bool = False
    recipe: str | None = None  # That fits it, from a look at its operations.
    # Names of inputs and results where the importer loses them, by the name of
    # the function; None: of the only one.
    names: dict[str | None, tuple[list[str], list[str]]] = dataclasses.field(default_factory=dict)
    # The network as it was read (an onnx.ModelProto), for `rewritten()`.
    network: Any = None
    path: pathlib.Path | None = None  # Of `network`.
    flags: tuple[str, ...] = ()  # Of iree-compile, besides those of recipes.
    open_inputs: dict[str, str] = dataclasses.field(default_factory=dict)  # Their shapes.
    # If `network` is of one sample, and the program of any number: which dimension of each input counts samples, and
    # of each result.
    of_sample: list[int | None] | None = None
    results_of_sample: list[int] = dataclasses.field(default_factory=list)
    chunks: dict[int, Any] = dataclasses.field(default_factory=dict)  # Networks of more samples, by number.
    # If a call has the sizes of one of several networks: the others than `network`, and the sizes of all.
    others: list[Any] = dataclasses.field(default_factory=list)
    sizes: list[str] = dataclasses.field(default_factory=list)
    # Steps that failed and were left out, with the reasons.
    failed: dict[str, str] = dataclasses.field(default_factory=dict)

    def text(self) -> bytes:
        if self.mlir is None:
            self.mlir = self.program(lambda network: _import_onnx(network, f"importing {self.path}"))
        return self.mlir

    def program(self, import_one: Callable[[Any], str]) -> bytes:
        """The text of `network`, by an importer of one network, for all numbers of samples and all sizes."""
        def imported(network: Any) -> str:
            return programs.with_same_sizes(import_one(network), static_shapes.places_of_names(network))

        text = imported(self.network)
        if self.of_sample is not None:
            more = {count: imported(network) for count, network in self.chunks.items()}
            text = batching.of_any_number({1: text, **more}, self.of_sample, self.results_of_sample)
        elif self.others:
            text = sizing.of_some_sizes([text, *map(imported, self.others)], self.sizes)
        elif any(node.op_type in _IN_PLACE for node in _all_nodes(self.network.graph)):
            text = programs.keep_arguments(text)
        return text.encode()


def read(model: Any, shapes: Sequence[static_shapes.Shapes] = ()) -> Source:
    """`model`: a path (.onnx, .mlir, .mlirbc, .stablehlo, .tflite), MLIR text or
    bytecode, a `jax.jit(f).lower(...)`, or a `torch.export.ExportedProgram`.
    `shapes`: of an ONNX network's inputs (`static_shapes.fix`). A call has those of one set."""
    if shapes and not (isinstance(model, (str, os.PathLike)) and os.fspath(model).endswith((".onnx", ".tflite"))):
        raise ValueError("shapes: they are for .onnx and .tflite files; other programs have theirs")
    if is_file(model):
        path = pathlib.Path(model)
        if not path.exists():
            raise FileNotFoundError(f"there is no model {path}")
        if path.suffix == ".onnx":
            return _read_onnx(path, shapes)
        if path.suffix == ".tflite":
            return _read_tflite(path, shapes)
        return _read_mlir(path.read_bytes())
    if isinstance(model, str):
        return Source(model.encode())
    if isinstance(model, (bytes, bytearray)):
        return _read_mlir(bytes(model))
    if hasattr(model, "as_text") and hasattr(model, "compile"):  # jax.stages.Lowered
        return _read_lowered(model)
    if hasattr(model, "mlir_module") and hasattr(model, "in_avals"):  # jax.export.Exported
        return Source(model.mlir_module().encode(), "stablehlo")
    if hasattr(model, "graph_module") and hasattr(model, "module"):
        return _read_torch(model)
    raise TypeError(f"takt.compile() takes a file, MLIR or a program of JAX or PyTorch, no {type(model).__name__}")


def is_file(model: Any) -> bool:
    return isinstance(model, (str, os.PathLike)) and not _is_mlir_text(model)


def _is_mlir_text(model: str | os.PathLike) -> bool:
    return isinstance(model, str) and ("\n" in model or "{" in model)


def _read_mlir(data: bytes) -> Source:
    """Text, or bytecode, which becomes text."""
    if not data.startswith(b"ML\xefR"):
        return Source(data)
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        source = os.path.join(scratch, "program.mlirbc")
        target = os.path.join(scratch, "program.mlir")
        pathlib.Path(source).write_bytes(data)
        run_tool([find_program("iree-ir-tool"), "copy", source, "-o", target], "reading MLIR bytecode")
        text = pathlib.Path(target).read_bytes()
        if b"vhlo.func_v1 " not in text:
            return Source(text)
        # The portable form of StableHLO.
        run_tool(
            [find_program("iree-compile"), source, "-o", target,
             "--iree-input-type=stablehlo", "--compile-to=input"],
            "reading StableHLO bytecode",
        )
        return Source(pathlib.Path(target).read_bytes(), "none")


def _read_onnx(path: pathlib.Path, shapes: Sequence[static_shapes.Shapes] = ()) -> Source:
    model = _load_onnx(path)
    static_shapes.forget_recorded(model)
    if len(shapes) < 2:
        return _read_network(static_shapes.fix(model, shapes[0]) if shapes else model, path)
    networks = [static_shapes.fix(model, each) for each in shapes]
    _check_sets(networks, shapes)
    sources = [_read_network(each, path) for each in networks]
    first = sources[0]
    return dataclasses.replace(
        first,
        flags=(*first.flags, _KEEP_ASSERTIONS),  # One says that a call has the sizes of a set.
        others=[each.network for each in sources[1:]],
        sizes=list(map(static_shapes.described, shapes)),
        failed={key: reason for each in sources for key, reason in each.failed.items()},
    )


def _check_sets(networks: Sequence[Any], shapes: Sequence[static_shapes.Shapes]) -> None:
    """networks  that have these shapes."""
    found: list[dict[str, list[str]]] = []
    for network, each in zip(networks, shapes):
        left = static_shapes.open_inputs(network)
        if left:
            raise ValueError("shapes: several sets leave nothing open; "
                             f"with {static_shapes.described(each) or 'nothing'} there is "
                             + ", ".join(f"{name}: {shape}" for name, shape in left.items()))
        sizes = static_shapes.sizes_of_inputs(network)
        if sizes in found:
            raise ValueError(f"shapes: two sets mean the same sizes as {static_shapes.described(each)}")
        found.append(sizes)


def _read_network(model: Any, path: pathlib.Path) -> Source:
    failed: dict[str, str] = {}
    left: list[str] = []
    one, chunks = None, {}
    try:
        image_scales.round_up(model)
        known = overhang.cut(porter.in_standard(_of_opset(model)))
        try:
            one = samples.split(known, functools.partial(porter.in_terms_of, samples.KNOWN))
        except Exception as error:  # All samples are computed together, as the network has it.
            failed["samples"] = str(error) if isinstance(error, counting.Unproved) else said(error)
        network = _portable(known if one is None else one.model, left)
        chunks = {} if one is None else {count: _portable(each, left) for count, each in one.chunks.items()}
    except CompileError as error:
        raise CompileError(f"{path}: {error}") from error
    except Exception as error:  # The importer may know what the way to it does not.
        left = [said(error)]
        network, chunks = _bounded(model if one is None else one.model, path), {}
    if left:
        failed["portable"] = "; ".join(dict.fromkeys(left))
    try:
        checks.check_domains(network.graph)
        loops.check(network.graph)
        boxes.check(network.graph, inference.sizes_of(network.graph))
    except CompileError as error:
        raise CompileError("; ".join([f"{path}: {error}", *failed.values()])) from error
    try:
        checks.check_values(network.graph)
    except CompileError as error:
        raise CompileError(f"{path}: {error}") from error
    return _source_of(network, model, path, one, chunks, failed)


def _load_onnx(path: pathlib.Path) -> Any:
    """The network of a file, without functions of its own."""
    try:
        import onnx
        import onnx.inliner
    except ImportError as error:
        raise CompileError("ONNX models need the package onnx: pip install takt[compile]") from error
    try:
        model = onnx.load(os.fspath(path))
    except OSError:
        raise  # It has the path.
    except Exception as error:
        raise CompileError(f"{path}: not an ONNX network that can be read: {said(error)}") from error
    if not model.HasField("graph"):
        raise CompileError(f"{path}: not an ONNX network: it has no graph")
    try:
        plain.order(model)
        checks.check(model)
        if model.functions:
            plain.state_defaults(model)
            model = onnx.inliner.inline_local_functions(model)
        plain.spell(model)
        image_scales.round_up(model)
        levels.note(model)
        inference.drop_false_shapes(model)
        return model
    except CompileError as error:
        raise CompileError(f"{path}: {error}") from error
    except Exception as error:
        raise CompileError(f"{path}: not an ONNX network that can be read: {said(error)}") from error


def _source_of(network: Any, model: Any, path: pathlib.Path, one: samples.OneSample | None, chunks: dict[int, Any],
               failed: dict[str, str]) -> Source:
    """What is known of `network`, which was made of `model`."""
    graph = network.graph
    is_quantized = any(node.op_type == "QuantizeLinear" for node in graph.node)
    constants = {tensor.name for tensor in graph.initializer}
    is_open = not _has_known_sizes(graph)
    recipe = None
    try:
        recipe = convolutions.recipe_of_products(network, is_open and not is_quantized)
        if recipe is None and not is_quantized:
            recipe = convolutions.recipe_of(network)
    except Exception as error:  # Shape inference does not take every network.
        failed["recipe"] = said(error)
    flags = []
    if _has_doubles(graph):
        # By default the compiler makes floats of doubles, except in the declarations of inputs and results.
        flags.append("--iree-input-demote-f64-to-f32=false")
    if one is not None or is_open:
        # Assertions say that all arguments have as many samples, and that sizes which a call finds are equal where the
        # operands of an operator meet: the compiler takes them for equal, and would read beyond one that is 1.
        flags += [_KEEP_ASSERTIONS, "--iree-torch-use-strict-symbolic-shapes=false"]
    return Source(
        None,
        input_type="onnx",
        is_quantized=is_quantized,
        recipe=recipe,
        names={
            None: (
                [value.name for value in graph.input if value.name not in constants],
                [value.name for value in graph.output],
            )
        },
        network=network,
        path=path,
        flags=tuple(flags),
        open_inputs=static_shapes.open_inputs(model),
        of_sample=None if one is None else one.of_sample,
        results_of_sample=[] if one is None else one.results,
        chunks=chunks,
        failed=failed,
    )


def said(error: Exception) -> str:
    """What an exception of others says, with its type."""
    return f"{type(error).__name__}: {error}"


def _portable(network: Any, failed: list[str]) -> Any:
    return porter.port(words.in_floats(widening.widen(network)), failed)


def _bounded(network: Any, path: pathlib.Path) -> Any:
    """The network with nothing changed but its indices, which without that could point beyond their tensors."""
    try:
        return bounds.bound(network)
    except Exception as error:
        raise CompileError(f"{path}: indices cannot be kept within their tensors: {said(error)}") from error


def _has_doubles(graph: Any) -> bool:
    import onnx

    values = [*graph.input, *graph.output]
    return any(value.type.tensor_type.elem_type == onnx.TensorProto.DOUBLE for value in values)


def _has_known_sizes(graph: Any) -> bool:
    known = inference.shapes_of(graph)
    return all(name in known for node in graph.node for name in node.output if name and node.op_type != "Constant")


def _of_opset(model: Any) -> Any:
    """The model in the first opset that is known here, or its own later one."""
    import onnx

    version = {each.domain: each.version for each in model.opset_import}.get("", 1)
    if version >= _OPSET:
        return model
    converted = _converted(model, version)
    if version < 11:
        # A Resize in a file of an opset without it is a newer one, which keeps its name.
        newer = {name for node in _all_nodes(model.graph) if node.op_type == "Resize" and version < 10
                 for name in node.output}
        _resize_as_before(converted.graph, newer)
    if version < 13:
        _rows_of_hardmax(converted.graph)
    if version < 7:
        _slopes_of_channels(converted)
    return converted


def _converted(model: Any, version: int) -> Any:
    """In the opset _OPSET. ONNX Runtime writes operators of it, such as LayerNormalization, into files of
    older ones. The converter of onnx leaves nodes of another domain as they are."""
    import onnx

    hidden = onnx.ModelProto()
    hidden.CopyFrom(model)
    for node in _all_nodes(hidden.graph):
        if node.domain in ("", "ai.onnx") and not onnx.defs.has(node.op_type, version, ""):
            node.domain = _NEWER
    hidden.opset_import.append(onnx.helper.make_opsetid(_NEWER, 1))
    converted = onnx.version_converter.convert_version(hidden, _OPSET)
    for node in _all_nodes(converted.graph):
        if node.domain == _NEWER:
            node.domain = ""
    known = [each for each in converted.opset_import if each.domain != _NEWER]
    del converted.opset_import[:]
    converted.opset_import.extend(known)
    return converted


def _all_nodes(graph: Any) -> Iterator[Any]:
    for node in graph.node:
        yield node
        for inner in subgraphs.subgraphs_of(node):
            yield from _all_nodes(inner)


def _rows_of_hardmax(graph: Any) -> None:
    """Before opset 13 a Hardmax took all axes from its own on for one, which the converter of onnx forgets."""
    from onnx import helper

    nodes: list[Any] = []
    for node in graph.node:
        for inner in subgraphs.subgraphs_of(node):
            _rows_of_hardmax(inner)
        if node.op_type != "Hardmax":
            nodes.append(node)
            continue
        axis = next((each.i for each in node.attribute), 1)
        stem = f"{node.output[0]}.takt"
        nodes += [helper.make_node("Shape", node.input, [f"{stem}.sizes"]),
                  helper.make_node("Flatten", node.input, [f"{stem}.rows"], axis=axis),
                  helper.make_node("Hardmax", [f"{stem}.rows"], [f"{stem}.most"], axis=-1),
                  helper.make_node("Reshape", [f"{stem}.most", f"{stem}.sizes"], node.output)]
    graphs.replace_nodes(graph, nodes)


def _slopes_of_channels(model: Any) -> None:
    """Before opset 7 a row of slopes of PRelu was one of channels, which the converter of onnx
    forgets."""
    import onnx

    graph, sizes = model.graph, inference.sizes_of(inference.inferred_graph(model))
    slopes = {tensor.name: tensor for tensor in graph.initializer}
    for node in graph.node:
        slope = slopes.get(node.input[1]) if node.op_type == "PRelu" else None
        rank = len(sizes.get(node.input[0], []))
        if slope is None or len(slope.dims) != 1 or rank < 3:
            continue
        wide = onnx.numpy_helper.to_array(slope).reshape(-1, *[1] * (rank - 2))
        node.input[1] = f"{node.output[0]}.takt.slope"
        graph.initializer.append(onnx.numpy_helper.from_array(wide, node.input[1]))


def _resize_as_before(graph: Any, newer: set[str]) -> None:
    """Before opset 11 a pixel of the result began where it begins in the image, which the converter of onnx forgets.
    `newer` are the results of those that came with opset 11. The converter gives other names to the results of those
    that did not."""
    scales = graphs.constants_of(graph, elements_max=8)
    nodes: list[Any] = []
    for node in graph.node:
        for inner in subgraphs.subgraphs_of(node):
            _resize_as_before(inner, newer)
        if node.op_type == "Resize" and node.output[0] not in newer:
            before = _smaller_before(node, scales.get(node.input[2]) if len(node.input) > 2 else None, graph)
            nodes += [] if before is None else [before]
        nodes.append(node)
    graphs.replace_nodes(graph, nodes)


def _smaller_before(node: Any, scales: np.ndarray | None, graph: Any) -> Any:
    """Has a Resize take the pixels that it took before opset 11: the pixel behind along an axis that gets smaller.
    A node that comes before this one, for the axes that do, if others get larger; None: there is none."""
    import onnx

    is_smaller = np.zeros(1, bool) if scales is None else scales < 1
    before = None
    if is_smaller.any() and (scales > 1).any():
        before = onnx.NodeProto()
        before.CopyFrom(node)
        before.output[0] = node.input[0] = f"{node.output[0]}.takt.smaller"
        for each, factors in ((before, np.minimum(scales, 1)), (node, np.maximum(scales, 1))):
            each.input[2] = f"{each.output[0]}.takt.scales"
            graph.initializer.append(onnx.numpy_helper.from_array(factors, each.input[2]))
        _take_pixels(before, "ceil")
    _take_pixels(node, "ceil" if is_smaller.any() and before is None else "floor")
    return before


def _take_pixels(node: Any, which: str) -> None:
    import onnx

    own = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": which}
    kept = [each for each in node.attribute if each.name not in own]
    del node.attribute[:]
    node.attribute.extend(kept)
    node.attribute.extend(onnx.helper.make_attribute(*each) for each in own.items())


def _import_onnx(model: Any, what: str) -> str:
    import onnx

    model = tops.separate(nans.keep(unsigned.respect(porter.for_compiler(model))))
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        path = os.path.join(scratch, "model.onnx")
        target = os.path.join(scratch, "model.mlir")
        weights = sum(len(tensor.raw_data) for tensor in model.graph.initializer)
        onnx.save(model, path, save_as_external_data=weights > _WEIGHTS_MAX, location="weights")
        # An older opset means what the newer one says; the importer converts it.
        run_tool(
            [sys.executable, "-m", "iree.compiler.tools.import_onnx", path,
             "-o", target, f"--opset-version={_OPSET}",
             "--data-prop" if inference.follows_values(model.graph) else "--no-data-prop"],
            what,
        )
        program = pathlib.Path(target).read_text()
        end = programs.end_of_code(program)
        code = whiles.lower(states.keep_apart(casts.lower(program[:end])))
        for each in (gathers, reductions, order, crossed, shared):
            code = each.keep_apart(code)
        return code + program[end:]


@dataclasses.dataclass
class Rewritten:
    """A network whose convolutions and products are calls of Takt's kernels
    (`rewriter`), as MLIR, and whether that is quicker as far as is known."""

    mlir: bytes
    pays: bool


def rewritten(source: Source, precision: str = "") -> Rewritten | None:
    """None if there is nothing that a kernel could do."""
    if source.network is None:
        return None
    from ..rewriting import lowering, rewriter

    def rewrite(network: Any) -> tuple[Any, list[lowering.AnyKernel]]:
        try:
            return rewriter.rewrite(_of_opset(network), precision)
        except Exception as error:  # No network may be one that cannot be compiled at all.
            raise CompileError(f"rewriting for Takt's kernels: {said(error)}") from error

    first = rewrite(source.network)
    if not first[1]:
        return None

    def import_one(network: Any) -> str:
        changed, kernels = first if network is source.network else rewrite(network)
        return lowering.lower(_import_onnx(changed, "importing the rewritten network"), kernels)

    return Rewritten(source.program(import_one), rewriter.pays(*first))


def _read_lowered(lowered: Any) -> Source:
    try:  # With the names of arguments.
        text = lowered.as_text(dialect="stablehlo", debug_info=True)
    except TypeError:  # An older JAX.
        text = lowered.as_text(dialect="stablehlo")
    return Source(text.encode(), "stablehlo")


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


def _read_tflite(path: pathlib.Path, shapes: Sequence[static_shapes.Shapes]) -> Source:
    """By way of ONNX if tf2onnx is there, since Takt's kernels are for ONNX networks."""
    reason = None
    if importlib.util.find_spec("tf2onnx") is not None and importlib.util.find_spec("tensorflow") is not None:
        try:
            return _read_tflite_by_onnx(path, shapes)
        except CompileError as error:  # It lacks some operators that the other converter has.
            reason = error
    if shapes:
        raise reason or CompileError(f"{path}: shapes need tf2onnx: pip install tf2onnx tensorflow-cpu")
    try:
        converter = find_program("tosa-converter-for-tflite")
    except CompileError:
        needed = "pip install tf2onnx tensorflow-cpu, or tosa-converter-for-tflite"
        raise reason or CompileError(f"{path}: a TFLite network needs a converter: {needed}") from None
    return _read_tflite_by_tosa(path, converter)


def _read_tflite_by_onnx(path: pathlib.Path, shapes: Sequence[static_shapes.Shapes]) -> Source:
    import onnx

    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        target = pathlib.Path(scratch, "model.onnx")
        run_tool([sys.executable, "-m", "tf2onnx.convert", "--tflite", os.fspath(path), "--output", os.fspath(target)],
                 f"importing {path}")
        model = onnx.load(target)
        left = sorted({node.op_type for node in model.graph.node if node.op_type.startswith("TFL_")})
        if left:
            raise CompileError(f"importing {path}: tf2onnx does not know {', '.join(left)}")
        model.graph.name = "main"  # As the other converter has it.
        onnx.save(model, target)
        return dataclasses.replace(_read_onnx(target, shapes), path=path)


def _read_tflite_by_tosa(path: pathlib.Path, converter: str) -> Source:
    with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
        target = os.path.join(scratch, "model.mlirbc")
        # The form of its text is another one than the compiler's; bytecode is the same.
        run_tool([converter, os.fspath(path), "--bytecode", "-o", target], f"importing {path}")
        source = _read_mlir(pathlib.Path(target).read_bytes())
    entry = re.search(rb'tf.entry_function = {inputs = "([^"]*)", outputs = "([^"]*)"}', source.text())
    if entry is not None:
        inputs, outputs = (names.decode(errors="replace").split(",") for names in entry.groups())
        source.names = {None: (inputs, outputs)}
    return dataclasses.replace(source, input_type="tosa")


def find_program(name: str, package: str = "takt[compile]") -> str:
    """The path of a program of the compiler's, or of another package."""
    within = _find_in_wheel(name)
    if within is not None:
        return within
    beside = pathlib.Path(sys.executable).with_name(name)
    if beside.exists():
        return os.fspath(beside)
    found = shutil.which(name)
    if found is None:
        raise CompileError(f"there is no {name}: pip install {package}")
    return found


def _find_in_wheel(name: str) -> str | None:
    """The program itself in the compiler's wheel. What pip installs beside Python is
    a script that starts it, and takes 0.2 s to do so."""
    if os.environ.get("IREE_TOOL_PATH"):  # The script looks there first.
        return None
    try:
        compiler = importlib.util.find_spec("iree.compiler")
    except ImportError:
        return None
    folders = compiler.submodule_search_locations if compiler is not None else None
    for folder in folders or ():
        program = os.path.join(folder, "_mlir_libs", name)
        if os.access(program, os.X_OK):
            return program
    return None


# Becomes a tool that Linux ends with the thread that started it, which waits for it. A parent that has ended already
# is another one now.
_WITH_PARENT = """
import ctypes, os, signal, sys
with_parent = getattr(ctypes.CDLL(None), "prctl", None)
if with_parent is not None:
    with_parent(1, signal.SIGKILL, 0, 0, 0)
if os.getppid() == int(sys.argv[1]):
    os.execvp(sys.argv[2], sys.argv[2:])
"""


def run_tool(command: list[str], what: str, *, timeout: float | None = None) -> None:
    """Runs a tool, which ends with this process on Linux. If it fails, the CompileError has its output."""
    if shutil.which(command[0]) is None:
        raise CompileError(f"{what}: there is no {command[0]}")
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _WITH_PARENT, str(os.getpid()), *command],
            capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired as error:
        raise CompileError(f"{what}: not done within {timeout:g} s") from error
    if done.returncode != 0:
        raise CompileError(f"{what}: exit code {done.returncode}\n{_reasons(done.stderr or done.stdout)}")


_ERROR = re.compile(r"^\S*?:?(?:\d+:\d+: )?(error: .*)")
_EXCEPTION = re.compile(r"^[\w.]+(?:Error|Exception)\b")
_OPERATOR = re.compile(r'torch\.operator "onnx\.(\w+)"')


def _reasons(said: str) -> str:
    """The errors in what a tool printed, with the operators of ONNX that they are
    about; without an error, its last lines. Around them it prints the program."""
    lines = said.strip().splitlines()
    found: list[str] = []
    for i, line in enumerate(lines):
        error = _ERROR.match(line)
        if error is None:
            continue
        # The line of the program comes next.
        operator = _OPERATOR.search(lines[i + 1]) if i + 1 < len(lines) else None
        reason = error.group(1)[:300] + (f" (in {operator.group(1)})" if operator else "")
        if reason not in found:
            found.append(reason)
    if any(line.startswith("Traceback ") for line in lines):
        # The exception, with what it says: the lines behind the last one of the code.
        begin = max((i for i, line in enumerate(lines) if _EXCEPTION.match(line)), default=len(lines) - 1)
        lines = lines[begin:begin + 3]
    return "\n".join(found[:3] or [line[:300] for line in lines[-12:]])
