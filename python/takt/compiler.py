"""takt.compile(): from a model to a module, cached by content."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time
from typing import Any, Iterable

from . import importers, recipes, targets
from .errors import CompileError
from .module import Module, load

# What Takt's tests compile with; docs/models.md lists what else is read.
COMPILER_VERSIONS = ("3.12", "3.13")


@dataclasses.dataclass
class Artifact:
    """A compiled module: a file, and how it came about."""

    path: pathlib.Path
    recipe: recipes.Recipe
    target: str
    report: dict[str, Any] = dataclasses.field(default_factory=dict)

    def load(self, **options: Any) -> Module:
        """As `takt.load()`."""
        return load(self.path, **options)

    def save(self, path: str | os.PathLike) -> None:
        """Copies the module to `path`."""
        shutil.copyfile(self.path, path)


def compile(
    model: Any,
    *,
    target: str = "host",
    recipe: str | os.PathLike | recipes.Recipe | None = None,
    flags: Iterable[str] = (),
    deadline: float | None = None,
    priority: int | None = None,
    affinity: int | None = None,
    annotations: dict[str, str] | None = None,
    tune: bool | float = False,
    cache: str | os.PathLike | None = None,
    timeout: float = 1800.0,
) -> Artifact:
    """Compiles a model for a machine.

    model        .onnx, .mlir, .stablehlo or .tflite; MLIR text; a
                 `jax.jit(f).lower(x)`; a `torch.export.ExportedProgram`.
    target       "host", or an architecture and CPU: "aarch64:cortex-a76".
    recipe       one of `takt.recipes.RECIPES`, or a file that tuning wrote.
                 None: by the kind of network. One that does not compile falls
                 back to the compiler's own choices; `Artifact.report` says so.
    flags        further flags of iree-compile.
    deadline, priority, affinity
                 annotations of its functions: seconds, 0 to 255, a mask of CPUs.
    annotations  further ones, such as {"takt.batch_dim": "0"}.
    tune         True, or seconds: tries recipes on this machine.
    cache        the folder of compiled modules. Default: $TAKT_CACHE, else
                 takt under the user's cache folder.
    """
    source = importers.read(model)
    reflection = _reflection(deadline, priority, affinity, annotations)
    mlir = importers.annotate(source, reflection)
    job = Job(mlir, source.input_type, target, tuple(flags), _cache_folder(cache), timeout)
    if tune:
        from . import tuning

        if target != "host":
            raise ValueError("tuning measures on this machine: target must be host")
        seconds = tuning.SECONDS_DEFAULT if tune is True else float(tune)
        return tuning.tune(job, source.is_quantized, seconds)
    return job.compile_or_fall_back(recipes.find(recipe, source.is_quantized))


def _reflection(
    deadline: float | None,
    priority: int | None,
    affinity: int | None,
    annotations: dict[str, str] | None,
) -> dict[str, str]:
    result = dict(annotations or {})
    if deadline is not None:
        result["takt.deadline_ns"] = str(round(deadline * 1e9))
    if priority is not None:
        result["takt.priority"] = str(priority)
    if affinity is not None:
        result["takt.affinity"] = hex(affinity)
    return result


def _cache_folder(cache: str | os.PathLike | None) -> pathlib.Path:
    if cache is None:
        cache = os.environ.get("TAKT_CACHE")
    if cache is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        cache = os.path.join(home, "takt")
    folder = pathlib.Path(cache)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@dataclasses.dataclass
class Job:
    """One program for one target, to be compiled by one or more recipes."""

    mlir: bytes
    input_type: str
    target: str
    flags: tuple[str, ...]
    cache: pathlib.Path
    timeout: float

    def compile(self, recipe: recipes.Recipe) -> Artifact:
        """Compiles, or takes what the cache has."""
        version = compiler_version()
        command_flags = [
            f"--iree-input-type={self.input_type}",
            *targets.flags_of(self.target),
            *recipe.flags,
            *self.flags,
        ]
        key = hashlib.sha256(self.mlir)
        key.update("\0".join([version, _machine(self.target), *command_flags]).encode())
        path = self.cache / f"{key.hexdigest()[:32]}.vmfb"
        report = {"recipe": recipe.name, "compiler": version, "cached": path.exists()}
        if not path.exists():
            begin = time.monotonic()
            self._run(path, command_flags, recipe)
            report["compile_seconds"] = round(time.monotonic() - begin, 3)
        return Artifact(path, recipe, self.target, report)

    def compile_or_fall_back(self, recipe: recipes.Recipe) -> Artifact:
        failed = {}
        while True:
            try:
                artifact = self.compile(recipe)
            except CompileError as error:
                if recipe.fallback is None:
                    raise
                failed[recipe.name] = str(error)
                recipe = recipes.RECIPES[recipe.fallback]
                continue
            if failed:
                artifact.report["failed"] = failed
            return artifact

    def _run(self, path: pathlib.Path, flags: list[str], recipe: recipes.Recipe) -> None:
        with tempfile.TemporaryDirectory(prefix="takt-", dir=self.cache) as scratch:
            source = os.path.join(scratch, "program.mlir")
            target = os.path.join(scratch, "program.vmfb")
            pathlib.Path(source).write_bytes(self.mlir)
            importers.run_tool(
                [_find_compiler(), source, "-o", target, *flags],
                f"compiling with recipe {recipe.name}",
                timeout=self.timeout,
            )
            os.replace(target, path)  # Another process finds all of it or nothing.


def compiler_version() -> str:
    """The version of iree-base-compiler; a CompileError if it is not installed
    or none that Takt is tested with."""
    try:
        version = importlib.metadata.version("iree-base-compiler")
    except importlib.metadata.PackageNotFoundError as error:
        raise CompileError(
            "takt.compile() needs the compiler: pip install takt[compile]"
        ) from error
    if ".".join(version.split(".")[:2]) not in COMPILER_VERSIONS:
        known = ", ".join(COMPILER_VERSIONS)
        raise CompileError(f"iree-base-compiler {version} is installed; Takt takes {known}")
    return version


def _find_compiler() -> str:
    beside = pathlib.Path(sys.executable).with_name("iree-compile")
    if beside.exists():
        return os.fspath(beside)
    found = shutil.which("iree-compile")
    if found is None:
        raise CompileError("there is no iree-compile: pip install takt[compile]")
    return found


def _machine(target: str) -> str:
    """What "host" stands for, so that a cache may be shared by machines."""
    if target != "host":
        return target
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        wanted = ("model name", "flags", "Features", "isa")
        lines = [line for line in file if line.startswith(wanted)]
    return json.dumps(sorted(set(lines)))
