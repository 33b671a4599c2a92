"""The tools of Takt that the package carries."""

from __future__ import annotations

import os
import pathlib
import shutil


def find_tool(name: str) -> str:
    """The path of a tool such as "takt-sim": the package's own, else the one on
    the PATH."""
    inside = pathlib.Path(__file__).with_name("bin") / name
    if inside.exists():
        return os.fspath(inside)
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"there is no {name}, neither in the package nor on the PATH")
    return found
