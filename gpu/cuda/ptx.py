"""Ahead-of-time compilation for several compute capabilities, without a device, and what ptxas says of the result."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from gpu import jit
from gpu.errors import EngineUnavailable

CAPABILITIES = ((7, 5), (8, 0), (9, 0), (10, 0))
KERNELS = (
    ("cuda:plain", "solve_methods"),
    ("cuda:mat", "solve_methods"),
    ("cuda:grp", "solve_methods"),
    ("cuda:mer", "solve_methods"),
    ("cuda", "solve_ready"),
    ("cuda", "count_words"),
    ("cuda", "take_words"),
)
"""Entry points by engine."""


class Resources(NamedTuple):
    """What one thread of a kernel, or one block, takes."""

    engine: str
    kernel: str
    capability: tuple[int, int]
    registers: int
    stack_bytes: int
    spill_stores: int
    """Bytes."""
    spill_loads: int
    shared_bytes: int
    ptx_bytes: int


def ptxas() -> Path:
    """The assembler: of the pip package, of a toolkit, or on the path.

    Raises:
        EngineUnavailable: there is none.
    """
    spec = find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec else ():
        for pattern in ("*/bin/ptxas*", "cuda_nvcc/bin/ptxas*"):
            for found in sorted(Path(folder).glob(pattern)):
                return found
    on_path = shutil.which("ptxas")
    if on_path is None:
        raise EngineUnavailable("ptxas is missing (pip install nvidia-cuda-nvcc)")
    return Path(on_path)


def compile_ptx(engine: str, kernel: str, capability: tuple[int, int]) -> str:
    """PTX of an entry point.

    Raises:
        EngineUnavailable: numba-cuda or its compiler is missing.
    """
    jit.prepare()
    if find_spec("nvidia") is None and shutil.which("nvcc") is None:
        raise EngineUnavailable("the compiler NVVM is missing (pip install nvidia-nvvm nvidia-cuda-nvcc)")
    cuda = importlib.import_module("numba.cuda")
    if not hasattr(importlib.import_module("numba.cuda.dispatcher"), "get_current_device"):
        raise EngineUnavailable("this version of numba-cuda cannot compile without a device")
    try:
        with _device_of(capability):
            ptx, _ = cuda.compile_ptx(_entry(engine, kernel), _signature(kernel), cc=capability)
    except Exception as error:
        if type(error).__name__ in ("NvvmSupportError", "CudaSupportError", "FileNotFoundError"):
            raise EngineUnavailable(f"PTX cannot be compiled here: {error}") from error
        raise
    return str(ptx)


def resources(engine: str, kernel: str, capability: tuple[int, int]) -> Resources:
    """Compiles and assembles an entry point."""
    assembler = ptxas()
    ptx = compile_ptx(engine, kernel, capability)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "kernel.ptx"
        source.write_text(ptx)
        command = [str(assembler), "-v", f"-arch=sm_{capability[0]}{capability[1]}", str(source), "-o", "/dev/null"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ptxas: {done.stderr.strip()}")
    # Of all functions the entry point comes last; others have a line each if they were not inlined.
    frame = re.findall(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", done.stderr)
    used = re.findall(r"Used (\d+) registers", done.stderr)
    shared = re.findall(r"(\d+) bytes smem", done.stderr)
    return Resources(
        engine, kernel, capability, max(map(int, used)), max(int(f[0]) for f in frame),
        sum(int(f[1]) for f in frame), sum(int(f[2]) for f in frame), max(map(int, shared), default=0), len(ptx),
    )  # fmt: skip


def report(select: Callable[[str], bool] = lambda engine: True) -> Iterator[Resources]:
    """Resources of all kernels of the engines selected, for all capabilities."""
    for engine, kernel in KERNELS:
        if select(engine):
            for capability in CAPABILITIES:
                yield resources(engine, kernel, capability)


def _entry(engine: str, kernel: str) -> Any:
    from gpu.cuda import ladder, production

    if engine == "cuda":
        found: Any = production.entries("device")[kernel]
    else:
        found = ladder.entry(engine.partition(":")[2], "device")[1]
    return found.py_func


def _signature(kernel: str) -> tuple[Any, ...]:
    types = importlib.import_module("numba").types
    i4, i8, u8 = types.int32[::1], types.int64[::1], types.uint64[::1]
    return {
        "solve_methods": (i4, u8, types.int64[:, ::1], i4, i4, types.int64[:, ::1], i4, i8, i8, i8),
        "solve_ready": (i4, u8, i8, i4, i8, i4, types.int64, i8, i8),
        "count_words": (u8, types.int64, types.int64, i4),
        "take_words": (u8, types.int64, types.int64, i4, i4, u8),
    }[kernel]


@contextmanager
def _device_of(capability: tuple[int, int]) -> Iterator[None]:
    """A kernel that calls others asks the current device for its capability, and there is none."""
    dispatcher: Any = importlib.import_module("numba.cuda.dispatcher")
    kept = dispatcher.get_current_device

    class Stub:
        compute_capability = capability

    dispatcher.get_current_device = lambda: Stub
    try:
        yield
    finally:
        dispatcher.get_current_device = kept
