"""An ONNX network in the operators that iree-compile takes, for importers.py.

`port()` computes what depends on constants alone, and puts other operators in the
place of those that the compiler does not know or compiles wrongly: transforms of
Fourier, recurrent layers that run backwards, padding by reflection, quantized
operators of ONNX Runtime, convolutions of volumes. What the network computes stays
the same.
"""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Collection, Iterator, Sequence, Union

import numpy as np

from . import (bounds, boxes, chances, classic, decoding, deformed, determinants, doubles, einsum, experts, filters,
               forms, fourier, functions, images, inverses, layers, lengths, limits, linear, lists, loops, mapped,
               operators, padding, places, powers, products, quotients, regions, resized, scales, scores, sequences,
               transposed, trees, uniques, unrolled, vectors, volumes)
from ..errors import CompileError
from ..networks import canonical, folding, graphs, inference, names, recurrence, subgraphs, terms

_SOFTPLUS_LIMIT = 16.0  # Softplus leaves greater floats as they are.
_IR_VERSION = 8  # Before 4, each constant had to be an input as well.
_PASSES_MAX = 100  # What replaces an operator is replaced at most a few times.
_PIXELS_MIN = 4096  # Of an image whose mean is taken in two steps.
_OF_SIZES = {"If", "Loop", "Range", "Scan"}  # They may depend on the number of samples.
# Operators whose shapes onnx infers wrongly, or not before they are replaced.
_HIDDEN_DOMAIN = "takt.hidden"
_LEFT = recurrence.LAYERS | {"DepthToSpace", "InstanceNormalization"}  # Takt's kernels can compute them of open sizes.


class _Failed(Exception):
    """A node that could not be put in other terms, and why."""

    def __init__(self, node: Any, reason: Exception) -> None:
        super().__init__(f"{type(reason).__name__}: {reason}")
        self.name = node.output[0]
        self.described = f"{node.op_type} {node.name or node.output[0]}"


def port(model: Any, failed: list[str] | None = None, concerns: Callable[[Any], bool] | None = None) -> Any:
    """An equivalent onnx.ModelProto, with the shapes that can be inferred.

    model    of opset 17 or later; not changed.
    failed   receives a line for each node that could not be put in other terms,
             with the reason. Such a node stays as it is.
    concerns says which nodes may be put in other terms. Without it these are all but those of for_compiler().
    """
    import onnx

    failed = [] if failed is None else failed
    left: set[str] = set()  # The first results of nodes that stay as they are.

    ported = onnx.ModelProto()
    ported.CopyFrom(model)
    ported.ir_version = max(model.ir_version, _IR_VERSION)
    _hide(ported)
    for _ in range(_PASSES_MAX):
        ported = folding.fold(ported)
        is_changed = terms.state_sizes(ported)
        opset = {each.domain: each.version for each in ported.opset_import}.get("", 1)
        try:
            porter = _Porter(ported.graph, opset, left, concerns or _is_no_extreme, leaves_layers=concerns is None)
            if not porter.run() and not is_changed:
                break
        except _Failed as error:
            left.add(error.name)
            failed.append(f"{error.described}: {error}")
    else:
        raise RuntimeError(f"still other operators after {_PASSES_MAX} passes")
    _show(ported)
    _drop_identities(ported.graph)
    ported = bounds.bound(forms.state(canonical.sample(ported)), is_body=concerns is not None)
    for node in ported.graph.node:
        _port_inner_graphs(ported, node, failed)
    return _with_results(model, ported)


def for_compiler(model: Any) -> Any:
    """`model` without what port() leaves to Takt's kernels: scatters of extremes, recurrent layers of any number of
    steps, and what is done to images of any size. `model` itself if it has no such operators."""
    def is_left(node: Any) -> bool:
        return not _is_no_extreme(node) or node.op_type in _LEFT or padding.is_padded_pool(node)

    if not any(map(is_left, model.graph.node)):
        return model
    changed = type(model)()
    changed.CopyFrom(model)
    _replaced(changed, lambda node: is_left(node) or node.op_type == "Loop")  # What becomes of a layer.
    before = {name for node in model.graph.node for name in node.output}
    for node in changed.graph.node:
        if not before.issuperset(node.output):
            _port_inner_graphs(changed, node, [])
    return changed


