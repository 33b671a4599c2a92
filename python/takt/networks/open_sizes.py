"""The sizes of tensors that are known in calls alone, and which of them are equal.

An open size stands for what it is computed from: two that are equal have the same value in each call.
"""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any, Hashable, Iterable, Mapping, Sequence, Tuple, Union

import numpy as np

from . import counts, elementwise, graphs, inference, static_shapes

NOMINAL = 256  # Of the sizes of inputs. A guess, from which the sizes of tiles are made.
_WINDOWS = {"AveragePool", "Conv", "MaxPool"}


@dataclasses.dataclass(frozen=True)
class Open:
    """A size that is known in calls alone.

    of       what it is computed from.
    nominal  what it may be.
    least    what it is not less than; None: not known.
    """

    of: Hashable
    nominal: int = dataclasses.field(compare=False)
    least: int | None = dataclasses.field(default=0, compare=False)


Size = Union[int, Open]
Sizes = Tuple[Size, ...]


@dataclasses.dataclass(frozen=True)
class _Factors:
    """A number is the product of this one and these open ones, each so many times."""

    number: int
    opened: frozenset[tuple[Open, int]]


@dataclasses.dataclass(frozen=True)
class _Sum:
    """A number is the sum of this one and these open ones, each so many times."""

    number: int
    opened: frozenset[tuple[Open, int]]


@dataclasses.dataclass(frozen=True)
class _Floor:
    """A number says how often a stride fits into an open one and a known one that is smaller than the stride."""

    row: Open
    more: int
    stride: int


@dataclasses.dataclass(frozen=True)
class _Ratio:
    """A number is what a division of whole ones gives, which cuts a fraction off."""

    whole: Size
    by: Open


def nominal(size: Size) -> int:
    return size.nominal if isinstance(size, Open) else size


def sizes_of(graph: Any, shapes: Mapping[str, tuple[int, ...]], reader: graphs.NodeReader,
             others: Mapping[str, Sizes] | None = None) -> dict[str, Sizes]:
    """The sizes of tensors that have open ones, but a known rank.

    graph   an onnx.GraphProto with the shapes that onnx infers.
    shapes  of what has no open sizes, with constants.
    others  that do not follow from those of inputs."""
    found = _Sizes(graph, shapes, reader, others or {})
    found.follow(graph.node)
    return {name: tuple(sizes) for name, sizes in found.sizes.items() if is_open(sizes)}


def least_numbers(graph: Any, reader: graphs.NodeReader) -> dict[str, list[int | None]]:
    """What the numbers of tensors of a few whole ones are not less than in each call; None: not known.

    graph  an onnx.GraphProto with the shapes that onnx infers."""
    found = _Sizes(graph, inference.shapes_of(graph), reader, {})
    found.follow(graph.node)
    return {name: [size.least if isinstance(size, Open) else size for size in numbers]
            for name, numbers in found.counts.items()}


def is_open(sizes: Iterable[Size | None]) -> bool:
    """Whether a call finds one of them."""
    return any(isinstance(size, Open) for size in sizes)


def is_image(sizes: Sizes | None) -> bool:
    """Whether they are those of images [images, channels, height, width] with a known number of channels."""
    return sizes is not None and len(sizes) == 4 and isinstance(sizes[1], int)


def may_be_equal(left: Sizes | None, right: Sizes | None) -> bool:
    """Whether two tensors have sizes that can be the same in a call."""
    return (left is not None and right is not None and len(left) == len(right)
            and all(a == b or isinstance(a, Open) and isinstance(b, Open) for a, b in zip(left, right)))


