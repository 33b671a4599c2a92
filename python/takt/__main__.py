"""The program `takt`: compile, tune, bench, sweep, run, trace, plan, sim."""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import sys
import tempfile
import time
import warnings
from typing import TYPE_CHECKING, Callable

from . import errors
from .networks import static_shapes
from .tools import find_tool

if TYPE_CHECKING:
    from .compiling.compiler import Artifact

# Commands that are programs of their own.
_TOOLS = {
    "run": "takt-run-module",
    "trace": "takt-trace",
    "plan": "takt-plan",
    "sim": "takt-sim",
}


def main(arguments: list[str] | None = None) -> int:
    """Exit codes are those of the takt-* tools: 0 done, 1 failed, 2 usage."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in _TOOLS:
        return _run_tool(_TOOLS[arguments[0]], arguments[1:])
    if arguments and arguments[0] == "sweep":
        from . import sweeping

        return _guarded(lambda: sweeping.main(arguments[1:]))
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    return _guarded(lambda: options.command(options))


def _guarded(command: Callable[[], int]) -> int:
    try:
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_: print(f"takt: warning: {message}", file=sys.stderr)
            return command()
    except (errors.Error, OSError, ValueError, TypeError) as error:
        print(f"takt: {_said(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _said(error: Exception) -> str:
    """An error as the takt-* tools print it: errors of the system begin with the file."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _parser() -> argparse.ArgumentParser:
    from . import __version__

    parser = argparse.ArgumentParser(
        prog="takt",
        description="Compiles models and runs them beside control loops.",
        epilog="Each command has its own --help.",
    )
    parser.set_defaults(command=None)
    parser.add_argument("--version", action="version", version=f"takt {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND")
    for name, tool in _TOOLS.items():  # main() runs them.
        commands.add_parser(name, help=tool, add_help=False)

    def compiling(name: str, text: str) -> argparse.ArgumentParser:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("model", metavar="MODEL", help=".onnx, .mlir, .stablehlo, .tflite")
        command.add_argument("-o", "--output", metavar="FILE", help="the module; default: MODEL.vmfb")
        command.add_argument("--name", help="of the module; default: that of the program, \"module\" for ONNX networks")
        command.add_argument(
            "--shape", action="append", default=[], metavar="NAME=1x3x640x640",
            help="an input's shape, or a dimension's size (batch=1), where the network leaves it open; "
                 "given again (seq=16, seq=64), the module takes either")
        command.add_argument("--deadline", type=float, metavar="SECONDS")
        command.add_argument("--priority", type=int, metavar="0-255")
        command.add_argument("--affinity", metavar="CPUS", help='CPUs, such as "0,2"')
        command.add_argument("--isa", help='features of CPUs that it needs, such as "avx2,fma"')
        command.add_argument("--resource", choices=("cpu", "npu"), help="where plans may put it")
        command.add_argument("--batch_dim", type=int, metavar="N", help="the dimension of batches")
        command.add_argument("--flag", action="append", default=[], help="a flag of iree-compile")
        command.add_argument("--json", action="store_true", help="print the report as JSON")
        return command

    command = compiling("compile", "compiles a model")
    command.add_argument("--target", default="host", help='such as "aarch64:cortex-a76", or "host,riscv64"; default: host')
    command.add_argument("--npu", metavar="DRIVER", help='"host", "sim[=PROFILE.json]" or a DRIVER.so')
    command.add_argument("--recipe", help="a recipe's name, or a file that tuning wrote")
    command.add_argument("--tune", type=float, metavar="SECONDS", help="try recipes on this machine")
    command.set_defaults(command=_compile)

    command = compiling("tune", "compiles a model by each recipe and takes the quickest")
    command.add_argument("--seconds", type=float, default=300.0, help="begin no candidate later; default: 300")
    command.add_argument("--target", default="host", help="of the board; default: host")
    command.add_argument("--host", metavar="USER@BOARD", help="measure there, over ssh")
    command.add_argument("--host_tools", metavar="DIR", help="of Takt's tools on it; default: its PATH")
    command.add_argument("--report", metavar="FILE.json", help="write what was tried")
    command.add_argument("--write_recipe", metavar="FILE.json", help="write the chosen recipe")
    command.set_defaults(command=_tune)

    commands.add_parser("sweep", help="plays workloads under policies, loads and seeds", add_help=False)

    command = commands.add_parser("bench", help="times a module", description="times a module")
    command.add_argument("module", metavar="MODULE", help=".vmfb, or a model to be compiled")
    command.add_argument("--function", help="default: the only one")
    command.add_argument("--device", default="local-task", choices=("local-task", "local-sync"))
    command.add_argument("--seconds", type=float, default=2.0, help="how long; default: 2")
    command.add_argument("--json", action="store_true")
    command.set_defaults(command=_bench)
    return parser


def _run_tool(tool: str, arguments: list[str]) -> int:
    try:
        program = find_tool(tool)
    except FileNotFoundError as error:
        print(f"takt: {error}", file=sys.stderr)
        return 3
    sys.stdout.flush()
    os.execv(program, [program, *arguments])


