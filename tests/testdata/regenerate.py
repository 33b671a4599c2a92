#!/usr/bin/env python3
"""Regenerates the compiled fixtures and what the oracle says of them.

Reads the first comment lines of every .mlir file below this folder:

  // Compile: iree-compile %s FLAGS -o %t.vmfb      one module; %cpu %vmvx ... stand for the usual flags (FLAGS)
  // Variants: cpu cpu.async vmvx vmvx.async        the usual modules NAME.VARIANT.vmfb
  // Run: FLAGS                                     each variant run by the oracle: NAME[.VARIANT].run<N>.expected holds
                                                    what it prints (one file for all variants that print the same)
  // Run: --module=... --module=...                 a run that names its modules itself
  // Compile: iree-compile@v38 %s ... -o %t.v38.vmfb, Variants: v38.cpu
                                                    by iree-compile 3.8.0; runs of modules named .v38. are made by the
                                                    iree-run-module of that release

%s is the source, %t the module without its ending, %D the folder of the source; runs are made in the folder of the modules. In %t.x.vmfb the ending may be longer.
The oracle's printed results are the standard output of iree-run-module with --device=local-sync.
compiler/extract.py writes the tables in compiler/.

usage: regenerate.py [--check] [--only TEXT] [--releases FOLDER]
       regenerate.py --target aarch64|riscv64 --out FOLDER [--only TEXT] [--releases FOLDER]
  --check     writes nothing; lists what differs from what is checked in, and exits with 1 if anything does
  --releases  the folder of one virtual environment a release, iree-3.8.0 and so on; without it, what the older
              releases compile is left alone
  --target    compiles the modules for another architecture into FOLDER, a copy of this one; what the oracle said is
              left as it is
needs: iree-base-compiler and iree-base-runtime 3.13.0, numpy (workload); for each older release,
  python3 -m venv FOLDER/iree-3.8.0
  FOLDER/iree-3.8.0/bin/pip install iree-base-compiler==3.8.0 iree-base-runtime==3.8.0
"""
import argparse
import concurrent.futures
import filecmp
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
VERSION = "3.13.0"
LOCAL = "--iree-hal-target-device=local --iree-hal-local-target-device-backends="
FLAGS = {
    "cpu": LOCAL + "llvm-cpu --iree-llvmcpu-target-cpu=generic --iree-llvmcpu-debug-symbols=false",
    "vmvx": LOCAL + "vmvx",
    "tiled": "--iree-vmvx-enable-microkernels --iree-opt-data-tiling",
    "micro": "--iree-vmvx-enable-microkernels",
    "async": "--iree-execution-model=async-external",
    "dynamic": "--iree-execution-model=inline-dynamic",
    "inline": LOCAL + "vmvx-inline --iree-execution-model=inline-static",
    "cpusymbols": LOCAL + "llvm-cpu --iree-llvmcpu-target-cpu=generic",
}
TARGETS = {
    "aarch64": {
        "flags": "--iree-llvmcpu-target-triple=aarch64-unknown-linux-gnu",
        "x86_64-unknown": "aarch64-unknown",
        "embedded-elf-x86_64": "embedded-elf-arm_64",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128":
            "e-m:e-i8:8:32-i16:16:32-i64:64-i128:128-n32:64-S128-Fn32",
    },
    "riscv64": {
        "flags": "--iree-llvmcpu-target-triple=riscv64-unknown-linux-gnu --iree-llvmcpu-target-abi=lp64d "
                 "--iree-llvmcpu-target-cpu-features=+m,+a,+f,+d,+c",
        "--iree-llvmcpu-target-cpu=generic ": "--iree-llvmcpu-target-cpu=generic-rv64 ",
        'cpu = "generic", cpu_features = ""': 'cpu = "generic-rv64", cpu_features = "+m,+a,+f,+d,+c"',
        "x86_64-unknown": "riscv64-unknown",
        "embedded-elf-x86_64": "embedded-elf-riscv_64",
        "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128":
            "e-m:e-p:64:64-i64:64-i128:128-n32:64-S128",
    },
}  # Flags, and what takes the place of what in sources and commands.
RELEASES = {"v38": "3.8.0", "v39": "3.9.0", "v310": "3.10.0", "v311": "3.11.0"}