def in_standard(model: Any) -> Any:
    """`model` without operators of ai.onnx.ml, without Multinomial, and without scans that are none, for passes that
    do not know these; `model` itself if it has none of them. A network with pools that may hang over the image has
    no operators of other domains either: what hangs over follows from the sizes behind them."""
    may_hang_over = any(each.name == "ceil_mode" and each.i for node in model.graph.node for each in node.attribute)

    def is_unusual(node: Any) -> bool:
        return _is_unusual(node) or may_hang_over and node.domain not in ("", "ai.onnx")

    if not any(map(is_unusual, model.graph.node)):
        return model
    changed = type(model)()
    changed.CopyFrom(model)
    for value in changed.graph.output:  # Exporters state wrong ones.
        value.type.tensor_type.ClearField("shape")
    return _replaced(changed, is_unusual)


def in_terms_of(known: Collection[str], model: Any) -> Any:
    """`model` with what is not among the `known` operators of ONNX in terms of others, as far as that is possible;
    `model` itself if it has nothing else."""
    def is_other(node: Any) -> bool:
        return node.domain not in ("", "ai.onnx") or node.op_type not in known and node.op_type not in _OF_SIZES

    if not any(map(is_other, model.graph.node)):
        return model
    changed = type(model)()
    changed.CopyFrom(model)
    lists.open_loops(changed)
    _hide(changed)
    _state_shapes(changed)
    _replaced(changed, lambda node: is_other(node) or node.op_type == "Identity")  # That of a sequence.
    _show(changed)
    return changed


def _state_shapes(model: Any) -> None:
    """Writes down the shapes of tensors that follow from computed sizes, which stay computed."""
    unknown = {name for node in model.graph.node for name in node.output} - inference.sizes_of(model.graph).keys()
    model.graph.value_info.extend(
        value for value in folding.fold(model).graph.value_info if value.name in unknown)


def _replaced(model: Any, concerns: Callable[[Any], bool]) -> Any:
    """`model`, whose nodes that it `concerns` are in other terms. port() says why some stay."""
    left: set[str] = set()
    for _ in range(_PASSES_MAX):  # What follows an operator has types when this one is replaced.
        inference.infer_shapes(model)
        opset = {each.domain: each.version for each in model.opset_import}.get("", 1)
        try:
            if not _Porter(model.graph, opset, left, concerns).run():
                break
        except _Failed as error:
            left.add(error.name)
    return model


def _is_unusual(node: Any) -> bool:
    return node.domain == classic.DOMAIN or node.op_type in ("Multinomial", "Scan")


def _is_no_extreme(node: Any) -> bool:
    return node.op_type != "ScatterElements" or not any(
        each.name == "reduction" and each.s in (b"max", b"min") for each in node.attribute)


def _hide(model: Any) -> None:
    """Hides from onnx what it infers wrong shapes of."""
    import onnx

    _move_domain(model.graph, "STFT", "", _HIDDEN_DOMAIN)
    model.opset_import.append(onnx.helper.make_opsetid(_HIDDEN_DOMAIN, 1))


def _show(model: Any) -> None:
    _move_domain(model.graph, "STFT", _HIDDEN_DOMAIN, "")
    kept = [each for each in model.opset_import if each.domain != _HIDDEN_DOMAIN]
    del model.opset_import[:]
    model.opset_import.extend(kept)


def _move_domain(graph: Any, kind: str, old: str, new: str) -> None:
    for node in graph.node:
        if node.op_type == kind and node.domain == old:
            node.domain = new


def _drop_identities(graph: Any) -> None:
    """Lets other nodes read, or make, what an Identity only passes on."""
    ends = {value.name for value in graph.output}
    makers = {name for node in graph.node for name in node.output}
    same: dict[str, str] = {}
    kept = []
    for node in graph.node:
        if node.op_type != "Identity":
            kept.append(node)
            continue
        source, result = same.get(node.input[0], node.input[0]), node.output[0]
        if result not in ends:
            same[result] = source
        elif source in makers and source not in ends and source not in same:
            same[source] = result
        else:
            kept.append(node)
    if not same:
        return

    def last(name: str) -> str:
        while name in same:
            name = same[name]
        return name

    names = {name: last(name) for name in same}
    nodes = [subgraphs.renamed(node, names) for node in kept]
    del graph.node[:]
    graph.node.extend(nodes)


