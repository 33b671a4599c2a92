#!/usr/bin/env python3
"""Writes docs/coverage.md: every instruction and every import of the native
modules, whether Takt has it, and what tests it.

  instructions  src/vm/opcodes.inc
  imports       tests/testdata/compiler/imports.txt, what the compiler knows
  there is      a case in the interpreter's source; an Export<> of its name
  tested by     fixtures with runs, whose code has the instruction or whose
                import table has the import (what they print is compared with
                the oracle's output or with arithmetic), and test sources that
                name it

usage: scripts/coverage.py [--check] [--tools build/release/tools]

  --check   writes nothing; exits with 1 if the page differs or has a gap

needs: takt-dump-module
"""
import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "testdata"
PAGE = ROOT / "docs" / "coverage.md"
MODULES = ("hal", "hal_inline", "hal_loader", "io_parameters", "check",
           "vmvx")
SET_PREFIX = {"kCore": "", "kF32": "e0 ", "kF64": "e1 "}
SHOWN = 3  # Fixtures and tests named in a row.

# What is not there, or not tested through compiled code, and why.
REASONS = {
    "cast.si32.f64": "the compiler never writes it",
    "cast.ui32.f64": "the compiler never writes it",
    "cast.f64.si32": "the compiler never writes it",
    "cast.f64.ui32": "the compiler never writes it",
    "cond_break": "the compiler leaves out the condition, so that no reader "
                  "takes the module; the layout with it is read",
    "global.load.indirect.f32": "the compiler writes the f64 form in its place",
    "hal.channel.create": "no collectives on a CPU: UNIMPLEMENTED",
    "hal.channel.split": "no collectives on a CPU: UNIMPLEMENTED",
    "hal.channel.rank_and_count": "no collectives on a CPU: UNIMPLEMENTED",
    "hal.command_buffer.collective": "no collectives on a CPU: UNIMPLEMENTED",
}


def text_of(folder, pattern):
    return {path: path.read_text(errors="replace")
            for path in sorted((ROOT / folder).rglob(pattern))}


def opcodes():
    """(code, name, mnemonic) of every instruction."""
    row = re.compile(r'TAKT_VM_OP\((\w+), 0x([0-9a-f]{2}), (\w+), "([^"]+)"')
    for set_, code, name, mnemonic in row.findall(
            (ROOT / "src/vm/opcodes.inc").read_text()):
        yield SET_PREFIX[set_] + code, name, mnemonic


def imports():
    """(module, function) of every import that compiled modules know."""
    rows = [line.split() for line in
            (DATA / "compiler/imports.txt").read_text().splitlines()]
    return sorted({(row[0], row[2]) for row in rows},
                  key=lambda row: (MODULES.index(row[0]), row[1]))


def checked_modules():
    """(fixture, module) of every module that a run of a fixture loads."""
    for source in sorted(DATA.rglob("*.mlir")):
        head = []
        with open(source) as file:
            for line in file:
                if not line.startswith("//"):
                    break
                head.append(line)
        runs = [l for l in head if re.match(r"// (Run|Fails|Prints): ", l)]
        if not runs:
            continue
        fixture = str(source.relative_to(DATA).with_suffix(""))
        names = set(re.findall(r"--module=(\S+)", "".join(runs)))
        if any("--module=" not in line for line in runs):
            names.update(p.name for p in source.parent.glob(
                source.stem + ".*vmfb"))
        for name in sorted(names):
            module = source.parent / name.replace("%t", source.stem)
            if module.exists():
                yield fixture, module


def fixtures_by_word(dump):
    """For each mnemonic and import, the fixtures that have it."""
    found = {}
    name = re.compile(rb"(?:%s)\.[a-z0-9_.]*[a-z0-9]" %
                      "|".join(MODULES).encode())
    for fixture, path in checked_modules():
        words = {w.decode() for w in name.findall(path.read_bytes())}
        code = subprocess.run([dump, "--output=disassembly", path],
                              capture_output=True, text=True, check=True)
        words |= set(re.findall(r"^ +\d+: (?:%\S+ = )?([\w.]+)",
                                code.stdout, re.MULTILINE))
        for word in words:
            fixtures = found.setdefault(word, [])
            if fixture not in fixtures:
                fixtures.append(fixture)
    return found


