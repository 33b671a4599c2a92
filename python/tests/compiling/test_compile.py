import dataclasses
import errno
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time
import types

import numpy as np
import pytest

import takt
from takt.compiling import answers, recipes

MUL = """
func.func @mul(%lhs: tensor<4xf32>, %rhs: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %lhs, %rhs : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def test_an_unchanged_file_is_not_read_again(needs_compiler, tmp_path, monkeypatch):
    from takt.compiling import importers

    path, cache = tmp_path / "mul.mlir", tmp_path / "cache"
    path.write_text(MUL)
    first = takt.compile(path, cache=cache)
    asked = []
    read = importers.read
    monkeypatch.setattr(importers, "read", lambda *given: asked.append(given) or read(*given))
    second = takt.compile(path, cache=cache)
    assert not asked and second.report["cached"] and "compile_seconds" not in second.report
    assert (second.path, second.recipe, second.target) == (first.path, first.recipe, first.target)
    # Any other request, a changed file, and a module that is gone.
    takt.compile(path, cache=cache, priority=3)
    takt.compile(path, cache=cache, recipe="plain")
    path.write_text(MUL + "// changed\n")
    takt.compile(path, cache=cache)
    assert len(asked) == 3
    path.write_text(MUL)
    first.path.unlink()
    assert takt.compile(path, cache=cache).path.exists() and len(asked) == 4


def cut(data):
    return data[: len(data) // 2]


def change(data):
    return data[:100] + bytes([data[100] ^ 1]) + data[101:]


@pytest.fixture(scope="module")
def caches(needs_compiler, tmp_path_factory):
    """Two caches in which `MUL` is: given as text, and as a file."""
    folder = tmp_path_factory.mktemp("caches")
    path = folder / "mul.mlir"
    path.write_text(MUL)
    for name, model in (("text", MUL), ("file", path)):
        takt.compile(model, cache=folder / name)
        assert takt.compile(model, cache=folder / name).report["cached"]
    return folder


@pytest.mark.parametrize("pattern, damage", [
    ("*.vmfb", cut),
    ("*.vmfb", change),
    ("*.vmfb", lambda data: b""),
    ("*.request.json", cut),
    ("*.request.json", lambda data: b"{}"),
    ("*.request.json", lambda data: b"[1]"),
    ("*.request.json", lambda data: data.replace(b"module", b"muddle")),
    ("*.module.json", cut),
    ("*.module.json", lambda data: b"null"),
])
@pytest.mark.parametrize("given", ["text", "file"])
def test_what_is_damaged_in_the_cache_is_made_again(caches, tmp_path, pattern, damage, given):
    cache, model = tmp_path / "cache", caches / "mul.mlir" if given == "file" else MUL
    shutil.copytree(caches / given, cache)
    module, = cache.glob("*.vmfb")
    found = list(cache.glob(pattern))
    assert len(found) == (given == "file" or pattern != "*.request.json")
    for each in found:
        each.write_bytes(damage(each.read_bytes()))
    for _ in range(2):
        again = takt.compile(model, cache=cache)
        assert again.path == module and again.load().mul([1, 2, 3, 4], [2, 2, 2, 2]).tolist() == [2, 4, 6, 8]
    assert again.report["cached"]


def test_a_damaged_module_is_hashed_once(caches, tmp_path, monkeypatch):
    shutil.copytree(caches / "file", tmp_path / "cache")
    module, = tmp_path.glob("cache/*.vmfb")
    module.write_bytes(change(module.read_bytes()))
    hashed, hash_of_file = [], answers._hash_of_file
    monkeypatch.setattr(answers, "_hash_of_file", lambda path: hashed.append(path) or hash_of_file(path))
    takt.compile(caches / "mul.mlir", cache=tmp_path / "cache")
    assert hashed.count(module) == 1


def test_a_compiler_that_is_interrupted_leaves_no_module(needs_compiler, tmp_path, monkeypatch):
    from takt.compiling import importers

    def interrupt(command, what, *, timeout=None):
        target = command[command.index("-o") + 1]
        with open(target, "wb") as file:
            file.write(b"half of it")
        raise KeyboardInterrupt

    monkeypatch.setattr(importers, "run_tool", interrupt)
    with pytest.raises(KeyboardInterrupt):
        takt.compile(MUL, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_module_is_saved_whole_or_not_at_all(needs_compiler, tmp_path, monkeypatch):
    artifact = takt.compile(MUL, cache=tmp_path / "cache")
    target, link = tmp_path / "mul.vmfb", tmp_path / "link.vmfb"
    target.write_bytes(b"before")
    target.chmod(0o640)
    link.symlink_to(target)
    honest = shutil.copyfile

    def fail(source, written):
        honest(source, written)
        raise OSError(28, "No space left on device", str(written))

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", fail)
        with pytest.raises(OSError, match="No space"):
            artifact.save(target)
    assert target.read_bytes() == b"before"
    artifact.save(link)
    assert link.is_symlink() and target.read_bytes() == artifact.path.read_bytes()
    assert target.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in tmp_path.iterdir()) == ["cache", "link.vmfb", "mul.vmfb"]


def test_an_empty_name_of_the_cache_is_none(monkeypatch, tmp_path):
    from takt.compiling import compiler

    monkeypatch.setenv("TAKT_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert compiler._cache_folder(None) == tmp_path / "takt"
    monkeypatch.setenv("TAKT_CACHE", str(tmp_path / "own"))
    assert compiler._cache_folder(None) == tmp_path / "own"


def test_a_folder_that_cannot_have_modules_is_named(needs_compiler, tmp_path, monkeypatch):
    from takt.compiling import compiler

    file = tmp_path / "file"
    file.write_bytes(b"")
    for cache in (file, file / "below"):
        with pytest.raises(OSError, match="cache= or TAKT_CACHE names another one") as caught:
            takt.compile(MUL, cache=cache)
        assert caught.value.filename == str(cache)
    full = OSError(errno.ENOSPC, "No space left on device")  # As write() raises it.

    def fail(*_, **__):
        raise full

    with monkeypatch.context() as patch:
        patch.setattr(pathlib.Path, "write_bytes", fail)
        with pytest.raises(OSError, match="No space left on device: compiled modules are kept") as caught:
            takt.compile(MUL, cache=tmp_path / "cache")
        assert caught.value.filename == str(tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(compiler.tempfile, "mkdtemp", fail)  # A folder that can only be read, for one.
        with pytest.raises(OSError, match="TAKT_CACHE"):
            takt.compile(MUL, cache=tmp_path / "cache")


def kept(folder, ages_h, **own):
    """Which modules of 100 bytes are left that were used so many hours ago."""
    for i, age in enumerate(ages_h):
        path = folder / f"{i:032x}.vmfb"
        path.write_bytes(bytes(100))
        os.utime(path, (time.time() - age * 3600,) * 2)
    answers.limit(folder, **own)
    return [i for i in range(len(ages_h)) if (folder / f"{i:032x}.vmfb").exists()]


def test_the_cache_loses_what_was_used_longest_ago(tmp_path):
    (tmp_path / "own.vmfb").write_bytes(bytes(1000))
    os.utime(tmp_path / "own.vmfb", (0, 0))
    assert kept(tmp_path, [5, 30, 20, 9], bytes_max=250) == [0, 3]
    assert kept(tmp_path, [0.5, 30, 0, 9], bytes_max=0) == [0, 2]  # Another process may be about to load these.
    assert kept(tmp_path, [5, 30, 20, 9], bytes_max=400) == [0, 1, 2, 3]
    assert (tmp_path / "own.vmfb").exists()


def test_what_a_killed_compilation_left_is_deleted(tmp_path):
    for name, age_h in (("takt-old", 400), ("takt-new", 2), ("other", 400)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "program.mlir").write_bytes(bytes(10))
        os.utime(tmp_path / name, (time.time() - age_h * 3600,) * 2)
    kept(tmp_path, [], bytes_max=0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "takt-new"]


def test_a_module_that_is_found_is_not_the_oldest(needs_compiler, tmp_path):
    path = tmp_path / "mul.mlir"
    path.write_text(MUL)
    artifact = takt.compile(path, cache=tmp_path / "cache", cache_bytes_max=0)
    files = list((tmp_path / "cache").iterdir())
    for each in files:
        os.utime(each, (0, 0))
    assert takt.compile(path, cache=tmp_path / "cache").report["cached"] and len(files) == 3
    takt.compile(MUL, cache=tmp_path / "cache", recipe="plain", cache_bytes_max=0)
    assert artifact.path.exists() and all(each.exists() for each in files)


def test_limits_of_the_cache_are_numbers(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match="cache_bytes_max: expected a number of bytes"):
        takt.compile(MUL, cache=tmp_path, cache_bytes_max=-1)
    monkeypatch.setenv("TAKT_CACHE_BYTES_MAX", "8G")
    with pytest.raises(ValueError, match="TAKT_CACHE_BYTES_MAX: expected"):
        takt.compile(MUL, cache=tmp_path)


def test_mlir_is_compiled_and_cached(needs_compiler, tmp_path):
    first = takt.compile(MUL, cache=tmp_path)
    assert first.load().mul([1, 2, 3, 4], [2, 2, 2, 2]).tolist() == [2, 4, 6, 8]
    assert not first.report["cached"]
    second = takt.compile(MUL, cache=tmp_path)
    assert second.report["cached"]
    assert second.path == first.path
    other = takt.compile(MUL, cache=tmp_path, recipe="plain")
    assert other.path != first.path


# Features that every machine with Takt has; others are refused at load.
ISA = ["sse3", "sse4.1"] if platform.machine() == "x86_64" else ["neon"]


def test_annotations_are_attributes(needs_compiler, tmp_path):
    module = takt.compile(
        MUL,
        cache=tmp_path,
        deadline=5e-3,
        priority=200,
        affinity=[0, 3],
        isa=ISA,
        resource="npu",
        batch_dim=0,
        annotations={"owner": "arm \"left\"", "mul": {"takt.priority": "9"}},
    )
    function = module.load().mul
    assert {key: function.attribute(key) for key in ATTRIBUTES} == ATTRIBUTES


ATTRIBUTES = {
    "takt.deadline_ns": "5000000",
    "takt.priority": "9",
    "takt.affinity": "0x9",
    "takt.isa": ",".join(ISA),
    "takt.resource": "npu",
    "takt.batch_dim": "0",
    "owner": 'arm "left"',
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"deadline": 0.0},
        {"deadline": float("nan")},
        {"priority": 256},
        {"affinity": []},
        {"isa": []},
        {"resource": "gpu"},
        {"batch_dim": -1},
    ],
)
def test_annotations_are_checked(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        takt.compile(MUL, **wrong)


def test_onnx_keeps_names_and_shapes(needs_compiler, mlp, tmp_path):
    path, expected = mlp
    artifact = takt.compile(path, cache=tmp_path)
    assert artifact.recipe.name == "untiled"  # Its products are too small for others.
    policy = artifact.load()
    function = policy.function()
    assert function.inputs[0]["name"] == "observation"
    assert function.inputs[0]["shape"] == (1, 8)
    assert function.outputs[0]["name"] == "action"
    observation = np.random.default_rng(2).standard_normal((1, 8)).astype(np.float32)
    np.testing.assert_allclose(policy(observation=observation), expected(observation), rtol=1e-5)
    with pytest.raises(takt.InvalidArgument, match="expected 1x8xf32"):
        policy(observation[:, :4])


def test_modules_have_the_name_that_is_given(needs_compiler, mlp, tmp_path):
    policy = takt.compile(mlp[0], cache=tmp_path, name="policy_2").load().function()
    assert policy.name == "policy_2.policy" and policy.inputs[0]["name"] == "observation"
    again = takt.compile(mlp[0], cache=tmp_path, name="policy_2")
    assert again.report["cached"] and again.load().function().name == policy.name
    assert takt.compile(mlp[0], cache=tmp_path).load().function().name == "module.policy"
    # A program that leaves its module out keeps the names of its inputs.
    mul = takt.compile("// A product.\n" + MUL, cache=tmp_path, name="product").load().mul
    assert mul.name == "product.mul" and [each["name"] for each in mul.inputs] == ["lhs", "rhs"]


@pytest.mark.parametrize("name", ["", "2nd", "a.b", "a b", "n\u00e4me", "hal", 3])
def test_names_of_modules_are_checked(name):
    with pytest.raises(ValueError, match="name "):
        takt.compile("no such file.onnx", name=name)


def test_two_networks_are_in_one_workload(needs_compiler, mlp, tmp_path):
    functions = []
    for name in ("left", "right"):
        takt.compile(mlp[0], cache=tmp_path / "cache", name=name).save(tmp_path / f"{name}.vmfb")
        functions.append({"function": f"{name}.policy", "inputs": ["1x8xf32=0.5"]})
    workload = {
        "name": "both",
        "modules": [{"name": name, "file": f"{name}.vmfb"} for name in ("left", "right")],
        "functions": functions,
        "streams": [{"name": each["function"], "function": each["function"], "period_ms": 10} for each in functions],
    }
    path = tmp_path / "both.json"
    path.write_text(json.dumps(workload))
    output = tmp_path / "profile.json"
    command = [takt.tools.find_tool("takt-plan"), "profile", path, "--samples=3", f"--output={output}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    profile = output.read_text()
    assert "left.policy" in profile and "right.policy" in profile


def test_results_have_the_sign_that_is_declared(needs_compiler, tmp_path):
    """The compiler's integers have none."""
    onnx = pytest.importorskip("onnx")
    helper = onnx.helper
    kinds = ["uint8", "uint16", "uint32", "int8"]
    declared = [[helper.make_tensor_value_info(f"{name}_{kind}", helper.np_dtype_to_tensor_dtype(np.dtype(kind)), [3])
                 for kind in kinds] for name in "xy"]
    graph = helper.make_graph(
        [helper.make_node("Max", [f"x_{kind}", f"x_{kind}"], [f"y_{kind}"]) for kind in kinds], "net", *declared)
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    module = takt.compile(path, cache=tmp_path).load()
    given = [np.array([1, np.iinfo(kind).max, 0], kind) for kind in kinds]
    with takt.Instance(workers=1) as robot:
        stream = robot.stream(module)
        for i, x in enumerate(given):
            stream.map_input(i)[...] = x
        stream.publish_input()
        stream.wait_idle(timeout=60)
        for results in (module.net(*given), module.net.submit(*given).result(), stream.take()):
            for x, result in zip(given, results, strict=True):
                assert result.dtype == x.dtype
                assert result.tolist() == x.tolist(), x.dtype