class Tools:
    """Where the programs of each release are."""

    folder = None  # Of the older releases.

    @classmethod
    def find(cls, tool, release):
        """None if the release is not there; "" is the pinned one."""
        if not release:
            return tool
        return str(cls.folder / f"iree-{RELEASES[release]}" / "bin" / tool) if cls.folder else None


def release_of(text):
    """The release in the name of a module or a variant; "" is the pinned one."""
    parts = [part for part in re.split(r"[.@ /=]", text) if part in RELEASES]
    return parts[0] if parts else ""


def run(command, **kwargs):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600, **kwargs)


def check_version(tools, version=VERSION):
    for tool in tools:
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is not on the PATH: pip install iree-base-compiler=={version} iree-base-runtime=={version}")
    if version not in run(["iree-compile", "--version"]).stdout:
        sys.exit(f"iree-compile is not version {version}")


def variant_flags(variant):
    return " ".join(FLAGS[part] for part in variant.split(".") if part not in RELEASES)


def compiler_of(variant):
    return "@".join(part for part in ("iree-compile", release_of(variant)) if part)


class Target:
    """Another architecture than x86_64; none by default."""

    name = None

    @classmethod
    def translate(cls, text):
        for old, new in TARGETS[cls.name].items() if cls.name else ():
            if old != "flags":  # The one name that is no text of a source.
                text = text.replace(old, new)
        return text

    @classmethod
    def flags(cls, command):
        return TARGETS[cls.name]["flags"].split() if cls.name and "llvm-cpu" in command else []


class Source:
    """One .mlir file and what its comments ask for."""

    def __init__(self, path):
        self.path = path
        self.stem = path.with_suffix("")
        self.name = str(path.relative_to(HERE).with_suffix(""))
        head = [line[3:] for line in path.open() if line.startswith("// ")]
        self.variants = [v for line in head if line.startswith("Variants: ") for v in line[10:].split()]
        self.compiles = [line[9:].strip() for line in head if line.startswith("Compile: ")]
        self.runs = [line[5:].strip().removeprefix("iree-run-module ") for line in head if line.startswith("Run: ")]
        self.compiles += [f"{compiler_of(v)} %s {variant_flags(v)} -o %t.{v}.vmfb" for v in self.variants]

    def expand(self, text, out):
        text = re.sub(r"%%(%s)\b" % "|".join(FLAGS), lambda m: FLAGS[m.group(1)], text)
        return text.replace("%s", str(self.path)).replace("%t", str(out / self.name)).replace("%D", str(self.stem.parent))

    def compile(self, command, out):
        words = shlex.split(Target.translate(self.expand(command, out)))
        words += Target.flags(" ".join(words) + self.path.read_text())
        target = pathlib.Path(words[words.index("-o") + 1])
        words[0] = Tools.find("iree-compile", release_of(words[0]))
        if words[0] is None:
            return target, None
        target.parent.mkdir(parents=True, exist_ok=True)
        # Paths end up in no module: compile from the source's own folder.
        words = [self.path.name if w == str(self.path) else w for w in words]
        folder = self.path.parent
        if Target.name:
            folder = out / self.path.parent.relative_to(HERE)
        result = run(words, cwd=folder)
        return target, result.stderr if result.returncode else None


def oracle(words, cwd):
    """What the release of the modules prints; None if it is not there."""
    tool = Tools.find("iree-run-module", release_of(next(w for w in words if w.startswith("--module="))))
    if tool is None:
        return None
    result = run([tool, "--device=local-sync"] + words, cwd=cwd)
    return result.stdout if result.returncode == 0 else f"ERROR {result.stderr.splitlines()[0]}\n"


