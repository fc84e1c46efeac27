"""`gdroid doctor`: what gdroid finds on this machine, and what it would use."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from pathlib import Path

import click

from gdroid import __version__
from gdroid.cli import output

_LIBRARIES = ("numpy", "numba", "llvmlite", "androguard", "networkx", "click", "rich", "PyYAML")
_FOR_GPU = "not installed (only for a GPU: pip install 'gdroid[cuda]')"
_GPU_LIBRARIES = ("numba-cuda", "nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-nvrtc")


@click.command("doctor")
def command() -> None:
    """Say what gdroid finds on this machine.

    Versions, cores, memory, kernel cache, GPU and engines: what a bug report should hold.
    """
    rows = [
        ("gdroid", f"{__version__} in {Path(__file__).resolve().parent.parent}"),
        ("python", f"{platform.python_version()} {sys.executable}"),
        ("system", f"{platform.platform()} {platform.machine()}"),
        *((name, _version(name) or "MISSING") for name in _LIBRARIES),
        ("cores", _cores()),
        ("memory", _memory()),
        ("kernel cache", _cache()),
        *((name, _version(name) or _FOR_GPU) for name in _GPU_LIBRARIES),
        ("GPU", _gpu()),
        *(("GPU lacks", lack) for lack in _lacks()),
        ("engines", _engines()),
    ]
    width = max(len(name) for name, _ in rows)
    output.emit("".join(f"{name:<{width}}  {value}\n" for name, value in rows))


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _cores() -> str:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    words = f"{usable} usable of {os.cpu_count()}"
    quota = _first_line("/sys/fs/cgroup/cpu.max").split()
    if len(quota) == 2 and quota[0] != "max":
        words += f", container limit {int(quota[0]) / int(quota[1]):.1f}"
    return words


def _memory() -> str:
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return "unknown"
    words = f"{total / 1e6:,.0f} MB"
    limit = _first_line("/sys/fs/cgroup/memory.max")
    if limit.isdecimal() and int(limit) < total:
        words += f", container limit {int(limit) / 1e6:,.0f} MB"
    return words


def _first_line(path: str) -> str:
    try:
        return Path(path).read_text().partition("\n")[0]
    except OSError:
        return ""


def _cache() -> str:
    from gpu import jit

    folder = jit.prepare()
    if folder is None:
        return "no folder is writable: kernels are compiled in every run; set XDG_CACHE_HOME"
    return f"{folder} (writable, {sum(1 for _ in folder.rglob('*.nbc'))} compiled kernels)"


def _gpu() -> str:
    """The first device by name, or why there is none."""
    try:
        from numba import cuda

        if not cuda.is_available():
            driver = "present" if Path("/proc/driver/nvidia/version").exists() else "absent"
            return f"none that Numba can use (NVIDIA driver {driver})"
        device = cuda.get_current_device()
        name = device.name.decode() if isinstance(device.name, bytes) else str(device.name)
        free, total = cuda.current_context().get_memory_info()
    except Exception as error:  # noqa: BLE001  a broken driver raises whatever it likes, and doctor must say so
        return f"none that Numba can use ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})"
    capability = ".".join(map(str, device.compute_capability))
    return f"{name}, compute capability {capability}, {free / 1e6:,.0f} of {total / 1e6:,.0f} MB free"


def _lacks() -> list[str]:
    """What CUDA engines lack here, each with what to install."""
    from gpu.cuda.device import missing

    return missing()


def _engines() -> str:
    """Those that can run here."""
    from gpu import engine
    from gpu.cuda.device import missing

    usable = [name for name in engine.ENGINES if not name.startswith("cuda") or not missing()]
    return ", ".join(f"{name} ({engine.device(name)})" for name in usable)
