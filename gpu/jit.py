"""Numba set-up: where compiled kernels are kept, and the decorator that makes a kernel.

Numba's cache key covers the file of a kernel, but neither the helpers nor the constants that the kernel takes from
other files: edit one of those and the old answer comes back. So the cache folder is named by a hash of every kernel
source and of the versions of Numba, NumPy and Python. Import of this module does not import Numba.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import importlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar

from gpu import shortcuts

F = TypeVar("F", bound=Callable[..., Any])

ROOT = Path(__file__).resolve().parent.parent
"""Folder that holds the packages."""

KERNEL_FILES = ("gpu/**/*.py", "analyzer/**/kernels/*.py", "analyzer/**/opcodes.py", "analyzer/**/layout.py")
"""Files that can hold a kernel, a helper of one or a constant of one."""

AHEAD = "ahead"
"""File in the cache folder that says that `compile_ahead` has done its work."""

SETTINGS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
"""What Numba is told of every kernel."""

STALE_DAYS = 30
"""Cache folders of other versions that were not used for this long are removed."""


def kernel_sources() -> list[Path]:
    """Return every file that can hold a kernel, a helper of one or a constant of one, sorted."""
    return sorted(path for pattern in KERNEL_FILES for path in ROOT.glob(pattern))


def cache_key() -> str:
    """Return the hash of all kernel sources and of the versions of what compiles them, 16 hex digits."""
    digest = hashlib.sha256()
    for path in kernel_sources():
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode())
        digest.update(content)
    digest.update(f"{version('numba')} {version('numpy')} {sys.version}".encode())
    return digest.hexdigest()[:16]


@functools.cache
def prepare() -> Path | None:
    """Choose the cache folder and tell Numba; call it before Numba is imported.

    Returns the folder, or None where nothing can be written (kernels are then compiled in every process).
    """
    name = f"numba-{cache_key()}"
    user = os.getuid() if hasattr(os, "getuid") else 0
    parents = [Path(tempfile.gettempdir()) / f"gdroid-{user}"]
    home = os.environ.get("XDG_CACHE_HOME", "") or os.path.expanduser("~/.cache")  # noqa: PTH111 (Path.expanduser raises where there is no home)
    if Path(home).is_absolute():
        parents.insert(0, Path(home) / "gdroid")
    for parent in parents:
        folder = parent / name
        if _usable(parent) and _usable(folder):
            _remove_stale(parent, folder)
            os.environ["NUMBA_CACHE_DIR"] = str(folder)
            if "numba" in sys.modules:
                importlib.import_module("numba").config.CACHE_DIR = str(folder)
            return folder
    return None


def kernel(signature: Any = None, *, helper: bool = False, **options: Any) -> Callable[[F], F]:
    """Compile a function with `numba.njit`, from the cache where it is there.

    With a signature the work is done now; a wrong argument type is then a TypeError and never a second compilation.
    `helper`: called by other kernels only. Other options go to `numba.njit`.
    """
    folder = prepare()
    numba = _numba()
    if helper:
        return functools.partial(_helper, signature, options)
    settings: dict[str, Any] = {**SETTINGS, "cache": folder is not None, **shortcuts.pipeline(), **options}
    arguments = () if signature is None else (signature,)

    def decorate(function: F) -> F:
        try:
            with shortcuts.taken():
                compiled: F = numba.njit(*arguments, **settings)(function)
        except numba.core.errors.NumbaError:
            raise
        except Exception:
            # A damaged cache file surfaces as whatever pickle makes of it. Wipe once; a second failure is real.
            if folder is None:
                raise
            shutil.rmtree(folder, ignore_errors=True)
            with shortcuts.taken():
                compiled = numba.njit(*arguments, **{**settings, "cache": _usable(folder)})(function)
        return compiled

    return decorate


def _helper(signature: Any, options: dict[str, Any], function: F) -> F:
    """A helper: compiled when the first kernel that calls it is, optimised as part of that."""
    dispatcher: Any = _numba().njit(**{**SETTINGS, "no_cpython_wrapper": True, **shortcuts.pipeline(), **options})(
        function
    )
    template = dispatcher.get_call_template

    def get_call_template(args: Any, kws: Any) -> Any:
        with shortcuts.part_of_another():
            if signature is not None and not dispatcher.overloads:
                dispatcher.compile(signature)
                dispatcher.disable_compile()
            return template(args, kws)

    dispatcher.get_call_template = get_call_template
    compiled: F = dispatcher
    return compiled


_ahead: subprocess.Popen[bytes] | None = None


def compile_ahead(modules: Sequence[str]) -> None:
    """On the first run on a machine: compile modules that are needed later in a process of its own, meanwhile.

    Whoever needs one of them calls `wait_for_ahead` first, and then finds it in the cache. Where several first runs
    come together, one of these processes works, and the others wait for it.
    """
    global _ahead
    folder = prepare()
    if folder is None or _ahead is not None or (os.cpu_count() or 1) < 2 or (folder / AHEAD).exists():
        return
    code = "import sys; from gpu.jit import work_ahead; work_ahead(int(sys.argv[1]), sys.argv[2:])"
    with contextlib.suppress(OSError):
        _ahead = subprocess.Popen(
            [sys.executable, "-c", code, str(os.getpid()), *modules],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        atexit.register(_stop_ahead, _ahead)


def work_ahead(parent: int, modules: Sequence[str]) -> None:
    """What the process of `compile_ahead` does, for as long as the one that started it, by number, is there."""
    folder = prepare()
    if folder is None:
        return
    with (folder / f"{AHEAD}.lock").open("w") as lock:
        with contextlib.suppress(ImportError, OSError):  # where files cannot be locked, each works for itself
            fcntl = importlib.import_module("fcntl")
            fcntl.flock(lock, fcntl.LOCK_EX)
        for module in modules:
            if os.getppid() != parent:
                return
            importlib.import_module(module)
        (folder / AHEAD).touch()


def wait_for_ahead(meanwhile: Sequence[str] = ()) -> None:
    """Wait until the modules of `compile_ahead` are compiled; whether that went well does not matter.

    `meanwhile`: modules that are needed later and are not among them; compiled here rather than to wait only.
    """
    global _ahead
    if _ahead is not None:
        for module in meanwhile:
            importlib.import_module(module)
        _ahead.wait()
        _ahead = None


def _stop_ahead(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.kill()
        process.wait()


@functools.cache
def _numba() -> Any:
    """Import Numba and say so, once, when it is about to compile for the first time."""
    numba = importlib.import_module("numba")
    event = importlib.import_module("numba.core.event")

    class FirstCompilation(event.Listener):  # type: ignore[misc, name-defined]
        told = False

        def on_start(self, _: Any) -> None:
            if not self.told:
                self.told = True
                why = "once" if prepare() else "no cache folder is writable: again in every run"
                sys.stderr.write(f"gdroid: compiling kernels, {why} ...\n")
                sys.stderr.flush()

        def on_end(self, _: Any) -> None:
            pass

    event.register("numba:run_pass", FirstCompilation())
    return numba


def _usable(folder: Path) -> bool:
    """Make the folder; True if it is ours alone to write (cached kernels are code) and can be written."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode):
            return False
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
            return False
        tempfile.TemporaryFile(dir=folder).close()
        os.utime(folder)
    except OSError:
        return False
    return True


def _remove_stale(parent: Path, keep: Path) -> None:
    """Remove cache folders of other versions that nobody used for a while."""
    oldest = time.time() - STALE_DAYS * 86_400
    try:
        for folder in parent.glob("numba-*"):
            if folder != keep and folder.lstat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass
