"""Targets by name, several in one module, and NPUs."""

import platform

import numpy as np
import pytest

import takt
from takt.compiling import npu, placing, targets
from test_compile import MUL

OTHERS = [name for name in ("x86_64", "aarch64:cortex-a76", "riscv64") if not name.startswith(platform.machine())]


def test_targets_are_names():
    assert "--iree-llvmcpu-target-cpu=host" in targets.flags_of(targets.parse("host"))
    assert "--iree-llvmcpu-target-cpu=cortex-a76" in targets.flags_of(targets.parse("aarch64:cortex-a76"))
    assert targets.parse("host," + OTHERS[0]) == targets.parse(["host", OTHERS[0]])
    for bad in ("sparc", "x86_64:host", "aarch64:--iree-hal", "x86_64:a b", "", [], "host,"):
        with pytest.raises(ValueError, match="target"):
            targets.parse(bad)
    for twice in ("riscv64,riscv64:spacemit-x60", f"host,{platform.machine()}", "host,host"):
        with pytest.raises(ValueError, match="the same architecture"):
            targets.parse(twice)


@pytest.mark.parametrize("target, message", [
    ("aarch64:cortex-a67", "no CPU 'cortex-a67' of aarch64, but .*cortex-a76"),
    ("aarch64:Cortex-A76", "no CPU 'Cortex-A76' of aarch64, but cortex-a76"),
    ("aarch64:znver4", "no CPU 'znver4' of aarch64, but .* and others"),
    ("aarch64:nocpu", "no CPU 'nocpu' of aarch64, but .*, .* and others"),
    ("riscv64:spacemit-x61", "no CPU 'spacemit-x61' of riscv64, but spacemit-x60"),
    ("riscv64:generic-rv32", "no CPU 'generic-rv32' of riscv64, but generic-rv64"),
    ("x86_64:znver99", "no CPU 'znver99' of x86_64, but .*znver"),
    ("x86_64:pentium4", "no CPU 'pentium4' of x86_64"),
    (["host", OTHERS[0].partition(":")[0] + ":x"], "no CPU 'x'"),
])
def test_unknown_cpus_are_refused_before_the_model_is_read(needs_compiler, tmp_path, target, message):
    with pytest.raises(ValueError, match=message):
        takt.compile("no such file.onnx", cache=tmp_path, target=target)


def test_known_cpus_are_asked_for_once(needs_compiler, monkeypatch):
    known = ("aarch64:cortex-a76", "aarch64:apple-latest", "riscv64:spacemit-x60", "x86_64:x86-64-v3",
             "aarch64:generic", "riscv64", "host")
    targets.check_cpus(known)
    monkeypatch.setattr(targets, "_said_of", lambda flags: pytest.fail("it asks again"))
    targets.check_cpus(known)
    assert targets.flags_of(["riscv64:generic"]) == targets.flags_of(["riscv64"])


def test_tile_registers_are_those_of_the_target():
    assert targets.precision_of("bf16", ["x86_64:sapphirerapids"]) == "bf16_tiles"
    assert targets.precision_of("bf16", ["riscv64", "x86_64:sapphirerapids"]) == "bf16_tiles"
    assert targets.precision_of("bf16", ["x86_64:znver4"]) == "bf16"
    assert targets.precision_of("", ["x86_64:sapphirerapids"]) == ""
    assert targets.precision_of("bf16", ["host"]) in ("bf16", "bf16_tiles")


def test_other_architectures_compile(needs_compiler, tmp_path):
    for target in ("aarch64:cortex-a76", "riscv64:spacemit-x60", "riscv64", "x86_64"):
        artifact = takt.compile(MUL, cache=tmp_path, target=target)
        assert artifact.path.stat().st_size > 0


def test_one_module_has_code_for_several(needs_compiler, tmp_path):
    fat = takt.compile(MUL, cache=tmp_path, target=["host", *OTHERS])
    assert fat.recipe.name == "channels_last"
    data = fat.path.read_bytes()
    for name in (b"x86_64", b"arm_64", b"riscv_64"):
        assert b"embedded-elf-" + name in data
    assert fat.load().mul([1, 2, 3, 4], [2, 2, 2, 2]).tolist() == [2, 4, 6, 8]
    elsewhere = takt.compile(MUL, cache=tmp_path, target=OTHERS)
    with pytest.raises(takt.Error, match="embedded-elf"):
        elsewhere.load()


