"""Tuning, here and on a board."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import takt
from takt import tuning
from takt.compiling import dispatches, measuring, recipes
from takt.__main__ import main
from test_compile import MUL

BUILT_TOOLS = pathlib.Path(os.path.realpath(takt.tools.find_tool("takt-run-module"))).parent


@pytest.fixture
def few(monkeypatch):
    """Two recipes and two choices."""
    kept = {name: recipes.RECIPES[name] for name in ("plain", "channels_last")}
    monkeypatch.setattr(recipes, "RECIPES", kept)
    choices = {"peeling": tuning.CHOICES["peeling"], "broken": ("--no-such-flag",)}
    monkeypatch.setattr(tuning, "CHOICES", choices)
    monkeypatch.setattr(tuning, "_MEASURE_SECONDS", 0.02)


@pytest.fixture
def board(tmp_path, monkeypatch):
    """An ssh that runs the command here, and writes down for whom."""
    if not (BUILT_TOOLS / "takt-benchmark-module").exists():
        pytest.skip("takt-benchmark-module is not built")
    folder = tmp_path / "bin"
    folder.mkdir()
    ssh = folder / "ssh"
    ssh.write_text(f'#!/bin/sh\necho "$3: $4" >> {tmp_path}/ssh.log\nexec sh -c "$4"\n')
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return tmp_path / "ssh.log"


def test_tuning_takes_the_quickest_with_the_same_results(needs_compiler, few, tmp_path):
    lines = []
    artifact = takt.compile(MUL, cache=tmp_path, tune=120, progress=lines.append)
    tried = {record["recipe"]: record for record in artifact.report["tried"]}
    assert tried["plain"]["median_ns"] > 0
    assert any(name.endswith("+peeling") for name in tried)
    broken = next(record for name, record in tried.items() if name.endswith("+broken"))
    assert "no-such-flag" in broken["rejected"]
    assert "median_ns" in tried[artifact.recipe.name] and "rejected" not in tried[artifact.recipe.name]
    assert artifact.load().mul([1, 2, 3, 4], [2, 2, 2, 2]).tolist() == [2, 4, 6, 8]
    assert any("of 120 s] plain: " in line for line in lines)


def test_other_results_do_not_count(needs_compiler, few, tmp_path, monkeypatch):
    honest = measuring.LocalMachine.measure
    seen = []

    def measure(self, path, inputs, seconds, timeout):
        measured = honest(self, path, inputs, seconds, timeout)
        if path not in seen:
            seen.append(path)
        if path != seen[0]:  # All but the usual one: very quick, and wrong.
            return measuring.Measurement(1, tuple(each + 1 for each in measured.results))
        return measured

    monkeypatch.setattr(measuring.LocalMachine, "measure", measure)
    artifact = takt.compile(MUL, cache=tmp_path, tune=120, progress=lambda line: None)
    assert artifact.recipe.name == "channels_last"
    tried = {record["recipe"]: record for record in artifact.report["tried"]}
    assert tried["plain"]["rejected"] == "its results differ"


PRODUCT = """
func.func @product(%a: tensor<64x256xf32>, %b: tensor<256x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x128xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<64x256xf32>, tensor<256x128xf32>) outs(%start : tensor<64x128xf32>)
    -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
