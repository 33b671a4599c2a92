#!/usr/bin/env python3
"""Makes random programs for the VM as text, has iree-as-module assemble them,
and compares what takt-run-module prints with what iree-run-module prints and
with an evaluation of the text in this script.

A program has functions of i32 arguments and results that work on i32 and i64
registers: arithmetic, comparisons, selections, shifts, conversions, branches,
loops of a few rounds, tables of branches, and calls of the functions before.
The text is also made again from what takt-dump-module prints, and assembled:
the module must have the same bytes. And a few bytes of each module are changed:
takt-run-module must end by itself, with a result or with an error.

A failure prints the seed, and --seed=N --count=1 repeats it. The last line is
"N programs, N failures"; the exit code is 0 if there is no failure.

usage: scripts/generated_programs.py [--tools build/release/tools] [--seed=1]
                                     [--count=100] [--keep DIRECTORY]

needs: iree-as-module and iree-run-module of the wheel iree-base-runtime, on the
path or in --peer DIRECTORY
"""
import argparse
import pathlib
import random
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORD = 32
RUNS = 3        # Of each program, with other arguments.
DAMAGES = 4     # Of each module.
ROUNDS_MAX = 5  # Of a loop.
STEP_LIMIT = 100000


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def unsigned(value, bits):
    return value & ((1 << bits) - 1)


