"""The folders of the package use each other in one direction (docs/architecture.md)."""
import ast
import pathlib

PACKAGE = pathlib.Path(__file__).parents[1] / "takt"
# What each folder may use besides itself.
FOLDERS = {
    "networks": {"errors"},
    "porting": {"errors", "networks"},
    "rewriting": {"errors", "networks", "porting"},
}


def used_by(folder):
    """Pairs (file, the module or folder of the package that it uses)."""
    for path in sorted((PACKAGE / folder).glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 2:
                names = [node.module.split(".")[0]] if node.module else [each.name for each in node.names]
                yield from ((path.name, name) for name in names)
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
                assert not any(name.split(".")[0] == "takt" for name in names), f"{path.name}: not relative"


def test_each_folder_uses_those_below_it():
    for folder, allowed in FOLDERS.items():
        used = list(used_by(folder))
        assert {name for _, name in used} <= allowed, used
    assert {name for _, name in used_by("porting")} >= {"networks"}  # The check sees something.


def test_every_folder_has_a_rule():
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders == {*FOLDERS, "compiling"}  # Which uses all of them.


def test_files_of_tests_have_names_of_their_own():
    """pytest imports them by their names alone."""
    names = [path.name for path in pathlib.Path(__file__).parent.rglob("*.py")]
    assert len(set(names)) == len(names), sorted(name for name in set(names) if names.count(name) > 1)