"""


@pytest.mark.parametrize("place", ["here", "board"])
def test_tiles_of_slow_dispatches_are_tried(needs_compiler, few, board, tmp_path, monkeypatch, place):
    monkeypatch.setattr(tuning, "CHOICES", {})
    options = {} if place == "here" else {"host": "me@robot", "host_tools": str(BUILT_TOOLS)}
    taken = []
    honest = tuning._Tuner.best

    def best(self):
        # The quickest is a matter of the machine: the last one that was accepted is taken.
        taken.append(self.accepted[-1][1])
        return taken[-1]

    monkeypatch.setattr(tuning._Tuner, "best", best)
    artifact = takt.compile(PRODUCT, cache=tmp_path, tune=300, progress=lambda line: None, **options)
    tiled = [record for record in artifact.report["tried"] if "product_dispatch_0" in record["recipe"]]
    assert tiled and all(record["difference"] < 1 for record in tiled)
    assert "median_ns" in tiled[0]
    monkeypatch.setattr(tuning._Tuner, "best", honest)
    recipe = taken[-1].recipe
    assert recipe.tiles
    # The recipe that is checked in has them, and gives the same module.
    path = tmp_path / "recipe.json"
    path.write_text(recipe.to_json())
    again = takt.compile(PRODUCT, cache=tmp_path, recipe=path)
    assert again.report["cached"] and again.path == taken[-1].path
    assert again.recipe.tiles == recipe.tiles
    a, b = (np.random.default_rng(i).standard_normal(s).astype(np.float32) for i, s in enumerate([(64, 256), (256, 128)]))
    np.testing.assert_allclose(again.load()(a, b), a @ b, rtol=1e-4, atol=1e-3)


CONFIGURED = """
      func.func @first() attributes {translation_info = #x} {
        linalg.fill {lowering_config = #iree_cpu.lowering_config<vector_common_parallel = [8, 16]>}
        linalg.matmul {lowering_config = #iree_cpu.lowering_config<distribution = [32, 64, 0], vector_reduction = [0, 0, 1]>}
      }
      func.func @second() attributes {translation_info = #x} {
        linalg.copy
      }
      func.func @third() attributes {translation_info = #x} {
        linalg.add {lowering_config = #iree_cpu.lowering_config<distribution = [7]>}
      }
"""


def test_the_choices_need_no_import_of_their_own():
    program = "import takt; print(*takt.tuning.CHOICES)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == [*tuning.CHOICES]


def test_tiles_are_read_and_written():
    assert dispatches.tiles_of(CONFIGURED) == {"first": (32, 64, 0), "third": (7,)}
    changed = dispatches.retile(CONFIGURED, {"first": (16, 32, 0), "third": (14,)})
    assert dispatches.tiles_of(changed) == {"first": (16, 32, 0), "third": (14,)}
    assert changed.replace("16, 32, 0", "32, 64, 0").replace("[14]", "[7]") == CONFIGURED
    for wrong in ({"second": (1,)}, {"fourth": (1,)}, {"first": (1, 2)}):
        with pytest.raises(takt.CompileError, match=next(iter(wrong))):
            dispatches.retile(CONFIGURED, wrong)
    assert dispatches.other_tiles((32, 64, 0)) == [(64, 128, 0), (16, 32, 0)]
    assert dispatches.other_tiles((7,)) == [(14,)]


def test_without_time_the_usual_module_is_taken(needs_compiler, few, tmp_path):
    artifact = takt.compile(MUL, cache=tmp_path, tune=1e-3, progress=lambda line: None)
    assert artifact.recipe.name == "channels_last"
    assert artifact.path == takt.compile(MUL, cache=tmp_path).path
    skipped = [record for record in artifact.report["tried"] if "skipped" in record]
    assert len(skipped) == len(artifact.report["tried"]) - 1 > 0


def test_a_board_measures_over_ssh(needs_compiler, few, board, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TAKT_CACHE", str(tmp_path / "cache"))
    model = tmp_path / "mul.mlir"
    model.write_text(MUL)
    report, recipe = tmp_path / "report.json", tmp_path / "recipe.json"
    arguments = ["tune", str(model), "--host=me@robot", f"--host_tools={BUILT_TOOLS}", f"--report={report}"]
    assert main([*arguments, f"--write_recipe={recipe}", "--seconds=120"]) == 0
    said = json.loads(report.read_text())
    assert said["measured_on"] == "me@robot"
    assert [r["recipe"] for r in said["tried"] if "median_ns" in r][:2] == ["channels_last", "plain"]
    log = board.read_text()
    assert "me@robot: " in log and "takt-benchmark-module" in log
    folders = [line.split()[-1] for line in log.splitlines() if "rm -rf" in line]
    assert folders and not any(os.path.exists(folder) for folder in folders)
    assert "takt" not in os.path.basename(recipes.find(recipe, False).name)
    # The recipe that was written compiles to the same module.
    assert main(["compile", str(model), f"--recipe={recipe}", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))["cached"]


def test_a_board_that_fails_says_why(needs_compiler, few, board, tmp_path):
    with pytest.raises(takt.Error, match="me@robot: .*no-such-folder"):
        takt.compile(MUL, cache=tmp_path, tune=60, host="me@robot", host_tools="/no-such-folder")
    with pytest.raises(ValueError, match="-oProxy"):
        measuring.Board("-oProxyCommand=x")


def test_a_kernel_that_ends_its_process_ends_no_tuning(needs_compiler, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "__file__", str(tmp_path / "a" / "b" / "c.py"))
    machine = measuring.LocalMachine()
    with pytest.raises(takt.Error, match="measuring: "):
        machine.measure(tmp_path / "missing.vmfb", [np.ones(4)], 0.01, 60)


def test_a_measurement_takes_time(capsys):
    from takt.__main__ import main

    for seconds in ("0", "-1", "nan"):
        assert main(["bench", "net.vmfb", f"--seconds={seconds}"]) == 1
        assert f"--seconds={seconds}: expected a positive number" in capsys.readouterr().err


def test_an_unknown_command_is_told_all_that_there_are(capsys):
    from takt.__main__ import main

    with pytest.raises(SystemExit) as end:
        main(["zork"])
    assert end.value.code == 2
    said = capsys.readouterr().err
    assert all(name in said for name in ("compile", "tune", "bench", "sweep", "run", "trace", "plan", "sim"))
