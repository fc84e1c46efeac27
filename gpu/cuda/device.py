"""The machine that kernels run on, and why there is none: arrays to it and back, launches, memory, streams."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpu import jit
from gpu.cuda.build import Platform
from gpu.errors import EngineUnavailable

LEAST_CAPABILITY = (7, 5)
"""Threads of a warp wait for each other at different places of the program: that needs compute capability 7.0; what is
built and checked begins with 7.5."""


SHARED_BYTES = 128
"""Dynamic shared memory of a block: sixteen numbers."""


def simulated() -> bool:
    """Whether Numba's simulator stands in for a device; it is chosen for the whole process."""
    return os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")


def missing() -> list[str]:
    """What this machine lacks to run CUDA engines, each with what to do about it; empty: nothing."""
    found = []
    if not simulated():
        if not _has("numba-cuda"):
            found.append("Python package numba-cuda (pip install 'gdroid[cuda]')")
        elif not any(_has(name) for name in ("nvidia-cuda-nvcc", "nvidia-cuda-nvcc-cu12")) and not _toolkit():
            found.append("compiler NVVM (pip install 'gdroid[cuda]', or a CUDA toolkit in CUDA_HOME)")
        if not _driver():
            found.append("NVIDIA driver (install one from nvidia.com or the distribution; libcuda cannot be loaded)")
    if found:
        return found
    jit.prepare()
    try:
        cuda = importlib.import_module("numba.cuda")
    except Exception as error:  # noqa: BLE001  a broken installation raises whatever it likes
        return [f"numba.cuda that can be imported ({type(error).__name__}: {_line(error)})"]
    if simulated():
        return []
    try:
        if not cuda.is_available():
            return ["a CUDA device that the driver can use (see nvidia-smi; CUDA_VISIBLE_DEVICES may hide it)"]
        capability = tuple(cuda.get_current_device().compute_capability)
    except Exception as error:  # noqa: BLE001  a broken driver raises whatever it likes
        return [f"a CUDA device that the driver can use ({type(error).__name__}: {_line(error)})"]
    if capability < LEAST_CAPABILITY:
        has = ".".join(map(str, capability))
        return [f"a device of compute capability 7.5 or more (this one has {has})"]
    return []


def _line(error: BaseException) -> str:
    return str(error).partition("\n")[0]


def _has(distribution: str) -> bool:
    try:
        metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def _toolkit() -> bool:
    folders = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda"]
    return find_spec("nvidia") is not None or any(f and (Path(f) / "nvvm").is_dir() for f in folders)


def _driver() -> bool:
    import ctypes

    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll", "libcuda.dylib"):
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return True
    return False


class Device:
    """One device, or what stands in for it. On `sequential`, arrays are arrays and a launch is a call."""

    def __init__(self, platform: Platform) -> None:
        """Takes the current device.

        Raises:
            EngineUnavailable: there is none; says all that is missing.
        """
        self.platform = platform
        self.cuda: Any = None
        self.sent: dict[int, list[NDArray[Any]]] = {}
        if platform != "sequential":
            if lacks := missing():
                raise EngineUnavailable("needs " + ", and ".join(lacks))
            self.cuda = importlib.import_module("numba.cuda")

    def put(self, array: NDArray[Any], stream: Any = 0) -> Any:
        """A copy on the device."""
        if self.cuda is None:
            return array.copy()
        return self._try(lambda: self.cuda.to_device(self._pinned(array, stream), stream=stream))

    def zeros(self, shape: int | tuple[int, ...], dtype: type, stream: Any = 0) -> Any:
        """Zeros on the device."""
        if self.cuda is None:
            return np.zeros(shape, dtype)
        if self.platform == "simulator":
            return self.cuda.to_device(np.zeros(shape, dtype))

        def make() -> Any:
            array = self.cuda.device_array(shape, dtype, stream=stream)
            view = array.view(np.uint8) if array.size else None
            if view is not None:
                self.cuda.cudadrv.driver.device_memset(array, 0, array.size * array.dtype.itemsize, stream)
            return array

        return self._try(make)

    def get(self, array: Any, stream: Any = 0) -> NDArray[Any]:
        """A copy on the host, when it is there."""
        if self.cuda is None:
            return np.array(array)
        found: NDArray[Any] = array.copy_to_host(stream=stream)
        if stream:
            stream.synchronize()
            self.sent.pop(id(stream), None)
        return found

    def put_into(self, array: Any, values: NDArray[Any], stream: Any = 0) -> None:
        """Copies values to the beginning of an array on the device."""
        if self.cuda is None:
            array[: len(values)] = values
        elif len(values):
            self._try(lambda: array[: len(values)].copy_to_device(self._pinned(values, stream), stream=stream))

    def _pinned(self, array: NDArray[Any], stream: Any) -> NDArray[Any]:
        """What a stream copies while the program goes on must stay where it is, until the stream is waited for."""
        if not stream or not array.size:
            return array
        pinned: NDArray[Any] = self.cuda.pinned_array(array.shape, array.dtype)
        pinned[...] = array
        self.sent.setdefault(id(stream), []).append(pinned)
        return pinned

    def get_some(self, array: Any, first: int, n: int, stream: Any = 0) -> NDArray[Any]:
        """As `get`, of n elements."""
        return self.get(array[first : first + n], stream) if n else np.zeros(0, array.dtype)

    def launch(self, entry: Callable[..., Any], blocks: int, threads: int, *arguments: Any, stream: Any = 0) -> None:
        """Starts a kernel; what comes later in the stream waits for it."""
        if self.cuda is None:
            entry(*arguments)
        else:
            self._try(lambda: entry[blocks, threads, stream, SHARED_BYTES](*arguments))  # type: ignore[index]

    def wait(self) -> None:
        """Until everything that was started is done."""
        if self.platform == "device":
            self._try(self.cuda.synchronize)

    def stream(self) -> Any:
        """A queue of copies and launches; 0 where there is only one."""
        return self.cuda.stream() if self.platform == "device" else 0

    def free(self) -> int:
        """Bytes of device memory that can be had."""
        if self.platform != "device":
            return 1 << 31
        return int(self.cuda.current_context().get_memory_info()[0])

    def processors(self) -> int:
        """Multiprocessors of the device."""
        return int(self.cuda.get_current_device().MULTIPROCESSOR_COUNT) if self.platform == "device" else 1

    def _try(self, act: Callable[[], Any]) -> Any:
        """Errors of the driver, out of memory among them, mean that this engine cannot, and the next one can."""
        try:
            return act()
        except Exception as error:
            name = type(error).__name__
            if self.platform == "device" and (name.startswith(("CudaAPI", "CudaDriver", "CUDA")) or "Nvvm" in name):
                raise EngineUnavailable(f"CUDA: {_line(error)}") from error
            raise
