#!/usr/bin/env python3
"""Routes B + E: puts the bytes of a program in place of an executable, without a container.

usage: embed.py SOURCE.mlir PROGRAM OUT.vmfb     with iree-compile on the PATH

route_be.vmfb is route_b.mlir with npu_prog.bin, route_be.vendor.vmfb the same with bytes of nobody's format.
"""
import re
import subprocess
import sys

source, program, out = sys.argv[1:]
COMPILE = ["iree-compile", "--iree-hal-executable-object-search-path=.", "--iree-hal-link-executables=false"]
text = subprocess.run([*COMPILE, source, "--compile-to=hal"], check=True, stdout=subprocess.PIPE, text=True).stdout
data = open(program, "rb").read()
pattern = re.compile(r'<format = "npu-fb", data = dense<"0x[0-9A-Fa-f]*"> : vector<\d+xi8>')
text, count = pattern.subn(f'<format = "npu-fb", data = dense<"0x{data.hex().upper()}"> : vector<{len(data)}xi8>', text)
if count == 0:
    sys.exit("no executable of format npu-fb")
subprocess.run(["iree-compile", "-", "--compile-from=hal", "-o", out], check=True, input=text, text=True)
