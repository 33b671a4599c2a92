"""Every function of the C API has a Python name, or a reason why it has none.

c_api.txt is the table. A new C function makes this test fail until it has a row.
"""

import pathlib
import re

import pytest

import takt

ROOT = pathlib.Path(__file__).parents[2]


def read_table():
    rows = {}
    for line in pathlib.Path(__file__).with_name("c_api.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        function, reached = line.split(" ", 1)
        assert function not in rows, f"{function} has two rows"
        rows[function] = reached
    return rows


def test_the_table_has_each_exported_function_once():
    exported = set()
    for name in ("symbols.txt", "symbols_tools.txt"):
        exported |= set((ROOT / "tests/install" / name).read_text().split())
    rows = set(read_table())
    assert sorted(exported - rows) == [], "C functions without a row in c_api.txt"
    assert sorted(rows - exported) == [], "rows of functions that are not exported"


def native_functions():
    """The C functions that the extension module calls."""
    text = "".join(path.read_text() for path in (ROOT / "python/native").iterdir())
    found = set(re.findall(r"\btakt_[a-z0-9_]+", text))
    for noun in re.findall(r"TAKT_PYTHON_HANDLE\(\w+,\s*(\w+)\)", text):
        found |= {f"takt_{noun}_retain", f"takt_{noun}_release"}
    return found


def test_a_row_has_a_name_if_and_only_if_the_module_calls_the_function():
    called = native_functions()
    for function, reached in read_table().items():
        if reached.startswith("- "):
            assert function not in called, f"{function} is called, and has no name"
            assert len(reached) > 10, f"{function}: no reason"
        else:
            assert function in called, f"{function} is not called by python/native"


@pytest.mark.parametrize("name", sorted({n for n in read_table().values() if not n.startswith("- ")}))
def test_a_name_of_the_table_exists(name):
    found = takt
    for part in name.removeprefix("takt.").split("."):
        found = getattr(found, part)