def tests_naming(word, tests):
    pattern = r'(?<![\w.])%s(?![\w])' % re.escape(word)
    if word.startswith("vmvx."):  # Tests of that module leave its name out.
        pattern += '|"%s"' % re.escape(word.removeprefix("vmvx."))
    pattern = re.compile(pattern)
    return [str(path.relative_to(ROOT / "tests"))
            for path, text in tests.items() if pattern.search(text)]


def cell(names):
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"`{n}`" for n in names[:SHOWN]) + more


def row(head, there, fixtures, tests, reason):
    return (f"| {head} | {'yes' if there else 'no'} | {cell(fixtures)} "
            f"| {cell(tests)} | {reason} |\n")


def tables(dump):
    """The two tables, and what is missing without a reason."""
    fixtures = fixtures_by_word(dump)
    tests = text_of("tests", "*_test.c*")
    # What only walks over the table of all instructions tests none of them.
    interpreter = "".join((ROOT / "src/vm" / n).read_text() for n in (
        "function_translator.cc", "inner_op_tables.cc", "inner_ops.inc",
        "interpreter.cc"))
    exported = set()
    for path, text in {**text_of("src/modules", "*.cc"),
                       **text_of("src/cpu", "*.cc")}.items():
        exported.update(re.findall(r'Export\w*<[^;]*?>\(\s*"([^"]+)"', text))
    gaps, ops, calls = [], "", ""

    def add(head, word, there, tested):
        reason = REASONS.get(word, "")
        if (not there or not (fixtures.get(word) or tested)) and not reason:
            gaps.append(word)
        return row(head, there, fixtures.get(word, []), tested, reason)

    for code, name, mnemonic in opcodes():
        there = re.search(r"\b%s\b" % name, interpreter) is not None
        tested = [t for t in tests_naming(mnemonic, tests)
                  if t.startswith("vm/")]
        tested += [t for t in tests_naming("Op::" + name, tests)
                   if t.startswith("vm/") and t not in tested]
        ops += add(f"`{code}` | `{mnemonic}`", mnemonic, there, tested)
    for module, name in imports():
        full_name = f"{module}.{name}"
        there = name in exported
        calls += add(f"`{full_name}`", full_name, there,
                     tests_naming(full_name, tests))
    return ops, calls, gaps


def page(ops, calls):
    return f"""\
# What is covered

`scripts/coverage.py` writes this page from the sources and the fixtures.

*Fixtures* are in `tests/testdata/`; what they print is compared, byte for byte, with what the oracle printed, or with what
arithmetic says where the oracle is wrong. *Tests* are in `tests/`. A row without a fixture or a test has its reason.

## Instructions

| code | mnemonic | there | fixtures | tests | remark |
|---|---|---|---|---|---|
{ops}
## Branches

`scripts/branches.py` measures, with clang's coverage, which branches the tests of the readers of hostile files take, and ends with
an error if a side of a condition is not taken and has no reason in the script.

| source | tests | sides of branches | not taken |
|---|---|---|---|
| `src/cpu/elf_image.cc` | `tests/cpu/elf_image_test.cc`, `tests/cpu/elf_image_machines_test.cc` | 248 | none |
| `src/vm/bytecode_verifier.cc` | `tests/vm/bytecode_verifier_test.cc` | 240 | 2: the ends of the two switches over all kinds of operands, \
and over all letters of a convention |

## Imports

| import | there | fixtures | tests | remark |
|---|---|---|---|---|
{calls}"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tools", type=pathlib.Path,
                        default=ROOT / "build/release/tools")
    arguments = parser.parse_args()
    ops, calls, gaps = tables(arguments.tools / "takt-dump-module")
    text = page(ops, calls)
    for word in gaps:
        print(f"no reason given: {word}")
    differs = not PAGE.exists() or PAGE.read_text() != text
    if arguments.check and differs:
        print(f"differs: {PAGE.relative_to(ROOT)}")
    if not arguments.check:
        PAGE.write_text(text)
    return 1 if gaps or (arguments.check and differs) else 0


if __name__ == "__main__":
    sys.exit(main())
