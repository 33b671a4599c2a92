"""Whether a network computes each sample of a batch by itself.

Exporters leave the size of the batch open. If no sample changes what becomes of another
one, the network of a single sample says all: a program can call it for each. `split()`
proves that, operator by operator, on two copies of the network: one of a single sample,
and one of several. It knows where the samples of each tensor lie, and that what else an
operator reads is the same in both copies.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Callable

import numpy as np

from . import chunks, counting, counts, folding, graphs, inference, static_shapes

# The larger copy has this many samples: a prime that is no usual size of anything else.
_SAMPLES = 7

_ELEMENTWISE = {
    "Abs", "Acos", "Acosh", "Add", "And", "Asin", "Asinh", "Atan", "Atanh", "Bernoulli", "BitShift", "BitwiseAnd",
    "BitwiseNot", "BitwiseOr", "BitwiseXor", "Cast", "Ceil", "Celu", "Clip", "Cos", "Cosh", "Div", "Dropout", "Elu",
    "Equal", "Erf", "Exp", "Floor", "Gelu", "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity",
    "IsInf", "IsNaN", "LeakyRelu", "Less", "LessOrEqual", "Log", "Max", "Mean", "Min", "Mish", "Mod", "Mul", "Neg",
    "Not", "Or", "PRelu", "Pow", "RandomNormalLike", "RandomUniformLike", "Reciprocal", "Relu", "Round", "Selu",
    "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Swish", "Tan", "Tanh",
    "ThresholdedRelu", "Where", "Xor",
}
# The types of numbers that arguments may have, as onnx.TensorProto counts them.
_NUMBERS = (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13, 16)
_LABELS = "0123456789"  # They stand for the dimensions of an ellipsis.
# They read images: the samples are outermost, the channels follow.
_IMAGES = {
    "AveragePool", "BatchNormalization", "Conv", "ConvInteger", "ConvTranspose", "DepthToSpace", "GlobalAveragePool",
    "GlobalLpPool", "GlobalMaxPool", "InstanceNormalization", "LRN", "LpPool", "MaxPool", "SpaceToDepth",
}
_ALONG_AN_AXIS = {"CumSum": 0, "Hardmax": -1, "LogSoftmax": -1, "LpNormalization": -1, "Softmax": -1}
_REDUCTIONS = {
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
    "ReduceSum", "ReduceSumSquare",
}
_RESHAPES = {"Flatten", "Reshape", "Squeeze", "Unsqueeze"}
# The results are the values that they read.
_AS_THEY_ARE = {*_RESHAPES, "Cast", "Identity"}
_READS_PLACES = {"GatherND", "Identity", "ScatterND"}
_READS_ROWS = {*_AS_THEY_ARE, *_READS_PLACES, "Gather", "MaxUnpool"}

# The methods of _Proof that follow samples through a node.
_RULES = {
    **dict.fromkeys(_ELEMENTWISE, "on_elementwise"), **dict.fromkeys(_IMAGES, "on_image"),
    **dict.fromkeys(_ALONG_AN_AXIS, "on_axis"), **dict.fromkeys(_REDUCTIONS, "on_reduction"),
    **dict.fromkeys(_RESHAPES, "on_reshape"),
    "ArgMax": "on_extreme", "ArgMin": "on_extreme", "Concat": "on_concat", "DequantizeLinear": "on_scales",
    "Det": "on_matrix", "Einsum": "on_einsum", "Expand": "on_expand", "GRU": "on_recurrent", "Gather": "on_gather",
    "GatherElements": "on_elements", "GatherND": "on_places", "Gemm": "on_gemm", "GridSample": "on_grid",
    "LSTM": "on_recurrent",
    "LayerNormalization": "on_layer_norm", "MatMul": "on_matmul", "MaxUnpool": "on_unpool", "OneHot": "on_one_hot",
    "Pad": "on_pad",
    "QuantizeLinear": "on_scales", "RMSNormalization": "on_layer_norm", "RNN": "on_recurrent",
    "Resize": "on_resize", "ScatterElements": "on_elements", "ScatterND": "on_scatter", "Slice": "on_slice",
    "Split": "on_split", "Tile": "on_tile", "TopK": "on_top_k", "Transpose": "on_transpose", "Trilu": "on_matrix",
}
KNOWN = frozenset(_RULES)  # Operators of ONNX through which samples can be followed.


@dataclasses.dataclass
class OneSample:
    """A network of one sample.

    of_sample  by input of a call: the dimension that counts samples, or None. All before
               it are of size 1, as in the states of recurrent layers.
    results    by result: the dimension that counts samples.
    chunks     by number: the network of so many samples, where that is quicker than one
               after the other.
    """

    model: Any
    of_sample: list[int | None]
    results: list[int]
    chunks: dict[int, Any]


def split(model: Any, reworded: Callable[[Any], Any] = lambda model: model) -> OneSample | None:
    """The network of one sample, if `model`, an onnx.ModelProto, computes the same for each of its
    samples. The inputs of `model` leave the number of samples open, which is the outermost dimension
    of at least one. None: they leave no number open, or more. Throws counting.Unproved if samples may mix.

    reworded   puts operators that are not KNOWN in terms of those, in a network of some samples."""
    axes = _inputs_of_samples(model)
    if axes is None:
        return None
    few, many = (folding.folded(reworded(_with_samples(model, axes, count)), count) for count in (1, _SAMPLES))
    one = few.model
    read = graphs.drop_unused(one.graph) | graphs.drop_unused(many.model.graph)
    proof = _Proof(axes, one, many.model)
    proof.copied = counting.check(
        few.nodes, many.nodes, few.constants, many.constants, _SAMPLES, proof.attributes, read)
    proof.run()
    more = {count: folding.fold(reworded(_with_samples(model, axes, count)), count) for count in chunks.sizes(one)}
    return OneSample(one, [axes.get(name) for name in static_shapes.inputs_of(model)],
                     [proof.places[value.name] for value in model.graph.output], more)


def _inputs_of_samples(model: Any) -> dict[str, int] | None:
    """The inputs with an open dimension, and which it is. None: they have other sizes before it, none
    has it outermost, or they leave more than one size open."""
    axes: dict[str, int] = {}
    sizes = set()
    for name, value in static_shapes.inputs_of(model).items():
        _check_tensor(name, value.type)
        dims = list(value.type.tensor_type.shape.dim)
        is_open = [not dim.HasField("dim_value") for dim in dims]
        if not any(is_open):
            continue
        axis = is_open.index(True)
        if sum(is_open) > 1 or any(dim.dim_value != 1 for dim in dims[:axis]):
            return None
        axes[name] = axis
        # tf2onnx gives numbers to dimensions that Keras leaves without a name.
        size = dims[axis].dim_param
        sizes.add("unk__" if size.startswith("unk__") else size)
    is_one_size = len(sizes) == 1 and (len(axes) == 1 or sizes != {""})
    return axes if is_one_size and 0 in axes.values() else None


def _check_tensor(name: str, kind: Any) -> None:
    """The program for any number of samples has only tensors of known ranks."""
    tensor = kind.tensor_type
    if (not kind.HasField("tensor_type") or not tensor.HasField("shape") or tensor.elem_type not in _NUMBERS
            or any(dim.HasField("dim_value") and dim.dim_value < 0 for dim in tensor.shape.dim)):
        raise counting.Unproved(f"the input {name!r} is no tensor of numbers with a known rank")


def _with_samples(model: Any, axes: dict[str, int], count: int) -> Any:
    inputs = static_shapes.inputs_of(model)
    shapes = {name: tuple(count if i == axis else dim.dim_value
                          for i, dim in enumerate(inputs[name].type.tensor_type.shape.dim))
              for name, axis in axes.items()}
    return static_shapes.fix(model, shapes)


def _demand(condition: Any) -> None:
    if not condition:
        raise counting.Unproved()


@dataclasses.dataclass(frozen=True)
class _Place:
    """Where samples lie in a tensor, as _Proof has it."""

    axis: int
    groups: int
    step: int | tuple[int, ...] = 0


class _Proof(graphs.NodeReader):
    """Follows samples through the copy with several.

    places  by tensor with samples: the axis along which they lie.
    groups  by tensor with samples: how often the samples follow each other along that
            axis. Steps x samples, as one axis, have a group for each step.
    steps   by tensor with numbers of rows: what they exceed those of the sample before by;
            by tensor with places, as GatherND has them: the same of each number of a place.
    fixed   tensors that are no constants, and the same in both copies.
    copied  constants that have the same values for each sample, and where.
    """

    def __init__(self, axes: dict[str, int], one: Any, several: Any) -> None:
        self.few, self.many = graphs.Graph(one), graphs.Graph(several)
        self.onnx = self.many.onnx
        self.constants = self.many.constants
        self.few_shapes, self.shapes = (
            inference.shapes_of(inference.inferred_graph(model)) for model in (one, several))
        self.places: dict[str, int] = dict(axes)
        self.groups: dict[str, int] = dict.fromkeys(axes, 1)
        self.copied: dict[str, counting.Copies] = {}
        self.fixed = {"", *(value.name for value in self.many.graph.input if value.name not in axes)}
        self.steps: dict[str, int | tuple[int, ...]] = {}

    def run(self) -> None:
        for node in self.many.graph.node:
            try:
                self.visit(node)
            except counting.Unproved:
                name = node.output[0] if node.output else node.name
                raise counting.Unproved(f"{node.op_type}, which makes {name!r}, may mix samples") from None
        for value in self.many.graph.output:
            name, place = value.name, self.places.get(value.name)
            if (place is None or self.shape(name)[:place + 1] != (1,) * place + (_SAMPLES,) or name in self.steps):
                raise counting.Unproved(f"the outermost dimension of the result {name!r} may not count samples")

    def visit(self, node: Any) -> None:
        names = graphs.reads(node)
        is_same = self.is_in_both(node)
        if any(name in self.places for name in names):
            _demand(is_same and node.domain == "")
            self.follow(node)
            return
        if is_same and all(self.is_fixed(name) for name in names):
            self.fixed.update(node.output)
        if is_same:
            self.find_copies(node)

    def is_in_both(self, node: Any) -> bool:
        """Whether the same node is in both copies. They differ where the number of samples chooses
        the branch of an If."""
        other = self.few.makers.get(node.output[0]) if node.output else None
        return other is not None and counting.is_same_node(node, other)

    def find_copies(self, node: Any) -> None:
        """The same values for each sample, from a node that reads none."""
        name = node.output[0]
        if node.op_type not in ("ConstantOfShape", "Expand") or name in self.constants:
            return
        several, one = self.shape(name), self.few_shapes.get(name)
        if several == one or one is None:
            return
        place = counting.place_of_samples(several, one, _SAMPLES)
        _demand(place is not None)
        if node.op_type == "Expand":
            _demand(self.is_shared(node.input[0], len(several) - place))
        self.places[name], self.groups[name] = place, 1

    def adopt(self, name: str) -> None:
        """A constant with the same values for each sample has samples."""
        copies = self.copied.get(name)
        if copies is not None and name not in self.places:
            self.places[name], self.groups[name] = copies.axis, copies.groups

    def follow(self, node: Any) -> None:
        _demand(node.op_type in _RULES)
        rule = getattr(self, _RULES[node.op_type])
        for name in node.input:
            self.adopt(name)
        steps = {self.steps[name] for name in node.input if name in self.steps}
        _demand(not steps or node.op_type in _READS_ROWS)
        _demand(not any(isinstance(step, tuple) for step in steps) or node.op_type in _READS_PLACES)
        step = steps.pop() if steps and node.op_type in _AS_THEY_ARE else 0
        groups = {self.groups[name] for name in graphs.reads(node) if name in self.places}
        _demand(len(groups) == 1 or node.op_type == "Concat")
        group_count = groups.pop()
        found = rule(node)
        for i, name in enumerate(node.output):
            if name:
                place = found[i] if isinstance(found, tuple) else found
                if not isinstance(place, _Place):
                    place = _Place(place, group_count)
                self.places[name], self.groups[name] = place.axis, place.groups
                if place.step or step:
                    self.steps[name] = place.step or step
                self.check(name)

    def check(self, name: str) -> None:
        """The two copies of the tensor differ in the number of samples alone."""
        several, one = list(self.shape(name)), list(self.few_shapes.get(name, ()))
        place = self.places[name]
        _demand(len(one) == len(several) and several[place] == one[place] * _SAMPLES)
        _demand(several[:place] + several[place + 1:] == one[:place] + one[place + 1:])

    def shape(self, name: str) -> tuple[int, ...]:
        if name in self.constants:
            return self.constants[name].shape
        shape = self.shapes.get(name)
        _demand(shape is not None)
        return shape

    def is_fixed(self, name: str) -> bool:
        """The same in both copies."""
        if name in self.places:
            return False
        if name in self.constants:
            return name in self.few.constants and np.array_equal(self.constants[name], self.few.constants[name],
                                                                 equal_nan=self.constants[name].dtype.kind == "f")
        return name in self.fixed

    def constant(self, name: str) -> np.ndarray:
        _demand(name in self.constants)
        return self.constants[name]

    def in_both(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """A constant, with several samples and with one."""
        _demand(name in self.few.constants)
        return self.constant(name), self.few.constants[name]

    def are_fixed(self, names: Any) -> None:
        _demand(all(self.is_fixed(name) for name in names))

    def is_shared(self, name: str, place: int) -> bool:
        """Every sample meets the same values of this tensor, which holds none; `place` is
        where samples would lie, from the end."""
        shape = self.shape(name)
        return self.is_fixed(name) and (len(shape) < place or shape[-place] == 1)

    def place_of(self, node: Any) -> int:
        """Of the first input, which has samples; the others are fixed."""
        _demand(node.input[0] in self.places)
        self.are_fixed(node.input[1:])
        return self.places[node.input[0]]

    def axis(self, node: Any, default: int) -> int:
        return int(self.attributes(node).get("axis", default)) % len(self.shape(node.input[0]))

    # A rule returns where the samples lie in the results, or in each of them: an axis, or a _Place
    # where the groups or the step are not those of what the node reads.

    def on_elementwise(self, node: Any) -> int | _Place:
        names = [name for name in node.input if name]
        numbers = [name for name in names if name in self.places]
        offsets = [name for name in names if name not in self.places]
        if node.op_type == "Add" and len(offsets) == 1 and not self.is_fixed(offsets[0]):
            return self.on_offsets(numbers[0], offsets[0])
        return self.broadcast(node, names)

    def on_offsets(self, numbers: str, offsets: str) -> int | _Place:
        """The rows of a table of all samples, from those of each sample's own."""
        name = numbers
        maker = self.many.makers.get(name)
        while maker is not None and maker.op_type in _AS_THEY_ARE:
            _demand(maker.op_type != "Cast" or self.attributes(maker)["to"] in counts.WHOLE)
            name = maker.input[0]
            maker = self.many.makers.get(name)
        rows = self.count_rows(maker, name)
        place, rank = self.places[numbers], len(self.shape(numbers))
        several, one = self.in_both(offsets)
        _demand(self.groups[numbers] == 1 and rank - place <= several.ndim <= rank
                and several.shape[place - rank] == several.size == _SAMPLES and not one.any() and one.size == 1)
        step = int(several.reshape(-1)[1])
        _demand(np.array_equal(several.reshape(-1), np.arange(_SAMPLES) * step) and rows <= step)
        return _Place(place, 1, step)

    def count_rows(self, maker: Any, name: str) -> int:
        """How many rows the numbers of a tensor may mean, from 0 on; `maker` makes it."""
        _demand(maker is not None)
        if maker.op_type in ("ArgMax", "ArgMin"):
            return self.shape(maker.input[0])[self.axis(maker, 0)]
        if maker.op_type == "Clip":
            low, high = (self.constant(limit) for limit in [*maker.input, "", ""][1:3])
            _demand(low >= 0)
            return int(high) + 1
        _demand(maker.op_type == "TopK" and name == maker.output[1])
        return self.shape(maker.input[0])[self.axis(maker, -1)]

    def broadcast(self, node: Any, names: list[str]) -> int:
        ends = {len(self.shape(name)) - self.places[name] for name in names if name in self.places}
        _demand(len(ends) == 1)
        end = ends.pop()
        _demand(all(name in self.places or self.is_shared(name, end) for name in names))
        return len(self.shape(node.output[0])) - end

    def on_expand(self, node: Any) -> int:
        return self.broadcast(node, [node.input[0]])

    def on_image(self, node: Any) -> int | tuple[int, _Place]:
        own = self.attributes(node)
        _demand(self.place_of(node) == 0 and not own.get("training_mode", 0))
        if node.op_type == "MaxPool" and len(node.output) > 1:  # Places of maxima count over samples.
            _demand(self.groups[node.input[0]] == 1)
            return 0, _Place(0, 1, math.prod(self.shape(node.input[0])[1:]))
        _demand(len([name for name in node.output if name]) == 1)
        return 0

    def on_unpool(self, node: Any) -> int:
        """Places of maxima in the images that are made."""
        source, places, stated = [*node.input, ""][:3]
        _demand(not stated and self.places.get(source) == self.places.get(places) == 0)
        _demand(self.steps.get(places) == math.prod(self.shape(node.output[0])[1:]))
        return 0

    def on_matrix(self, node: Any) -> int:
        place = self.place_of(node)
        _demand(place < len(self.shape(node.input[0])) - 2)
        return place

    def on_axis(self, node: Any) -> int:
        place = self.place_of(node)
        axis = self.axis(node, _ALONG_AN_AXIS[node.op_type])
        if node.op_type == "CumSum":
            axis = int(self.constant(node.input[1])) % len(self.shape(node.input[0]))
        _demand(axis != place)
        return place

    def on_top_k(self, node: Any) -> int:
        place = self.place_of(node)
        _demand(self.axis(node, -1) != place)
        return place

    def on_one_hot(self, node: Any) -> int:
        place, rank = self.place_of(node), len(self.shape(node.input[0]))
        return place + (int(self.attributes(node).get("axis", -1)) % (rank + 1) <= place)

    def on_layer_norm(self, node: Any) -> int:
        place = self.place_of(node)
        _demand(place < self.axis(node, -1))
        return place

    def on_extreme(self, node: Any) -> int:
        place, axis = self.place_of(node), self.axis(node, 0)
        _demand(axis != place)
        return place - int(axis < place and not self.attributes(node).get("keepdims", 1))

    def on_reduction(self, node: Any) -> int:
        place = self.place_of(node)
        axes = self.reduced_axes(node, len(self.shape(node.input[0])))
        _demand(axes is not None and place not in axes)
        return place - (0 if self.attributes(node).get("keepdims", 1) else sum(axis < place for axis in axes))

    def on_reshape(self, node: Any) -> int | _Place:
        """The pieces of samples stay as they are if as many lie outside of each."""
        _demand(node.input[0] in self.places)
        before, after = self.shape(node.input[0]), self.shape(node.output[0])
        outside = math.prod(before[: self.places[node.input[0]]]) * self.groups[node.input[0]]
        for axis, size in enumerate(after):
            groups, rest = divmod(outside, math.prod(after[:axis]))
            if rest == 0 and size % (groups * _SAMPLES) == 0:
                return _Place(axis, groups)
        raise counting.Unproved()

    def on_transpose(self, node: Any) -> int:
        place = self.place_of(node)
        order = self.attributes(node).get("perm") or list(range(len(self.shape(node.input[0]))))[::-1]
        return list(order).index(place)

    def on_tile(self, node: Any) -> int:
        place = self.place_of(node)
        _demand(self.constant(node.input[1])[place] == 1)
        return place

    def on_concat(self, node: Any) -> int | _Place:
        """Along the samples, the groups follow each other."""
        if any(name not in self.places for name in node.input):
            return self.on_numbers_of_samples(node)
        places = {self.places[name] for name in node.input}
        _demand(len(places) == 1)
        place = places.pop()
        if self.axis(node, 0) == place:
            groups = [self.groups[name] for name in node.input]
            _demand(len({self.shape(name)[place] // each for name, each in zip(node.input, groups)}) == 1)
            return _Place(place, sum(groups))
        _demand(len({self.groups[name] for name in node.input}) == 1)
        return place

    def on_numbers_of_samples(self, node: Any) -> _Place:
        """Places, as GatherND has them: some of their numbers count samples."""
        axis, last = self.axis(node, 0), len(self.shape(node.output[0])) - 1
        places = {self.places[name] for name in node.input if name in self.places}
        _demand(axis == last and len(places) == 1 and all(self.groups.get(name, 1) == 1 for name in node.input))
        place = places.pop()
        _demand(place != last)
        steps: list[int] = []
        for name in node.input:
            step = 0 if name in self.places else self.step_between_samples(name, place)
            steps += [step] * self.shape(name)[last]
        return _Place(place, 1, tuple(steps))

    def step_between_samples(self, name: str, place: int) -> int:
        """The number by which those of a constant exceed those of the sample before."""
        several, one = self.in_both(name)
        _demand(several.dtype.kind in "iu" and one.size > 0)
        step = (int(several.max()) - int(one.max())) // (_SAMPLES - 1)
        _demand(step > 0 and counting.axis_of_own_rows(several, one, step, _SAMPLES) == place)
        return step

    def on_split(self, node: Any) -> int | _Place:
        _demand(node.input[0] in self.places)
        place = self.places[node.input[0]]
        if self.axis(node, 0) != place:
            self.are_fixed(node.input[1:])
            return place
        before = self.shape(node.input[0])[place]
        sizes = [self.shape(name)[place] for name in node.output]
        # A group for each result.
        groups = self.groups[node.input[0]]
        _demand(len(sizes) == groups and set(sizes) == {before // groups})
        return _Place(place, 1)

    def on_slice(self, node: Any) -> int | _Place:
        _demand(node.input[0] in self.places)
        place = self.places[node.input[0]]
        before, after = self.shape(node.input[0]), self.shape(node.output[0])
        starts, first = self.in_both(node.input[1])
        axes = self.constant(node.input[3]) if len(node.input) > 3 and node.input[3] else range(len(starts))
        axes = [int(axis) % len(before) for axis in axes]
        if place not in axes:
            self.are_fixed(node.input[1:])
            return place
        # Whole groups, in their order.
        at = axes.index(place)
        is_forward = len(node.input) < 5 or self.constant(node.input[4])[at] == 1
        group = before[place] // self.groups[node.input[0]]
        _demand(is_forward and starts[at] % group == 0 and after[place] % group == 0)
        _demand(starts[at] == first[at] * _SAMPLES)
        for name in filter(None, node.input[1:]):
            several, one = self.in_both(name)
            _demand(np.array_equal(np.delete(several, at), np.delete(one, at)))
        return _Place(place, after[place] // group)

    def on_gather(self, node: Any) -> int:
        data, indices = node.input
        axis = self.axis(node, 0)
        _demand(data not in self.steps)
        if data in self.places and axis == self.places[data]:
            return axis + self.own_rows(data, indices)
        _demand(indices not in self.steps)
        if data in self.places:
            self.are_fixed([indices])
            place = self.places[data]
            return place if place < axis else place - 1 + len(self.shape(indices))
        self.are_fixed([data])
        return axis + self.places[indices]

    def own_rows(self, data: str, indices: str) -> int:
        """Along which axis of the indices the samples lie, if each has those of its own rows."""
        _demand(self.groups[data] == 1)
        rows = self.shape(data)[self.places[data]] // _SAMPLES
        if indices in self.places:
            _demand(self.steps.get(indices) == rows)
            return self.places[indices]
        axis = counting.axis_of_own_rows(*self.in_both(indices), rows, _SAMPLES)
        _demand(axis is not None)
        return axis

    def on_elements(self, node: Any) -> int:
        data, indices = node.input[:2]
        _demand(data in self.places and len({self.places.get(name) for name in node.input}) == 1)
        place = self.places[data]
        _demand(self.axis(node, 0) != place and self.shape(data)[place] == self.shape(indices)[place])
        return place

    def on_scatter(self, node: Any) -> int:
        """Each sample puts its own numbers, which it has updates for, into its own rows."""
        data, indices, updates = node.input
        _demand(data in self.places and updates in self.places)
        _demand(data not in self.steps and updates not in self.steps)
        _demand(self.places[updates] == self.place_at(data, indices, 0))
        return self.places[data]

    def on_places(self, node: Any) -> int:
        data, indices = node.input
        _demand(data not in self.steps)
        first = self.attributes(node).get("batch_dims", 0)
        if data not in self.places:
            _demand(self.is_fixed(data) and indices not in self.steps)
            _demand(self.places[indices] < len(self.shape(indices)) - 1)
            return self.places[indices]
        if self.places[data] < first:  # Both have samples there.
            _demand(self.places.get(indices) == self.places[data] and indices not in self.steps)
            return self.places[data]
        return self.place_at(data, indices, first)

    def place_at(self, data: str, indices: str, first: int) -> int:
        """The axis of what is at the places along which the samples lie, if these are in the samples of their own.

        first   of the dimensions of the data that the places count in."""
        shape, place = self.shape(indices), self.places[data]
        column, depth = place - first, shape[-1]
        if column >= depth:  # The same places in all samples.
            self.are_fixed([indices])
            return len(shape) - 1 + column - depth
        _demand(self.groups[data] == 1)
        rows = self.shape(data)[place] // _SAMPLES
        steps = tuple(rows if i == column else 0 for i in range(depth))
        if indices in self.places:
            _demand(self.steps.get(indices) == steps)
            return self.places[indices]
        several, one = self.in_both(indices)
        axis = counting.axis_of_own_rows(several[..., column], one[..., column], rows, _SAMPLES)
        _demand(axis is not None)
        others = [np.delete(each, column, -1) for each in (several, one)]
        _demand(np.array_equal(others[0], np.concatenate([others[1]] * _SAMPLES, axis)))
        return axis

    def on_pad(self, node: Any) -> int:
        place = self.place_of(node)
        rank = len(self.shape(node.input[0]))
        pads = self.constant(node.input[1])
        axes = list(range(rank))
        if len(node.input) > 3 and node.input[3]:
            axes = [int(axis) % rank for axis in self.constant(node.input[3])]
        if place in axes:
            at = axes.index(place)
            _demand(pads[at] == 0 and pads[at + len(axes)] == 0)
        return place

    def on_resize(self, node: Any) -> int:
        """Sizes and scales may count samples, too."""
        _demand(node.input[0] in self.places)
        own, place = self.attributes(node), self.places[node.input[0]]
        rank = len(self.shape(node.input[0]))
        axes = [axis % rank for axis in own.get("axes", range(rank))]
        if place in axes:
            at = axes.index(place)
            for name in filter(None, node.input[2:]):
                several, one = self.in_both(name)
                _demand(np.array_equal(np.delete(several, at), np.delete(one, at)))
                _demand(several[at] == (1 if several.dtype.kind == "f" else self.shape(node.input[0])[place]))
        else:
            self.are_fixed(node.input[1:])
        _demand(own.get("coordinate_transformation_mode") != b"tf_crop_and_resize")
        _demand(self.shape(node.output[0])[place] == self.shape(node.input[0])[place])
        return place

    def on_grid(self, node: Any) -> int:
        _demand(all(self.places.get(name) == 0 for name in node.input))
        return 0

    def on_scales(self, node: Any) -> int:
        place = self.place_of(node)
        shape = self.shape(node.input[1])
        _demand(not self.attributes(node).get("block_size", 0))
        _demand(math.prod(shape) == 1 or (len(shape) == 1 and self.axis(node, 1) != place))
        return place

    def on_gemm(self, node: Any) -> int:
        own = self.attributes(node)
        left, right, *bias = node.input
        _demand(self.places.get(left) == (1 if own.get("transA", 0) else 0))
        self.are_fixed([right])
        for name in bias:
            if name in self.places:
                _demand(len(self.shape(name)) == 2 and self.places[name] == 0)
            elif name:
                _demand(self.is_shared(name, 2))
        return 0

    def on_matmul(self, node: Any) -> int:
        left, right = node.input
        if min(len(self.shape(left)), len(self.shape(right))) == 1:
            return self.on_vector_product(left, right)
        ends = [len(self.shape(name)) - self.places[name] if name in self.places else None for name in node.input]
        rank = len(self.shape(node.output[0]))
        if None not in ends:
            _demand(ends[0] == ends[1] and ends[0] > 2)
        elif ends[1] is None:
            _demand(ends[0] == 2 and self.is_fixed(right) or ends[0] > 2 and self.is_shared(right, ends[0]))
        else:
            _demand(ends[1] == 1 and self.is_fixed(left) or ends[1] > 2 and self.is_shared(left, ends[1]))
        return rank - next(end for end in ends if end is not None)

    def on_vector_product(self, left: str, right: str) -> int:
        """The vector is that of each sample, and the products are not summed over samples."""
        is_left = len(self.shape(left)) == 1
        vector, others = (left, right) if is_left else (right, left)
        _demand(others in self.places and self.is_fixed(vector))
        summed = len(self.shape(others)) - (2 if is_left else 1)
        _demand(self.places[others] != summed)
        return self.places[others] - (self.places[others] > summed)

    def on_einsum(self, node: Any) -> int:
        terms, _, result = self.attributes(node)["equation"].decode().replace(" ", "").partition("->")
        _demand(result)
        operands = terms.split(",")
        ranks = [len(self.shape(name)) - len(term.replace("...", "")) for name, term in zip(node.input, operands)]
        # Dimensions of an ellipsis are counted from the last.
        operands = [term.replace("...", _LABELS[len(_LABELS) - rank:]) for term, rank in zip(operands, ranks)]
        result = result.replace("...", _LABELS[len(_LABELS) - max(ranks):])
        labels = {term[self.places[name]] for name, term in zip(node.input, operands) if name in self.places}
        _demand(len(labels) == 1)
        label = labels.pop()
        for name, term in zip(node.input, operands):
            _demand(term.count(label) == (1 if name in self.places else 0))
            if name not in self.places:
                self.are_fixed([name])
        _demand(label in result)
        return result.index(label)

    def on_recurrent(self, node: Any) -> tuple[int, int, int]:
        _demand(not self.attributes(node).get("layout", 0) and self.places.get(node.input[0]) == 1)
        given = [*node.input, *[""] * 8]
        self.are_fixed([*given[1:4], *given[7:8]])
        _demand(not given[4] or self.places.get(given[4]) == 0 or self.is_shared(given[4], 1))  # Lengths of samples.
        for name in given[5:7]:  # What a layer begins with: [directions, samples, units].
            _demand(not name or self.places.get(name) == 1 or self.is_shared(name, 2))
        return 2, 1, 1