def _port_inner_graphs(outer: Any, node: Any, failed: list[str]) -> None:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            _port_inner(outer, attribute.g, failed)


def _port_inner(outer: Any, graph: Any, failed: list[str]) -> None:
    """Ports a graph of a node as a model of its own, whose inputs are those of the
    graph and what it reads of the outer one."""
    import onnx

    model = onnx.ModelProto(ir_version=outer.ir_version, opset_import=outer.opset_import)
    model.graph.CopyFrom(graph)
    own = {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}
    own.update(name for node in graph.node for name in node.output)
    read = {name for node in graph.node for name in graphs.inputs(node) if name} - own
    values = {value.name: value for value in [*outer.graph.input, *outer.graph.value_info]}
    constants = graphs.tensors_of(outer.graph)
    for name in sorted(read):
        if name in constants:
            model.graph.initializer.add().CopyFrom(constants[name])
            model.graph.initializer[-1].name = name
        elif name in values:
            model.graph.input.add().CopyFrom(values[name])
        else:
            return  # Of a type that is not known.
    ported = port(model, failed, lambda node: True).graph  # No kernel is called there.
    _give_names_apart(ported, graph, outer.graph)
    del graph.node[:], graph.initializer[:], graph.value_info[:]
    graph.node.extend(ported.node)
    graph.initializer.extend(tensor for tensor in ported.initializer if tensor.name not in read)
    graph.value_info.extend(ported.value_info)


def _give_names_apart(ported: Any, graph: Any, outer: Any) -> None:
    """Gives other names to what is new in a graph of a node if the outer graph has tensors of these names."""
    taken, own = names.Names(outer), set(names.names_of(graph))
    new = {name for name in names.names_of(ported) if name in taken.taken and name not in own}
    others = {name: taken.fresh("inner") for name in sorted(new)}
    nodes = [subgraphs.renamed(node, others) for node in ported.node]
    del ported.node[:]
    ported.node.extend(nodes)
    for tensor in (*ported.initializer, *ported.value_info):
        tensor.name = others.get(tensor.name, tensor.name)


def _with_results(model: Any, ported: Any) -> Any:
    """With the inferred shapes of the results, which files state wrongly or not
    at all."""
    befores = [type(value).FromString(value.SerializeToString()) for value in ported.graph.output]
    for value in ported.graph.output:
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")
    inference.infer_shapes(ported)
    for value, before, stated in zip(ported.graph.output, befores, model.graph.output):
        tensor = value.type.tensor_type
        if before.type.tensor_type.HasField("shape") and not tensor.HasField("shape"):
            stated = before  # That of a loop.
        if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
            value.CopyFrom(stated)
            continue
        dims = stated.type.tensor_type.shape.dim
        for i, dim in enumerate(tensor.shape.dim):
            if dim.HasField("dim_value"):
                continue
            is_stated = len(dims) == len(tensor.shape.dim) and dims[i].HasField("dim_value")
            dim.Clear()
            if is_stated:
                dim.dim_value = dims[i].dim_value
    return ported


