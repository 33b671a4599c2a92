#!/usr/bin/env python3
"""Makes a program file of the driver "openvino" from an ONNX model or an IR.

usage: make_program.py MODEL OUT [--function=NAME] [--shape=INPUT=1,3,96,96 ...]

MODEL is a .onnx, or a .xml with its .bin beside it. The names, types and shapes of its inputs and outputs go into
the file; the driver checks them against the model when it loads it. --shape sets an input whose shape is dynamic. The
function, by whose name dispatches call the model, is "main" without --function. Needs the wheel `openvino`.
"""
import argparse
import pathlib
import struct
import sys

import openvino

# The numbers of takt/element_type.h.
ELEMENT_TYPES = {
    "boolean": 0x13000008, "i8": 0x10000008, "i16": 0x10000010, "i32": 0x10000020, "i64": 0x10000040,
    "u8": 0x12000008, "u16": 0x12000010, "u32": 0x12000020, "u64": 0x12000040,
    "f16": 0x21000010, "f32": 0x21000020, "f64": 0x21000040, "bf16": 0x22000010,
}


def name_field(name):
    data = name.encode()
    if not 0 < len(data) < 88:
        sys.exit(f"{name!r}: a name has 1 to 87 bytes")
    return data.ljust(88, b"\0")


def tensor_record(port):
    if port.partial_shape.is_dynamic:
        sys.exit(f"{port.any_name}: the shape {port.partial_shape} is dynamic; --shape sets those of inputs")
    dims = list(port.shape)
    kind = port.element_type.get_type_name()
    if kind not in ELEMENT_TYPES or len(dims) > 8:
        sys.exit(f"{port.any_name}: {kind} of rank {len(dims)} is not supported")
    return struct.pack("<II8I", ELEMENT_TYPES[kind], len(dims), *dims, *[0] * (8 - len(dims))) + name_field(port.any_name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--function", default="main")
    parser.add_argument("--shape", action="append", default=[])
    arguments = parser.parse_args()
    model = openvino.Core().read_model(arguments.model)
    shapes = dict(each.rsplit("=", 1) for each in arguments.shape)
    if shapes:
        model.reshape({name: [int(size) for size in text.split(",")] for name, text in shapes.items()})
    is_ir = arguments.model.suffix == ".xml"
    weights = arguments.model.with_suffix(".bin").read_bytes() if is_ir else b""
    content = arguments.model.read_bytes()
    header = struct.pack("<4sIIIIIQQ", b"TNOV", 1, 2 if is_ir else 1, len(model.inputs), len(model.outputs), 0,
                         len(content), len(weights)) + name_field(arguments.function)
    records = b"".join(tensor_record(port) for port in [*model.inputs, *model.outputs])
    arguments.out.write_bytes(header + records + content + weights)


if __name__ == "__main__":
    main()