def _output_of(options: argparse.Namespace) -> pathlib.Path:
    if options.output:
        return pathlib.Path(options.output)
    return pathlib.Path(options.model).with_suffix(".vmfb")


def _check_outputs(options: argparse.Namespace) -> None:
    """Throws if a file that the command is to write cannot be written."""
    taken = {os.path.realpath(options.model): "MODEL"} if options.output else {}
    outputs = {"--output": _output_of(options)}
    for name in ("report", "write_recipe"):
        if getattr(options, name, None):
            outputs[f"--{name}"] = pathlib.Path(getattr(options, name))
    for name, path in outputs.items():
        folder = pathlib.Path(os.path.realpath(path)).parent
        if path.is_dir():
            raise IsADirectoryError(f"{name}: {path} is a folder")
        if not folder.is_dir():
            raise FileNotFoundError(f"{name}: there is no folder {folder}")
        try:
            if path.is_file():
                path.open("ab").close()
            elif not path.exists():
                tempfile.TemporaryFile(dir=folder).close()
        except OSError as error:
            raise type(error)(f"{name}: {path} cannot be written: {error.strerror}") from None
        other = taken.setdefault(os.path.realpath(path), name)
        if other != name and (path.is_file() or not path.exists()):  # Not /dev/null.
            raise ValueError(f"{name}: {path} is {other}, too")


def _save(artifact: Artifact, options: argparse.Namespace) -> None:
    path = _output_of(options)
    try:
        artifact.save(path)
    except OSError as error:
        raise OSError(f"--output: {path} cannot be written: {error.strerror}") from error


def _report(options: argparse.Namespace, artifact) -> int:
    output = _output_of(options)
    report = {"output": os.fspath(output), "recipe": artifact.recipe.name, **artifact.report}
    if artifact.placement:
        report["placement"] = [dataclasses.asdict(layer) for layer in artifact.placement]
    if options.json:
        print(json.dumps(report, indent=2))
    else:
        print(f"{output}: recipe {artifact.recipe.name}, {output.stat().st_size} bytes")
        for name, reason in artifact.report.get("failed", {}).items():
            print(f"  recipe {name} failed: {reason.splitlines()[0]}")
        if artifact.placement:
            print(artifact.explain())
    return 0


def _shared_options(options: argparse.Namespace) -> dict:
    """Of takt.compile(), for the commands that compile."""
    cpus = options.affinity
    return {
        "name": options.name,
        "shapes": static_shapes.parse(options.shape),
        "flags": options.flag,
        "deadline": options.deadline,
        "priority": options.priority,
        "affinity": None if cpus is None else [int(cpu) for cpu in cpus.split(",")],
        "isa": options.isa,
        "resource": options.resource,
        "batch_dim": options.batch_dim,
    }


def _compile(options: argparse.Namespace) -> int:
    from .compiling.compiler import compile as compile_model

    _check_outputs(options)
    artifact = compile_model(
        pathlib.Path(options.model),
        target=options.target,
        npu=options.npu,
        recipe=options.recipe,
        **_shared_options(options),
        tune=options.tune or False,
    )
    _save(artifact, options)
    return _report(options, artifact)


def _tune(options: argparse.Namespace) -> int:
    from .compiling.compiler import compile as compile_model

    _check_outputs(options)
    if not options.seconds > 0:
        raise ValueError(f"--seconds={options.seconds:g}: expected a positive number")
    artifact = compile_model(
        pathlib.Path(options.model),
        **_shared_options(options),
        target=options.target,
        host=options.host,
        host_tools=options.host_tools,
        tune=options.seconds,
    )
    _save(artifact, options)  # First: the rest can be done again.
    if options.report:
        text = json.dumps(artifact.report, indent=2) + "\n"
        pathlib.Path(options.report).write_text(text, encoding="utf-8")
    if options.write_recipe:
        pathlib.Path(options.write_recipe).write_text(artifact.recipe.to_json() + "\n", encoding="utf-8")
    return _report(options, artifact)


def _bench(options: argparse.Namespace) -> int:
    from . import tuning
    from .compiling.compiler import compile as compile_model
    from .module import load

    if not options.seconds > 0:
        raise ValueError(f"--seconds={options.seconds:g}: expected a positive number")
    path = pathlib.Path(options.module)
    module = path if path.suffix == ".vmfb" else compile_model(path).path
    function = load(module, device=options.device).function(options.function)
    inputs = tuning.example_inputs(function)
    for _ in range(2):
        function(*inputs)
    times = []
    end = time.monotonic() + options.seconds
    while not times or time.monotonic() < end:
        begin = time.perf_counter_ns()
        function(*inputs)
        times.append(time.perf_counter_ns() - begin)
    times.sort()
    result = {
        "function": function.name,
        "calls": len(times),
        "median_ns": times[len(times) // 2],
        "p99_ns": times[len(times) * 99 // 100],
        "min_ns": times[0],
        "max_ns": times[-1],
    }
    if options.json:
        print(json.dumps(result))
    else:
        print(
            f"{result['function']}: {result['median_ns'] / 1e6:.3f} ms (median of {len(times)} calls), "
            f"p99 {result['p99_ns'] / 1e6:.3f} ms, max {result['max_ns'] / 1e6:.3f} ms"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
