"""Answers to earlier calls of takt.compile(): the module of an unchanged file is
found without reading the model."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import tempfile
from typing import Any

# A word of each network whose weights lie in files of their own.
_EXTERNAL = b"location"


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
        """What `keep` kept, if its module is still there."""
        try:
            answer = json.loads(self.path.read_text(encoding="utf-8")) if self.path else None
        except (OSError, ValueError):
            return None
        return answer if answer and (self.cache / answer["module"]).exists() else None

    def keep(self, answer: dict[str, Any]) -> None:
        """`answer`: values of JSON; "module" is the name of a file in the cache."""
        if self.path is None:
            return
        with tempfile.TemporaryDirectory(prefix="takt-", dir=self.cache) as scratch:
            written = pathlib.Path(scratch, "request.json")
            written.write_text(json.dumps(answer), encoding="utf-8")
            os.replace(written, self.path)  # Another process finds all of it or nothing.


@functools.cache
def _own_sources() -> str:
    """A hash of the sources of the package: another version has other answers."""
    key = hashlib.sha256()
    for path in sorted(pathlib.Path(__file__).resolve().parents[1].rglob("*.py")):
        key.update(path.read_bytes())
    return key.hexdigest()
