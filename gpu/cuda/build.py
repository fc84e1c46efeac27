"""Kernels are plain functions that ask a platform who they are; `build` binds copies of them to one platform.

The copies share one table of names. So what a kernel calls is decided here and not where it is written: a transfer
function of `gpu.transfer` has one source, and nothing of the CPU engine knows of devices.
"""

from __future__ import annotations

import importlib
import types
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

from gpu import jit

Platform = Literal["device", "simulator", "sequential"]


def kernel(function: Any) -> Any:
    """Marks a plain function as one that `build` takes."""
    function.is_kernel = True
    return function


def inlined(function: Any) -> Any:
    """As `kernel`; on a device its text goes into its callers: what gives shared memory must."""
    function.is_inlined = True
    return kernel(function)


OUTLINED = frozenset(
    (
        "alias", "alias_sources", "arrange", "count_round", "export", "find_readers", "image", "insert", "leave",
        "open_method", "pass_on", "region", "run_rows", "run_select", "run_words", "scatter", "select", "serve",
        "spread", "substitute", "take", "visit", "write",
    )
)  # fmt: skip
"""Functions that stay functions on a device. Otherwise NVVM puts all into one, again and again: it takes minutes."""


class Built(NamedTuple):
    """Functions of some modules, bound to a platform."""

    name: str
    platform: Platform
    names: dict[str, Any]
    sources: dict[str, Any]

    def entry(self, name: str) -> Callable[..., Any]:
        """A function as an entry point: to be launched, or, on the platform of one thread, to be called."""
        function = _copy(self.sources[name], self.names)
        # Numba's cache knows a function by this name; what it calls is not the same in all builds.
        function.__qualname__ = f"{self.name.replace(':', '_')}_{self.platform}_{name}"
        if self.platform == "sequential":
            compiled: Callable[..., Any] = jit.kernel(_nrt=False)(function)
        else:
            compiled = importlib.import_module("numba.cuda").jit(function)
        return compiled


def build(name: str, platform: Platform, modules: Iterable[ModuleType], outlined: frozenset[str] = OUTLINED) -> Built:
    """Binds all kernel functions of the modules; of a function in several modules the last one counts.

    In the simulator functions stay Python: only the entry point tells its threads who they are.
    """
    jit.prepare()
    names: dict[str, Any] = {"__builtins__": __builtins__, "__name__": f"gpu.cuda.platforms.{platform}"}
    sources: dict[str, Any] = {}
    for module in (*modules, importlib.import_module(f"gpu.cuda.platforms.{platform}")):
        for called, value in vars(module).items():
            if getattr(value, "is_kernel", False) or hasattr(value, "py_func"):
                sources[called] = getattr(value, "py_func", value)
            elif called in ("np", "cuda", "sleep", "trailing_zeros", "INT64") or isinstance(value, int | np.integer):
                same = names.setdefault(called, value)
                if same is not value and same != value:  # two modules mean different numbers
                    raise ValueError(f"{module.__name__}: {called} is something else in another module")
    for called, function in sources.items():
        copied = _copy(function, names)
        if platform == "sequential":
            copied = jit.kernel(helper=True, _nrt=False)(copied)
        elif platform == "device":
            inline = "always" if getattr(function, "is_inlined", False) else "never"
            copied = importlib.import_module("numba.cuda").jit(device=True, inline=inline)(copied)
            _shape(copied, called in outlined)
        names[called] = copied
    return Built(name, platform, names, sources)


def _shape(dispatcher: Any, outlined: bool) -> None:
    """Has a device function compiled once, for integers of 64 bits, as on the CPU; and, if asked for, not inlined.

    Numba would compile it for each combination of widths that it is called with. Where Numba's inside is not what it
    was in the versions that we know, nothing happens: compilation is slower.
    """
    compile_device = getattr(dispatcher, "compile_device", None)
    types = getattr(importlib.import_module("numba.cuda"), "types", importlib.import_module("numba").types)
    if compile_device is None:
        return

    def wide(type_: Any) -> Any:
        return types.int64 if isinstance(type_, types.Integer) and type_ != types.uint64 else type_

    def compile_shaped(arguments: Any, *others: Any, **options: Any) -> Any:
        compiled = compile_device(tuple(map(wide, arguments)), *others, **options)
        for module in getattr(compiled.library, "modules", ()) if outlined else ():
            for function in getattr(module, "functions", ()):
                if function.name == compiled.fndesc.llvm_func_name and not function.is_declaration:
                    function.attributes.discard("alwaysinline")
                    function.attributes.add("noinline")
        return compiled

    dispatcher.compile_device = compile_shaped


def _copy(function: Any, names: dict[str, Any]) -> Any:
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