def test_networks_of_doubles_compute_doubles(needs_compiler, tmp_path):
    onnx = pytest.importorskip("onnx")
    helper, double = onnx.helper, onnx.TensorProto.DOUBLE
    graph = helper.make_graph(
        [helper.make_node("Sqrt", ["x"], ["r"]), helper.make_node("Add", ["r", "x"], ["y"])], "net",
        [helper.make_tensor_value_info("x", double, [2])], [helper.make_tensor_value_info("y", double, [2])])
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    x = np.array([2.0, 1 + 1e-12])
    np.testing.assert_allclose(takt.compile(path, cache=tmp_path).load().net(x), np.sqrt(x) + x, rtol=1e-15)


def test_large_networks_have_their_weights_beside_them(needs_compiler, mlp, tmp_path, monkeypatch):
    from takt.compiling import importers

    monkeypatch.setattr(importers, "_WEIGHTS_MAX", 16)
    path, expected = mlp
    policy = takt.compile(path, cache=tmp_path).load()
    observation = np.ones((1, 8), np.float32)
    np.testing.assert_allclose(policy.function(None)(observation), expected(observation), rtol=1e-5)


def test_onnx_runs_in_a_stream_with_slots(needs_compiler, mlp, tmp_path):
    path, expected = mlp
    policy = takt.compile(path, cache=tmp_path).load()
    observation = np.ones((1, 8), np.float32)
    with takt.Instance(workers=1, policy="job-shop") as robot:
        stream = robot.stream(policy)
        stream.map_input(0)[...] = observation
        stream.publish_input()
        stream.wait_idle(timeout=60)
        np.testing.assert_allclose(stream.take(), expected(observation), rtol=1e-5)


