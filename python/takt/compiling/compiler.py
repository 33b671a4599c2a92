"""takt.compile(): from a model to a module, cached by content."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import hashlib
import importlib.metadata
import json
import numbers
import os
import pathlib
import re
import shutil
import tempfile
import time
import warnings
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

from . import answers, declarations, dispatches, importers, placing, recipes, targets, transposes
from ..errors import CompileError, Error, InvalidArgument
from ..networks import static_shapes
from ..module import Module, load

# What Takt's tests compile with; docs/models.md lists what else is read.
COMPILER_VERSIONS = ("3.12", "3.13")
_TILING = "--iree-opt-data-tiling"
# In keys of the cache: the rules by which operations are placed.
_NPU = "npu 1"
_CACHE_BYTES_MAX = 8 << 30
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# Modules of the runtime's own, which others import.
_NATIVE_MODULES = ("hal", "hal_inline", "hal_loader", "io_parameters")


@dataclasses.dataclass
class Artifact:
    """A compiled module: a file, and the report of its compilation."""

    path: pathlib.Path
    recipe: recipes.Recipe
    target: tuple[str, ...]
    report: dict[str, Any] = dataclasses.field(default_factory=dict)
    placement: list[placing.Layer] = dataclasses.field(default_factory=list)

    def explain(self) -> str:
        """The places of the operations with the reasons, a line for each kind; the
        layers with the most multiply-adds first. Empty without an NPU."""
        return "\n".join(
            f"{each.where}: {each.count} x {each.what}: {each.why}" for each in self.placement
        )

    def load(self, **options: Any) -> Module:
        """As `takt.load()`."""
        return load(self.path, **options)

    def save(self, path: str | os.PathLike) -> None:
        """Copies the module to `path`, where there is all of it or what was there before."""
        target = pathlib.Path(os.path.realpath(path))
        if (os.path.exists(path) and not os.path.isfile(path)) or not os.access(target.parent, os.W_OK):
            shutil.copyfile(self.path, path)
            return
        with tempfile.TemporaryDirectory(prefix=".takt-", dir=target.parent) as scratch:
            written = pathlib.Path(scratch, target.name)
            shutil.copyfile(self.path, written)
            if target.exists():
                shutil.copymode(target, written)
            os.replace(written, target)


def compile(
    model: Any,
    *,
    name: str | None = None,
    shapes: static_shapes.Shapes | Sequence[static_shapes.Shapes] | None = None,
    target: str | Iterable[str] = "host",
    npu: str | None = None,
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
    host: str | None = None,
    host_tools: str | None = None,
    progress: Callable[[str], None] | None = None,
    cache: str | os.PathLike | None = None,
    cache_bytes_max: int | None = None,
    timeout: float = 1800.0,
) -> Artifact:
    """Compiles a model for a machine.

    model        .onnx, .mlir, .stablehlo or .tflite; MLIR text; a
                 `jax.jit(f).lower(x)`; a `torch.export.ExportedProgram`.
    name         of the module: its functions are `name.FUNCTION`. Default: that of the
                 program, which is "module" for ONNX networks.
    shapes       of an ONNX network's inputs, where the file leaves them open:
                 {"image": (1, 3, 640, 640)}, or {"batch": 1} by the name of the
                 dimension. A network of known shapes is much quicker. A list of
                 several, [{"seq": 16}, {"seq": 64}]: the module takes calls of each.
    target       "host", or an architecture and CPU: "aarch64:cortex-a76"; several
                 of them, in a list or with commas, for one module of them all.
    npu          a driver: "host", "sim", "sim=PROFILE.json" or "DRIVER.so". The
                 module's products of matrices can run there, and the rest runs
                 on the CPU; `Artifact.placement` has the place of each layer and
                 the reason. If the target is this machine,
                 `Artifact.report["npu"]` has the driver's counts of a trial run.
    recipe       one of `takt.compiling.recipes.RECIPES`, or a file that tuning wrote.
                 None: chosen by the network. If it does not compile, the
                 compiler's own choices are used; `Artifact.report` has the reason.
    flags        further flags of iree-compile.
    deadline, priority, affinity, isa, resource, batch_dim
                 annotations of its functions: seconds, 0 to 255, a mask or
                 numbers of CPUs, features of CPUs, "cpu" or "npu", a dimension.
    annotations  further ones, {"key": "value"}, and those of one function,
                 {"act": {"takt.priority": "200"}}.
    tune         True, or seconds: tries recipes and choices of the compiler, and uses
                 the quickest; 0 is False; `Artifact.report["tried"]` has all of them.
    host, host_tools
                 the board for tuning: its name for ssh, such as "user@board", and
                 the folder of Takt's tools on it, if they are not on its PATH.
    progress     called with lines about the tuning. None: they go to stderr.
    cache        the folder of compiled modules. Default: $TAKT_CACHE, else
                 takt under the user's cache folder.
    cache_bytes_max
                 what was used longest ago is deleted beyond so many bytes, but nothing
                 that was used within an hour. Default: $TAKT_CACHE_BYTES_MAX, else 8 GiB.
    timeout      of each run of the compiler, in seconds.
    """
    _check_name(name)
    names = targets.parse(target)
    seconds = _tuning_seconds(tune)
    _check_machines(names, npu, seconds is not None, host)
    reflection = _reflection(deadline, priority, affinity, isa, resource, batch_dim)
    flags = _flags(flags)
    _check_annotations(annotations or {})
    if not isinstance(timeout, numbers.Real) or not timeout > 0:
        raise ValueError(f"timeout {timeout!r}: expected a positive number of seconds")
    given = None if recipe is None else _given_recipe(recipe)
    _check_content(model)
    folder = _cache_folder(cache)
    bytes_max = _cache_bytes_max(cache_bytes_max)
    path = os.fspath(model) if importers.is_file(model) else ""
    sets = static_shapes.sets_of(shapes)
    if len(sets) > 1 and (seconds is not None or npu is not None):
        raise ValueError("tune and npu measure calls of one size: give one set of shapes")
    request = None
    if path and seconds is None and npu is None:
        request = answers.Request(folder, path, repr(
            [compiler_version(), _machine(names), name, sets, given, flags, reflection, annotations]))
        answer = request.answer()
        if answer is not None:
            _warn(answer["open_inputs"], answer["report"].get("failed", {}))
            return _repeated(answer, folder, names)
    targets.check_cpus(names)
    source = importers.read(model, sets)
    of_function = {}
    for key, value in (annotations or {}).items():
        (of_function if isinstance(value, Mapping) else reflection)[key] = value

    def annotate(mlir: bytes) -> bytes:
        text = _decoded(mlir, path)
        if source.network is None:  # The program of a network is without it.
            text = declarations.keep_arguments(text)
        text = declarations.annotate(text, reflection, of_function=of_function, names=source.names)
        return (text if name is None else _named(text, name)).encode()

    @functools.lru_cache(maxsize=2)
    def read_rewritten(precision: str) -> importers.Rewritten | None:
        with _passes("rewriting"):
            return importers.rewritten(source, precision)

    @functools.lru_cache(maxsize=2)  # Recipes of one precision share it.
    def rewrite(precision: str) -> bytes | None:
        found = read_rewritten(precision)
        return None if found is None else annotate(found.mlir)

    # A program for any number of samples has code for one, whose sizes are known.
    open_inputs = source.open_inputs if source.of_sample is None else {}
    _warn(open_inputs, source.failed)
    job = Job(
        functools.cache(lambda: annotate(source.text())),
        source.input_type,
        names,
        (*source.flags, *flags),
        folder,
        timeout,
        has_npu=npu is not None,
        rewrite=rewrite if npu is None else lambda _: None,
        failed=source.failed,
        open_inputs=source.open_inputs,
        path=path,
        cache_bytes_max=bytes_max,
    )
    if npu is not None:
        return _compile_for_npu(job, npu, given, source.is_quantized)
    chosen = [given or recipes.find(source.recipe, source.is_quantized)]
    last = []  # Kernels that do not pay, but may compile where nothing else does.
    if given is None:
        try:
            found = read_rewritten("")
            pays = None if found is None else found.pays
        except CompileError:
            pays = True  # It fails again, and the report has the reason.
        native = [] if pays is None else [recipes.RECIPES["native"], recipes.RECIPES["native_plain"]]
        if pays:
            chosen = [*native, *chosen]
        else:
            last = native
    if seconds is not None:
        from .. import tuning

        return tuning.tune(
            job, chosen, source.is_quantized, seconds, host=host, host_tools=host_tools, progress=progress
        )
    artifact = job.compile_or_fall_back(*chosen, *last)
    if request is not None:
        request.keep({"module": artifact.path.name, "recipe": artifact.recipe.to_json(),
                      "report": artifact.report, "open_inputs": open_inputs})
    return artifact


def _check_name(name: str | None) -> None:
    if name is None:
        return
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"name {name!r}: expected letters, digits and _, and no digit first")
    if name in _NATIVE_MODULES:
        raise ValueError(f"name {name!r}: the runtime has a module of this name")


def _named(text: str, name: str) -> str:
    """The program as a module of this name."""
    named = declarations.name_module(text, name)
    if named is None:  # As the compiler writes a program, it has its module.
        with tempfile.TemporaryDirectory(prefix="takt-") as scratch:
            source, target = pathlib.Path(scratch, "program.mlir"), pathlib.Path(scratch, "whole.mlir")
            source.write_text(text, encoding="utf-8")
            importers.run_tool(
                [importers.find_program("iree-ir-tool"), "copy", os.fspath(source), "-o", os.fspath(target)],
                f"naming the module {name}",
            )
            named = declarations.name_module(target.read_text(encoding="utf-8"), name)
    if named is None:
        raise CompileError(f"name {name!r}: the program has no module")
    return named


def _tuning_seconds(tune: bool | float) -> float | None:
    """None: without tuning."""
    if tune is True:
        from .. import tuning

        return tuning.SECONDS_DEFAULT
    if tune is False or tune is None:
        return None
    if not isinstance(tune, numbers.Real):
        raise TypeError(f"tune {tune!r}: expected True, or seconds")
    if not tune >= 0:
        raise ValueError(f"tune {tune!r}: expected a positive number of seconds")
    return float(tune) or None


def _flags(flags: Iterable[str]) -> list[str]:
    found = [] if isinstance(flags, str) else list(flags)
    if isinstance(flags, str) or not all(isinstance(flag, str) for flag in found):
        raise TypeError(f"flags {flags!r}: expected a list of strings")
    return found


def _check_annotations(annotations: Mapping[str, str | Mapping[str, str]]) -> None:
    for key, value in annotations.items():
        for each in value.values() if isinstance(value, Mapping) else [value]:
            if not isinstance(each, str):
                raise TypeError(f"annotations: {key!r}: expected a string, got {each!r}")


def _given_recipe(recipe: str | os.PathLike | recipes.Recipe) -> recipes.Recipe:
    try:
        return recipes.find(recipe, False)
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError) as error:  # The file is damaged.
        raise ValueError(f"recipe {os.fspath(recipe)!r}: not a recipe that tuning wrote: {_in_one_line(error)}") from error


def _check_content(model: Any) -> None:
    """Throws if the bytes of `model` are known to be no program."""
    if isinstance(model, (bytes, bytearray)):
        what, begin = "these bytes are", bytes(model[:64])
    elif importers.is_file(model) and os.path.isfile(model):
        what = f"{os.fspath(model)} is"
        with open(model, "rb") as file:
            begin = file.read(64)
    else:
        return
    if not begin:
        raise CompileError(f"{what} empty: no model")
    if (begin.startswith(b"PK") and b"module.fb" in begin) or begin[4:8] == b"IREE":
        raise InvalidArgument(f"{what} a compiled module: takt.load() loads it")
    if isinstance(model, (bytes, bytearray)) and (begin.startswith(b"\x08") or begin[4:8] == b"TFL3"):
        suffix = ".tflite" if begin[4:8] == b"TFL3" else ".onnx"
        raise InvalidArgument(f"{what} a network: write them to a {suffix} file, and give its path")


def _decoded(mlir: bytes, path: str) -> str:
    try:
        return mlir.decode()
    except UnicodeDecodeError:
        raise InvalidArgument(
            f"{path or 'these bytes'}: neither MLIR as text nor its bytecode; networks are read from .onnx and "
            ".tflite files") from None


def _in_one_line(error: Exception) -> str:
    """An exception in one line."""
    return " ".join(importers.said(error).split())[:500]


@contextlib.contextmanager
def _passes(what: str) -> Iterator[None]:
    """Makes a CompileError of whatever a pass throws that does not say where it comes
    from."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise
        raise CompileError(f"{what}: {_in_one_line(error)}") from error


