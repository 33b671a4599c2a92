"""Programs that become parts of another one."""

import re

import numpy as np
import pytest

import takt
from takt.compiling import programs

_ROW, _BYTES = "!torch.vtensor<[1,3],f32>", "!torch.vtensor<[1,2],si8>"
_MLIR = f"""module {{
  func.func @net(%arg0: {_ROW}, %arg1: {_BYTES}) -> {_ROW} {{
    %0 = torch.operator "onnx.A"(%arg0, %arg1) : ({_ROW}, {_BYTES}) -> {_ROW}
    return %0 : {_ROW}
  }}
}}
"""


@pytest.mark.parametrize("text, message", [
    ("module {\n}\n", "the importer's text has no function"),
    (_MLIR.replace(_BYTES, "!torch.list<int>"), "%arg1 of net is no tensor"),
])
def test_a_text_of_another_form_is_refused(text, message):
    with pytest.raises(takt.CompileError, match=message):
        programs.parse(text, "part")


def test_the_network_may_have_the_name_of_the_part():
    assert programs.parse(_MLIR, "part").function == "part"
    assert programs.parse(_MLIR, "net").function == "net_"


def test_the_code_ends_before_the_values_of_constants():
    assert programs.end_of_code(_MLIR) == len(_MLIR)
    assert programs.end_of_code(_MLIR + "\n{-#\n  values\n#-}\n") == len(_MLIR)


def _with_values(text, **values):
    lines = ",\n".join(f'      {name}: "{value}"' for name, value in values.items())
    return text + f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{lines}\n    }}\n  }}\n#-}}\n"


def test_values_of_any_size_are_read():
    values = {"a": "0x" + "01" * 4_000_000, "b": "0x" + "02" * 4_000_000, "c": "0x04000000"}
    found = programs.parse(_with_values(_MLIR, **values), "part", "x4").resources
    assert found == {name: f'"{value}"' for name, value in values.items()}


def test_parts_share_equal_constants():
    def part(name, **values):
        uses = "".join(f"    %{name} = torch.vtensor.literal(dense_resource<{name}> : tensor<2xf32>)\n"
                       for name in values)
        text = _MLIR.replace("{\n    %0", "{\n" + uses + "    %0")
        return programs.parse(_with_values(text, **values), name)

    text = programs.join("", [part("first", a="0x01", b="0x02"), part("other", a="0x03", c="0x01")])
    first, other = text.split("func.func private @")[1:]
    used = dict(re.findall(r'^      (\w+): "(\w+)"', text, re.MULTILINE))
    assert sorted(used.values()) == ["0x01", "0x02", "0x03"]
    named = [[used[name] for name in re.findall(r"dense_resource<(\w+)>", each)] for each in (first, other)]
    assert named == [["0x01", "0x02"], ["0x03", "0x01"]]


def test_kernels_of_parts_have_their_own_names():
    text = _MLIR.replace("module {\n", "module {\n  stream.executable private @takt_kernels { @k0_conv @other }\n")
    assert "@takt_kernels { @k0_conv @other }" in programs.parse(text, "part").before
    assert "@takt_kernels_x4 { @k0_conv_x4 @other }" in programs.parse(text, "part", "x4").before


def test_other_arguments_stay_with_the_compiler():
    text = _MLIR.replace(_BYTES, "!torch.list<int>")
    assert programs.keep_arguments(text) == text


def test_arguments_of_open_sizes_are_kept():
    text = programs.keep_arguments(_MLIR.replace("[1,3]", "[?,3]"))
    assert "%kept0 = util.optimization_barrier %t0 : tensor<?x3xf32>" in text
    assert "%kept1 = util.optimization_barrier %t1 : tensor<1x2xi8>" in text


def test_open_sizes_have_a_limit():
    text = programs.keep_arguments(_MLIR.replace(_ROW, "!torch.vtensor<[?,3,?],f32>"))
    assert text.count("umax = 4194304>") == 2 and text.count("cf.assert") == 2
    assert "%sized0 = flow.tensor.tie_shape %t0 : tensor<?x3x?xf32>{%few0_0, %few0_2}" in text
    assert "func.call @takt_body(%sized0, %t1)" in text
    assert "umax = 16384>" in programs.keep_arguments(_MLIR.replace(_ROW, "!torch.vtensor<[?,?,?],f32>"))
    assert "assume" not in programs.keep_arguments(_MLIR)


def test_sizes_that_are_the_same_are_checked():
    open_row = "!torch.vtensor<[?,3],f32>"
    text = _MLIR.replace(f"%arg0: {_ROW}", f"%arg0: {open_row}").replace(f"%arg1: {_BYTES}", f"%arg1: {open_row}")
    checked = programs.with_same_sizes(text, {'"b"': [(0, 0), (1, 0)], "c": [(0, 1), (1, 1)], "d": [(0, 0)]})
    assert checked.count("torch.aten.size.int") == 2 and checked.count("torch.runtime.assert") == 1
    assert checked.index("@net") < checked.index('"dimension \\22b\\22 has several sizes"') < checked.index("onnx.A")
    assert programs.with_same_sizes(text, {"b": [(0, 0)]}) == text


def test_calls_with_several_sizes_of_a_name_fail(needs_compiler, tmp_path):
    onnx = pytest.importorskip("onnx")
    onnx.save(onnx.parser.parse_model("""<ir_version: 8, opset_import: ["" : 17]>
        net (float[1,rows,2] x, float[1,rows,2] y, float[1,more,2] z) => (float[1,b,2] sum, float[1,c,2] all) {
          sum = Add(x, y)
          all = Concat<axis = 1>(sum, z)
        }"""), tmp_path / "net.onnx")
    with pytest.warns(UserWarning, match="are open"):
        function = takt.compile(tmp_path / "net.onnx", cache=tmp_path).load().net
    three, four = np.ones((1, 3, 2), np.float32), np.ones((1, 4, 2), np.float32)
    assert np.asarray(function(three, three, four)[1]).shape == (1, 7, 2)
    with pytest.raises(takt.Error, match="dimension rows has several sizes"):
        function(three, four, four)
