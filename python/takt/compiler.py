"""takt.compile(): from a model to a module, cached by content."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import json
import os
import pathlib
import shutil
import tempfile
import time
from typing import Any, Iterable, Mapping

from . import declarations, importers, recipes, targets
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
    affinity: int | Iterable[int] | None = None,
    isa: str | Iterable[str] | None = None,
    resource: str | None = None,
    batch_dim: int | None = None,
    annotations: Mapping[str, str | Mapping[str, str]] | None = None,
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
    deadline, priority, affinity, isa, resource, batch_dim
                 annotations of its functions: seconds, 0 to 255, a mask or
                 numbers of CPUs, features of CPUs, "cpu" or "npu", a dimension.
    annotations  further ones, {"key": "value"}, and those of one function,
                 {"act": {"takt.priority": "200"}}.
    tune         True, or seconds: tries recipes on this machine.
    cache        the folder of compiled modules. Default: $TAKT_CACHE, else
                 takt under the user's cache folder.
    """
    source = importers.read(model)
    reflection = _reflection(deadline, priority, affinity, isa, resource, batch_dim)
    of_function = {}
    for key, value in (annotations or {}).items():
        (of_function if isinstance(value, Mapping) else reflection)[key] = value
    mlir = declarations.annotate(
        source.mlir.decode(), reflection, of_function=of_function, names=source.names
    )
    job = Job(mlir.encode(), source.input_type, target, tuple(flags), _cache_folder(cache), timeout)
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
    affinity: int | Iterable[int] | None,
    isa: str | Iterable[str] | None,
    resource: str | None,
    batch_dim: int | None,
) -> dict[str, str]:
    """The arguments as annotations. What the runtime would refuse is refused here."""
    result = {}
    if deadline is not None:
        if not 0 < deadline < 1e9:
            raise ValueError(f"deadline {deadline!r}: expected a positive number of seconds")
        result["takt.deadline_ns"] = str(max(1, round(deadline * 1e9)))
    if priority is not None:
        if not 0 <= priority <= 255:
            raise ValueError(f"priority {priority!r}: expected 0 to 255")
        result["takt.priority"] = str(int(priority))
    if affinity is not None:
        mask = affinity if isinstance(affinity, int) else sum(1 << cpu for cpu in set(affinity))
        if mask <= 0:
            raise ValueError(f"affinity {affinity!r}: expected a mask of CPUs, or their numbers")
        result["takt.affinity"] = hex(mask)
    if isa is not None:
        features = isa if isinstance(isa, str) else ",".join(isa)
        if not features.strip(", "):
            raise ValueError("isa: expected features such as \"avx2,fma\"")
        result["takt.isa"] = features
    if resource is not None:
        if resource not in ("cpu", "npu"):
            raise ValueError(f"resource {resource!r}: expected \"cpu\" or \"npu\"")
        result["takt.resource"] = resource
    if batch_dim is not None:
        if batch_dim < 0:
            raise ValueError(f"batch_dim {batch_dim!r}: expected the number of a dimension")
        result["takt.batch_dim"] = str(batch_dim)
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
                [importers.find_program("iree-compile"), source, "-o", target, *flags],
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


def _machine(target: str) -> str:
    """What "host" stands for, so that a cache may be shared by machines."""
    if target != "host":
        return target
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        wanted = ("model name", "flags", "Features", "isa")
        lines = [line for line in file if line.startswith(wanted)]
    return json.dumps(sorted(set(lines)))
