"""Files of the cache of takt.compile(): modules, and answers to earlier calls, by which
the module of an unchanged file is found without reading the model.

A file may have been cut off or changed since it was written. What is beside it says
how many bytes it had and which; a file that does not fit counts as none.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import tempfile
import time
from typing import Any

# A word of each network whose weights lie in files of their own.
_EXTERNAL = b"location"
_FILE = re.compile(r"[0-9a-f]{32}\.(vmfb|module\.json|request\.json)")
# A module that another process has found stays for so long, until it is loaded.
_SECONDS_KEPT = 3600
_SCRATCH_SECONDS = 7 * 24 * 3600  # A folder of a compilation that is this old was left by one that was killed.


class Request:
    """A call of takt.compile() with a file, and its answer in the cache.

    path   of the model.
    what   everything else that decides what comes out.
    """

    def __init__(self, cache: pathlib.Path, path: str | os.PathLike, what: str) -> None:
        self.cache = cache
        self.path: pathlib.Path | None = None  # None: the request is not kept.
        try:
            data = pathlib.Path(path).read_bytes()
        except OSError:
            return
        if _EXTERNAL not in data:
            key = hashlib.sha256(data)
            key.update("\0".join([pathlib.Path(path).suffix, what, _own_sources()]).encode())
            self.path = cache / f"{key.hexdigest()[:32]}.request.json"

    def answer(self) -> dict[str, Any] | None:
        """What `keep` kept, if its module is still there and whole."""
        answer = None if self.path is None else _read(self.path)
        if answer is None or find_module(self.cache / answer["module"]) is None:
            return None
        _mark_used(self.path)
        return answer

    def keep(self, answer: dict[str, Any]) -> None:
        """`answer`: values of JSON; "module" is the name of a file in the cache."""
        if self.path is not None:
            with contextlib.suppress(OSError):  # The module is there all the same.
                _write(self.path, answer)


def keep_module(written: pathlib.Path, path: pathlib.Path, placement: list[dict[str, Any]]) -> None:
    """Moves a module to `path`, which is in the cache, and keeps the places of its
    operations."""
    about = {"bytes": written.stat().st_size, "sha256": _hash_of_file(written), "placement": placement}
    os.replace(written, path)  # Another process finds all of it or nothing.
    _write(_about_path(path), about)


def limit(cache: pathlib.Path, bytes_max: int) -> None:
    """Deletes what was used longest ago, until the files of the cache have at most so many bytes. What was
    used in the last hour stays: another process may be about to load it. Processes may do this at once."""
    found = []
    for entry in os.scandir(cache):
        with contextlib.suppress(OSError):  # Another process deletes as well.
            age = time.time() - entry.stat().st_mtime
            if _FILE.fullmatch(entry.name):
                found.append((age, entry.stat().st_size, entry.path))
            elif entry.name.startswith("takt-") and age > _SCRATCH_SECONDS:
                shutil.rmtree(entry.path, ignore_errors=True)
    total = sum(size for _, size, _ in found)
    for age, size, path in sorted(found, reverse=True):
        if total <= bytes_max or age < _SECONDS_KEPT:
            break
        with contextlib.suppress(OSError):
            os.remove(path)
        total -= size


def find_module(path: pathlib.Path) -> list[dict[str, Any]] | None:
    """The places of the operations of a module in the cache. None: there is no such
    module, or it is damaged, and is forgotten then."""
    about = _read(_about_path(path))
    try:
        if about is None:
            return None
        if path.stat().st_size != about["bytes"] or _hash_of_file(path) != about["sha256"]:
            os.remove(_about_path(path))  # The hash of a large file takes long: the next look needs none.
            return None
    except OSError:
        return None
    _mark_used(path, _about_path(path))
    return about["placement"]


def _mark_used(*paths: pathlib.Path) -> None:
    """The files are the last that limit() deletes."""
    for path in paths:
        with contextlib.suppress(OSError):  # Of a cache that only others may change.
            os.utime(path)


def _about_path(path: pathlib.Path) -> pathlib.Path:
    return path.with_suffix(".module.json")


def _write(path: pathlib.Path, content: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory(prefix="takt-", dir=path.parent) as scratch:
        written = pathlib.Path(scratch, "content.json")
        written.write_text(json.dumps({"sha256": _hash_of(content), "content": content}), encoding="utf-8")
        os.replace(written, path)  # Another process finds all of it or nothing.


def _read(path: pathlib.Path) -> dict[str, Any] | None:
    """What `_write` wrote; None if that is not what is there."""
    try:
        sealed = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    is_whole = isinstance(sealed, dict) and sealed.keys() == {"sha256", "content"}
    return sealed["content"] if is_whole and sealed["sha256"] == _hash_of(sealed["content"]) else None


def _hash_of(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _hash_of_file(path: pathlib.Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            found.update(data)
    return found.hexdigest()


@functools.cache
def _own_sources() -> str:
    """A hash of the sources of the package: another version has other answers."""
    key = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).resolve().parents[1].rglob("*.py")):
        key.update(path.read_bytes())
    return key.hexdigest()
