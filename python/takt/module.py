"""Modules and their functions."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Callable

from . import _native

if TYPE_CHECKING:
    from .instance import Instance


class Function:
    """A function of a loaded module: called like one of Python.

    Inputs are numpy arrays, objects with the buffer protocol or `__dlpack__` (on
    the CPU), or objects that `numpy.asarray()` accepts; by position or by name.
    A large array that starts at a multiple of 64 bytes is not copied, and must not
    be written while the call runs. Results are numpy arrays over the
    runtime's memory: one, or a tuple, or None.

    Options of a call, where no input has that name: `timeout` (seconds; the
    call fails after them), `deadline` (seconds; its order among others),
    `priority` (0 to 255), `cpus` (an iterable of CPU numbers), `memory_limit`
    (bytes that the call may hold) and `step_limit` (loop iterations and calls of
    its bytecode), beyond which it fails.
    """

    def __init__(self, native: _native.Function):
        self._native = native

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._native(*args, **kwargs)

    def submit(
        self,
        *args: Any,
        wait: _native.Fence | None = None,
        signal: _native.Fence | None = None,
        **kwargs: Any,
    ) -> _native.Invocation:
        """Makes the call and returns at once; the `Invocation` has
        `result(timeout=None)`, `done` and `cancel()`. The call begins after the
        fence `wait`, and `signal` is reached when it is done."""
        return self._native.submit(args, kwargs, wait, signal, None)

    def call_async(self, *args: Any, **kwargs: Any) -> asyncio.Future:
        """The same for `asyncio`: `await f.call_async(x, deadline=5e-3)`.
        Cancelling the future cancels the call."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        invocation: _native.Invocation | None = None

        def finish() -> None:
            if future.done():
                return
            try:
                future.set_result(invocation.result())
            except Exception as error:  # The call's.
                future.set_exception(error)

        def on_done() -> None:
            try:
                loop.call_soon_threadsafe(finish)
            except RuntimeError:  # The loop has been closed.
                pass

        invocation = self._native.submit(args, kwargs, None, None, on_done)

        def cancel(done: asyncio.Future) -> None:
            if done.cancelled():
                invocation.cancel()

        future.add_done_callback(cancel)
        return future

    def declare(self, declaration: str) -> Function:
        """The same function with names, types and shapes, for modules that
        declare none: "(%image: tensor<1x3x224x224xf32>) -> (%logits: ...)"."""
        return Function(self._native.declare(declaration))

    @property
    def name(self) -> str:
        return self._native.name

    @property
    def memory(self) -> dict[str, Any]:
        """What a call allocates: allocations of known size, their largest and
        their sum in bytes, and how many are not known (`unknown`)."""
        return self._native.memory()

    def prepare(self) -> None:
        """Does in advance what the first call would have to do."""
        self._native.prepare()

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """Name, type, kind, and of tensors dtype and shape (None: any size)."""
        return self._native.signature["inputs"]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        return self._native.signature["outputs"]

    @property
    def declaration(self) -> str:
        return self._native.signature["declaration"]

    def attribute(self, key: str) -> str | None:
        """The value of an annotation such as "takt.deadline_ns"."""
        return self._native.attribute(key)

    def __repr__(self) -> str:
        return f"<takt.Function {self.name}>"


class LoadedModule:
    """A module in a context of its own, on one instance.

    `module.name(...)` calls an exported function, and `module(...)` the only
    one. The state of the module lives as long as this object.
    """

    def __init__(self, instance: Instance, source: Module):
        self.instance = instance
        native = instance._native
        if source.data is not None:
            self._module = native.load_bytes(source.data)
        else:
            self._module = native.load_file(os.fspath(source.path), source.preload, source.verify)
        parameters = [
            native.open_parameters(os.fspath(path), scope)
            for scope, path in source.parameters.items()
        ]
        devices = [
            instance.device(device) if isinstance(device, str) else device
            for device in source.devices
        ]
        self._context = native.context(
            [self._module], devices, parameters, source.step_limit, source.memory_limit
        )
        self._functions: dict[str, Function] = {}
        self._only: _native.Function | None = None  # That calls of the module call.
        self._names = [n for n in self._module.exports if not n.startswith("_")]

    @property
    def name(self) -> str:
        return self._module.name

    @property
    def functions(self) -> list[str]:
        """The names of the exported functions."""
        return list(self._names)

    def function(self, name: str | None = None) -> Function:
        """The function of that name, or the only one."""
        if name is None:
            name = self._only_name()
        function = self._functions.get(name)
        if function is None:
            function = Function(self._context.find(f"{self.name}.{name}"))
            self._functions[name] = function
        return function

    def _only_name(self) -> str:
        # "f$async" is the asynchronous form of "f".
        names = [n for n in self._names if not n.endswith("$async")]
        if len(names) != 1:
            listed = ", ".join(names) or "none"
            raise TypeError(f"module {self.name} has not one function but {listed}")
        return names[0]

    def __getattr__(self, name: str) -> Function:
        if name.startswith("_") or name not in self._names:
            listed = ", ".join(self.functions)
            raise AttributeError(f"module {self.name} exports no {name!r}; it has {listed}")
        function = self.function(name)
        self.__dict__[name] = function  # Found without this method from now on.
        return function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        only = self._only
        if only is None:
            only = self._only = self.function()._native
        return only(*args, **kwargs)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._names]

    def __repr__(self) -> str:
        return f"<takt.LoadedModule {self.name}: {', '.join(self.functions)}>"