def _check_machines(names: tuple[str, ...], npu: str | None, is_tuned: bool, host: str | None) -> None:
    """Throws if these cannot go together."""
    if is_tuned and (npu is not None or (names != ("host",) and host is None)):
        raise ValueError("tuning measures on this machine: target must be host, without an NPU")
    if host is not None and not is_tuned:
        raise ValueError("host: it is for tuning only")
    if host is not None:
        from .measuring import Board

        Board(host)
        if len(names) > 1:
            raise ValueError(f"target {names!r}: {host} is one machine")
    if npu is not None:
        from .npu import device_of

        device_of(npu)
        if len(names) > 1:
            raise ValueError(f"target {names!r}: a module for an NPU has one CPU")


def _compile_for_npu(job: Job, npu: str, recipe: recipes.Recipe | None, is_quantized: bool) -> Artifact:
    from .npu import try_out

    if recipe is None:  # Convolutions become products, which the NPU does.
        recipe = recipes.RECIPES["integer" if is_quantized else "im2col"]
    artifact = job.compile_or_fall_back(recipe)
    artifact.report["npu"] = {"driver": npu}
    if job.target == ("host",):
        with _passes(f"trying {npu} out"):
            artifact.report["npu"].update(try_out(artifact.path, npu))
    return artifact


