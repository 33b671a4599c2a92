"""Selects the products of a program for an NPU, and gives the reasons for the rest.

The program is MLIR after the compiler's global optimization, where each product
of matrices is one operation of `linalg` with its header on one line. Products
for the NPU get transfers of their operands and results, as docs/npu.md shows.
"""

from __future__ import annotations

import dataclasses
import re

from ..errors import CompileError

# Fewer multiply-adds than this take less time than handing them over.
MULTIPLY_ADDS_MIN = 32 * 1024
# Left, right and sum, as the compiler's microkernels multiply them.
_TYPES = {
    ("f32", "f32", "f32"),
    ("i8", "i8", "i32"),
    ("f16", "f16", "f16"),
    ("f16", "f16", "f32"),
    ("bf16", "bf16", "bf16"),
    ("bf16", "bf16", "f32"),
}
_NPU_TARGET = (
    '#hal.executable.target<"vmvx", "npu-fb", '
    '{ukernels = "all", iree.encoding.resolver = #iree_cpu.vmvx_encoding_resolver<>}>'
)
_CPU_RESOLVER = ", iree.encoding.resolver = #iree_cpu.cpu_encoding_resolver<>"
_DEVICE = re.compile(
    r'^(\s*util\.global private @(\w+) = )#hal\.device\.target<"local", \[(#hal\.executable\.target<.*>)\]> : !hal\.device$',
    re.M,
)
_OPERATION = re.compile(r"^\s*%[\w$.:-]+ = (linalg\.\w+|iree_linalg_ext\.\w+)")
_PRODUCT = re.compile(
    r"^(?P<indent>\s*)(?P<result>%[\w$.-]+) = (?P<head>linalg\.(?:matmul|generic)\b.*?) ?"
    r"ins\((?P<a>%[\w$.#-]+), (?P<b>%[\w$.#-]+) : (?P<ta>tensor<[^<>]*>), (?P<tb>tensor<[^<>]*>)\) "
    r"outs\((?P<c>%[\w$.#-]+) : (?P<tc>tensor<[^<>]*>)\)(?P<tail>.*)$"
)
_MAP = re.compile(r"affine_map<\(([^)]*)\) -> \(([^)]*)\)>")
# What the body of a generic product may do between its first and last line.
_BODY_OPERATION = re.compile(r"^\s*(?:%[\w$.-]+ = arith\.(?:ext[fsu]i?|mulf|muli|addf|addi)\b|linalg\.yield\b|\^bb0\()")


@dataclasses.dataclass
class Layer:
    """Operations of one kind and shape, and where they go."""

    what: str
    where: str  # "npu" or "cpu".
    why: str
    count: int = 1
    multiply_adds: int = 0  # Of one.


def place(text: str) -> tuple[str, list[Layer]]:
    """The program with its products on an NPU if there is one, and the placement.

    The same module runs on the CPU alone: each product has code for both.
    """
    device = _DEVICE.search(text)
    if device is None:
        raise CompileError("for an NPU, the target must be one CPU")
    cpu_name, cpu_target = device.group(2), device.group(3)
    lines = text.split("\n")
    layers: dict[tuple[str, str, str], Layer] = {}
    placed: list[str] = []
    number = 0
    i = 0
    while i < len(lines):
        line = lines[i]
        operation = _OPERATION.match(line)
        if not operation:
            placed.append(line)
            i += 1
            continue
        end = _end_of_operation(lines, i)
        layer, match = _judge(operation.group(1), line, lines[i + 1 : end])
        if layer is not None:
            known = layers.setdefault((layer.what, layer.where, layer.why), layer)
            if known is not layer:
                known.count += 1
        if layer is not None and layer.where == "npu":
            number += 1
            placed += _transferred(match, lines[i + 1 : end], number, cpu_name)
        else:
            placed += lines[i:end]
        i = end
    both = _device(_NPU_TARGET), _device(cpu_target.replace(_CPU_RESOLVER, ""))
    globals_ = (
        f"{device.group(1)}{_device(cpu_target)}\n"
        f"  util.global private @takt_npu = #hal.device.select<[{both[0]}, {both[1]}]> : !hal.device"
    )
    text = "\n".join(placed).replace(device.group(0), globals_, 1)
    return text, sorted(layers.values(), key=lambda layer: -layer.multiply_adds * layer.count)


def _device(target: str) -> str:
    return f'#hal.device.target<"local", {{ordinal = 0 : index}}, [{target}]> : !hal.device'