class _Porter(scores.AttentionPorter, boxes.BoxPorter, chances.ChancePorter, classic.ClassicPorter,
              decoding.DecodingPorter, deformed.DeformedPorter, determinants.DeterminantPorter, doubles.DoublePorter,
              einsum.EinsumPorter, experts.ExpertPorter, filters.FilterPorter, fourier.FourierPorter,
              functions.FunctionPorter, images.ImagePorter, inverses.InversePorter, layers.LayerPorter,
              lengths.LengthPorter, limits.LimitPorter, linear.LinearPorter, lists.ListPorter, loops.LoopPorter,
              mapped.MapPorter, operators.OperatorPorter, padding.PaddingPorter, places.PlacePorter,
              powers.PowerPorter, products.ProductPorter, quotients.QuotientPorter, regions.RegionPorter,
              resized.ResizePorter, scales.ScalePorter, sequences.SequencePorter, transposed.TransposedPorter,
              trees.TreePorter, uniques.UniquePorter, unrolled.UnrolledPorter, vectors.VectorPorter,
              volumes.VolumePorter, graphs.NodeReader):
    """Replaces the nodes of a graph that it `concerns`, but for those whose first result is in `left`.

    leaves_layers  whether what is in _LEFT stays where sizes are open and Takt's kernels can compute it."""

    def __init__(self, graph: Any, opset: int, left: set[str], concerns: Callable[[Any], bool] = lambda node: True,
                 leaves_layers: bool = False) -> None:
        import onnx

        self.onnx = onnx
        self.left = left
        self.concerns = concerns
        self.leaves_layers = leaves_layers
        self.graph = graph
        self.opset = opset
        self.constants = graphs.constants_of(graph)
        self.shapes = inference.sizes_of(graph)
        self.shapes.update((name, list(array.shape)) for name, array in self.constants.items())
        self.types = inference.elements_of(graph)
        self.types.update((name, self.type_of(array)) for name, array in self.constants.items())
        self.out: list[Any] = []
        self.names = names.Names(graph)
        self.lists: dict[str, list[str]] = {}  # The members of sequences of tensors.
        self.images: dict[str, str] = {}  # Volumes, and their images.
        self.whole: dict[str, str] = {}  # Integers, and the floats that they were.
        self.stepped: dict[str, str] = {}  # Floats, and the same in whole steps.
        self.spectra: dict[str, list[str]] = {}  # What transforms give, and its real and imaginary parts.
        self.makers = {name: node for node in self.graph.node for name in node.output}
        self.consumers: dict[str, list[Any]] = {}
        for node in self.graph.node:
            for name in graphs.inputs(node):  # A node that reads a tensor twice is there once.
                self.consumers.setdefault(name, []).append(node)
        self.results = {value.name for value in self.graph.output}
        self.done: set[int] = set()  # id() of nodes that another one includes.
        self.handlers: dict[tuple[str, str], Callable[[Any], bool]] = {
            ("", "Conv"): self.on_conv,
            ("", "DFT"): self.on_dft,
            ("", "Einsum"): self.on_einsum,
            ("", "GRU"): self.on_recurrent,
            ("", "LSTM"): self.on_recurrent,
            ("", "RNN"): self.on_recurrent,
            ("", "ReverseSequence"): self.on_reverse,
            ("", "ArgMax"): self.on_last_place,
            ("", "ArgMin"): self.on_last_place,
            ("", "CenterCropPad"): self.on_center,
            ("", "Col2Im"): self.on_col2im,
            ("", "ConvTranspose"): self.on_transposed,
            ("", "DeformConv"): self.on_deformed,
            ("", "Loop"): self.on_loop,
            ("", "MatMul"): self.on_product_of_matrices,
            ("", "MaxPool"): self.on_max_pool,
            ("", "MaxUnpool"): self.on_max_unpool,
            ("", "Pad"): self.on_pad,
            ("", "Pow"): self.on_power,
            ("", "Resize"): self.on_resize,
            ("", "RoiAlign"): self.on_roi_align,
            ("", "ScatterElements"): self.on_scattered_elements,
            ("", "ScatterND"): self.on_scatter,
            ("", "GlobalAveragePool"): self.on_mean,
            ("", "ReduceMean"): self.on_mean,
            ("", "Reshape"): self.on_reshape,
            ("", "Squeeze"): self.on_squeeze,
            ("", "Where"): self.on_where,
            (_HIDDEN_DOMAIN, "STFT"): self.on_stft,
            **self.image_handlers(),
            **self.inverse_handlers(),
            **self.attention_handlers(),
            **self.chance_handlers(),
            **self.box_handlers(),
            **self.classic_handlers(),
            **self.decoding_handlers(),
            **self.determinant_handlers(),
            **self.double_handlers(),
            **self.expert_handlers(),
            **self.function_handlers(),
            **self.layer_handlers(),
            **self.limit_handlers(),
            **self.linear_handlers(),
            **self.list_handlers(),
            **self.map_handlers(),
            **self.operator_handlers(),
            **self.quotient_handlers(),
            **self.tree_handlers(),
            **self.unique_handlers(),
            **self.vector_handlers(),
        }

    def run(self) -> bool:
        """Whether something was replaced. If _Failed is raised, the graph computes what it did."""
        is_changed = False
        for node in self.graph.node:
            if id(node) in self.done:
                continue
            try:
                is_replaced = node.output[0] not in self.left and self.concerns(node) and self.replace(node)
            except CompileError:  # The compiler would make wrong code of it.
                raise
            except Exception as error:
                raise _Failed(node, error) from error
            if is_replaced:
                is_changed = True
            else:
                self.out.append(node)
        if is_changed:
            self.keep_used()
        return is_changed

    def keep_used(self) -> None:
        """Makes those nodes the graph's that its results depend on."""
        kept, used = graphs.needed(self.out, self.results)
        values = [value for value in self.graph.value_info if value.name in used]
        del self.graph.node[:], self.graph.value_info[:]
        self.graph.node.extend(kept)
        self.graph.value_info.extend(values)

    def replace(self, node: Any) -> bool:
        domain = "" if node.domain == "ai.onnx" else node.domain
        if domain == "" and (node.op_type in padding.KINDS and self.state_padding(node) or self.state_lengths(node)):
            return True
        handler = self.handlers.get((domain, node.op_type))
        return handler is not None and handler(node)

    def on_conv(self, node: Any) -> bool:
        return (self.take_zeros(node) or self.on_filter(node) or self.on_volume_conv(node)
                or self.on_single(node))

    def on_single(self, node: Any) -> bool:
        """One pixel for a result, which the compiler takes for a product of
        matrices: behind its last tap it must have no pixels."""
        attributes = self.attributes(node)
        shape, result = self.shapes.get(node.input[0]), self.shapes.get(node.output[0])
        kernel = self.shapes.get(node.input[1])
        if (shape is None or result is None or kernel is None or len(kernel) != len(shape)
                or len(result) != len(shape) or attributes.get("auto_pad", b"NOTSET") != b"NOTSET"):
            return False
        rank = len(shape) - 2
        pads = list(attributes.get("pads", [0] * 2 * rank))
        dilations = attributes.get("dilations", [1] * rank)
        ends = {}
        for i in range(rank):
            size, taps = shape[2 + i], kernel[2 + i]
            if result[2 + i] != 1 or size is None or taps is None:
                continue
            unused = size + pads[i] + pads[rank + i] - (taps - 1) * dilations[i] - 1
            padding = min(unused, pads[rank + i])
            if unused - padding >= size:
                return self.without_pixels(node, result)
            pads[rank + i] -= padding
            if unused > padding:
                ends[2 + i] = size - (unused - padding)
        if pads == list(attributes.get("pads", [0] * 2 * rank)) and not ends:
            return False
        source = node.input[0]
        for axis, end in ends.items():
            source = self.slice(source, axis, 0, end)
        attributes["pads"] = pads
        self.emit("Conv", [source, *node.input[1:]], node.output[0], **attributes)
        return True

    def without_pixels(self, node: Any, result: list[int | None]) -> bool:
        """A convolution whose only taps lie before the image: its bias."""
        if None in result:
            return False
        bias = self.constant(np.zeros(1, np.float32))
        if len(node.input) > 2 and node.input[2]:
            bias = self.emit("Reshape", [node.input[2], self.constant([1, -1, *[1] * (len(result) - 2)])])
        self.emit("Expand", [bias, self.constant(result)], node.output[0])
        return True

    # The mean of an image, which the compiler takes by adding one pixel after
    # another: over 10,000 pixels cost two digits.

    def on_mean(self, node: Any) -> bool:
        """That of each column, and then that of these."""
        if self.on_mean_of_volumes(node):
            return True
        attributes, shape = self.attributes(node), self.shapes.get(node.input[0], [])
        is_pool = node.op_type == "GlobalAveragePool"
        if (len(shape) != 4 or None in shape or shape[2] * shape[3] < _PIXELS_MIN
                or not is_pool and self.reduced_axes(node, 4) != [2, 3]):
            return not is_pool and self.on_sum(node)
        mean = self.mean(node.input[0], 2)
        if attributes.get("keepdims", 1):
            self.mean(mean, 3, node.output[0])
        else:
            self.emit("Squeeze", [self.mean(mean, 3), self.constant([2, 3])], node.output[0])
        return True

    def mean(self, name: str, axis: int, output: str | None = None) -> str:
        if self.opset >= 18:
            return self.emit("ReduceMean", [name, self.constant([axis])], output)
        return self.emit("ReduceMean", [name], output, axes=[axis])

    # Padding with what the tensor has.

    def on_pad(self, node: Any) -> bool:
        """Copies of the values at the sides: the compiler reads beyond long sides
        that are reflected, and takes negative pads at one side for none. Zeros stay a
        Pad of what is left."""
        mode = self.attributes(node).get("mode", b"constant").decode()
        shape = self.shapes.get(node.input[0])
        pads = self.constants.get(node.input[1]) if self.opset >= 11 else None
        if pads is None and self.opset >= 11 and mode == "constant":
            return self.on_computed_pad(node)
        if shape is None or pads is None or (mode == "constant" and (pads >= 0).all()):
            return False
        axes = list(range(len(shape)))
        if len(node.input) > 3 and node.input[3]:
            if node.input[3] not in self.constants:
                return False
            axes = [int(axis) % len(shape) for axis in self.constants[node.input[3]]]
        sides = [(axis, int(pads[i]), int(pads[len(axes) + i])) for i, axis in enumerate(axes)]
        sides = [side for side in sides if side[1] or side[2]]
        source = node.input[0]
        if mode == "constant":
            for axis, begin, end in sides:
                source = self.slice(source, axis, max(-begin, 0), end if end < 0 else limits.LAST)
            self.emit("Pad", [source, self.constant(np.maximum(pads, 0)), *node.input[2:]], node.output[0])
            return True
        for axis, begin, end in sides:
            source = self.pad(source, axis, shape[axis], begin, end, mode)
        self.emit("Identity", [source], node.output[0])
        return True

    def pad(self, source: str, axis: int, size: int | None, begin: int, end: int, mode: str) -> str:
        if begin < 0 or end < 0:
            first, cut = max(-begin, 0), max(-end, 0)
            last = size - cut if size is not None else -cut or limits.LAST
            source, size = self.slice(source, axis, first, last), None if size is None else last - first
        if size is None:  # Places behind the middle are counted from the end.
            size = 2 * (max(begin, 0) + max(end, 0) + 1)
            places = np.concatenate([np.arange(size // 2), np.arange(-size // 2, 0)])
        else:
            places = np.arange(size)
        indices = np.pad(places, (max(begin, 0), max(end, 0)), mode)
        parts = [source]
        if begin > 0:
            parts.insert(0, self.gather(source, axis, indices[:begin]))
        if end > 0:
            parts.append(self.gather(source, axis, indices[-end:]))
        return self.emit("Concat", parts, axis=axis) if len(parts) > 1 else source

    def on_reshape(self, node: Any) -> bool:
        """Sizes that are known are constants. The importer of the compiler takes one of two open sizes for 1, or for
        what would fit, where a size is to follow from both. It takes both for those of a result of known sizes. It
        crashes at a result without elements."""
        sizes, wanted = self.shapes.get(node.input[0], []), self.constants.get(node.input[1])
        known = self.shapes.get(node.output[0], [None] * 2)
        if wanted is not None and -1 in wanted and 0 in sizes and 0 in self.reshaped(node, sizes, wanted):
            raise CompileError(f"Reshape {node.name or node.output[0]!r}: of no elements, no size follows for the -1 "
                               f"of {'x'.join(map(str, wanted))}")
        if 0 in known and None not in known and node.output[0] in self.types:
            element = self.onnx.helper.tensor_dtype_to_np_dtype(self.types[node.output[0]])
            self.emit("Identity", [self.constant(np.zeros(known, element))], node.output[0])
            return True
        if wanted is None and known.count(None) < 2 and 0 not in known:
            self.emit("Reshape", [node.input[0], self.constant([-1 if size is None else size for size in known])],
                      node.output[0])
            return True
        if sizes.count(None) < 2 or wanted is None or wanted.size < 2 or 0 in wanted:
            return False
        flat = self.emit("Reshape", [node.input[0], self.constant([-1])])
        self.emit("Reshape", [flat, node.input[1]], node.output[0])
        return True

    def reshaped(self, node: Any, sizes: list[int | None], wanted: np.ndarray) -> list[int | None]:
        """What the sizes state, where 0 means that of the input."""
        if self.attributes(node).get("allowzero", 0):
            return wanted.tolist()
        return [sizes[i] if size == 0 else size for i, size in enumerate(wanted.tolist())]

    def on_squeeze(self, node: Any) -> bool:
        """An open size that is 1 in each call, such as that of the last step of a sequence: the compiler has no code
        where a known size is beside it, or takes the result, of known sizes, for open as well. Axes that are counted
        from the end: the importer of the compiler counts them from another end for each."""
        sizes, known = self.shapes.get(node.input[0], []), self.shapes.get(node.output[0], [None])
        if None not in sizes:
            return False
        axes = self.constants.get(node.input[1]) if len(node.input) > 1 else None
        places = [] if axes is None else [int(axis) % len(sizes) for axis in axes]
        neighbours = [sizes[place - 1] if place else (*sizes, None)[1] for place in places if sizes[place] is None]
        is_beside = any(size is not None for size in neighbours)
        if known.count(None) > (1 if is_beside else 0) or 0 in known:
            return self.squeeze_from_the_front(node, axes, places)
        wanted = [-1 if size is None else size for size in known]
        self.emit("Reshape", [node.input[0], self.constant(np.array(wanted, np.int64))], node.output[0])
        return True

    def squeeze_from_the_front(self, node: Any, axes: np.ndarray | None, places: list[int]) -> bool:
        if axes is None or len(axes) < 2 or (axes >= 0).all():
            return False
        self.emit("Squeeze", [node.input[0], self.constant(sorted(places))], node.output[0])
        return True

    def on_where(self, node: Any) -> bool:
        """One whose condition the other branch has as well: the compiler finds that both results are the same, and
        takes a third one for one of them. Or one whose branches are the same, at which it may not end."""
        condition, source, other = node.input
        maker, shape = self.makers.get(other), self.shapes.get(node.output[0], [None])
        is_same = source == other and None not in shape and shape == self.shapes.get(other)
        if not is_same and not self.has_condition(maker, condition, source):
            return False
        self.emit("Identity", [other], node.output[0])
        return True

    def has_condition(self, maker: Any | None, condition: str, source: str) -> bool:
        if maker is None or maker.op_type == "Where":
            return maker is not None and list(maker.input[:2]) == [condition, source]
        return maker.op_type == "Softplus" and self.is_limit_of(condition, maker, source)

    def is_limit_of(self, condition: str, softplus: Any, source: str) -> bool:
        """Whether the number and its Softplus are the same from the limit on: PyTorch exports such a limit, and the
        importer of the compiler has another one."""
        greater, kinds = self.makers.get(condition), self.onnx.TensorProto
        if (greater is None or greater.op_type != "Greater" or greater.input[0] != source
                or softplus.input[0] != source or self.types.get(source) not in (kinds.FLOAT, kinds.FLOAT16)):
            return False
        limit = self.constants.get(greater.input[1])
        return limit is not None and limit.size == 1 and float(limit.reshape(())) >= _SOFTPLUS_LIMIT

    # A part of a tensor that is set.

    def on_scatter(self, node: Any) -> bool:
        """Puts a block into a tensor, which is what x[:, 1:] = y is exported as: the parts
        around the block and the block are concatenated."""
        data, indices, updates = node.input
        shape, places = self.shapes.get(data), self.constants.get(indices)
        if (shape is None or None in shape or places is None or places.size == 0
                or self.attributes(node).get("reduction", b"none") != b"none"):
            return False
        sizes, depth = places.shape[:-1], places.shape[-1]
        if len(sizes) != depth:
            return False
        first = places.reshape(-1, depth)[0]
        if not (places - first == np.moveaxis(np.indices(sizes), 0, -1)).all():
            return False
        return self.put_block(node, shape, first, sizes)

    def on_scattered_elements(self, node: Any) -> bool:
        """As on_scatter(), if the places along the axis count up: x[:, 2] = y is exported as that, too."""
        data, indices, _ = node.input
        shape, places, own = self.shapes.get(data), self.constants.get(indices), self.attributes(node)
        if own.get("reduction", b"none") != b"none":
            return self.on_scattered_extremes(node)
        if shape is None or None in shape or places is None or places.size == 0:
            return False
        axis = own.get("axis", 0) % len(shape)
        first = np.zeros(len(shape), np.int64)
        first[axis] = places.flat[0]
        if not (places - first[axis] == np.indices(places.shape)[axis]).all():
            return False
        return self.put_block(node, shape, first, places.shape)

    def put_block(self, node: Any, shape: list[int], first: np.ndarray, sizes: Sequence[int]) -> bool:
        """Replaces a scatter of a block, which begins at `first`; a negative place counts from the end."""
        data, _, updates = node.input
        begins = [int(begin) + (size if begin < 0 else 0) for begin, size in zip(first, shape)]
        if any(begin < 0 or begin + count > size for begin, count, size in zip(begins, sizes, shape)):
            return False
        block = [(begin, begin + count) for begin, count in zip(begins, sizes)]
        block += [(0, size) for size in shape[len(block):]]
        order, result = self.order_around(node), node.output[0]
        if order is not None:
            back = [order.index(i) for i in range(len(order))]
            data, updates = (self.turned_back(name, order, back) for name in (data, updates))
            shape, block = ([each[i] for i in back] for each in (shape, block))
            turn = self.only_consumer(result)
            self.done.add(id(turn))
            result = turn.output[0]
        self.emit("Identity", [self.around(data, block, shape, updates)], result)
        return True

    def order_around(self, node: Any) -> list[int] | None:
        """If the node's data have been transposed, and its result is transposed back: how."""
        maker, turn = self.makers.get(node.input[0]), self.only_consumer(node.output[0])
        orders = [None if each is None or each.op_type != "Transpose" else self.attributes(each).get("perm")
                  for each in (maker, turn)]
        if None in orders or [orders[0][i] for i in orders[1]] != list(range(len(orders[0]))):
            return None
        return orders[0]

    def turned_back(self, name: str, order: list[int], back: list[int]) -> str:
        """What a transposition in this order was of."""
        maker = self.makers.get(name)
        if maker is not None and maker.op_type == "Transpose" and self.attributes(maker).get("perm") == order:
            return maker.input[0]
        return self.emit("Transpose", [name], perm=back)

    def around(self, data: str, block: list[tuple[int, int]], shape: list[int], updates: str, axis: int = 0) -> str:
        """`data` with `updates` in the block, which is whole in the dimensions before `axis`."""
        if axis == len(block):
            return updates
        begin, end = block[axis]
        if (begin, end) == (0, shape[axis]):
            return self.around(data, block, shape, updates, axis + 1)
        middle = self.around(self.slice(data, axis, begin, end), block, shape, updates, axis + 1)
        parts = [self.slice(data, axis, 0, begin)] if begin > 0 else []
        parts.append(middle)
        if end < shape[axis]:
            parts.append(self.slice(data, axis, end, shape[axis]))
        return self.emit("Concat", parts, axis=axis)

    def is_read(self, name: str) -> bool:
        return bool(name) and (name in self.consumers or name in self.results)

    # Nodes of the new graph.

    def fresh(self, kind: str) -> str:
        return self.names.fresh(kind)

    def type_of(self, array: np.ndarray) -> int:
        return self.onnx.helper.np_dtype_to_tensor_dtype(array.dtype)

    def constant(self, values: Union[np.ndarray, list[int]]) -> str:
        name = self.fresh("constant")
        array = np.asarray(values, order="C")
        self.constants[name] = array
        self.shapes[name], self.types[name] = list(array.shape), self.type_of(array)
        self.graph.initializer.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def emit(self, kind: str, inputs: list[str], output: str | None = None, **attributes: Any) -> str:
        output = output or self.fresh(kind)
        self.out.append(self.onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output

    @contextlib.contextmanager
    def body(self) -> Iterator[list[Any]]:
        """A list that gets what is emitted within: the nodes of a graph that reads of this one."""
        outer, self.out = self.out, []
        try:
            yield self.out
        finally:
            self.out = outer

    def slice(self, name: str, axis: int, begin: int, end: int) -> str:
        if name in self.constants:
            return self.constant(self.constants[name].take(range(begin, end), axis))
        return self.emit("Slice", [name, *map(self.constant, ([begin], [end], [axis]))])

    def reduce(self, kind: str, name: str, axes: list[int], keepdims: int = 1) -> str:
        """By an operator whose axes are an input since opset 18."""
        if self.opset < 18:
            return self.emit(kind, [name], axes=axes, keepdims=keepdims)
        return self.emit(kind, [name, self.constant(axes)], keepdims=keepdims)

    def gather(self, name: str, axis: int, indices: np.ndarray) -> str:
        return self.emit("Gather", [name, self.constant(indices.astype(np.int64))], axis=axis)