@pytest.fixture
def network(tmp_path):
    """An ONNX file: a convolution, a product that is large, and one that is not."""
    onnx = pytest.importorskip("onnx")
    from onnx import TensorProto, helper, numpy_helper

    random = np.random.default_rng(3)

    def weights(name, *shape):
        return numpy_helper.from_array(random.standard_normal(shape).astype(np.float32), name)

    graph = helper.make_graph(
        [
            helper.make_node("Conv", ["image", "w0"], ["a"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["a"], ["b"]),
            helper.make_node("Reshape", ["b", "shape"], ["c"]),
            helper.make_node("MatMul", ["c", "w1"], ["d"]),
            helper.make_node("MatMul", ["d", "w2"], ["action"]),
        ],
        "network",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 8, 16, 16])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [16, 2])],
        [
            weights("w0", 16, 8, 3, 3),
            weights("w1", 256, 64),
            weights("w2", 64, 2),
            numpy_helper.from_array(np.array([16, 256], np.int64), "shape"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path = tmp_path / "network.onnx"
    onnx.save(model, path)
    return path


@pytest.mark.parametrize("driver", ["host", "sim"])
def test_products_go_to_an_npu(needs_compiler, network, tmp_path, driver):
    artifact = takt.compile(network, cache=tmp_path, npu=driver)
    on_npu = [layer for layer in artifact.placement if layer.where == "npu"]
    # The convolution as a product, and the larger product.
    assert sorted(layer.multiply_adds for layer in on_npu) == [16 * 256 * 64, 16 * 72 * 256]
    small = [layer for layer in artifact.placement if layer.multiply_adds == 16 * 64 * 2]
    assert small and small[0].where == "cpu" and "2048 multiply-adds" in small[0].why
    # The driver did just that, and with the CPU's results.
    done = artifact.report["npu"]
    assert done["multiply_adds"] == sum(layer.multiply_adds * layer.count for layer in on_npu)
    assert done["errors"] == 0 and done["operations_it_cannot_do"] == 0
    assert done["difference"] < 1
    assert "npu: 1 x product of 16x256xf32 and 256x64xf32" in artifact.explain()
    again = takt.compile(network, cache=tmp_path, npu=driver)
    assert again.report["cached"] and again.placement == artifact.placement
    # Where there is no NPU, the same module runs.
    image = np.random.default_rng(4).standard_normal((1, 8, 16, 16)).astype(np.float32)
    np.testing.assert_allclose(
        artifact.load()(image), takt.compile(network, cache=tmp_path, recipe="plain").load()(image),
        rtol=1e-3, atol=1e-3,
    )


def test_npus_need_one_cpu_and_a_known_driver(needs_compiler, tmp_path):
    with pytest.raises(ValueError, match="one CPU"):
        takt.compile(MUL, cache=tmp_path, npu="host", target=["host", *OTHERS])
    with pytest.raises(ValueError, match="npu 'tpu'"):
        takt.compile(MUL, cache=tmp_path, npu="tpu")
    assert npu.device_of("vendor.so,core=1") == "npu=vendor.so,core=1"


def test_reasons_name_what_keeps_a_product_from_the_npu():
    header = (
        "  util.global private @d = #hal.device.target<\"local\", "
        "[#hal.executable.target<\"llvm-cpu\", \"embedded-elf-x86_64\", {}>]> : !hal.device\n"
    )

    def layer(a, b, c):
        product = f"  %1 = linalg.matmul ins(%a, %b : tensor<{a}>, tensor<{b}>) outs(%c : tensor<{c}>) -> tensor<{c}>"
        text, (only,) = placing.place(header + product)
        assert ("flow.tensor.transfer" in text) == (only.where == "npu")
        return only

    assert layer("64x64xf32", "64x64xf32", "64x64xf32").where == "npu"
    assert layer("64x64xi8", "64x64xi8", "64x64xi32").where == "npu"
    assert layer("?x64xf32", "64x64xf32", "?x64xf32").why == "its shape is not static"
    assert "f64xf64xf64" in layer("64x64xf64", "64x64xf64", "64x64xf64").why
    assert layer("1x9000xf32", "9000x64xf32", "1x64xf32").why == "a product with a vector"
    with pytest.raises(takt.CompileError, match="one CPU"):
        placing.place("module {}")


def test_the_program_says_what_goes_where(needs_compiler, network, tmp_path, capsys, monkeypatch):
    from takt.__main__ import main

    monkeypatch.setenv("TAKT_CACHE", str(tmp_path))
    output = tmp_path / "network.vmfb"
    assert main(["compile", str(network), "-o", str(output), "--npu=host", "--affinity=0,1"]) == 0
    assert "npu: 1 x product of 16x256xf32" in capsys.readouterr().out
    assert takt.load(output).function().attribute("takt.affinity") == "0x3"
