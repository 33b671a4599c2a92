"""Dispatches of a program that the compiler has configured: the sizes of the tiles
that workers share out."""

from __future__ import annotations

import re
from typing import Iterable, Iterator, Mapping, Sequence

from ..errors import CompileError

_FUNCTION = re.compile(r"^ *func\.func (?:\w+ )?@([\w$.-]+)\(\) attributes \{translation_info", re.MULTILINE)
_TILES = re.compile(r"(lowering_config<[^>]*?\bdistribution = )\[([0-9, ]+)\]")


_EXPORT = re.compile(r"hal\.executable\.export public @([\w$.-]+) .*?\bconstants = (\d+)")
_CONSTANTS_MAX = 64  # As kMaxConstantCount in src/cpu/library_abi.h.


def too_wide(listings: Iterable[str]) -> Iterator[str]:
    """For each dispatch for which no module of the CPU can be loaded: what it has too much of. `listings` are of
    --iree-hal-dump-executable-sources-to."""
    for text in listings:
        for name, count in _EXPORT.findall(text) if '<"llvm-cpu"' in text else ():
            if int(count) > _CONSTANTS_MAX:
                yield f"dispatch {name} takes {count} numbers beside its tensors; a module has {_CONSTANTS_MAX} at most"


def _functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, begin and end of the text of each dispatch."""
    found = list(_FUNCTION.finditer(text))
    for match, following in zip(found, [*found[1:], None]):
        yield match.group(1), match.start(), following.start() if following else len(text)


def tiles_of(text: str) -> dict[str, tuple[int, ...]]:
    """By dispatch: the size of a tile in each dimension, 0 for one that is not cut.
    `text` is a program of --compile-to=executable-configurations."""
    result = {}
    for name, begin, end in _functions(text):
        tiles = _TILES.search(text, begin, end)
        if tiles is not None:
            result[name] = tuple(int(size) for size in tiles.group(2).split(","))
    return result


def retile(text: str, tiles: Mapping[str, Sequence[int]]) -> str:
    """`text` with other tiles for some dispatches."""
    parts = []
    last = 0
    left = dict(tiles)
    for name, begin, end in _functions(text):
        sizes = left.get(name)
        found = _TILES.search(text, begin, end)
        if sizes is None or found is None or len(found.group(2).split(",")) != len(sizes):
            continue
        del left[name]
        parts += [text[last : found.start()], found.group(1), f"[{', '.join(map(str, sizes))}]"]
        last = found.end()
    if left:
        raise CompileError(f"the program has no dispatch {', '.join(left)} with as many dimensions")
    return "".join(parts) + text[last:]


def other_tiles(tiles: Sequence[int]) -> list[tuple[int, ...]]:
    """Twice and half of each size: fewer and more pieces for workers."""
    doubled = tuple(2 * size for size in tiles)
    halved = tuple(size // 2 if size % 2 == 0 else size for size in tiles)
    return [each for each in (doubled, halved) if each != tuple(tiles)]
