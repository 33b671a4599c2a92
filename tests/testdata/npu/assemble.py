#!/usr/bin/env python3
"""Assembles programs in Takt's command format (docs/npu.md).

usage: assemble.py [SOURCE] OUT     without SOURCE: the program of route_b.mlir

A source has lines "function NAME CONSTANTS BINDINGS" and commands: the name of an opcode and its fields; cN is constant N.
"""
import struct
import sys

OPCODES = ["barrier", "load", "store", "fill", "matmul", "elementwise", "requantize"]

# The product of s8 matrices 32x64 and 64x48, whose sizes m, n, k are constants 0, 1 and 2.
ROUTE_B = """
function npu_matmul_i8 3 3
load 0 0 c2 c0 c2 0 c2
load 1 0 c1 c2 c1 65536 c1
barrier
matmul 0 65536 131072 c0 c1 c2 0
barrier
store 2 0 192 c0 192 131072 192
"""


def assemble(text):
    functions, commands, names = [], [], b""
    for line in text.splitlines():
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "function":
            functions.append([len(names), len(commands), 0, int(words[2]), int(words[3])])
            names += words[1].encode() + b"\0"
            continue
        mask, fields = 0, [0] * 14
        for i, word in enumerate(words[1:]):
            if word.startswith("c"):
                mask |= 1 << i
                word = word[1:]
            fields[i] = int(word) & 0xFFFFFFFF
        commands.append(struct.pack("<HHI14I", OPCODES.index(words[0]), 0, mask, *fields))
        functions[-1][2] += 1
    header = b"TNPC" + struct.pack("<7I", 1, len(functions), len(commands), len(names), 0, 0, 0)
    return header + b"".join(struct.pack("<3I2H", *f) for f in functions) + b"".join(commands) + names


if __name__ == "__main__":
    source = open(sys.argv[1]).read() if len(sys.argv) > 2 else ROUTE_B
    open(sys.argv[-1], "wb").write(assemble(source))