class _Sizes(counts.Counts):
    def __init__(self, graph: Any, shapes: Mapping[str, tuple[int, ...]], reader: graphs.NodeReader,
                 others: Mapping[str, Sizes]) -> None:
        super().__init__(reader.onnx, reader.constants)
        self.others = others
        self.elements = inference.elements_of(graph)
        self.real: set[Open] = set()  # The sizes of tensors.
        self.stated = {name: sizes for name, sizes in inference.sizes_of(graph).items() if name not in shapes}
        self.sizes.update((name, list(shape)) for name, shape in shapes.items())
        for value in graph.input:
            if value.name in self.stated:
                dims = value.type.tensor_type.shape.dim
                self.note(value.name, self.stated[value.name], NOMINAL,
                          [dim.dim_param if static_shapes.is_named(dim) else "" for dim in dims])

    def known(self, number: int) -> int:
        return number

    def note(self, name: str, sizes: list[Size | None], most: int, dimensions: Sequence[str] | None = None) -> None:
        """dimensions  the names of the sizes of an input: those of one name are equal."""
        has_samples = len(sizes) == 4 or None in sizes[1:]  # Which come first, and are few.
        dimensions = dimensions or [""] * len(sizes)
        noted = [Open(dimensions[axis] or (name, axis), 1 if axis == 0 and has_samples else most)
                 if size is None else size for axis, size in enumerate(sizes)]
        if all(noted):
            self.sizes[name] = noted
            self.real.update(size for size in noted if isinstance(size, Open))

    def computed(self, node: Any) -> list[Size | None] | None:
        """Numbers that are computed of others, such as those of a sequence and of what came before it, or that a
        constant takes."""
        numbers = [self.counts.get(name) for name in node.input]
        if node.op_type == "Concat":
            return self.joined_numbers(node)
        if node.op_type == "Where" and node.input[0] in self.constants and None not in numbers[1:]:
            chosen = self.constants[node.input[0]].reshape(-1).tolist()
            return ([pair[not is_first] for is_first, *pair in zip(chosen, *numbers[1:])]
                    if len(chosen) == len(numbers[1]) == len(numbers[2]) else None)
        if node.op_type == "Max" and len(numbers) == 2 and [0] in numbers:  # A size is not negative.
            numbers.remove([0])
            return numbers[0]
        if node.op_type not in _ARITHMETIC or self.elements.get(node.output[0]) not in counts.WHOLE:
            return None
        return self.each(node, lambda pair: None if None in pair else _ARITHMETIC[node.op_type](*pair))

    def joined_numbers(self, node: Any) -> list[Size | None] | None:
        """Numbers of which some are known, such as those of samples and channels before computed sizes."""
        if self.elements.get(node.output[0]) not in counts.WHOLE:
            return None
        joined: list[Size | None] = []
        for name in node.input:
            sizes = self.sizes.get(name)
            if sizes is None or len(sizes) != 1 or isinstance(sizes[0], Open):
                return None
            joined += self.counts.get(name) or [None] * sizes[0]
        return joined

    def wanted(self, name: str) -> list[Size | None] | None:
        """The sizes that a tensor of numbers states; None for one that may be negative, which stands for another."""
        numbers = self.counts.get(name)
        return None if numbers is None else [None if self.may_be_negative(size) else size for size in numbers]

    def may_be_negative(self, size: Size) -> bool:
        return isinstance(size, Open) and (size.least is None or size.least < 0) and size not in self.real

    def visit(self, node: Any) -> None:
        inputs = [self.sizes.get(name) for name in node.input]
        most = max((nominal(size) for sizes in inputs for size in (sizes or ()) if isinstance(size, Open)),
                   default=NOMINAL if node.op_type == "Range" else 1)
        for name in node.output[:None if node.op_type == "Split" else 1]:
            stated = self.stated.get(name)
            if stated is None:
                continue
            own = self.others.get(name) or self.of_node(node, inputs)
            if own is not None and len(own) == len(stated):
                # What onnx infers is known where this is open, or the other way round.
                stated = [size if other is None else other for size, other in zip(own, stated)]
            self.note(name, stated, most)

    def of_node(self, node: Any, inputs: list[list[Size] | None]) -> list[Size | None] | None:
        """The sizes of its result, None where nothing is known; or None for all."""
        kind, attributes = node.op_type, self.attributes(node)
        if kind == "ConstantOfShape":
            return self.wanted(node.input[0])
        if inputs[0] is None:
            return None
        if kind in inference.SAME_SIZES:
            return list(inputs[0])
        if kind in elementwise.JOINING:
            return None if None in inputs else _broadcast(inputs)
        if kind in self.RULES:
            return self.RULES[kind](self, node, inputs, attributes)
        if len(inputs[0]) != 4:
            return None
        n, _, *sizes = inputs[0]
        if kind == "DepthToSpace":
            return [n, None, *(product([size, attributes["blocksize"]]) for size in sizes)]
        if kind == "Resize":
            return self.of_resize(node, inputs[0])
        if kind in _WINDOWS:
            if attributes.get("auto_pad", b"NOTSET").startswith(b"SAME"):
                strides = attributes.get("strides", [1, 1])
                return [n, None, *(_windows(size, 1, stride, 1, (0, 0), 0) for size, stride in zip(sizes, strides))]
            kernel = attributes["kernel_shape"] if kind != "Conv" else (inputs[1] or ())[2:]
            pads, strides, dilations = (list(attributes.get(key, [default] * count)) for key, default, count in (
                ("pads", 0, 4), ("strides", 1, 2), ("dilations", 1, 2)))
            return [n, None, *(_windows(size, taps, stride, step, beside, attributes.get("ceil_mode", 0))
                               for size, taps, stride, step, beside in zip(
                                   sizes, kernel, strides, dilations, zip(pads[:2], pads[2:])))]
        return None

    # By operator: what of_node() gives.

    def of_resize(self, node: Any, image: list[Size]) -> list[Size | None] | None:
        _, _, scales, wanted = [*node.input, "", "", ""][:4]
        if self.attributes(node).get("axes"):
            return None
        if wanted:
            return self.wanted(wanted)
        factors = self.constants.get(scales)
        if factors is None or factors.shape != (4,):
            return None
        return [scaled(size, float(factor)) for size, factor in zip(image, factors)]

    def of_product(self, node: Any, inputs: list[list[Size] | None], own: dict[str, Any]) -> list[Size | None] | None:
        if inputs[1] is None or min(map(len, inputs[:2])) < 2:
            return None
        left, right = inputs[:2]
        if node.op_type == "MatMul":
            return [*_broadcast([left[:-2], right[:-2]]), left[-2], right[-1]]
        return [left[1 if own.get("transA", 0) else 0], right[0 if own.get("transB", 0) else 1]]

    def of_transpose(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        return [inputs[0][axis] for axis in own.get("perm", range(len(inputs[0]))[::-1])]

    def of_reshape(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        target = self.wanted(node.input[1])
        if target is None:
            return None
        copies = not own.get("allowzero", 0)
        result = [inputs[0][i] if copies and size == 0 and i < len(inputs[0]) else size
                  for i, size in enumerate(target)]
        if -1 in result and None not in result:
            result[result.index(-1)] = _quotient(inputs[0], [size for size in result if size != -1])
        return [None if size == -1 else size for size in result]

    def of_expand(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        target = self.wanted(node.input[1])
        return None if target is None or None in target else _broadcast([inputs[0], target])

    def of_squeeze(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        axes = self.constants.get(node.input[1]) if len(node.input) > 1 else own.get("axes")
        if axes is None:
            return None
        sizes, is_more = list(inputs[0]), node.op_type == "Unsqueeze"
        places = sorted(int(axis) % (len(sizes) + (len(axes) if is_more else 0)) for axis in axes)
        if is_more:
            for place in places:
                sizes.insert(place, 1)
            return sizes
        return [size for axis, size in enumerate(sizes) if axis not in places]

    def of_part(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        """Slice and Split, which keep the sizes of the other axes."""
        axes = [own.get("axis", 0)]
        if node.op_type == "Slice":
            axes = self.constants.get(node.input[3]) if len(node.input) > 3 else None
        if axes is None:
            return None
        places = [int(axis) % len(inputs[0]) for axis in axes]
        result = [None if axis in places else size for axis, size in enumerate(inputs[0])]
        if node.op_type == "Slice" and set(node.input[1:]) <= self.constants.keys() and len(set(places)) == len(places):
            bounds = [self.constants[name].tolist() for name in node.input[1:3]]
            steps = self.constants[node.input[4]].tolist() if len(node.input) > 4 else [1] * len(places)
            for place, begin, end, step in zip(places, *bounds, steps):
                result[place] = self.cut(inputs[0][place], begin, end) if step == 1 else None
        return result

    def cut(self, size: Size, begin: int, end: int) -> Size | None:
        """The size of the part of a row from one element to another. A negative place counts from the end."""
        if not isinstance(size, Open):
            return len(range(size)[begin:end])
        if begin < 0 or 0 <= end < counts.SLICE_END:
            return None
        left = _joined([size, min(end, 0) - begin])
        return None if self.may_be_negative(left) else left

    def of_concat(self, node: Any, inputs: list[list[Size] | None], own: dict[str, Any]) -> list[Size | None] | None:
        if None in inputs:
            return None
        place = own["axis"] % len(inputs[0])
        result = [size if all(each[axis] == size for each in inputs) else None for axis, size in enumerate(inputs[0])]
        result[place] = _joined([each[place] for each in inputs])
        return result

    def of_pad(self, node: Any, inputs: list[list[Size] | None], own: dict[str, Any]) -> list[Size | None] | None:
        pads = self.counts.get(node.input[1]) if len(node.input) in (2, 3) else None
        if pads is None or len(pads) != 2 * len(inputs[0]):
            return None
        return [size if pair == (0, 0) else None
                for size, pair in zip(inputs[0], zip(pads, pads[len(inputs[0]):]))]

    def of_gather(self, node: Any, inputs: list[list[Size] | None], own: dict[str, Any]) -> list[Size | None] | None:
        if inputs[1] is None:
            return None
        place = own.get("axis", 0) % len(inputs[0])
        return [*inputs[0][:place], *inputs[1], *inputs[0][place + 1:]]

    def of_places(self, node: Any, inputs: list[list[Size] | None], own: dict[str, Any]) -> list[Size | None] | None:
        """GatherElements and GatherND."""
        if inputs[1] is None or node.op_type == "GatherElements":
            return inputs[1]
        *places, depth = inputs[1]
        return None if isinstance(depth, Open) else [*places, *inputs[0][own.get("batch_dims", 0) + depth:]]

    def of_range(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        begin, end, step = map(self.wanted, node.input)
        return end if begin == [0] and step == [1] else None

    def of_sum(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        """A sum, a mean or a maximum along axes that stay, with one number each, or go."""
        axes = own.get("axes") if len(node.input) < 2 else self.constants.get(node.input[1])
        if axes is None:
            return None
        places = {int(axis) % len(inputs[0]) for axis in axes}
        kept = [1 if axis in places else size for axis, size in enumerate(inputs[0])]
        return kept if own.get("keepdims", 1) else [size for axis, size in enumerate(kept) if axis not in places]

    def of_layer(self, node: Any, inputs: list[list[Size]], own: dict[str, Any]) -> list[Size | None] | None:
        """All states of a recurrent layer, whose steps come first."""
        return [inputs[0][0], None, inputs[0][1], None] if not own.get("layout", 0) else None

    RULES = {
        "Concat": of_concat, "Expand": of_expand, "GRU": of_layer, "Gather": of_gather, "GatherElements": of_places,
        "GatherND": of_places, "Gemm": of_product, "LSTM": of_layer, "MatMul": of_product, "Pad": of_pad,
        "RNN": of_layer, "Range": of_range, "ReduceMax": of_sum, "ReduceMean": of_sum, "ReduceSum": of_sum,
        "Reshape": of_reshape, "Slice": of_part, "Split": of_part, "Squeeze": of_squeeze, "Transpose": of_transpose,
        "Unsqueeze": of_squeeze,
    }


def repetitions(node: Any, reader: graphs.NodeReader) -> tuple[int, int] | None:
    """By what a Resize multiplies rows and columns, if these are whole numbers that the network states."""
    scales = reader.constants.get([*node.input, "", ""][2])
    if scales is None or scales.shape != (4,) or any(scales != scales.astype(np.int64)) or any(scales[:2] != 1):
        return None
    return int(scales[2]), int(scales[3])


def product(sizes: Iterable[Size]) -> Size:
    """Their product. Two are equal if they have the same factors."""
    number, factors = 1, collections.Counter()
    for size in sizes:
        own, opened = _factors(size)
        number *= own
        factors.update(opened)
    return _product(number, factors)


def scaled(size: Size, factor: float) -> Size:
    """The whole part of so many times a size."""
    if factor == int(factor):
        return product([size, int(factor)])
    if not isinstance(size, Open):
        return int(size * factor)
    return Open((size, "scaled", factor), max(1, int(size.nominal * factor)))


def _factors(size: Size) -> tuple[int, collections.Counter[Open]]:
    """A number, and open sizes with how often each is a factor."""
    if not isinstance(size, Open):
        return size, collections.Counter()
    if isinstance(size.of, _Factors):
        return size.of.number, collections.Counter(dict(size.of.opened))
    return 1, collections.Counter([size])


def _product(number: int, factors: collections.Counter[Open]) -> Size:
    if not number or not factors:
        return number
    if number == 1 and factors.total() == 1:
        return next(iter(factors))
    leasts = [number, *(size.least for size in factors.elements())]
    return Open(_Factors(number, frozenset(factors.items())),
                number * math.prod(size.nominal ** count for size, count in factors.items()),
                None if None in leasts or min(leasts) < 0 else math.prod(leasts))


def _quotient(whole: Iterable[Size], parts: Iterable[Size]) -> Size | None:
    """A product by another one; None where it may have a rest."""
    (number, factors), (divisor, others) = map(_factors, (product(whole), product(parts)))
    if not divisor or number % divisor or not factors >= others:
        return None
    return _product(number // divisor, factors - others)


def rows_behind(taps: int, stride: int, dilation: int, pad: int) -> int | None:
    """So many rows behind an image give a pool that rounds down as many windows as `pad` gives one that rounds up. None
    where the latter may leave out its last window, which would begin behind the image."""
    return pad + stride - 1 if dilation * (taps - 1) + 1 >= stride + pad else None


def _windows(size: Size | None, taps: int, stride: int, dilation: int, pads: tuple[int, int], is_ceil: int
             ) -> Size | None:
    """How many windows a row of pixels has."""
    before, behind = pads
    if is_ceil and (rows := rows_behind(taps, stride, dilation, behind)) is not None:
        behind, is_ceil = rows, 0
    missing = before + behind - dilation * (taps - 1) - 1
    if size is None or (stride == 1 and missing == -1):
        return size
    if not isinstance(size, Open):
        return None if is_ceil else (size + missing) // stride + 1
    if is_ceil:
        return Open((size, "windows", missing, stride), max(1, (size.nominal + missing) // stride + 1))
    found = _joined([_floor(size, missing, stride), 1])
    return dataclasses.replace(found, least=max(0, found.least or 0))  # It is the size of a tensor.


def _joined(sizes: Iterable[Size]) -> Size:
    """The size of a row that has these parts. Two are equal if they have the same parts."""
    number, parts = 0, collections.Counter()
    for size in sizes:
        if isinstance(size, Open) and isinstance(size.of, _Sum):
            number += size.of.number
            parts.update(dict(size.of.opened))
        elif isinstance(size, Open):
            parts[size] += 1
        else:
            number += size
    if not parts:
        return number
    one = next(iter(parts))
    if parts.total() == 1 and not number:
        return one
    leasts = [size.least for size in parts.elements()]
    least = None if None in leasts else number + sum(leasts)
    whole = number + sum(size.nominal * count for size, count in parts.items())
    return Open(_Sum(number, frozenset(parts.items())), max(1, whole), least)


def _without_number(size: Open) -> tuple[int, Size]:
    """A number and a size whose sum it is."""
    if not isinstance(size.of, _Sum):
        return 0, size
    return size.of.number, _joined(each for each, count in size.of.opened for _ in range(count))


def _difference(left: Size, right: Size) -> Size | None:
    return None if isinstance(right, Open) else _joined([left, -right])


def _ratio(whole: Size, by: Size) -> Size | None:
    exact = _quotient([whole], [by])
    if exact is not None:
        return exact
    if isinstance(by, int):
        if not isinstance(whole, Open):
            return int(whole / by) if by else None
        return _floor(whole, 0, by) if by > 0 else None
    least = 0 if isinstance(whole, Open) and min(whole.least or 0, (by.least or 0) - 1) >= 0 else None
    return Open(_Ratio(whole, by), max(1, nominal(whole) // max(1, by.nominal)), least)


def _floor(size: Open, more: int, stride: int) -> Size:
    """How often a stride fits into a row that is longer by so many. A row of what fits into another one is a part of
    that one."""
    number, row = _without_number(size)
    more += number
    if isinstance(row.of, _Floor):
        row, more, stride = row.of.row, row.of.more + more * row.of.stride, stride * row.of.stride
    count, more = divmod(more, stride)
    found = None if more else _quotient([row], [stride])
    if found is None:
        least = None if row.least is None else (row.least + more) // stride
        found = Open(_Floor(row, more, stride), max(1, (row.nominal + more) // stride), least)
    return _joined([found, count])


_ARITHMETIC = {"Add": lambda left, right: _joined([left, right]), "Div": _ratio,
               "Mul": lambda left, right: product([left, right]), "Sub": _difference}


def _broadcast(shapes: Sequence[Sequence[Size]]) -> list[Size | None]:
    """The sizes of what has an element of each of these tensors."""
    result: list[Size | None] = []
    for axis in range(-max(map(len, shapes)), 0):
        sizes = {shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis] != 1}
        result.append(1 if not sizes else sizes.pop() if len(sizes) == 1 else None)
    return result
