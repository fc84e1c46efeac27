"""What Numba does again and again while it compiles, done once.

Typing and lowering in Python is most of the time that a compilation takes. Everything here reaches into Numba's inside,
only while a kernel of ours is compiled: each shortcut first looks whether that is what it was in the versions that we
know, and otherwise leaves it alone. None changes what is compiled.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
from collections.abc import Callable, Iterator
from typing import Any

Patch = tuple[Any, str, Any]
"""Owner of a method, its name, and what is there meanwhile."""


@contextlib.contextmanager
def taken() -> Iterator[None]:
    """While a kernel and its helpers are compiled: all shortcuts but `part_of_another`, and no garbage is looked for.

    What a compilation makes, hundreds of thousands of objects, lives until its end.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        with _patched(_for_kernels()):
            yield
    finally:
        if collecting:
            gc.enable()


@contextlib.contextmanager
def part_of_another() -> Iterator[None]:
    """While helpers are compiled: their code goes into their callers as it is.

    Numba optimises the code of each function together with all that it calls, and makes machine code of it: for
    helpers of helpers again and again, and never used.
    """
    with _patched(_for_helpers()):
        yield


@functools.cache
def pipeline() -> dict[str, Any]:
    """The option of `numba.njit` that leaves out passes for what no kernel has: closures, and expressions of arrays.

    A kernel that has a closure after all is an error, and so is one that would need memory for an array.
    """
    compiler = importlib.import_module("numba.core.compiler")
    needed = ("Compiler", "InlineClosureLikes", "NopythonRewrites", "WithLifting", "MakeFunctionToJitFunction")
    if not all(hasattr(compiler, name) for name in needed):
        return {}
    left_out = {getattr(compiler, name) for name in needed[1:]}

    class KernelCompiler(compiler.Compiler):  # type: ignore[misc, name-defined]
        def define_pipelines(self) -> list[Any]:
            managers: list[Any] = super().define_pipelines()
            for manager in managers:
                manager.passes = [step for step in manager.passes if step[0] not in left_out]
                manager.finalize()
            return managers

    return {"pipeline_class": KernelCompiler}


@contextlib.contextmanager
def _patched(patches: tuple[Patch, ...]) -> Iterator[None]:
    kept = [getattr(owner, name) for owner, name, _ in patches]
    for owner, name, method in patches:
        setattr(owner, name, method)
    try:
        yield
    finally:
        for (owner, name, _), method in zip(patches, kept, strict=True):
            setattr(owner, name, method)


@functools.cache
def _for_helpers() -> tuple[Patch, ...]:
    codegen = importlib.import_module("numba.core.codegen")
    library, engine = codegen.CPUCodeLibrary, codegen.JITCPUCodegen

    def finalize(self: Any) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True

    patches = (
        (library, "_optimize_final_module", lambda self: None),
        (library, "_finalize_final_module", finalize),
        (engine, "set_env", lambda self, name, env: None),
    )
    needed = ("_finalize_dynamic_globals", "_verify_declare_only_symbols")
    known = all(hasattr(owner, name) for owner, name, _ in patches) and all(hasattr(library, name) for name in needed)
    return patches if known else ()


@functools.cache
def _for_kernels() -> tuple[Patch, ...]:
    return (
        *_options_compared_fast(),
        *_operators_typed_once(),
        *_lifetimes_when_asked_for(),
        *_sizes_found_once(),
        *_no_stopwatches(),
        *_refreshed_where_there_is_more(),
        *_messages_without_colour(),
    )


def _options_compared_fast() -> tuple[Patch, ...]:
    """The options of a compilation, part of many a key, are compared without a property call for each of them."""
    config = importlib.import_module("numba.core.targetconfig").TargetConfig
    flags = importlib.import_module("numba.core.compiler").Flags

    @functools.cache
    def defaults(kind: Any) -> dict[str, Any]:
        return {name: option.default for name, option in kind.options.items()}

    def values(self: Any) -> dict[str, Any]:
        return {**defaults(self.__class__), **self._values}

    example = flags()
    example.nrt = example.release_gil = True
    known = bool(getattr(example, "_values", None)) and values(example) == example.values()
    return ((config, "values", values),) if known else ()