def _end_of_operation(lines: list[str], begin: int) -> int:
    """The line after an operation; with a region, after the } of its indent."""
    if not lines[begin].rstrip().endswith("{"):
        return begin + 1
    indent = lines[begin][: len(lines[begin]) - len(lines[begin].lstrip())]
    for i in range(begin + 1, len(lines)):
        if lines[i].startswith(indent + "}"):
            return i + 1
    raise CompileError(f"MLIR: {lines[begin].strip()[:60]!r} is not closed")


def _judge(kind: str, line: str, body: list[str]) -> tuple[Layer | None, re.Match | None]:
    """Where an operation goes; None: it does no work that is worth a word."""
    if kind in ("linalg.fill", "linalg.index", "linalg.yield"):
        return None, None
    if kind.startswith("linalg.conv_") or kind.startswith("linalg.depthwise_"):
        return Layer(kind, "cpu", "a convolution is no product of matrices; recipe im2col makes it one"), None
    if kind == "linalg.batch_matmul":
        return Layer(kind, "cpu", "a batch of products"), None
    match = _PRODUCT.match(line)
    if match is None or not (kind == "linalg.matmul" or _is_product(match, body)):
        reason = "no product of two matrices"
        return Layer("element by element" if kind == "linalg.generic" else kind, "cpu", reason), None
    a, b, c = (_shape(match[name]) for name in ("ta", "tb", "tc"))
    types = (a[1], b[1], c[1])
    what = f"product of {_text(a)} and {_text(b)} to {_text(c)}"
    if any(None in shape for shape, _ in (a, b, c)):
        return Layer(what, "cpu", "its shape is not static"), None
    # Of (m, k) and (k, n) in any order: the product of all sizes, each twice.
    count = int(round((_size(a) * _size(b) * _size(c)) ** 0.5))
    if types not in _TYPES:
        return Layer(what, "cpu", f"the NPU's code has no product of {'x'.join(types)}", 1, count), None
    if min(min(shape, default=0) for shape, _ in (a, b, c)) < 2:
        return Layer(what, "cpu", "a product with a vector", 1, count), None
    if count < MULTIPLY_ADDS_MIN:
        return Layer(what, "cpu", f"only {count} multiply-adds", 1, count), None
    return Layer(what, "npu", f"{count} multiply-adds; the CPU has code for it, too", 1, count), match


def _is_product(match: re.Match, body: list[str]) -> bool:
    """Whether a linalg.generic is sum(a[..] * b[..]) over one index of two
    matrices, and nothing else."""
    maps = _MAP.findall(match["head"])
    if len(maps) != 3:
        return False
    indices = [tuple(part.strip() for part in outputs.split(",")) for _, outputs in maps]
    if any(len(each) != 2 or each[0] == each[1] for each in indices):
        return False
    left, right, out = (set(each) for each in indices)
    if len(left & right) != 1 or (left | right) - (left & right) != out:
        return False
    if not all(_BODY_OPERATION.match(line) for line in body[:-1]):
        return False
    said = "\n".join(body)
    return len(re.findall(r"arith\.mul[fi]\b", said)) == 1 and len(re.findall(r"arith\.add[fi]\b", said)) == 1


def _shape(text: str) -> tuple[list[int | None], str]:
    *dimensions, element = text[len("tensor<") : -1].split(",")[0].split("x")
    return [None if d == "?" else int(d) for d in dimensions], element


def _text(shape: tuple[list[int | None], str]) -> str:
    return "x".join(["?" if d is None else str(d) for d in shape[0]] + [shape[1]])


def _size(shape: tuple[list[int | None], str]) -> int:
    size = 1
    for d in shape[0]:
        size *= d or 1
    return size


def _transferred(match: re.Match, body: list[str], number: int, cpu: str) -> list[str]:
    """The product on the NPU, its operands sent there and its result sent back."""
    indent, head = match["indent"], match["head"]
    a, b, result = (f"%takt_npu_{name}{number}" for name in ("a", "b", "result"))
    send = "{0}{1} = flow.tensor.transfer {2} : {3} to #hal.device.affinity<@{4}>".format
    return [
        send(indent, a, match["a"], match["ta"], "takt_npu"),
        send(indent, b, match["b"], match["tb"], "takt_npu"),
        f"{indent}{result} = {head} ins({a}, {b} : {match['ta']}, {match['tb']}) "
        f"outs({match['c']} : {match['tc']}){match['tail']}",
        *body,
        send(indent, match["result"], result, match["tc"], cpu),
    ]