def _repeated(answer: Mapping[str, Any], folder: pathlib.Path, names: tuple[str, ...]) -> Artifact:
    report = {key: value for key, value in answer["report"].items() if key != "compile_seconds"}
    return Artifact(folder / answer["module"], recipes.Recipe.from_json(answer["recipe"]), names,
                    {**report, "cached": True})


def _warn(open_inputs: Mapping[str, str], failed: Mapping[str, str]) -> None:
    """Warns, as the caller of compile(), of what makes code slow or its results wrong."""
    if open_inputs:
        warnings.warn(_about_open(open_inputs, failed), stacklevel=3)
    if "portable" in failed:
        warnings.warn("the compiler gets some of the network as the file has it, although it may compile that wrongly; "
                      f"compare the results: {failed['portable']}", stacklevel=3)


def _about_open(inputs: Mapping[str, str], failed: Mapping[str, str]) -> str:
    reason = f" ({failed['samples']})" if "samples" in failed else ""
    shapes = ", ".join(f"{name}: {shape}" for name, shape in inputs.items())
    return (
        f"dimensions of inputs are open ({shapes}): give their sizes (shapes=, --shape); "
        f"without them calls are slower, and where Takt has no kernel the compiler makes slow code, or none{reason}"
    )


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
        cache = os.environ.get("TAKT_CACHE") or None
    if cache is None:
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        cache = os.path.join(home, "takt")
    folder = pathlib.Path(cache)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _error_of_cache(folder, error) from error
    return folder


