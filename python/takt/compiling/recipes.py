"""Recipes: named sets of compiler flags for kinds of networks."""

from __future__ import annotations

import dataclasses
import json
import os


@dataclasses.dataclass(frozen=True)
class Recipe:
    """The settings of the compilation of a network.

    flags     of iree-compile, besides those of the target.
    fallback  the recipe that is tried if this one does not compile.
    is_rewritten
              convolutions and products become calls of Takt's kernels first.
    precision "bf16": of floats, those calls round what they multiply to bfloat16.
    tiles     by dispatch of one network: the sizes of the tiles that workers
              share out, in each dimension.
    """

    name: str
    flags: tuple[str, ...]
    what: str
    fallback: str | None = "plain"
    is_rewritten: bool = False
    precision: str = ""
    tiles: dict[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        fields = json.loads(text)
        return cls(
            name=str(fields["name"]),
            flags=tuple(str(flag) for flag in fields["flags"]),
            what=str(fields.get("what", "")),
            fallback=fields.get("fallback"),
            is_rewritten=bool(fields.get("is_rewritten", False)),
            precision=str(fields.get("precision", "")),
            tiles={
                str(name): tuple(int(size) for size in sizes)
                for name, sizes in fields.get("tiles", {}).items()
            },
        )


# Kernels of tiled networks need more stack than the compiler's limit; Takt's
# workers have 1 MiB and more of it.
_STACK = "--iree-llvmcpu-stack-allocation-limit=1048576"
_UNTILED = ("--iree-opt-level=O3", _STACK)
_LEVEL = (*_UNTILED, "--iree-llvmcpu-enable-ukernels=all")
# iree-compile 3.13 makes wrong code for products in heads, such as of attention, where it moves
# transposes first and then tiles data across a reshape.
_TILED = (*_LEVEL, "--iree-opt-data-tiling", "--iree-global-opt-propagate-transposes=false")
# The compiler would transpose both sides of a concatenation of inner dimensions, to concatenate outermost.
_CONCAT_AS_IS = "--iree-opt-outer-dim-concat=false"
# The channels are innermost after rewriting. Data are tiled before reshapes move.
_REWRITTEN = (*_LEVEL, "--iree-global-opt-data-tiling", _CONCAT_AS_IS)
_CHANNELS_LAST = (
    "--iree-preprocessing-pass-pipeline=builtin.module("
    "util.func(iree-preprocessing-convert-conv-to-channels-last))"
)
_IM2COL = "--iree-global-opt-use-im2col-for-convs"
_INTEGER = "--iree-global-opt-enable-qdq-to-integer-math"

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            "plain",
            (_STACK,),
            "the compiler's own choices, with a larger limit of stack",
            fallback=None,
        ),
        Recipe(
            "untiled",
            (*_UNTILED, _CONCAT_AS_IS),
            "for networks without large products: all optimizations, but data as they are",
        ),
        Recipe(
            "native",
            _REWRITTEN,
            "convolutions, products and pools by Takt's own kernels",
            fallback="native_plain",
            is_rewritten=True,
        ),
        Recipe(
            "native_plain",
            (_STACK,),
            "as native, the rest by the compiler's own choices",
            fallback="channels_last",
            is_rewritten=True,
        ),
        Recipe(
            "native_bf16",
            _REWRITTEN,
            "as native, products of floats in the precision of bfloat16",
            fallback=None,
            is_rewritten=True,
            precision="bf16",
        ),
        Recipe(
            "channels_last",
            (*_TILED, _CHANNELS_LAST),
            "tiled data, convolutions with the channels innermost",
            fallback="open",
        ),
        Recipe(
            "open",
            (*_REWRITTEN, _CHANNELS_LAST),
            "as channels_last, for products of open sizes: data are tiled before reshapes move",
        ),
        Recipe(
            "im2col",
            (*_TILED, _IM2COL),
            "tiled data, convolutions as matrix products",
        ),
        Recipe(
            "tiled",
            _TILED,
            "tiled data, convolutions as loops",
        ),
        Recipe(
            "integer",
            (*_TILED, _IM2COL, _INTEGER),
            "quantized networks (QDQ): products of integers",
            fallback="plain",
        ),
    )
}


def choose(is_quantized: bool) -> Recipe:
    """The recipe that is used if the caller names none.

    docs/performance.md has the measurements behind the choice.
    """
    return RECIPES["integer" if is_quantized else "channels_last"]


def find(recipe: str | os.PathLike | Recipe | None, is_quantized: bool) -> Recipe:
    """A recipe by name, or of a file that tuning wrote."""
    if recipe is None:
        return choose(is_quantized)
    if isinstance(recipe, Recipe):
        return recipe
    name = os.fspath(recipe)
    if name in RECIPES:
        return RECIPES[name]
    if name.endswith(".json"):
        with open(name, encoding="utf-8") as file:
            return Recipe.from_json(file.read())
    raise ValueError(f"recipe {name!r} is none of {', '.join(RECIPES)}, and no .json file")