def expect(source, number, out):
    """Runs one Run line on every variant; yields the files that hold what was printed."""
    line = source.expand(source.runs[number], out)
    stem = out / source.name
    if "--module=" in line or not source.variants:
        words = shlex.split(line)
        if not any(w.startswith("--module=") for w in words):
            words = [f"--module={stem}.vmfb"] + words
        yield pathlib.Path(f"{stem}.run{number}.expected"), oracle(words, stem.parent)
        return
    first = None
    for variant in source.variants:
        text = oracle([f"--module={stem}.{variant}.vmfb"] + shlex.split(line), stem.parent)
        if text is None:
            continue
        if first is None:
            first = text
            yield pathlib.Path(f"{stem}.run{number}.expected"), text
        elif text != first:
            yield pathlib.Path(f"{stem}.{variant}.run{number}.expected"), text


def make_all(out, only):
    sources = [Source(p) for p in sorted(HERE.rglob("*.mlir")) if only in str(p.relative_to(HERE))]
    if Target.name:  # Those of fat/ have code for every architecture.
        sources = [source for source in sources if source.path.parent.name != "fat"]
    made, errors = [], []
    jobs = [(s, c) for s in sources for c in s.compiles]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for i, (target, error) in enumerate(pool.map(lambda job: job[0].compile(job[1], out), jobs)):
            if sys.stderr.isatty():
                print(f"\r{i + 1}/{len(jobs)} compiled", end="", file=sys.stderr)
            made.append(target)
            if error:
                errors.append(f"{target.name}: {error}")
    for source in sources if Target.name is None else ():
        for number in range(len(source.runs)):
            for path, text in expect(source, number, out):
                if text is None:
                    continue
                path.write_text(text)
                made.append(path)
                if text.startswith("ERROR"):
                    errors.append(f"{path.name}: {text}")
    return made, errors


def extract_tables(folder):
    folder.mkdir()
    subprocess.run([sys.executable, HERE / "compiler" / "extract.py", folder], check=True)
    return sorted(folder.iterdir())


def compile_for(target, out, only):
    """A copy of this folder, with modules of another architecture."""
    Target.name = target
    shutil.copytree(HERE, out, dirs_exist_ok=True)
    for source in out.rglob("*.mlir"):
        if source.parent.name != "fat":
            source.write_text(Target.translate(source.read_text()))
    made, errors = make_all(out, only)
    if only in "npu/route_be":
        npu = out / "npu"
        (npu / "vendor.bin").write_text("NPU-PROGRAM-BYTES-v1")  # Nobody's format but the example driver's.
        for module, program in (("route_be.vmfb", "npu_prog.bin"), ("route_be.vendor.vmfb", "vendor.bin")):
            subprocess.run([sys.executable, "embed.py", "route_b.mlir", program, module], cwd=npu, check=True)
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    print(f"{len(made)} modules, {len(errors)} errors")
    sys.exit(1 if errors else 0)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true")
    p.add_argument("--only", default="", help="only sources whose path contains this text")
    p.add_argument("--releases", type=pathlib.Path, help="the folder with iree-3.8.0 and so on")
    p.add_argument("--target", choices=TARGETS)
    p.add_argument("--out", type=pathlib.Path)
    a = p.parse_args()
    Tools.folder = a.releases and a.releases.resolve()
    # What the oracle said is copied for another architecture.
    check_version(["iree-compile"] if a.target else ["iree-compile", "iree-run-module"])
    if a.only in "workload":  # Their sources are not checked in.
        subprocess.run([sys.executable, HERE / "workload" / "make_models.py", HERE / "workload"], check=True)
    if a.target:
        compile_for(a.target, a.out.resolve(), a.only)
        return
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder)
        made, errors = make_all(out, a.only)
        if a.only in "compiler":
            made += extract_tables(out / "compiler")
        differing = []
        for path in made:
            checked_in = HERE / path.relative_to(out)
            if not path.exists():
                continue
            if not checked_in.exists() or not filecmp.cmp(path, checked_in, shallow=False):
                differing.append(str(path.relative_to(out)))
                if not a.check:
                    checked_in.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(path, checked_in)
    for error in errors:
        print(f"error: {error}", file=sys.stderr)
    for name in differing:
        print(("differs: " if a.check else "written: ") + name)
    print(f"{len(made)} files, {len(differing)} {'differ' if a.check else 'written'}, {len(errors)} errors")
    sys.exit(1 if errors or (a.check and differing) else 0)


if __name__ == "__main__":
    main()
