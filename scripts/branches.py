#!/usr/bin/env python3
"""Measures which branches of the readers of hostile files the tests take.

Compiles each source below with clang's coverage, links it into its tests in the
place of the object that build/release has, runs them and lists the branches of
which one side was not taken. Ends with 1 if such a branch has no reason here,
or if a reason is out of date.

usage: scripts/branches.py [--build build/release] [--clang clang++-14]
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Source: the tests that are run.
SUBJECTS = {
    "src/cpu/elf_image.cc": ["cpu_elf_image_test", "cpu_elf_image_machines_test"],
    "src/vm/bytecode_verifier.cc": ["vm_bytecode_verifier_test"],
}

# Branches of which one side is not taken: source, condition, side, reason.
REASONS = [
    ("src/vm/bytecode_verifier.cc", "field.kind", "true",
     "each kind has a case; the decoder makes no other"),
    ("src/vm/bytecode_verifier.cc", "letter", "true",
     "each letter has a case; the parser of conventions makes no other"),
]


def run(command, **options):
    return subprocess.run(command, check=True, **{"cwd": ROOT, **options})


def compile_command(build, source, clang, output):
    commands = json.loads((build / "compile_commands.json").read_text())
    entry = next(c for c in commands if c["file"] == str(ROOT / source))
    words = shlex.split(entry["command"])
    kept = [w for w in words
            if w.startswith(("-I", "-D", "-std", "-isystem", "-fno-rtti"))]
    return [clang, "-O0", "-g", "-fprofile-instr-generate", "-fcoverage-mapping",
            *kept, "-c", str(ROOT / source), "-o", output]


def link_command(build, test, clang, replaced, output):
    room = test.split("_")[0]  # Its tests are one program, called by this test.
    listed = run(["ninja", "-C", str(build), "-t", "commands", "-s",
                  f"tests/{room}_tests"], capture_output=True, text=True).stdout
    line = listed.strip().splitlines()[-1].split("&&")[1]
    words = shlex.split(line)[1:]
    at = words.index("-o")
    del words[at:at + 2]
    return [clang, "-fprofile-instr-generate", replaced,
            *[w for w in words if not w.startswith("-f")], "-o", output]


def branches_of(source, tests, build, clang, directory):
    """{(line, column, text): [times true, times false]} of one source."""
    tool = clang.replace("clang++", "llvm-cov")
    merge = clang.replace("clang++", "llvm-profdata")
    replaced = f"{directory}/source.o"
    run(compile_command(build, source, clang, replaced))
    profiles, programs = [], []
    for test in tests:
        program = f"{directory}/{test}"
        run(link_command(build, test, clang, replaced, program), cwd=build)
        run([program], env={"LLVM_PROFILE_FILE": program + ".profraw"},
            stdout=subprocess.DEVNULL)
        programs.append(program)
        profiles.append(program + ".profraw")
    run([merge, "merge", "-o", f"{directory}/all.profdata", *profiles])
    objects = [w for p in programs[1:] for w in ("-object", p)]
    text = run([tool, "export", f"-instr-profile={directory}/all.profdata",
                programs[0], *objects, str(ROOT / source)],
               capture_output=True, text=True).stdout
    lines = (ROOT / source).read_text().splitlines()
    found = {}
    for function in json.loads(text)["data"][0]["functions"]:
        if not function["filenames"][0].endswith(source):
            continue
        # A branch within a macro is in the file 1 and later; the place of the
        # macro's use is what leads there.
        places = {0: None}
        for region in function["regions"]:
            if region[7] == 1:  # An expansion: to the file region[6].
                places.setdefault(region[6], (region[0], region[1], region[5]))
        for branch in function["branches"]:
            line, column, line_end, column_end, taken, not_taken, file = branch[:7]
            if file == 0:
                code = (lines[line - 1][column - 1:column_end - 1]
                        if line == line_end
                        else lines[line - 1][column - 1:] + " ...")
                if len(code) < 4:  # The colon of a loop over a range.
                    code = lines[line - 1].strip()
            else:
                place = places.get(file)
                while place is not None and place[2] != 0:
                    place = places.get(place[2])
                if place is None:
                    continue
                line, column = place[:2]
                code = lines[line - 1].strip()
            counts = found.setdefault((line, column, code), [0, 0])
            counts[0] += taken
            counts[1] += not_taken
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--clang", default="clang++-14")
    options = parser.parse_args()
    build = ROOT / options.build
    unexplained = 0
    used = set()
    for source, tests in SUBJECTS.items():
        with tempfile.TemporaryDirectory() as directory:
            found = branches_of(source, tests, build, options.clang, directory)
        missing = [(key, side) for key, counts in sorted(found.items())
                   for side, count in zip(("true", "false"), counts) if not count]
        print(f"{source}: {2 * len(found) - len(missing)} of {2 * len(found)}"
              " sides of branches taken")
        for (line, _, code), side in missing:
            reasons = [i for i, reason in enumerate(REASONS)
                       if reason[:3] == (source, code, side)]
            used.update(reasons)
            if not reasons:
                unexplained += 1
            why = REASONS[reasons[0]][3] if reasons else "NO REASON"
            print(f"{source}:{line}: {code}: never {side}: {why}")
    stale = [reason for i, reason in enumerate(REASONS) if i not in used]
    for reason in stale:
        print(f"{reason[0]}: {reason[1]}: never {reason[2]}: is taken now")
    return 1 if unexplained or stale else 0


if __name__ == "__main__":
    sys.exit(main())
