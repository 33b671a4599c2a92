"""Operators that the compiler does not know yet, in other ones: a part of `porter`.

RMSNormalization and RotaryEmbedding of opset 23, AffineGrid of opset 20, and older
ones that it makes wrong code of.
"""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

_SCATTER_MAX = 1 << 26  # Comparisons of places and updates.


class LayerPorter:
    """The part of the porter that knows them."""

    def layer_handlers(self) -> dict[tuple[str, str], Callable[[Any], bool]]:
        return {
            ("", "AffineGrid"): self.on_affine_grid,
            ("", "AveragePool"): self.on_overhanging_pool,
            ("", "Compress"): self.on_compress,
            ("", "CumProd"): self.on_running_product,
            ("", "DepthToSpace"): self.on_depth_to_space,
            ("", "Dropout"): self.on_dropout,
            ("", "Expand"): self.on_expand,
            ("", "Gather"): self.on_gather,
            ("", "GroupNormalization"): self.on_group_normalization,
            ("", "InstanceNormalization"): self.on_instance_normalization,
            ("", "LayerNormalization"): self.on_layer_normalization,
            ("", "LRN"): self.on_response_normalization,
            ("", "LpNormalization"): self.on_lp_normalization,
            ("", "LpPool"): self.on_lp_pool,
            ("", "ReduceLogSum"): self.on_single_numbers,
            ("", "RMSNormalization"): self.on_rms_normalization,
            ("", "RotaryEmbedding"): self.on_rotary_embedding,
            ("", "SimplifiedLayerNormalization"): self.on_rms_normalization,  # Of ONNX Runtime.
            ("com.microsoft", "RotaryEmbedding"): self.on_rotated,
            ("com.microsoft", "SkipSimplifiedLayerNormalization"): self.on_skip_rms_normalization,
            ("", "Slice"): self.on_backward_slice,
            ("", "Softsign"): self.on_softsign,
            ("", "SpaceToDepth"): self.on_space_to_depth,
            ("", "SwiGLU"): self.on_gated,
            ("", "Swish"): self.on_swish,
            ("", "TensorScatter"): self.on_tensor_scatter,
        }

    def is_ranked(self, name: str) -> bool:
        """Whether these are floats of a known rank."""
        return name in self.shapes and self.types.get(name) == self.onnx.TensorProto.FLOAT

    def known(self, *names: str) -> bool:
        """Whether these are floats of known shapes."""
        return all(None not in self.shapes.get(name, [None]) and self.types.get(name) == self.onnx.TensorProto.FLOAT
                   for name in names)

    def is_real(self, name: str) -> bool:
        """Whether these are floats or doubles of a known rank."""
        return self.is_ranked(name) or name in self.shapes and self.is_double(name)

    def on_rms_normalization(self, node: Any) -> bool:
        source, scale = node.input[:2]
        if not self.is_real(source):
            return False
        attributes = self.attributes(node)
        rank = len(self.shapes[source])
        axes = list(range(attributes.get("axis", -1) % rank, rank))
        mean = self.reduce("ReduceMean", self.emit("Mul", [source, source]), axes)
        epsilon = self.number(attributes.get("epsilon", 1e-5), source)
        root = self.emit("Sqrt", [self.emit("Add", [mean, epsilon])])
        self.emit("Mul", [self.emit("Div", [source, root]), scale], node.output[0])
        return True

    def on_instance_normalization(self, node: Any) -> bool:
        """Means, where an axis of the image is open: the compiler divides by another number of pixels. Kernels know the
        norm of an image, and of its groups of channels."""
        source, scale, bias = node.input
        shape = self.shapes.get(source, [])
        is_left = self.leaves_layers and len(shape) in (3, 4) and {scale, bias} <= self.constants.keys()
        if None not in shape[2:] or not self.is_real(source) or is_left:
            return False
        axes = list(range(2, len(shape)))
        apart = self.emit("Sub", [source, self.reduce("ReduceMean", source, axes)])
        spread = self.reduce("ReduceMean", self.emit("Mul", [apart, apart]), axes)
        epsilon = self.number(self.attributes(node).get("epsilon", 1e-5), source)
        root = self.emit("Sqrt", [self.emit("Add", [spread, epsilon])])
        channels = self.constant([-1, *[1] * len(axes)])
        scale, bias = (self.emit("Reshape", [name, channels]) for name in (scale, bias))
        self.emit("Add", [self.emit("Mul", [self.emit("Div", [apart, root]), scale]), bias], node.output[0])
        return True

    def on_layer_normalization(self, node: Any) -> bool:
        """Has no more results than are read, each with a name: the importer of the compiler refuses one without. The
        norm of several axes is in other terms, of which the compiler makes quick code."""
        source, scale, bias = [*node.input, ""][:3]
        own, sizes = self.attributes(node), self.shapes.get(source, [])
        axes = list(range(own.get("axis", -1) % len(sizes), len(sizes))) if sizes else []
        if (sum(sizes[axis] != 1 for axis in axes) > 1 and None not in sizes and self.is_real(source)
                and not any(map(self.is_read, node.output[1:]))):
            apart = self.emit("Sub", [source, self.reduce("ReduceMean", source, axes)])
            spread = self.reduce("ReduceMean", self.emit("Mul", [apart, apart]), axes)
            root = self.emit("Sqrt", [self.emit("Add", [spread, self.number(own.get("epsilon", 1e-5), source)])])
            norm = self.emit("Mul", [self.emit("Div", [apart, root]), scale])
            self.emit("Add" if bias else "Identity", [norm, *filter(None, [bias])], node.output[0])
            return True
        last = max(i for i, name in enumerate(node.output) if i == 0 or self.is_read(name))
        results = [name or self.fresh("LayerNormalization") for name in node.output[:last + 1]]
        if results == list(node.output):
            return False
        self.out.append(self.onnx.helper.make_node(node.op_type, list(node.input), results, **self.attributes(node)))
        return True

    def on_dropout(self, node: Any) -> bool:
        """Keeps all elements, where the network is not trained."""
        source, *_, trains = [*node.input, "", ""][:3]
        if trains and self.constants.get(trains, True):
            return False
        if len(node.output) > 1 and self.is_read(node.output[1]):
            self.emit("Expand", [self.constant(np.array([True])), self.emit("Shape", [source])], node.output[1])
        self.emit("Identity", [source], node.output[0])
        return True

    def on_group_normalization(self, node: Any) -> bool:
        """Each group is a channel of a norm of instances; since opset 21 each channel has its own scale."""
        source, scale, bias = node.input
        groups = self.attributes(node)["num_groups"]
        count = self.shapes.get(scale, [None])[0]
        if not self.is_real(source) or groups < 1 or count is None:
            return False
        shape = self.shapes[source]
        parts = self.emit("Reshape", [source, self.constant([0, groups, -1])])
        has_own = count != groups
        ones, zeros = (self.number([value] * groups, source) for value in (1, 0))
        epsilon = self.attributes(node).get("epsilon", 1e-5)
        norm = self.emit("InstanceNormalization", [parts, *([ones, zeros] if has_own else [scale, bias])],
                         epsilon=epsilon)
        back = self.emit("Shape", [source]) if None in shape else self.constant(shape)
        if not has_own:
            self.emit("Reshape", [norm, back], node.output[0])
            return True
        whole = self.emit("Reshape", [norm, back])
        channels = self.constant([-1, *[1] * (len(shape) - 2)])
        scale, bias = (self.emit("Reshape", [name, channels]) for name in (scale, bias))
        self.emit("Add", [self.emit("Mul", [whole, scale]), bias], node.output[0])
        return True

    def on_skip_rms_normalization(self, node: Any) -> bool:
        source, skip, scale, bias = [*node.input, ""][:4]
        if not self.known(source) or any(map(self.is_read, node.output[1:3])):
            return False
        total = self.emit("Add", [source, skip])
        if bias:
            total = self.emit("Add", [total, bias])
        if len(node.output) > 3 and node.output[3]:
            self.emit("Identity", [total], node.output[3])
        self.types[total], self.shapes[total] = self.types[source], self.shapes[source]
        epsilon = self.attributes(node).get("epsilon", 1e-5)
        return self.on_rms_normalization(self.onnx.helper.make_node(
            "RMSNormalization", [total, scale], [node.output[0]], epsilon=epsilon))

    def on_rotated(self, node: Any) -> bool:
        """RotaryEmbedding of ONNX Runtime: the places come before the tables."""
        source, places, cosines, sines = node.input
        own = self.attributes(node)
        known = {"interleaved", "num_heads", "rotary_embedding_dim"}
        table = self.shapes.get(cosines, [None])[-1]
        shape, rank = self.shapes.get(source, []), len(self.shapes.get(places, []))
        if {key for key, value in own.items() if value} - known or not table or not self.is_ranked(source):
            return False
        if rank == 1:  # That of the first step, of all sequences.
            if None in shape:
                return False
            steps = self.constant(np.tile(np.arange(shape[-2]), (shape[0], 1)))
            places = self.emit("Add", [places, steps])
        elif rank != 2:
            return False
        if len(shape) == 3 and not own.get("num_heads", 0):
            own["num_heads"] = shape[-1] // (2 * table)
        return self.on_rotary_embedding(self.onnx.helper.make_node(
            "RotaryEmbedding", [source, cosines, sines, places], list(node.output),
            **{key: value for key, value in own.items() if key in known}))

    def on_rotary_embedding(self, node: Any) -> bool:
        source, cosines, sines, places = [*node.input, ""][:4]
        attributes = self.attributes(node)
        shape = self.shapes.get(source, [])
        is_flat = len(shape) == 3
        if not self.is_ranked(source) or not shape or not shape[-1] or is_flat and not attributes.get("num_heads", 0):
            return False
        x = self.emit("Reshape", [source, self.constant([0, 0, attributes["num_heads"], -1])]) if is_flat else source
        size = shape[-1] // (attributes["num_heads"] if is_flat else 1)
        turned = attributes.get("rotary_embedding_dim", 0) or size
        half = turned // 2
        if places:
            cosines, sines = (self.emit("Gather", [name, places], axis=0) for name in (cosines, sines))
        heads = self.constant([2 if is_flat else 1])
        cosines, sines = (self.emit("Unsqueeze", [name, heads]) for name in (cosines, sines))
        if attributes.get("interleaved", 0):
            pairs = self.emit("Reshape", [self.slice(x, 3, 0, turned), self.constant([0, 0, 0, half, 2])])
            a, b = (self.emit("Squeeze", [self.slice(pairs, 4, i, i + 1), self.constant([4])]) for i in (0, 1))
        else:
            a, b = self.slice(x, 3, 0, half), self.slice(x, 3, half, turned)
        first = self.emit("Sub", [self.emit("Mul", [a, cosines]), self.emit("Mul", [b, sines])])
        second = self.emit("Add", [self.emit("Mul", [a, sines]), self.emit("Mul", [b, cosines])])
        if attributes.get("interleaved", 0):
            last = self.constant([4])
            both = self.emit("Concat", [self.emit("Unsqueeze", [each, last]) for each in (first, second)], axis=4)
            parts = [self.emit("Reshape", [both, self.constant([0, 0, 0, turned])])]
        else:
            parts = [first, second]
        if turned < size:
            parts.append(self.slice(x, 3, turned, size))
        result = self.emit("Concat", parts, axis=3)
        if is_flat:
            self.emit("Reshape", [result, self.constant([0, 0, shape[-1]])], node.output[0])
        else:
            self.emit("Identity", [result], node.output[0])
        return True

    def on_affine_grid(self, node: Any) -> bool:
        size = self.constants.get(node.input[1])
        if size is None or len(size) not in (4, 5):
            return False
        sizes = [int(each) for each in size[2:]]
        is_aligned = self.attributes(node).get("align_corners", 0)
        lines = [np.linspace(-1, 1, n) if is_aligned else (2 * np.arange(n) + 1) / n - 1 for n in sizes]
        places = np.meshgrid(*lines, indexing="ij")[::-1]  # x is the first number of a point.
        places = np.stack([*places, np.ones(sizes)], -1).reshape(1, -1, len(sizes) + 1).astype(np.float32)
        turned = self.emit("Transpose", [node.input[0]], perm=[0, 2, 1])
        grid = self.emit("MatMul", [self.constant(places), turned])
        self.emit("Reshape", [grid, self.constant([-1, *sizes, len(sizes)])], node.output[0])
        return True

    def on_lp_normalization(self, node: Any) -> bool:
        source, attributes = node.input[0], self.attributes(node)
        if not self.is_ranked(source):
            return False
        sizes = self.emit("Abs", [source]) if attributes.get("p", 2) == 1 else self.emit("Mul", [source, source])
        norm = self.emit("ReduceSum", [sizes, self.constant([attributes.get("axis", -1)])], keepdims=1)
        if attributes.get("p", 2) != 1:
            norm = self.emit("Sqrt", [norm])
        is_zero = self.emit("Equal", [norm, self.constant(np.float32(0))])
        norm = self.emit("Where", [is_zero, self.constant(np.float32(1)), norm])
        self.emit("Div", [source, norm], node.output[0])
        return True

    def on_response_normalization(self, node: Any) -> bool:
        """LRN by slices of neighbouring channels, where an axis of the image is open: the compiler has none."""
        source, own = node.input[0], self.attributes(node)
        shape = self.shapes.get(source, [])
        if None not in shape[2:] or shape[1] is None or not self.is_ranked(source):
            return False
        size, before = own["size"], (own["size"] - 1) // 2
        sides = [0, before, *[0] * (len(shape) - 1), size - 1 - before, *[0] * (len(shape) - 2)]
        squares = self.emit("Pad", [self.emit("Mul", [source, source]), self.constant(sides)])
        total = self.emit("Sum", [self.slice(squares, 1, i, i + shape[1]) for i in range(size)])
        share = self.emit("Mul", [total, self.number(own.get("alpha", 1e-4) / size)])
        norm = self.emit("Pow", [self.emit("Add", [share, self.number(own.get("bias", 1.0))]),
                                 self.number(own.get("beta", 0.75))])
        self.emit("Div", [source, norm], node.output[0])
        return True

    def on_expand(self, node: Any) -> bool:
        """Where no size grows, the input is the result. A size that is found in the call may be 0, which the compiler
        does not take."""
        shape, sizes = self.shapes.get(node.input[0], []), self.constants.get(node.input[1])
        if sizes is None or len(sizes) > len(shape):
            return False
        own = shape[len(shape) - len(sizes):]
        if any(wanted not in (1, size) for wanted, size in zip(sizes.tolist(), own)):
            return False
        self.emit("Identity", [node.input[0]], node.output[0])
        return True

    def on_softsign(self, node: Any) -> bool:
        source = node.input[0]
        if not self.is_real(source):
            return False
        size = self.emit("Add", [self.emit("Abs", [source]), self.number(1, source)])
        self.emit("Div", [source, size], node.output[0])
        return True

    def on_lp_pool(self, node: Any) -> bool:
        own, source, output = self.attributes(node), node.input[0], node.output[0]
        power = own.pop("p", 2)
        if not self.known(source) or None in self.shapes.get(output, [None]):
            return False
        size = self.emit("Abs", [source])
        powers = self.emit("Pow", [size, self.constant(np.float32(power))]) if power != 1 else size
        powers = self.fitted(powers, own, self.shapes[source][2:], self.shapes[output][2:])
        kernel = own["kernel_shape"]
        if max(own.get("dilations", [1])) > 1:  # AveragePool has none before opset 19.
            channels = self.shapes[source][1]
            ones = self.constant(np.ones([channels, 1, *kernel], np.float32))
            total = self.emit("Conv", [powers, ones], group=channels, **own)
        else:
            own.pop("dilations", None)
            mean = self.emit("AveragePool", [powers], count_include_pad=1, **own)
            total = self.emit("Mul", [mean, self.constant(np.float32(math.prod(kernel)))])
        self.emit("Pow", [total, self.constant(np.float32(1 / power))], output)
        return True

    def on_overhanging_pool(self, node: Any) -> bool:
        """Windows that reach behind the padding (ceil_mode) have fewer elements there, which
        the compiler does not count."""
        own, source, output = self.attributes(node), node.input[0], node.output[0]
        if not own.get("ceil_mode", 0):
            return self.on_volume_pool(node) or self.on_ending_pool(node)
        if not self.known(source) or None in self.shapes.get(output, [None]):
            return self.on_open_overhang(node)
        kernel = own["kernel_shape"]
        rank = len(kernel)
        sizes, results = self.shapes[source][2:], self.shapes[output][2:]
        strides, dilations = (own.get(name, [1] * rank) for name in ("strides", "dilations"))
        pads = own.get("pads", [0] * 2 * rank)
        counts_padding = own.pop("count_include_pad", 0)
        counts = np.ones([1, 1, *results], np.float32)
        for i in range(rank):
            places = (np.arange(results[i])[:, None] * strides[i] - pads[i] + np.arange(kernel[i]) * dilations[i])
            low, high = (-pads[i], sizes[i] + pads[rank + i]) if counts_padding else (0, sizes[i])
            found = ((places >= low) & (places < high)).sum(1).astype(np.float32)
            counts = counts * found.reshape([-1 if axis == 2 + i else 1 for axis in range(2 + rank)])
        source = self.fitted(source, own, sizes, results)
        means = self.emit("AveragePool", [source], count_include_pad=1, **own)
        share = self.constant(np.float32(math.prod(kernel)) / np.maximum(counts, 1))
        self.emit("Mul", [means, share], output)
        return True

    def on_ending_pool(self, node: Any) -> bool:
        """A pool that rounds up, or of one result in a row or column, which ends where its last
        window does: the compiler takes a wrong size for others."""
        own, source, output = self.attributes(node), node.input[0], node.output[0]
        results = self.shapes.get(output, [None])[2:]
        if (len(node.output) > 1 or None in [*self.shapes.get(source, [None]), *self.shapes.get(output, [None])]
                or not (own.get("ceil_mode", 0) or 1 in results)):
            return False
        before = {"pads": [0] * 2 * len(results), **own}
        found = self.fitted(source, own, self.shapes[source][2:], results)
        if found == source and own == before:
            return False
        self.emit(node.op_type, [found], output, **own)
        return True

    def fitted(self, source: str, own: dict[str, Any], sizes: list[int], results: list[int]) -> str:
        """`source` without what no window reads. The attributes of the pool get as much padding
        as its last windows reach behind, and no `ceil_mode`."""
        rank = len(sizes)
        pads = list(own.get("pads", [0] * 2 * rank))
        for i, reach in enumerate(self.reaches(own, results)):
            end = reach - sizes[i] - pads[i]
            if end < 0:
                source = self.slice(source, 2 + i, 0, sizes[i] + end)
            pads[rank + i] = max(end, 0)
        own["pads"] = pads
        own.pop("ceil_mode", None)
        return source

    def reaches(self, own: dict[str, Any], results: list[int]) -> list[int]:
        """How far the windows of so many results reach, from the first one's begin on."""
        strides, dilations = (own.get(name, [1] * len(results)) for name in ("strides", "dilations"))
        return [(count - 1) * stride + (taps - 1) * dilation + 1 for count, stride, taps, dilation
                in zip(results, strides, own["kernel_shape"], dilations)]

    def on_compress(self, node: Any) -> bool:
        source, condition = node.input
        axis = self.attributes(node).get("axis")
        if axis is None:
            source, axis = self.emit("Reshape", [source, self.constant([-1])]), 0
        places = self.emit("Reshape", [self.emit("NonZero", [condition]), self.constant([-1])])
        self.emit("Gather", [source, places], node.output[0], axis=axis)
        return True

    def on_gather(self, node: Any) -> bool:
        """Constant places one after the other are a slice. The compiler takes minutes for some
        hundred elements by their numbers, which unrolled loops have."""
        if self.on_part(node):
            return True
        source, places = node.input
        shape, indices = self.shapes.get(source), self.constants.get(places)
        axis = self.attributes(node).get("axis", 0)
        size = shape[axis] if shape else None
        if size is None or indices is None or indices.ndim > 1 or indices.size == 0:
            return False
        found = np.where(indices < 0, indices + size, indices).ravel()
        begin, end = int(found[0]), int(found[-1]) + 1
        if begin < 0 or end > size or not np.array_equal(found, np.arange(begin, end)):
            return False
        part = self.slice(source, axis, begin, end)
        if indices.ndim == 0:
            self.emit("Squeeze", [part, self.constant([axis])], node.output[0])
        else:
            self.emit("Identity", [part], node.output[0])
        return True

    def on_backward_slice(self, node: Any) -> bool:
        """Elements in the other order, by their numbers. The compiler takes a begin behind the
        last one for an element, and fails at two dimensions."""
        if self.state_axes(node):
            return True
        shape, bounds = self.shapes.get(node.input[0], [None]), [self.constants.get(name) for name in node.input[1:]]
        self.slice_parts(node)
        if self.on_single_part(node):
            return True
        if len(bounds) == 4 and (None in shape or any(each is None for each in bounds)):
            return self.on_computed_begin(node, bounds[3])
        if len(bounds) < 4:
            return False
        backward = [(begin, axis) for begin, axis, step in zip(bounds[0], bounds[2], bounds[3]) if step < 0]
        if len(backward) < 2 and not any(begin >= shape[axis] for begin, axis in backward):
            return False
        name = node.input[0]
        for begin, end, axis, step in zip(*(each.tolist() for each in bounds)):
            size = shape[axis]
            if step > 0:
                name = self.emit("Slice", [name, *map(self.constant, ([begin], [end], [axis], [step]))])
                continue
            begin = min(begin + size if begin < 0 else begin, size - 1)
            end = max(end + size if end < 0 else end, -1)
            name = self.gather(name, axis, np.arange(begin, end, step))
        self.emit("Identity", [name], node.output[0])
        return True

    def state_axes(self, node: Any) -> bool:
        """States the axes of a slice that leaves them out and has steps behind them."""
        count = self.shapes.get(node.input[1], [None])[0]
        if count is None or len(node.input) < 5 or node.input[3]:
            return False
        self.emit("Slice", [*node.input[:3], self.constant(list(range(count))), node.input[4]], node.output[0])
        return True

    def on_depth_to_space(self, node: Any) -> bool:
        """Its definition: the compiler mixes up the places of images one pixel wide, and of open sizes. The latter are
        left to kernels."""
        shape, own = self.shapes.get(node.input[0], []), self.attributes(node)
        if len(shape) != 4 or shape[1] is None or None in shape and self.leaves_layers:
            return False
        block, channels = own["blocksize"], shape[1]
        is_first = own.get("mode", b"DCR") == b"DCR"
        each = channels // block**2
        split = [block, block, each] if is_first else [each, block, block]
        batch, sizes = self.part_of_shape(node.input[0], 0, 1), self.part_of_shape(node.input[0], 2, 4)
        apart = self.emit("Reshape", [
            node.input[0], self.emit("Concat", [batch, self.constant(split), sizes], axis=0)])
        turned = self.emit("Transpose", [apart], perm=[0, 3, 4, 1, 5, 2] if is_first else [0, 1, 4, 2, 5, 3])
        larger = self.emit("Mul", [sizes, self.constant([block])])
        self.emit("Reshape", [turned, self.emit("Concat", [batch, self.constant([each]), larger], axis=0)],
                  node.output[0])
        return True

    def part_of_shape(self, name: str, begin: int, end: int) -> str:
        """Sizes of a tensor of a known rank: a constant, if they are known."""
        known = self.shapes[name][begin:end]
        if None not in known:
            return self.constant(known)
        return self.emit("Shape", [name], start=begin, end=end)

    def on_space_to_depth(self, node: Any) -> bool:
        """Its definition, where the compiler does not see that the place in a block is behind the channel, or does not
        know the sizes."""
        shape, own = self.shapes.get(node.input[0], []), self.attributes(node)
        is_first = own.get("mode", b"DCR") == b"DCR"
        if len(shape) != 4 or shape[1] is None or is_first and None not in shape:
            return False
        block, channels = own["blocksize"], shape[1]
        square, batch = self.constant([block]), self.part_of_shape(node.input[0], 0, 1)
        fewer = self.emit("Div", [self.part_of_shape(node.input[0], 2, 4), square])
        rows, columns = (self.slice(fewer, 0, i, i + 1) for i in range(2))
        apart = self.emit("Reshape", [node.input[0], self.emit(
            "Concat", [batch, self.constant([channels]), rows, square, columns, square], axis=0)])
        turned = self.emit("Transpose", [apart], perm=[0, 3, 5, 1, 2, 4] if is_first else [0, 1, 3, 5, 2, 4])
        self.emit("Reshape", [turned, self.emit(
            "Concat", [batch, self.constant([channels * block**2]), fewer], axis=0)], node.output[0])
        return True

    def on_swish(self, node: Any) -> bool:
        if not self.is_real(node.input[0]):
            return False
        self.swish(node.input[0], self.attributes(node).get("alpha", 1.0), node.output[0])
        return True

    def swish(self, name: str, alpha: float, output: str | None = None) -> str:
        scaled = name if alpha == 1 else self.emit("Mul", [name, self.number(alpha, name)])
        return self.emit("Mul", [name, self.emit("Sigmoid", [scaled])], output)

    def on_gated(self, node: Any) -> bool:
        """SwiGLU: the second input by the Swish of the first."""
        gate, value = node.input
        if not self.is_real(gate):
            return False
        self.emit("Mul", [self.swish(gate, self.attributes(node).get("alpha", 1.0)), value], node.output[0])
        return True

    def on_running_product(self, node: Any) -> bool:
        """CumProd: of pairs, then of twice as many, until they are of all."""
        source, axis = node.input
        shape, axes, own = self.shapes.get(source, [None]), self.constants.get(axis), self.attributes(node)
        if None in shape or axes is None:
            return False
        axis = int(axes.reshape(())) % len(shape)
        size, element = shape[axis], self.onnx.helper.tensor_dtype_to_np_dtype(self.types[source])

        def moved(name: str, count: int) -> str:
            """Each number in the place that is so many behind its own, and ones."""
            ones = self.constant(np.ones([*shape[:axis], count, *shape[axis + 1:]], element))
            parts = [ones, self.slice(name, axis, 0, size - count)]
            if own.get("reverse", 0):
                parts = [self.slice(name, axis, count, size), ones]
            return self.emit("Concat", parts, axis=axis)

        product = moved(source, 1) if own.get("exclusive", 0) else source
        count = 1
        while count < size:
            product = self.emit("Mul", [product, moved(product, count)])
            count *= 2
        self.emit("Identity", [product], node.output[0])
        return True

    def on_scattered_extremes(self, node: Any) -> bool:
        """Each place of the result takes the greatest or least of all updates that go there."""
        data, indices, updates = node.input
        own = self.attributes(node)
        kind = own.get("reduction", b"none").decode()
        shape, given = (self.shapes.get(name, [None]) for name in (data, indices))
        numbers, types = self.types.get(updates), self.onnx.TensorProto
        if (kind not in ("max", "min") or None in [*shape, *given]
                or numbers not in (types.FLOAT, types.INT32, types.INT64)):
            return False
        axis = own.get("axis", 0) % len(shape)
        size, places = shape[axis], [1] * (len(shape) + 1)
        if math.prod(given) * size > _SCATTER_MAX:
            return False
        integers = self.emit("Cast", [indices], to=self.onnx.TensorProto.INT64)
        zero, whole = self.constant(np.asarray(0)), self.constant(np.asarray(size))
        integers = self.emit("Where", [self.emit("Less", [integers, zero]), self.emit("Add", [integers, whole]),
                                       integers])
        places[axis] = size
        apart = self.constant([axis])
        is_there = self.emit("Equal", [self.emit("Unsqueeze", [integers, apart]),
                                       self.constant(np.arange(size).reshape(places))])
        none = self.constant(self.extreme(numbers, kind == "min"))
        found = self.emit("Where", [is_there, self.emit("Unsqueeze", [updates, apart]), none])
        found = self.reduce(f"Reduce{kind.title()}", found, [axis + 1], keepdims=0)
        missing = [0 if i == axis else shape[i] - given[i] for i in range(len(shape))]
        if any(missing):
            found = self.emit("Pad", [found, self.constant([*[0] * len(shape), *missing]), none])
        self.emit(kind.title(), [data, found], node.output[0])
        return True

    def extreme(self, element: int, is_greatest: bool) -> np.ndarray:
        """The greatest or the least number of a type."""
        dtype = self.onnx.helper.tensor_dtype_to_np_dtype(element)
        if dtype.kind == "f":
            return np.asarray(np.inf if is_greatest else -np.inf, dtype)
        limits = np.iinfo(dtype)
        return np.asarray(limits.max if is_greatest else limits.min, dtype)

    def on_single_numbers(self, node: Any) -> bool:
        """A reduction over axes of one element, or over none, at which the compiler crashes."""
        shape, result = (self.shapes.get(name, [None]) for name in (node.input[0], node.output[0]))
        if None in shape or None in result or not shape:
            return False
        axes = self.reduced_axes(node, len(shape))
        if axes is None or any(shape[axis] != 1 for axis in axes):
            return False
        numbers = node.input[0]
        if node.op_type != "ReduceLogSumExp":
            numbers = self.emit("Abs" if node.op_type == "ReduceL2" else "Log", [numbers])
        self.emit("Reshape", [numbers, self.constant(np.array(result, np.int64))], node.output[0])
        return True

    def on_tensor_scatter(self, node: Any) -> bool:
        """A cache whose elements from a place on are new, another place for each batch."""
        cache, update, begins = [*node.input, ""][:3]
        shape, new = (self.shapes.get(name, [None]) for name in (cache, update))
        own = self.attributes(node)
        if None in [*shape, *new]:
            return False
        axis, rank = own.get("axis", -2) % len(shape), len(shape)
        count = shape[axis]
        places = self.constant(np.arange(count).reshape([-1 if i == axis else 1 for i in range(rank)]))
        if begins:
            begins = self.emit("Cast", [begins], to=self.onnx.TensorProto.INT64)
            apart = self.emit("Reshape", [begins, self.constant([-1, *[1] * (rank - 1)])])
            places = self.emit("Sub", [places, apart])
        if own.get("mode", b"linear") == b"circular":
            places = self.emit("Mod", [places, self.constant(np.asarray(count))])
        zero, last = self.constant(np.asarray(0)), self.constant(np.asarray(new[axis] - 1))
        is_new = self.emit("And", [self.emit("GreaterOrEqual", [places, zero]),
                                   self.emit("LessOrEqual", [places, last])])
        places = self.emit("Clip", [places, zero, last])
        places = self.emit("Expand", [places, self.constant(shape)])
        found = self.emit("GatherElements", [update, places], axis=axis)
        self.emit("Where", [is_new, found, cache], node.output[0])
        return True