def _operators_typed_once() -> tuple[Patch, ...]:
    """What `a + b` or `a[b]` means for given types is found out once, not at each place of the code."""
    types = importlib.import_module("numba.core.types")
    function = importlib.import_module("numba.core.types.functions").BaseFunction
    stack = importlib.import_module("numba.core.targetconfig").ConfigStack
    plain = (types.Number, types.Boolean, types.Array, types.BaseTuple, types.Literal, types.SliceType)
    if not hasattr(function, "get_call_type") or not hasattr(stack, "top_or_none"):
        return ()
    find_out: Callable[..., Any] = function.get_call_type

    def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
        if kws or not hasattr(self, "_impl_keys") or not all(isinstance(a, plain) and a.is_precise() for a in args):
            return find_out(self, context, args, kws)
        known = self.__dict__.setdefault("_found_out", {})
        key = (context, tuple(args), stack.top_or_none())
        if key not in known:
            signature = find_out(self, context, args, kws)
            known[key] = signature, signature and self._impl_keys.get(signature.args)
        signature, implementation = known[key]
        if signature is not None:
            self._impl_keys[signature.args] = implementation
        return signature

    return ((function, "get_call_type", get_call_type),)


def _lifetimes_when_asked_for() -> tuple[Patch, ...]:
    """Nearly every pass has the variables that live at each block found again; only generators want those."""
    processor = importlib.import_module("numba.core.postproc").PostProcessor
    lifetime = getattr(importlib.import_module("numba.core.postproc"), "VariableLifetime", None)
    canonical = getattr(importlib.import_module("numba.core.transforms"), "canonicalize_cfg", None)
    if lifetime is None or canonical is None or not hasattr(processor, "run"):
        return ()
    run = processor.run

    def run_lazily(self: Any, emit_dels: bool = False, **options: Any) -> None:
        code = self.func_ir
        if emit_dels or options or code.is_generator:
            run(self, emit_dels, **options)
            return
        code.blocks = canonical(code.blocks)
        code.variable_lifetime = lifetime(code.blocks)
        code.generator_info = None

    return ((processor, "run", run_lazily),)


def _sizes_found_once() -> tuple[Patch, ...]:
    """The size of a type is found by having LLVM read a module made for that: once for each type."""
    context = importlib.import_module("numba.core.base").BaseContext
    named = getattr(importlib.import_module("llvmlite.ir"), "IdentifiedStructType", None)
    if named is None or not hasattr(context, "get_abi_sizeof"):
        return ()
    find_out: Callable[..., Any] = context.get_abi_sizeof
    sizes: dict[tuple[int, str], int] = {}

    def get_abi_sizeof(self: Any, kind: Any) -> int:
        if isinstance(kind, named):
            return int(find_out(self, kind))
        key = (id(self.target_data), str(kind))
        if key not in sizes:
            sizes[key] = find_out(self, kind)
        return sizes[key]

    return ((context, "get_abi_sizeof", get_abi_sizeof),)


def _no_stopwatches() -> tuple[Patch, ...]:
    """Each function that is compiled, also within another, has the time of every call of LLVM taken."""
    event = importlib.import_module("numba.core.event")
    if not hasattr(event, "install_timer"):
        return ()
    return ((event, "install_timer", lambda kind, callback: contextlib.nullcontext()),)


def _refreshed_where_there_is_more() -> tuple[Patch, ...]:
    """Numba looks for new declarations whenever it meets a function for the first time; mostly there are none."""
    context = importlib.import_module("numba.core.base").BaseContext
    if not hasattr(context, "refresh"):
        return ()
    look: Callable[..., Any] = context.refresh
    seen: dict[int, int] = {}

    def declarations(owner: Any) -> int:
        lists = (getattr(registry, name) for registry, loader in owner.items() for name in loader.registry_items)
        return sum(map(len, lists))

    def refresh(self: Any) -> None:
        both = getattr(self, "_registries", None), getattr(self.typing_context, "_registries", None)
        count = -1 if None in both else sum(map(declarations, both))
        if count < 0 or seen.get(id(both[0])) != count:
            look(self)
            seen[id(both[0])] = count

    return ((context, "refresh", refresh),)


def _messages_without_colour() -> tuple[Patch, ...]:
    """Numba tries things out by exceptions, thousands of them, and prepares the text of each for a terminal."""
    scheme = type(importlib.import_module("numba.core.errors").termcolor())
    if not hasattr(scheme, "_markup"):
        return ()
    return ((scheme, "_markup", lambda self, message, color=None, style=None: message),)