def test_a_recipe_that_fails_falls_back(needs_compiler, tmp_path):
    broken = recipes.Recipe("broken", ("--there-is-no-such-flag",), "fails")
    artifact = takt.compile(MUL, cache=tmp_path, recipe=broken)
    assert artifact.recipe.name == "plain"
    assert "there-is-no-such-flag" in artifact.report["failed"]["broken"]


@pytest.mark.parametrize("is_rewritten", [False, True])
def test_recipes_of_one_program_share_it(needs_compiler, mlp, tmp_path, monkeypatch, is_rewritten):
    """It is annotated once, and its hash, by which the cache knows it, is taken once."""
    import hashlib

    from takt.compiling import compiler, declarations

    hashed, annotated = [], []
    annotate = declarations.annotate
    monkeypatch.setattr(declarations, "annotate", lambda *a, **own: annotated.append(a) or annotate(*a, **own))
    monkeypatch.setattr(compiler, "hashlib", types.SimpleNamespace(
        sha256=lambda data: hashed.append(data) or hashlib.sha256(data)))
    broken = dataclasses.replace(recipes.RECIPES["native" if is_rewritten else "channels_last"], name="broken",
                                 flags=("--there-is-no-such-flag",))
    artifact = takt.compile(mlp[0], cache=tmp_path, recipe=broken)
    assert [*artifact.report["failed"]] == ["broken"] and artifact.recipe.is_rewritten == is_rewritten
    assert len(hashed) == len(annotated) == 1


