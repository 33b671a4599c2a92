"""Several networks in one module: a run of the compiler for all cases of a test.

A run takes seconds, however small the network is. A network is compiled by itself where its company could hide what
becomes of it: where a pass looks at all of a network, as `words` and `samples` do, and where a type changes the flags
of the compiler, as doubles do.
"""

import dataclasses
from typing import Any

import takt


def join(models):
    """One network of all `models`, which share nothing; `c0_`, `c1_` and so on come before their names."""
    from onnx import compose

    joined, *others = (compose.add_prefix(model, f"c{i}_") for i, model in enumerate(models))
    for each in others:
        assert list(each.opset_import) == list(joined.opset_import), "networks of one opset can be joined"
        joined.graph.MergeFrom(each.graph)
    joined.graph.name = "net"
    return joined


@dataclasses.dataclass
class Together:
    """The networks of some cases, in one module."""

    artifact: Any
    networks: dict  # By case.

    def call(self, arguments, **options):
        """{case: its result, or a tuple of several} for {case: its arguments}. `options` are those of load()."""
        given = [each for case in self.networks for each in arguments[case]]
        results = self.artifact.load(**options).function()(*given)
        left, found = iter(results if isinstance(results, tuple) else [results]), {}
        for case, model in self.networks.items():
            own = tuple(next(left) for _ in model.graph.output)
            found[case] = own if len(own) > 1 else own[0]
        assert next(left, None) is None
        return found


def compiled(folder, networks, recipe="untiled", **options):
    """The `networks`, {case: onnx.ModelProto}, compiled at once by a recipe, that of small networks by default, and
    with further `options` of compile()."""
    import onnx

    def compile_one(model, name):
        onnx.save(model, folder / name)
        artifact = takt.compile(folder / name, cache=folder, recipe=recipe, **options)
        assert artifact.recipe.name == recipe, artifact.report
        return artifact

    try:
        return Together(compile_one(join(networks.values()), "joined.onnx"), networks)
    except (takt.CompileError, AssertionError):
        for case, model in networks.items():  # It is the fault of one, or of their company.
            try:
                compile_one(model, "alone.onnx")
            except (takt.CompileError, AssertionError) as error:
                raise AssertionError(f"{case}: {error}") from error
        raise


def results(folder, cases, recipe="untiled", **options):
    """{case: its result, or a tuple of several} of networks with their arguments, {case: (model, arguments)}.
    `options` are those of load()."""
    together = compiled(folder, {case: model for case, (model, _) in cases.items()}, recipe)
    return together.call({case: arguments for case, (_, arguments) in cases.items()}, **options)


def result(folder, model, arguments, **options):
    """The same of a network by itself."""
    return results(folder, {"alone": (model, arguments)}, **options)["alone"]
