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


class Built(NamedTuple):
    """Functions of some modules, bound to a platform."""

    platform: Platform
    names: dict[str, Any]
    sources: dict[str, Any]

    def entry(self, name: str) -> Callable[..., Any]:
        """A function as an entry point: to be launched, or, on the platform of one thread, to be called."""
        function = _copy(self.sources[name], self.names)
        if self.platform == "sequential":
            compiled: Callable[..., Any] = jit.kernel(_nrt=False)(function)
        else:
            compiled = importlib.import_module("numba.cuda").jit(function)
        return compiled


def build(platform: Platform, modules: Iterable[ModuleType]) -> Built:
    """Binds all kernel functions of the modules; of a name in several modules the last one counts.

    In the simulator functions stay Python: only the entry point tells its threads who they are.
    """
    jit.prepare()
    names: dict[str, Any] = {"__builtins__": __builtins__, "__name__": f"gpu.cuda.{platform}"}
    sources: dict[str, Any] = {}
    for module in (*modules, importlib.import_module(f"gpu.cuda.platforms.{platform}")):
        for name, value in vars(module).items():
            if getattr(value, "is_kernel", False) or hasattr(value, "py_func"):
                sources[name] = getattr(value, "py_func", value)
            elif name in ("np", "cuda", "sleep", "trailing_zeros") or isinstance(value, int | np.integer):
                names[name] = value
    make: Callable[[Any], Any] = lambda function: function  # noqa: E731
    if platform == "sequential":
        make = jit.kernel(helper=True, _nrt=False)
    elif platform == "device":
        make = importlib.import_module("numba.cuda").jit(device=True)
    for name, function in sources.items():
        names[name] = make(_copy(function, names))
    return Built(platform, names, sources)


def _copy(function: Any, names: dict[str, Any]) -> Any:
    return types.FunctionType(function.__code__, names, function.__name__, function.__defaults__)