def _error_of_cache(cache: pathlib.Path, error: OSError) -> OSError:
    """The error of the system, with the folder of compiled modules and the ways to another one."""
    said = f"{error.strerror}: compiled modules are kept in this folder; cache= or TAKT_CACHE names another one"
    return OSError(error.errno, said, os.fspath(cache))


@contextlib.contextmanager
def _scratch_in(cache: pathlib.Path) -> Iterator[pathlib.Path]:
    """A folder for one run of the compiler, on the file system of the cache."""
    try:
        scratch = tempfile.TemporaryDirectory(prefix="takt-", dir=cache)
    except OSError as error:
        raise _error_of_cache(cache, error) from error
    with scratch:
        try:
            yield pathlib.Path(scratch.name)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise _error_of_cache(cache, error) from error


def _cache_bytes_max(given: int | None) -> int:
    found: Any = given
    if given is None:
        found = os.environ.get("TAKT_CACHE_BYTES_MAX") or _CACHE_BYTES_MAX
    try:
        found = int(found)
    except (TypeError, ValueError):
        found = -1
    if found < 0:
        where = "cache_bytes_max" if given is not None else "TAKT_CACHE_BYTES_MAX"
        raise ValueError(f"{where}: expected a number of bytes")
    return found


@dataclasses.dataclass
class Job:
    """One program for its targets, to be compiled by one or more recipes."""

    mlir: Callable[[], bytes]
    input_type: str
    target: tuple[str, ...]
    flags: tuple[str, ...]
    cache: pathlib.Path
    timeout: float
    has_npu: bool = False
    # The program in terms of Takt's kernels; None if it has no use for them.
    rewrite: Callable[[str], bytes | None] = lambda _: None
    failed: dict[str, str] = dataclasses.field(default_factory=dict)  # Before any recipe.
    open_inputs: dict[str, str] = dataclasses.field(default_factory=dict)
    path: str = ""  # Of the model, if it is a file.
    cache_bytes_max: int = _CACHE_BYTES_MAX
    # Of the programs, by the precision of the rewritten ones; None is the key of `mlir`.
    hashes: dict[str | None, hashlib._Hash] = dataclasses.field(default_factory=dict)

    def compile(self, recipe: recipes.Recipe) -> Artifact:
        """Compiles the model, or uses the cached module."""
        with _passes("compiling"):
            return self._compile(recipe)

    def _compile(self, recipe: recipes.Recipe) -> Artifact:
        version = compiler_version()
        mlir = self._program(recipe)
        command_flags = self._flags(recipe, mlir)
        key = self._hash_of(recipe, mlir)
        key.update("\0".join([version, _machine(self.target), _NPU if self.has_npu else "", *command_flags]).encode())
        if recipe.tiles:
            key.update(json.dumps(recipe.tiles, sort_keys=True).encode())
        path = self.cache / f"{key.hexdigest()[:32]}.vmfb"
        placement = answers.find_module(path)
        report = {"recipe": recipe.name, "compiler": version, "cached": placement is not None}
        if placement is None:
            begin = time.monotonic()
            placement = self._run(mlir, path, command_flags, recipe)
            report["compile_seconds"] = round(time.monotonic() - begin, 3)
        return Artifact(path, recipe, self.target, report, [placing.Layer(**each) for each in placement])

    def _precision(self, recipe: recipes.Recipe) -> str | None:
        """The precision of the rewritten program; None: the recipe is for the program as it was."""
        return targets.precision_of(recipe.precision, self.target) if recipe.is_rewritten else None

    def _hash_of(self, recipe: recipes.Recipe, mlir: bytes) -> hashlib._Hash:
        """The hash of the recipe's program, `mlir`, which may be large: recipes that share it share its hash."""
        precision = self._precision(recipe)
        if precision not in self.hashes:
            self.hashes[precision] = hashlib.sha256(mlir)
        return self.hashes[precision].copy()

    def _program(self, recipe: recipes.Recipe) -> bytes:
        precision = self._precision(recipe)
        mlir = self.mlir() if precision is None else self.rewrite(precision)
        if mlir is None:
            raise CompileError(f"recipe {recipe.name}: the program has nothing for Takt's kernels")
        return mlir

    def _flags(self, recipe: recipes.Recipe, mlir: bytes) -> list[str]:
        own_flags = [*recipe.flags, *self.flags]
        own_flags += transposes.flags_for(mlir, own_flags)
        return [
            f"--iree-input-type={self.input_type}",
            *targets.flags_of(self.target, own_flags),
            *own_flags,
        ]

    def tiles_of(self, recipe: recipes.Recipe) -> dict[str, tuple[int, ...]]:
        """The tiles that the compiler chooses for each dispatch."""
        with _passes("compiling"), _scratch_in(self.cache) as scratch:
            mlir = self._program(recipe)
            source = scratch / "program.mlir"
            source.write_bytes(mlir)
            return dispatches.tiles_of(self._configure(source, self._flags(recipe, mlir), recipe))

    def compile_or_fall_back(self, *chosen: recipes.Recipe) -> Artifact:
        """By the first recipe that compiles; behind the last come its fallbacks."""
        failed, left = dict(self.failed), list(chosen)
        while True:
            recipe = left.pop(0)
            try:
                artifact = self.compile(recipe)
            except CompileError as error:
                failed[recipe.name] = str(error)
                fallback = recipe.fallback
                while fallback in failed:
                    fallback = recipes.RECIPES[fallback].fallback
                if not left and fallback is not None:
                    left.append(recipes.RECIPES[fallback])
                if not left:
                    raise CompileError(self._refusal(failed)) from error
                continue
            if failed:
                artifact.report["failed"] = failed
            return artifact

    def _refusal(self, failed: Mapping[str, str]) -> str:
        reasons = "\n".join(self._reasons(failed))
        return reasons if self.path in reasons else f"{self.path}: {reasons}"

    def _reasons(self, failed: Mapping[str, str]) -> Iterator[str]:
        said: dict[str, str] = {}
        for name, reason in failed.items():
            what = reason.partition("\n")[2] or reason
            if what not in said:
                said[what] = name
                yield reason
            elif what != reason:
                yield f"recipe {name}: the same as {said[what]}"
        if self.open_inputs:
            yield _about_open(self.open_inputs, failed)

    def _run(
        self, mlir: bytes, path: pathlib.Path, flags: list[str], recipe: recipes.Recipe
    ) -> list[dict[str, Any]]:
        """Writes the module to `path`; the places of its operations."""
        placement = []
        with _scratch_in(self.cache) as scratch:
            source, target = scratch / "program.mlir", scratch / "program.vmfb"
            source.write_bytes(mlir)
            if self.has_npu:
                if recipe.tiles:
                    raise CompileError(f"recipe {recipe.name}: its tiles are for modules without an NPU")
                flags, layers = self._place(source, flags, recipe)
                placement = [dataclasses.asdict(layer) for layer in layers]
            elif recipe.tiles:
                flags = self._retile(source, flags, recipe)
            self._run_compiler(source, target, flags, recipe)
            answers.keep_module(target, path, placement)
        answers.limit(self.cache, self.cache_bytes_max)
        return placement

    def _configure(self, source: pathlib.Path, flags: list[str], recipe: recipes.Recipe) -> str:
        """The program with the compiler's choices for each dispatch."""
        configured = source.with_name("configured.mlir")
        self._run_compiler(source, configured, [*flags, "--compile-to=executable-configurations"], recipe)
        return configured.read_text()

    def _retile(self, source: pathlib.Path, flags: list[str], recipe: recipes.Recipe) -> list[str]:
        """Rewrites `source` with the tiles of the recipe; the flags of the rest of
        the compiler's way."""
        source.write_text(dispatches.retile(self._configure(source, flags, recipe), recipe.tiles))
        return [*_without_target(flags), "--compile-from=executable-configurations"]

    def _place(
        self, source: pathlib.Path, flags: list[str], recipe: recipes.Recipe
    ) -> tuple[list[str], list[placing.Layer]]:
        """Rewrites `source` with its products on the NPU; the flags of the rest of
        the compiler's way, and the layers."""
        optimized = source.with_name("optimized.mlir")
        self._run_compiler(source, optimized, [*flags, "--compile-to=global-optimization"], recipe)
        text, layers = placing.place(optimized.read_text())
        source.write_text(text)
        # The program names its devices by now, and operands of the NPU are tiled.
        kept = [flag for flag in _without_target(flags) if not flag.startswith(_TILING)]
        return [*kept, _TILING, "--compile-from=global-optimization", "--iree-hal-link-executables=false"], layers

    def _run_compiler(
        self, source: pathlib.Path, target: pathlib.Path, flags: list[str], recipe: recipes.Recipe
    ) -> None:
        what = f"compiling with recipe {recipe.name}"
        with tempfile.TemporaryDirectory(dir=target.parent) as listings:
            importers.run_tool(
                [importers.find_program("iree-compile"), os.fspath(source), "-o", os.fspath(target), *flags,
                 f"--iree-hal-dump-executable-sources-to={listings}"],
                what, timeout=self.timeout)
            wide = next(dispatches.too_wide(listing.read_text() for listing in pathlib.Path(listings).iterdir()), None)
        if wide is not None:
            raise CompileError(f"{what}: {wide}")


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


def _without_target(flags: Iterable[str]) -> list[str]:
    """Flags for a program that names its devices."""
    return [flag for flag in flags if not flag.startswith(("--iree-hal-", "--iree-input-type"))]


def _machine(names: tuple[str, ...]) -> str:
    """The targets, with what "host" stands for, so that a cache may be shared by
    machines."""
    if "host" not in names:
        return ",".join(names)
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        wanted = ("model name", "flags", "Features", "isa")
        lines = [line for line in file if line.startswith(wanted)]
    return json.dumps([names, sorted(set(lines))])