def divide(a, b):
    """Rounds towards zero, as the VM does."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


# name -> result of two operands, which are signed numbers of `bits` bits.
BINARY = {
    "add": lambda a, b, bits: a + b,
    "sub": lambda a, b, bits: a - b,
    "mul": lambda a, b, bits: a * b,
    "and": lambda a, b, bits: a & b,
    "or": lambda a, b, bits: a | b,
    "xor": lambda a, b, bits: a ^ b,
    "min.s": lambda a, b, bits: min(a, b),
    "max.s": lambda a, b, bits: max(a, b),
    "min.u": lambda a, b, bits: min(unsigned(a, bits), unsigned(b, bits)),
    "max.u": lambda a, b, bits: max(unsigned(a, bits), unsigned(b, bits)),
}
# The right operand is a positive constant: other divisors may be 0.
DIVISIONS = {
    "div.s": lambda a, b, bits: divide(a, b),
    "rem.s": lambda a, b, bits: a - divide(a, b) * b,
    "div.u": lambda a, b, bits: unsigned(a, bits) // b,
    "rem.u": lambda a, b, bits: unsigned(a, bits) % b,
}
# The right operand is a constant below the number of bits.
SHIFTS = {
    "shl": lambda a, b, bits: a << b,
    "shr.s": lambda a, b, bits: a >> b,
    "shr.u": lambda a, b, bits: unsigned(a, bits) >> b,
}
COMPARISONS = {
    "eq": lambda a, b, bits: a == b,
    "ne": lambda a, b, bits: a != b,
    "lt.s": lambda a, b, bits: a < b,
    "lt.u": lambda a, b, bits: unsigned(a, bits) < unsigned(b, bits),
}


def opcode(name, bits):
    """add.i32, min.i64.s"""
    stem, _, rest = name.partition(".")
    return f"vm.{stem}.i{bits}" + (f".{rest}" if rest else "")


class Function:
    """Registers 0 to narrow-1 hold i32, the pairs above them i64."""

    NARROW = 10
    WIDE = 5
    ARGUMENTS = 3
    RESULTS = 2

    def __init__(self, name, callees, chance, shape):
        self.name = name
        self.callees = callees
        self.chance = chance
        self.blocks = []  # Each a list of instructions, the last one ends it.
        self.counters = 0
        self._make(shape)

    # Instructions are tuples: ("binary", name, bits, to, a, b) and so on.
    def _narrow(self):
        return self.chance.randrange(self.NARROW)

    def _wide(self):
        return self.chance.randrange(self.WIDE)

    def _register(self, bits):
        return self._narrow() if bits == 32 else self._wide()

    def _target(self, bits):
        # The last i32 registers count rounds and hold conditions.
        return (self.chance.randrange(self.NARROW - 3) if bits == 32
                else self._wide())

    def _instruction(self):
        chance = self.chance
        bits = chance.choice((32, 64))
        kind = chance.randrange(10)
        to = self._target(bits)
        a, b = self._register(bits), self._register(bits)
        if kind < 4:
            return ("binary", chance.choice(sorted(BINARY)), bits, to, a, b)
        if kind == 4:
            # A pair of instructions: the constant, then what uses it.
            return ("divide", chance.choice(sorted(DIVISIONS)), bits, to, a,
                    chance.randrange(1, 1 << chance.randrange(1, 31)))
        if kind == 5:
            return ("shift", chance.choice(sorted(SHIFTS)), bits, to, a,
                    chance.randrange(bits))
        if kind == 6:
            return ("compare", chance.choice(sorted(COMPARISONS)), bits,
                    self._target(32), a, b)
        if kind == 7:
            return ("select", bits, to, self._narrow(), a, b)
        if kind == 8:
            edge = (0, 1, -1, (1 << (bits - 1)) - 1, -(1 << (bits - 1)))
            value = chance.choice(edge + (chance.getrandbits(bits - 1),))
            return ("constant", bits, to, value)
        if self.callees and chance.randrange(3) == 0:
            return ("call", chance.choice(self.callees),
                    self._target(32),
                    [self._narrow() for _ in range(self.ARGUMENTS)])
        if chance.randrange(2) == 0:
            return ("widen", chance.choice("su"), self._wide(), self._narrow())
        return ("shorten", self._target(32), self._wide())

    def _straight(self):
        return [self._instruction()
                for _ in range(self.chance.randrange(1, 8))]

    def _make(self, shape):
        start = [("constant", 32, r, 0)
                 for r in range(self.ARGUMENTS, self.NARROW)]
        start += [("constant", 64, r, 0) for r in range(self.WIDE)]
        # Every block begins where the one before goes on.
        self.blocks.append(start)
        for _ in range(shape):
            kind = self.chance.randrange(4)
            at = len(self.blocks)
            self.blocks[-1] += self._straight()
            condition = self.NARROW - 1
            if kind == 0:  # One way or the other.
                self.blocks[-1].append(("branch_if", self._narrow(), at,
                                        at + 1))
                self.blocks.append(self._straight() + [("branch", at + 2)])
                self.blocks.append(self._straight() + [("branch", at + 2)])
                self.blocks.append([])
            elif kind == 1:  # A loop; its counter is no target of others.
                counter = self.NARROW - 2
                self.blocks[-1] += [
                    ("constant", 32, counter,
                     self.chance.randrange(1, ROUNDS_MAX)),
                    ("branch", at)]
                self.blocks.append(self._straight() + [
                    ("step", counter), ("branch_if", counter, at, at + 1)])
                self.blocks.append([])
            elif kind == 2:  # A table of branches.
                ways = self.chance.randrange(1, 4)
                self.blocks[-1] += [
                    ("table", self._narrow(), at,
                     [at + 1 + i for i in range(ways)])]
                for _ in range(ways + 1):
                    self.blocks.append(
                        self._straight() + [("branch", at + ways + 1)])
                self.blocks.append([])
            else:
                self.blocks[-1].append(("compare", "lt.s", 32, condition,
                                        self._narrow(), self._narrow()))
        # Every register counts, and both halves of each i64.
        wide = 0
        for register in range(1, self.WIDE):
            self.blocks[-1].append(("binary", "add", 64, wide, wide, register))
        for register in range(3, self.NARROW):
            self.blocks[-1].append(
                ("binary", self.chance.choice(("add", "xor")), 32, 2, 2,
                 register))
        self.blocks[-1] += [("shorten", 3, wide),
                            ("shift", "shr.u", 64, wide, wide, WORD),
                            ("shorten", 4, wide),
                            ("binary", "add", 32, 0, 0, 2),
                            ("binary", "add", 32, 0, 0, 3),
                            ("binary", "xor", 32, 1, 1, 4),
                            ("return", [0, 1])]

    # As text.
    def _name(self, bits, register):
        if bits == 32:
            return f"%i{register}"
        low = self.NARROW + 2 + 2 * register
        return f"%i{low}:{low + 1}"

    def _lines(self, instruction):
        scratch = self.NARROW
        wide_scratch = f"%i{self.NARROW + 2 + 2 * self.WIDE}"
        wide_scratch += f":{self.NARROW + 3 + 2 * self.WIDE}"
        kind, *rest = instruction
        name = self._name
        if kind == "binary":
            op, bits, to, a, b = rest
            return [f"{name(bits, to)} = {opcode(op, bits)} {name(bits, a)}, "
                    f"{name(bits, b)}"]
        if kind == "divide":
            op, bits, to, a, value = rest
            by = f"%i{scratch}" if bits == 32 else wide_scratch
            return [f"{by} = vm.const.i{bits} {value}",
                    f"{name(bits, to)} = {opcode(op, bits)} {name(bits, a)}, "
                    f"{by}"]
        if kind == "shift":
            op, bits, to, a, value = rest
            return [f"%i{scratch} = vm.const.i32 {value}",
                    f"{name(bits, to)} = {opcode(op, bits)} {name(bits, a)}, "
                    f"%i{scratch}"]
        if kind == "compare":
            op, bits, to, a, b = rest
            compare = opcode(op, bits).replace("vm.", "vm.cmp.")
            return [f"{name(32, to)} = {compare} {name(bits, a)}, "
                    f"{name(bits, b)}"]
        if kind == "select":
            bits, to, condition, a, b = rest
            return [f"{name(bits, to)} = vm.select.i{bits} "
                    f"{name(32, condition)} ? {name(bits, a)} : "
                    f"{name(bits, b)}"]
        if kind == "constant":
            bits, to, value = rest
            return [f"{name(bits, to)} = vm.const.i{bits} {value}"]
        if kind == "call":
            callee, to, arguments = rest
            listed = ", ".join(name(32, a) for a in arguments)
            return [f"{name(32, to)}, %i{scratch} = vm.call @{callee.name}"
                    f"({listed})"]
        if kind == "widen":
            sign, to, a = rest
            return [f"{name(64, to)} = vm.ext.i32.i64.{sign} {name(32, a)}"]
        if kind == "shorten":
            to, a = rest
            return [f"{name(32, to)} = vm.trunc.i64.i32 {name(64, a)}"]
        if kind == "step":
            (register,) = rest
            return [f"%i{scratch} = vm.const.i32 1",
                    f"{name(32, register)} = vm.sub.i32 {name(32, register)}, "
                    f"%i{scratch}"]
        if kind == "branch":
            return [f"vm.br ^bb{rest[0]}()"]
        if kind == "branch_if":
            register, yes, no = rest
            return [f"vm.cond_br {name(32, register)}, ^bb{yes}(), ^bb{no}()"]
        if kind == "table":
            register, default, ways = rest
            cases = "".join(f", {i}: ^bb{way}()" for i, way in enumerate(ways))
            return [f"vm.br_table {name(32, register)} {{ default: "
                    f"^bb{default}(){cases} }}"]
        assert kind == "return"
        return ["vm.return " + ", ".join(name(32, r) for r in rest[0])]

    def text(self):
        arguments = ", ".join(f"%i{i}: i32" for i in range(self.ARGUMENTS))
        results = ", ".join(["i32"] * self.RESULTS)
        lines = [f"vm.func @{self.name}({arguments}) -> ({results}) {{"]
        for number, block in enumerate(self.blocks):
            lines.append(f"^bb{number}:")
            for instruction in block:
                lines += ["  " + line for line in self._lines(instruction)]
        return "\n".join(lines + ["}"])

    # As numbers.
    def run(self, arguments):
        narrow = list(arguments) + [0] * (self.NARROW - len(arguments))
        files = {32: narrow, 64: [0] * self.WIDE}
        at = 0
        while True:
            for kind, *rest in self.blocks[at]:
                if kind in ("binary", "divide", "shift", "compare"):
                    op, bits, to, a, b = rest
                    table = {"binary": BINARY, "divide": DIVISIONS,
                             "shift": SHIFTS, "compare": COMPARISONS}[kind]
                    right = (files[bits][b] if kind in ("binary", "compare")
                             else b)
                    value = int(table[op](files[bits][a], right, bits))
                    out = 32 if kind == "compare" else bits
                    files[out][to] = signed(value, out)
                elif kind == "select":
                    bits, to, condition, a, b = rest
                    files[bits][to] = files[bits][a if narrow[condition]
                                                  else b]
                elif kind == "constant":
                    bits, to, value = rest
                    files[bits][to] = signed(value, bits)
                elif kind == "call":
                    callee, to, given = rest
                    narrow[to] = callee.run([narrow[a] for a in given])[0]
                elif kind == "widen":
                    sign, to, a = rest
                    files[64][to] = (narrow[a] if sign == "s"
                                     else unsigned(narrow[a], 32))
                elif kind == "shorten":
                    to, a = rest
                    narrow[to] = signed(files[64][a], 32)
                elif kind == "step":
                    narrow[rest[0]] = signed(narrow[rest[0]] - 1, 32)
                elif kind == "branch":
                    at = rest[0]
                elif kind == "branch_if":
                    register, yes, no = rest
                    at = yes if narrow[register] else no
                elif kind == "table":
                    register, default, ways = rest
                    index = unsigned(narrow[register], 32)
                    at = ways[index] if index < len(ways) else default
                else:
                    return [narrow[r] for r in rest[0]]


def make_program(seed):
    chance = random.Random(seed)
    functions = []
    for number in range(chance.randrange(1, 4)):
        functions.append(Function(f"function{number}", list(functions), chance,
                                  chance.randrange(1, 6)))
    return functions, chance


def program_text(functions):
    last = functions[-1].name
    return "\n".join(["vm.module @generated version 0",
                      f"vm.export @main = @{last}"] +
                     [f.text() for f in functions]) + "\n"


def text_again(dump):
    """What takt-dump-module prints, as text for the assembler."""
    lines = ["vm.module @generated version 0"]
    for line in dump.splitlines():
        if head := re.match(r"func\[(\d+)\](?: @(\w+))? \((.*?)\) -> \((.*)\)",
                            line):
            number, exported, arguments, results = head.groups()
            if exported:
                lines.insert(1, f"vm.export @{exported} = @function{number}")
            listed = ", ".join(
                f"%i{i}: {kind.strip()}"
                for i, kind in enumerate(filter(None, arguments.split(","))))
            lines.append(f"vm.func @function{number}({listed}) -> "
                         f"({results}) {{")
        elif label := re.match(r"\^(\d+):", line):
            lines.append(f"^bb{label[1]}:")
        elif line.strip() == "}":
            lines.append("}")
        elif body := re.match(r"\s*\d+: (.*)", line):
            lines.append("  " + instruction_again(body[1]))
    return "\n".join(lines) + "\n"


def instruction_again(text):
    text = re.sub(r"\^(\d+)(\(\))?", r"^bb\1()", text)
    if call := re.match(r"\((.*)\) = call @(\w+), \((.*)\)", text):
        return f"{call[1]} = vm.call @{call[2]}({call[3]})"
    if back := re.match(r"return \((.*)\)", text):
        return f"vm.return {back[1]}".rstrip()
    if table := re.match(r"br_table (%i\d+), (.*)", text):
        ways = re.findall(r"\^bb\d+\(\)", table[2])
        cases = "".join(f", {i}: {way}" for i, way in enumerate(ways[1:]))
        return f"vm.br_table {table[1]} {{ default: {ways[0]}{cases} }}"
    if choice := re.match(r"(\S+) = (select\.\S+) (\S+) \? (.*)", text):
        return f"{choice[1]} = vm.{choice[2]} {choice[3]} ? {choice[4]}"
    if choice := re.match(r"(\S+) = (select\.\S+) (\S+), (\S+), (\S+)", text):
        return (f"{choice[1]} = vm.{choice[2]} {choice[3]} ? {choice[4]} : "
                f"{choice[5]}")
    if " = " in text:
        to, rest = text.split(" = ", 1)
        return f"{to} = vm.{rest}"
    return f"vm.{text}"


class Checker:
    def __init__(self, tools, peer, directory):
        self.tools, self.peer, self.directory = tools, peer, directory

    def run(self, *words, limit=60):
        return subprocess.run([str(w) for w in words], timeout=limit,
                              capture_output=True, text=True, errors="replace")

    def assemble(self, text, name):
        source = self.directory / f"{name}.vmasm"
        module = self.directory / f"{name}.vmfb"
        source.write_text(text)
        done = self.run(self.peer / "iree-as-module", f"--output={module}",
                        source)
        return module, "" if done.returncode == 0 else done.stderr

    def results(self, tool, module, arguments, *flags):
        done = self.run(tool, f"--module={module}", "--function=main", *flags,
                        *[f"--input={a}" for a in arguments])
        if done.returncode != 0:
            return f"exit code {done.returncode}: {done.stderr.strip()[:300]}"
        return [int(x) for x in re.findall(r"i32=(-?\d+)", done.stdout)]

    def check(self, seed):
        """Empty, or what is wrong."""
        functions, chance = make_program(seed)
        module, error = self.assemble(program_text(functions), "program")
        if error:
            return f"iree-as-module refuses the program: {error.strip()}"
        for _ in range(RUNS):
            arguments = [signed(chance.choice((chance.getrandbits(32),
                                               chance.randrange(6))), 32)
                         for _ in range(Function.ARGUMENTS)]
            expected = functions[-1].run(arguments)
            takt = self.results(self.tools / "takt-run-module", module,
                                arguments)
            peer = self.results(self.peer / "iree-run-module", module,
                                arguments, "--device=local-sync")
            if not takt == peer == expected:
                return (f"main({arguments}): takt {takt}, peer {peer}, "
                        f"expected {expected}")
        return self.check_again(module) or self.check_damaged(module, chance)

    def check_again(self, module):
        dump = self.run(self.tools / "takt-dump-module",
                        "--output=disassembly", module)
        if dump.returncode != 0:
            return f"takt-dump-module: {dump.stderr.strip()}"
        again, error = self.assemble(text_again(dump.stdout), "again")
        if error:
            return f"the disassembly is refused: {error.strip()}"
        if again.read_bytes() != module.read_bytes():
            return "the disassembly gives another module"
        return ""

    def check_damaged(self, module, chance):
        whole = module.read_bytes()
        for _ in range(DAMAGES):
            damaged = bytearray(whole)
            for _ in range(chance.randrange(1, 4)):
                at = chance.randrange(len(damaged))
                damaged[at] = chance.choice((0, 1, 0x7f, 0x80, 0xff,
                                             damaged[at] ^ 1
                                             << chance.randrange(8)))
            path = self.directory / "damaged.vmfb"
            path.write_bytes(damaged)
            for words in (("takt-run-module", f"--module={path}",
                           "--function=main", "--input=1", "--input=2",
                           "--input=3", f"--step_limit={STEP_LIMIT}"),
                          ("takt-dump-module", path)):
                done = self.run(self.tools / words[0], *words[1:])
                if done.returncode not in (0, 1):
                    return (f"{words[0]} ends with {done.returncode} on a "
                            f"damaged module: {done.stderr.strip()[:300]}")
        return ""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=pathlib.Path,
                        default=ROOT / "build/release/tools")
    parser.add_argument("--peer", type=pathlib.Path, default=pathlib.Path())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as scratch:
        directory = options.keep or pathlib.Path(scratch)
        directory.mkdir(parents=True, exist_ok=True)
        checker = Checker(options.tools, options.peer, directory)
        for seed in range(options.seed, options.seed + options.count):
            problem = checker.check(seed)
            if problem:
                failures += 1
                print(f"--seed={seed}: {problem}", flush=True)
    print(f"{options.count} programs, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