class Module:
    """A compiled module, not bound to an instance.

    It is loaded when it is needed: on the default instance by a call, on
    another one by `on(instance)` or by a stream of that instance.
    """

    def __init__(
        self,
        source: str | os.PathLike | bytes,
        *,
        device: str | _native.Device | list[str | _native.Device] = "local-task",
        parameters: str | os.PathLike | dict[str, str | os.PathLike] | None = None,
        preload: bool = True,
        verify: Callable[[str, bytes], None] | None = None,
        memory_limit: int = 0,
        step_limit: int = 0,
    ):
        self.data = bytes(source) if isinstance(source, (bytes, bytearray, memoryview)) else None
        self.path = None if self.data is not None else os.path.abspath(os.fspath(source))
        self.devices = list(device) if isinstance(device, (list, tuple)) else [device]
        if parameters is None:
            parameters = {}
        elif not isinstance(parameters, dict):
            parameters = {"": parameters}
        self.parameters = parameters
        if verify is not None and self.data is not None:
            raise TypeError("verify is for files; bytes are the caller's")
        self.preload = preload
        self.verify = verify
        self.memory_limit = memory_limit
        self.step_limit = step_limit
        self._loaded: LoadedModule | None = None
        self._only: _native.Function | None = None  # That calls of the module call.

    @classmethod
    def of(cls, source: Any, **options: Any) -> Module:
        """`source` itself if it is a Module, otherwise a Module for it."""
        if isinstance(source, Module):
            return source
        if hasattr(source, "load") and hasattr(source, "path"):  # takt.compile()'s.
            return source.load(**options)
        return cls(source, **options)

    def on(self, instance: Instance) -> LoadedModule:
        """This module on `instance`: the same object each time."""
        with instance._lock:
            loaded = instance._loaded.get(self)
            if loaded is None:
                loaded = LoadedModule(instance, self)
                instance._loaded[self] = loaded
            return loaded

    @property
    def functions(self) -> list[str]:
        return self._loaded_module().functions

    def function(self, name: str | None = None) -> Function:
        return self._loaded_module().function(name)

    def _loaded_module(self) -> LoadedModule:
        """This module on the default instance."""
        if self._loaded is None:
            from .instance import default_instance

            self._loaded = self.on(default_instance())
        return self._loaded

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._loaded_module(), name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        only = self._only
        if only is None:
            only = self._only = self._loaded_module().function()._native
        return only(*args, **kwargs)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(() if self._loaded is None else self._loaded.functions)]

    def __repr__(self) -> str:
        return f"<takt.Module {self.path or f'of {len(self.data)} bytes'}>"


def load(source: str | os.PathLike | bytes, **options: Any) -> Module:
    """A module of a .vmfb file, or of its bytes.

    device      "local-task" (spread over the workers), "local-sync" (on the
                calling thread), a device of `Instance.device()` or
                `Instance.npu()`, or a list of them in the module's order.
    parameters  an .irpa or .safetensors file, or such files by scope.
    preload     False: map the file instead of reading it; it must not change
                then.
    verify      called with the path and the bytes of the file before anything is
                read from them; an exception refuses the file.
    memory_limit, step_limit
                of calls without limits of their own, see `Function`; 0: half of
                the memory of the process, and no limit of steps.
    """
    module = Module.of(source, **options)
    module._loaded_module()  # Errors come here, not at the first call.
    return module
