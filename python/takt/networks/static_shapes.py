"""Sizes for the dimensions that an ONNX network leaves open.

Exporters name such a dimension ("batch") or leave it without a name. `fix()` gives
them sizes, so that the compiler and Takt's kernels know every shape.
"""

from __future__ import annotations

from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

Shapes = Mapping[str, Union[int, Sequence[int]]]


def sets_of(shapes: Shapes | Sequence[Shapes] | None) -> list[Shapes]:
    """The sets of shapes, of which each call has those of one; none if there is nothing to fix.

    raises   TypeError, if they are neither in a dictionary nor in several."""
    found = [shapes] if isinstance(shapes, Mapping) else list(shapes or [])
    for each in found:
        if not isinstance(each, Mapping):
            raise TypeError(f"shapes {each!r}: expected a dictionary, or a list of some")
    return [each for each in found if each] if len(found) < 2 else found


def fix(model: Any, shapes: Shapes) -> Any:
    """The network with these shapes; those of its results follow from them.

    model    an onnx.ModelProto; not changed.
    shapes   by the name of an input: its shape; by the name of a dimension: its
             size. A size that an input's shape gives to a named dimension counts
             wherever that name stands.
    raises   ValueError: a name that is neither, a shape that does not fit, or two
             sizes for one dimension.
    """
    import onnx

    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    inputs = inputs_of(fixed)
    known = {dim.dim_param for value in inputs.values() for dim in _dims(value) if is_named(dim)}
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        if name in inputs:
            _fix_input(inputs[name], [shape] if isinstance(shape, int) else list(shape), sizes)
        elif isinstance(shape, int):
            _set_size(sizes, name, shape)
        else:
            raise ValueError(f"shapes: the network has no input {name!r}; it has {_list(inputs)}")
    for name in sizes:
        if name not in known:
            raise ValueError(
                f"shapes: the network has no input and no dimension {name!r}; "
                f"its inputs are {_list(inputs)}, its dimensions {_list(known)}")
    for value in inputs.values():
        for dim in _dims(value):
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
    # What else is written down may contradict them.
    del fixed.graph.value_info[:]
    for value in fixed.graph.output:
        for dim in _dims(value):
            if not dim.HasField("dim_value"):
                dim.Clear()
    return fixed


def forget_recorded(model: Any) -> None:
    """Leaves the sizes of results open if those of inputs are: an exporter may state those of the call that it
    recorded. What follows from the inputs is inferred again."""
    for value in model.graph.output if open_inputs(model) else ():
        for dim in _dims(value):
            if dim.HasField("dim_value"):
                dim.Clear()


def open_inputs(model: Any) -> dict[str, str]:
    """The inputs with open dimensions: their shapes, such as "batchx3x?x?"."""
    return {name: "x".join(sizes) for name, sizes in sizes_of_inputs(model).items()
            if any(not size.isdigit() for size in sizes)}


def sizes_of_inputs(model: Any) -> dict[str, list[str]]:
    """By input: its sizes, names for the open ones of them."""
    return {name: [str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or "?" for dim in _dims(value)]
            for name, value in inputs_of(model).items()}


def places_of_names(model: Any) -> dict[str, list[tuple[int, int]]]:
    """The name of each open dimension, with the inputs of a call that have it and their axes."""
    places: dict[str, list[tuple[int, int]]] = {}
    for i, value in enumerate(inputs_of(model).values()):
        for axis, dim in enumerate(_dims(value)):
            if is_named(dim):
                places.setdefault(dim.dim_param, []).append((i, axis))
    return places


def inputs_of(model: Any) -> dict[str, Any]:
    """Those of a call, by name: older files list constants among them."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return {value.name: value for value in model.graph.input if value.name not in constants}


def _fix_input(value: Any, shape: list[int], sizes: dict[str, int]) -> None:
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        tensor.shape.dim.extend([type(tensor.shape).Dimension() for _ in shape])
    dims = tensor.shape.dim
    if len(dims) != len(shape):
        raise ValueError(f"shapes: {value.name!r} has {len(dims)} dimensions, not the {len(shape)} of {shape}")
    for i, (dim, size) in enumerate(zip(dims, shape)):
        # Some exporters write 0 or -1 where they mean an open dimension.
        if dim.HasField("dim_value") and dim.dim_value > 0 and dim.dim_value != size:
            raise ValueError(
                f"shapes: dimension {i} of {value.name!r} is {dim.dim_value} in the network, not {size}")
        if is_named(dim):
            _set_size(sizes, dim.dim_param, size)
        else:
            _check_size(value.name, size)
        dim.dim_value = size


def _set_size(sizes: dict[str, int], name: str, size: int) -> None:
    _check_size(name, size)
    if sizes.setdefault(name, size) != size:
        raise ValueError(f"shapes: dimension {name!r} cannot be both {sizes[name]} and {size}")


def _check_size(name: str, size: int) -> None:
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 1 << 31:
        raise ValueError(f"shapes: {size!r} is no size for {name!r}")


def is_named(dim: Any) -> bool:
    """Whether it is open and has the size of each other one of its name."""
    return dim.dim_param not in ("", "?")  # Paddle writes "?" for any open one.


def _dims(value: Any) -> Iterator[Any]:
    return iter(value.type.tensor_type.shape.dim)


def _list(names: Iterable[str]) -> str:
    return ", ".join(repr(name) for name in sorted(names)) or "none"


def parse(flags: Iterable[str]) -> list[dict[str, int | tuple[int, ...]]]:
    """Sets of shapes, from flags such as "image=1x3x640x640" and "batch=1".

    A name that is there again begins the next set, which keeps what else the last one has.
    """
    sets: list[dict[str, int | tuple[int, ...]]] = [{}]
    named: set[str] = set()  # In the last set.
    for name, shape in map(_parsed, flags):
        if name in named:
            sets.append(dict(sets[-1]))
            named.clear()
        sets[-1][name] = shape
        named.add(name)
    return sets


def described(shapes: Shapes) -> str:
    """As flags have them."""
    return ", ".join(f"{name}={'x'.join(map(str, [shape] if isinstance(shape, int) else shape))}"
                     for name, shape in shapes.items())


def _parsed(text: str) -> tuple[str, int | tuple[int, ...]]:
    name, separator, shape = text.rpartition("=")
    try:
        sizes = tuple(int(size) for size in shape.split("x"))
    except ValueError:
        sizes = ()
    if not (name and separator and sizes):
        raise ValueError(f"shape {text!r}: expected NAME=1x3x640x640, or DIMENSION=1")
    return name, sizes[0] if len(sizes) == 1 else sizes
