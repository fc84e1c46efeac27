"""What Numba does again and again while it compiles, done once.

Typing and lowering in Python is most of the time that a compilation takes. Everything here reaches into Numba's inside:
each shortcut first looks whether that is what it was in the versions that we know, and otherwise leaves it alone.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Iterator
from typing import Any


@functools.cache
def take() -> None:
    """Take all shortcuts that hold for a whole process, once; Numba is imported."""
    _options_compared_fast()
    _operators_typed_once()


@contextlib.contextmanager
def part_of_another() -> Iterator[None]:
    """While helpers are compiled: their code goes into their callers as it is.

    Numba optimises the code of each function together with all that it calls, and makes machine code of it: for
    helpers of helpers again and again, and never used.
    """
    codegen = importlib.import_module("numba.core.codegen")
    library, engine = codegen.CPUCodeLibrary, codegen.JITCPUCodegen
    patched = ((library, "_optimize_final_module"), (library, "_finalize_final_module"), (engine, "set_env"))
    needed = (*patched, (library, "_finalize_dynamic_globals"), (library, "_verify_declare_only_symbols"))
    if not all(hasattr(owner, name) for owner, name in needed):
        yield
        return
    kept = [getattr(owner, name) for owner, name in patched]

    def finalize(self: Any) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    library._optimize_final_module = lambda self: None
    library._finalize_final_module = finalize
    engine.set_env = lambda self, name, env: None
    try:
        yield
    finally:
        for (owner, name), method in zip(patched, kept, strict=True):
            setattr(owner, name, method)


def _options_compared_fast() -> None:
    """The options of a compilation, part of many a key, are compared without a property call for each of them."""
    config = importlib.import_module("numba.core.targetconfig").TargetConfig
    flags = importlib.import_module("numba.core.compiler").Flags
    compared = config.values

    def values(self: Any) -> dict[str, Any]:
        chosen: dict[str, Any] = {**_defaults(type(self)), **self._values}
        return chosen

    @functools.cache
    def _defaults(kind: Any) -> dict[str, Any]:
        return {name: option.default for name, option in kind.options.items()}

    example = flags()
    example.nrt = example.release_gil = True
    if getattr(example, "_values", None) and values(example) == compared(example):
        config.values = values


def _operators_typed_once() -> None:
    """What `a + b` or `a[b]` means for given types is asked once of each function, not at each place of the code."""
    types = importlib.import_module("numba.core.types")
    function = importlib.import_module("numba.core.types.functions").BaseFunction
    stack = importlib.import_module("numba.core.targetconfig").ConfigStack
    if not hasattr(function, "get_call_type") or not hasattr(stack, "top_or_none"):
        return
    plain = (types.Number, types.Boolean, types.Array, types.BaseTuple, types.Literal, types.SliceType)
    asked = function.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not hasattr(self, "_impl_keys") or not all(isinstance(a, plain) and a.is_precise() for a in args):
            return asked(self, context, args, kws)
        known = self.__dict__.setdefault("_gdroid_known", {})
        key = (context, tuple(args), stack.top_or_none())
        if key not in known:
            signature = asked(self, context, args, kws)
            known[key] = signature, signature and self._impl_keys.get(signature.args)
        signature, implementation = known[key]
        if signature is not None:
            self._impl_keys[signature.args] = implementation
        return signature

    function.get_call_type = get_call_type
