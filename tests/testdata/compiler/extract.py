#!/usr/bin/env python3
"""Lists what the compiler can write, from the binaries of its wheels.

  instructions.txt  SET CODE MNEMONIC of each instruction: the table of the assembler (iree-as-module)
  imports.txt       MODULE VERSION FUNCTION CONVENTION of each function that compiled modules import from the runtime, with
                    the version of the module that it asks for: the declarations that libIREECompiler.so contains as text

usage: extract.py FOLDER     writes both files there
needs: iree-compile and iree-as-module on the PATH
"""
import mmap
import pathlib
import re
import shutil
import struct
import subprocess
import sys

SETS = ("core", "f32", "f64")
LETTERS = {"i32": "i", "i64": "I", "f32": "f", "f64": "F"}
ENTRY = struct.Struct("<QQQQQQIIQQQ")  # Name, two more texts (address and length each), set, code, ...


def wheel_file(tool, package, pattern):
    """The file of the wheel that the script `tool` belongs to."""
    script = shutil.which(tool)
    if script is None:
        sys.exit(f"{tool} is not on the PATH")
    python = pathlib.Path(script).open().readline().removeprefix("#!").split()
    code = f"import {package} as p; print(p.__path__[0])"
    folder = subprocess.run(python + ["-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return next(pathlib.Path(folder).rglob(pattern))


class Elf:
    """Bytes and symbols of a 64-bit little-endian ELF file that is loaded where it says."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        header = struct.unpack_from("<16sHHIQQQIHHHHHH", self.bytes, 0)
        self.segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, header[5] + i * header[9]) for i in range(header[10])]
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.bytes, header[6] + i * header[11]) for i in range(header[12])]

    def offset(self, address):
        for kind, _, offset, start, _, size, _, _ in self.segments:
            if kind == 1 and start <= address < start + size:
                return address - start + offset
        raise ValueError(f"no segment has address {address:#x}")

    def text(self, address, length):
        return self.bytes[self.offset(address):][:length].decode()

    def symbol(self, wanted):
        """Address and size."""
        for section in self.sections:
            if section[1] != 2:  # SHT_SYMTAB
                continue
            names = self.sections[section[6]][4]
            for at in range(section[4], section[4] + section[5], 24):
                name, _, _, _, address, size = struct.unpack_from("<IBBHQQ", self.bytes, at)
                end = self.bytes.index(b"\0", names + name)
                if self.bytes[names + name:end].decode() == wanted:
                    return address, size
        raise ValueError(f"no symbol {wanted}")


def instructions():
    elf = Elf(wheel_file("iree-as-module", "iree._runtime_libs", "iree-as-module"))
    address, size = elf.symbol("iree_vm_isa_instructions")
    found = []
    for i in range(size // ENTRY.size):
        entry = ENTRY.unpack_from(elf.bytes, elf.offset(address + i * ENTRY.size))
        found.append((entry[6], entry[7], elf.text(entry[0], entry[1])))
    return [f"{SETS[s]} {code:02x} {name}" for s, code, name in sorted(found)]


def split(text):
    """At the commas that stand in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([") - (c in ">)]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


def letters(types):
    out = ""
    for t in types:
        t = t.split(":", 1)[1].strip() if t.startswith("%") else t
        repeated = t.endswith("...")
        t = t.removesuffix("...").strip()
        inner = letters(split(t[len("tuple<"):-1])) if t.startswith("tuple<") else LETTERS.get(t, "r" if t[0] == "!" else None)
        if inner is None:
            raise ValueError(f"no letter for type {t}")
        out += f"C{inner}D" if repeated else inner
    return out or "v"


IMPORT = re.compile(r"vm\.import private (?:optional )?@([\w.]+)\((.*?)\)\s*(?:->\s*(\([^)]*\)|[^\s(]+))?\s*(?:attributes \{(.*?)\})?\s*"
                    r"(?=vm\.import|\}|$)", re.DOTALL)


def imports():
    path = wheel_file("iree-compile", "iree.compiler", "libIREECompiler.so")
    lines = []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for start in re.finditer(rb"vm\.module @(\w+) \{", data):
            module = start.group(1).decode()
            text = data[start.end():data.find(b"\0", start.end())].decode()
            text = re.sub(r"//.*", "", text)
            found = IMPORT.findall(text)
            if len(found) != text.count("vm.import"):
                raise ValueError(f"read {len(found)} imports of {module}, which has {text.count('vm.import')}")
            for name, arguments, results, attributes in found:
                version = re.search(r"minimum_version = (\d+)", attributes)
                convention = "0" + letters(split(arguments)) + "_" + letters(split(results.strip("()")))
                lines.append(f"{module} {version.group(1) if version else 0} {name} {convention}")
    return sorted(lines)


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, lines in (("instructions.txt", instructions()), ("imports.txt", imports())):
        (folder / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main()