def test_what_does_not_compile_says_why(needs_compiler, tmp_path):
    with pytest.raises(takt.CompileError, match="expected") as caught:
        takt.compile("func.func @broken() {\n", cache=tmp_path)
    assert str(caught.value).splitlines()[-1] == "recipe plain: the same as channels_last"


def test_recipes_are_written_and_read(tmp_path):
    recipe = recipes.RECIPES["im2col"]
    path = tmp_path / "recipe.json"
    path.write_text(recipe.to_json())
    assert recipes.find(path, is_quantized=False) == recipe
    with pytest.raises(ValueError, match="channels_last"):
        recipes.find("quickest", is_quantized=False)


def test_the_program_compiles_and_times(needs_compiler, tmp_path):
    model = tmp_path / "mul.mlir"
    model.write_text(MUL)
    environment = {"TAKT_CACHE": str(tmp_path / "cache")}

    def takt_program(*arguments):
        import os

        return subprocess.run(
            [sys.executable, "-m", "takt", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
        )

    done = takt_program("compile", str(model), "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["recipe"] == "channels_last"
    done = takt_program("bench", str(tmp_path / "mul.vmfb"), "--seconds=0.05", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["median_ns"] > 0
    done = takt_program("compile", str(tmp_path / "missing.onnx"))
    assert done.returncode == 1
    assert "missing.onnx" in done.stderr


@pytest.mark.parametrize("outputs, message", [
    (["-o", "none/net.vmfb"], "--output: there is no folder"),
    (["-o", "."], "--output: . is a folder"),
    (["-o", "file/net.vmfb"], "--output: there is no folder"),
    (["-o", "net.mlir"], "--output: net.mlir is MODEL, too"),
    (["-o", "/proc/net.vmfb"], "--output: /proc/net.vmfb cannot be written"),
    (["--report=none/tried.json"], "--report: there is no folder"),
    (["--write_recipe=none/net.json"], "--write_recipe: there is no folder"),
    (["--report=net.json", "--write_recipe=./net.json"], "--write_recipe: net.json is --report, too"),
])
def test_outputs_are_checked_before_the_work(tmp_path, monkeypatch, capsys, outputs, message):
    from takt.__main__ import main
    from takt.compiling import compiler

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(compiler, "compile", lambda *_, **__: pytest.fail("it has begun"))
    (tmp_path / "net.mlir").write_text(MUL)
    (tmp_path / "file").write_text("")
    for command in ("compile", "tune") if outputs[0] == "-o" else ("tune",):
        assert main([command, "net.mlir", *outputs]) == 1
        assert message in capsys.readouterr().err
    assert (tmp_path / "net.mlir").read_text() == MUL


def test_errors_of_the_system_begin_with_the_file(tmp_path, monkeypatch, capsys):
    from takt.__main__ import main
    from takt.compiling import compiler

    made = tmp_path / "made.vmfb"
    made.write_bytes(b"module")
    artifact = takt.Artifact(made, recipes.RECIPES["plain"], ("host",), {})
    monkeypatch.setattr(compiler, "compile", lambda *_, **__: artifact)
    assert main(["compile", "net.mlir", "-o", "/dev/full"]) == 1
    assert capsys.readouterr().err == "takt: --output: /dev/full cannot be written: No space left on device\n"
    monkeypatch.setattr(compiler, "compile", lambda *_, **__: (tmp_path / "none").read_text())
    assert main(["compile", "net.mlir", "-o", str(tmp_path / "net.vmfb")]) == 1
    assert capsys.readouterr().err == f"takt: {tmp_path / 'none'}: No such file or directory\n"


def test_the_module_is_written_before_reports(tmp_path, monkeypatch, capsys):
    from takt.__main__ import main
    from takt.compiling import compiler

    made = tmp_path / "made.vmfb"
    made.write_bytes(b"module")
    artifact = takt.Artifact(made, recipes.RECIPES["plain"], ("host",), {"unwritable": object()})
    monkeypatch.setattr(compiler, "compile", lambda *_, **__: artifact)
    output = tmp_path / "net.vmfb"
    assert main(["tune", "net.mlir", "-o", str(output), f"--report={tmp_path / 'tried.json'}"]) == 1
    assert "not JSON serializable" in capsys.readouterr().err
    assert output.read_bytes() == b"module"


@pytest.mark.parametrize("options, message", [
    ({"host": "board"}, "for tuning only"),
    ({"tune": True, "npu": "host"}, "without an NPU"),
    ({"tune": True, "target": "aarch64"}, "target must be host"),
    ({"tune": True, "host": "board", "target": "x86_64,aarch64"}, "board is one machine"),
    ({"npu": "sim", "target": "x86_64,aarch64"}, "has one CPU"),
    ({"npu": "other"}, "npu 'other'"),
    ({"tune": -1}, "tune -1: expected a positive number"),
    ({"tune": float("nan")}, "tune nan"),
    ({"tune": True, "host": "-oProxyCommand=x"}, "host '-oProxyCommand=x'"),
    ({"timeout": 0}, "timeout 0: expected a positive number"),
    ({"recipe": "quickest"}, "recipe 'quickest' is none of"),
    ({"recipe": str(pathlib.Path(__file__).with_name("no_recipe.json"))}, "no_recipe.json"),
])
def test_options_that_do_not_go_together_are_refused_before_the_model_is_read(options, message):
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        takt.compile("no such file.onnx", **options)


@pytest.mark.parametrize("options", [
    {"tune": "long"}, {"flags": "--iree-opt-level=O2"}, {"flags": [3]}, {"annotations": {"takt.priority": 3}},
    {"annotations": {"mul": {"takt.priority": 3}}},
])
def test_options_of_wrong_types_are_named(options):
    with pytest.raises(TypeError, match=next(iter(options))):
        takt.compile("no such file.onnx", **options)


@pytest.mark.parametrize("text", ["{}", "[]", "3", "no json", '{"name": "a", "flags": 3}'])
def test_a_file_that_is_no_recipe_is_named(tmp_path, text):
    path = tmp_path / "recipe.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="recipe.json'?: not a recipe"):
        takt.compile("no such file.onnx", recipe=path)


def test_flags_may_come_from_a_generator(needs_compiler, tmp_path):
    path = tmp_path / "mul.mlir"
    path.write_text(MUL)
    flags = (flag for flag in ["--no-such-flag"])
    with pytest.raises(takt.CompileError, match="no-such-flag"):
        takt.compile(path, cache=tmp_path / "cache", flags=flags)


def test_what_is_no_model_is_named(needs_compiler, testdata, mlp, tmp_path):
    module = testdata / "api/simple_mul.vmfb"
    for model in (module, str(module), module.read_bytes()):
        with pytest.raises(takt.InvalidArgument, match=r"a compiled module: takt.load\(\) loads it"):
            takt.compile(model, cache=tmp_path)
    with pytest.raises(takt.InvalidArgument, match="write them to a .onnx file"):
        takt.compile(mlp[0].read_bytes(), cache=tmp_path)
    with pytest.raises(takt.InvalidArgument, match="write them to a .tflite file"):
        takt.compile(pathlib.Path(__file__).with_name("policy.tflite").read_bytes(), cache=tmp_path)
    empty = tmp_path / "empty.mlir"
    empty.write_bytes(b"")
    for model, what in ((empty, "empty.mlir is"), (b"", "these bytes are")):
        with pytest.raises(takt.CompileError, match=f"{what} empty"):
            takt.compile(model, cache=tmp_path)
    with pytest.raises(TypeError, match="no int"):
        takt.compile(3, cache=tmp_path)
    other = tmp_path / "policy.pt"
    other.write_bytes(b"PK\x03\x04\xff\xfe")
    for model, what in ((other, "policy.pt"), (other.read_bytes(), "these bytes")):
        with pytest.raises(takt.InvalidArgument, match=f"{what}: neither MLIR"):
            takt.compile(model, cache=tmp_path)
    with pytest.raises(OSError, match=str(tmp_path)):
        takt.compile(tmp_path, cache=tmp_path)


@pytest.fixture(scope="module")
def modules(needs_compiler, tmp_path_factory):
    """The cache of tests that need a module, and no answer to an earlier call."""
    return tmp_path_factory.mktemp("modules")


@pytest.fixture(scope="module")
def import_once():
    """The importer, which reads equal networks once."""
    from takt.compiling import importers

    imported, import_onnx = {}, importers._import_onnx

    def read(model, what):
        key = model.SerializeToString()
        if key not in imported:
            imported[key] = import_onnx(model, what)
        return imported[key]

    return read


@pytest.mark.parametrize("error", [KeyError("w"), RecursionError("too deep"), OSError(28, "No space left"),
                                   UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"), ValueError("a\nb")])
@pytest.mark.parametrize("step", ["annotate", "rewritten", "text"])
def test_whatever_a_pass_throws_is_an_error_of_compiling(mlp, modules, import_once, monkeypatch, capsys, step, error):
    from takt.__main__ import main
    from takt.compiling import declarations, importers

    def fail(*_, **__):
        raise error

    monkeypatch.setenv("TAKT_CACHE", str(modules))
    monkeypatch.setattr(importers, "_import_onnx", import_once)
    for answer in modules.glob("*.request.json"):
        answer.unlink()
    place = {"annotate": declarations, "rewritten": importers, "text": importers.Source}[step]
    monkeypatch.setattr(place, step, fail)
    said = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if step != "annotate":  # Another recipe does it.
        artifact = takt.compile(mlp[0])
        recipe, phase = {"rewritten": ("native", "rewriting"), "text": ("untiled", "compiling")}[step]
        assert artifact.report["failed"][recipe] == f"{phase}: {said}"
        return
    with pytest.raises(takt.CompileError) as caught:
        takt.compile(mlp[0])
    assert str(caught.value) == f"{mlp[0]}: compiling: {said}"
    assert main(["compile", str(mlp[0])]) == 1
    assert capsys.readouterr().err == f"takt: {mlp[0]}: compiling: {said}\n"


def test_errors_that_name_themselves_stay(needs_compiler, mlp, tmp_path, monkeypatch):
    from takt.compiling import importers

    for error in (KeyboardInterrupt(), FileNotFoundError(2, "gone", "w.bin"), takt.Unavailable("no board")):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(importers.Source, "text", fail)
        with pytest.raises(type(error)) as caught:
            takt.compile(mlp[0], cache=tmp_path / "cache")
        assert caught.value is error


def test_errors_of_the_compiler_name_the_file(needs_compiler, tmp_path):
    path = tmp_path / "broken.mlir"
    path.write_text("func.func @broken() {\n")
    with pytest.raises(takt.CompileError, match="broken.mlir: .*channels_last"):
        takt.compile(path, cache=tmp_path / "cache")


@pytest.mark.parametrize("count, fits", [(32, True), (33, False)])
def test_a_dispatch_with_more_numbers_than_a_module_has_does_not_compile(needs_compiler, tmp_path, count, fits):
    """Each of these is two numbers of the dispatch."""
    names = [f"%n{i}" for i in range(count)]
    sums = "\n".join(f"    %s{i + 1} = arith.addi %s{i}, {name} : i64" for i, name in enumerate(names))
    path = tmp_path / "sum.mlir"
    path.write_text(f"""
#same = affine_map<(i) -> (i)>
func.func @sum(%x: tensor<4xi64>, {", ".join(f"{name}: i64" for name in names)}) -> tensor<4xi64> {{
  %empty = tensor.empty() : tensor<4xi64>
  %0 = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel"]}}
      ins(%x : tensor<4xi64>) outs(%empty : tensor<4xi64>) {{
  ^bb0(%s0: i64, %old: i64):
{sums}
    linalg.yield %s{count} : i64
  }} -> tensor<4xi64>
  return %0 : tensor<4xi64>
}}
""")
    if fits:
        function = takt.compile(path, cache=tmp_path).load(device="local-sync").function()
        np.testing.assert_array_equal(function(np.arange(4), *range(count)), np.arange(4) + sum(range(count)))
    else:
        with pytest.raises(takt.CompileError, match=f"takes {2 * count} numbers beside its tensors"):
            takt.compile(path, cache=tmp_path)
