"""Numba's set-up: no stale kernel, no crash on a damaged cache, no need for a writable home."""

from __future__ import annotations

import gc
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from gpu import shortcuts
from gpu.jit import kernel, kernel_sources

ROOT = Path(__file__).resolve().parents[2]

KERNEL = """
from gpu.constants import FACTOR, helper
from gpu.jit import kernel


@kernel("int64(int64)")
def times(x):
    return helper(x) * FACTOR
"""

CONSTANTS = """
from gpu.jit import kernel

FACTOR = {factor}


@kernel("int64(int64)", helper=True)
def helper(x):
    return x + {offset}
"""

NOTICE = "gdroid: compiling kernels"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A package `gpu` with the real jit module and two small files of kernels, and a home."""
    (tmp_path / "gpu").mkdir()
    for name in ("__init__.py", "jit.py", "shortcuts.py", "errors.py"):
        shutil.copy(ROOT / "gpu" / name, tmp_path / "gpu" / name)
    (tmp_path / "gpu" / "product.py").write_text(KERNEL)
    write_constants(tmp_path, factor=10, offset=0)
    (tmp_path / "home").mkdir()
    return tmp_path


def write_constants(project: Path, factor: int, offset: int) -> None:
    (project / "gpu" / "constants.py").write_text(CONSTANTS.format(factor=factor, offset=offset))


def run(project: Path, **environment: str) -> tuple[str, str]:
    """(answer, standard error) of times(2) in a new process."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    env |= {"HOME": str(project / "home"), "TMPDIR": str(project / "tmp"), "PYTHONPATH": str(project), **environment}
    (project / "tmp").mkdir(exist_ok=True)
    code = "from gpu.product import times; print(times(2))"
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=project, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def caches(project: Path) -> list[Path]:
    return sorted((project / "home" / ".cache" / "gdroid").glob("numba-*"))


def test_kernels_are_compiled_once_and_that_is_said(project: Path) -> None:
    answer, errors = run(project)
    assert answer == "20"
    assert errors.count(NOTICE) == 1
    assert errors.strip().endswith("once ...")
    answer, errors = run(project)
    assert answer == "20"
    assert errors == ""
    assert len(caches(project)) == 1


def test_an_edited_helper_or_constant_of_another_file_gives_no_stale_answer(project: Path) -> None:
    """Numba's own key does not see either."""
    assert run(project)[0] == "20"
    write_constants(project, factor=100, offset=0)
    assert run(project)[0] == "200"
    write_constants(project, factor=100, offset=5)
    assert run(project)[0] == "700"
    write_constants(project, factor=10, offset=0)
    answer, errors = run(project)
    assert (answer, errors) == ("20", ""), "the first cache is still good"


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_a_truncated_cache_file_is_replaced(project: Path, suffix: str) -> None:
    run(project)
    files = list(caches(project)[0].rglob(f"*{suffix}"))
    assert files
    for file, keep in zip(files, (0, 200, 10), strict=False):
        file.write_bytes(file.read_bytes()[:keep])
    answer, errors = run(project)
    assert answer == "20"
    assert errors.count(NOTICE) == 1
    assert run(project) == ("20", "")


def test_without_a_writable_home_a_temporary_folder_serves(project: Path) -> None:
    (project / "file").write_text("")
    for home in ("/proc/nowhere", str(project / "file" / "home")):
        answer, errors = run(project, HOME=home)
        assert answer == "20"
        assert "Traceback" not in errors
    assert run(project, HOME="/proc/nowhere") == ("20", "")
    assert list((project / "tmp").glob("gdroid-*/numba-*"))


def test_where_no_folder_is_usable_kernels_run_and_it_is_said(project: Path) -> None:
    """tempfile finds some folder nearly anywhere, so the last resort needs a push."""
    jit = project / "gpu" / "jit.py"
    push = "def _usable(folder: Path) -> bool:"
    text = jit.read_text()
    assert push in text
    jit.write_text(text.replace(push, f"{push}\n    return False\n\n\ndef _unused(folder: Path) -> bool:"))
    for _ in range(2):
        answer, errors = run(project)
        assert answer == "20"
        assert "again in every run" in errors


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs POSIX permissions")
def test_a_folder_that_others_can_write_is_not_trusted(project: Path) -> None:
    parent = project / "home" / ".cache" / "gdroid"
    parent.mkdir(parents=True)
    parent.chmod(0o777)
    assert run(project)[0] == "20"
    assert caches(project) == []


def test_xdg_cache_home_is_honoured(project: Path) -> None:
    run(project, XDG_CACHE_HOME=str(project / "xdg"))
    assert list((project / "xdg" / "gdroid").glob("numba-*"))


def test_a_wrong_kernel_is_an_error_and_wipes_nothing(project: Path) -> None:
    run(project)
    kept = caches(project)
    (project / "broken.py").write_text(
        "from gpu.jit import kernel\n@kernel('int64(int64)')\ndef f(x):\n    return x.nothing\n"
    )
    env = os.environ | {"HOME": str(project / "home"), "PYTHONPATH": str(project)}
    env.pop("XDG_CACHE_HOME", None)
    command = [sys.executable, "-c", "import broken"]
    done = subprocess.run(command, env=env, cwd=project, capture_output=True, text=True, check=False)
    assert "TypingError" in done.stderr
    assert caches(project) == kept
    assert run(project) == ("20", "")


def test_caches_of_other_versions_are_removed_after_a_while(project: Path) -> None:
    old, recent = (project / "home" / ".cache" / "gdroid" / f"numba-{name}" for name in ("old", "recent"))
    for folder in (old, recent):
        folder.mkdir(parents=True)
    folder.parent.chmod(0o700)
    os.utime(old, (0, 0))
    run(project)
    assert not old.exists()
    assert recent.exists()


def patched_places() -> dict[tuple[Any, str], Any]:
    """What Numba has where a shortcut may be taken."""
    patches = (*shortcuts._for_kernels(), *shortcuts._for_helpers())
    return {(owner, name): getattr(owner, name) for owner, name, _ in patches}


def test_all_shortcuts_hold_for_the_numba_that_is_installed() -> None:
    """Without one the first run is slow, and nothing else tells."""
    names = {name for _, name in patched_places()}
    assert names == {
        "values",
        "get_call_type",
        "run",
        "get_abi_sizeof",
        "install_timer",
        "refresh",
        "_markup",
        "_optimize_final_module",
        "_finalize_final_module",
        "set_env",
    } - (set() if importlib.util.find_spec("colorama") else {"_markup"})
    assert shortcuts.pipeline()


def test_numba_is_as_it_was_after_a_compilation_and_after_a_failed_one() -> None:
    before = patched_places()
    kernel("int64(int64)", cache=False)(lambda x: x + 1)
    assert patched_places() == before
    with pytest.raises(numba.core.errors.TypingError):
        kernel("int64(int64)", cache=False)(lambda x: x.nothing)
    assert patched_places() == before
    assert gc.isenabled()


def test_without_shortcuts_the_answer_is_the_same(project: Path) -> None:
    """As where Numba's inside is not what we know."""
    lines = (
        "from gpu import shortcuts",
        "shortcuts._for_kernels = shortcuts._for_helpers = tuple",
        "shortcuts.pipeline = dict",
    )
    product = project / "gpu" / "product.py"
    product.write_text("\n".join(lines) + product.read_text())
    assert run(project)[0] == "20"


def test_operators_keep_their_meaning_for_each_type_and_option() -> None:
    """What was found out for one type is not taken for another, nor for the options of another function."""

    def mixed(a: Any, b: Any, c: Any) -> Any:
        return (a + a) * 1000 + (b + b) + (c[0] + c[1]) // 3 + a // (b - b)

    def halves(a: Any, b: Any) -> Any:
        return (a + a) / 4 + b / 4

    signature = "int64(int64, int8, int32[::1])"
    fast = kernel(signature, cache=False)(mixed)
    strict = kernel(signature, cache=False, error_model="python")(mixed)
    arguments = (3, np.int8(100), np.array([-5, 3], np.int32))
    assert fast(*arguments) == 6000 + 200 - 1
    with pytest.raises(ZeroDivisionError):
        strict(*arguments)
    assert kernel("float64(float64, int64)", cache=False)(halves)(0.5, 2) == 0.75
    wide = kernel("uint64(uint64[::1])", cache=False)(lambda c: c[0] + c[1])
    assert wide(np.array([2**63, 2**62], np.uint64)) == 2**63 + 2**62


def test_import_of_the_reader_does_not_import_numba() -> None:
    code = "import sys, analyzer.dex, gpu.jit; print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_every_kernel_file_is_in_the_key() -> None:
    """A file of kernels, and every file of this project that it takes helpers or constants from."""
    sources = {str(path.relative_to(ROOT).with_suffix("")).replace("/", ".") for path in kernel_sources()}
    sources |= {name.removesuffix(".__init__") for name in sources}
    makers = 0
    for package in ("gpu", "analyzer", "gdroid"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text()
            if "@kernel(" not in text or path.name == "jit.py":
                continue
            makers += 1
            assert str(path.relative_to(ROOT).with_suffix("")).replace("/", ".") in sources, path
            for module in re.findall(r"^from ((?:gpu|analyzer)\.[\w.]+) import", text, re.MULTILINE):
                assert module in sources, f"{path} takes something from {module}"
    assert makers >= 4


def ahead(project: Path, parent: int, module: str) -> subprocess.Popen[bytes]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    env |= {"HOME": str(project / "home"), "PYTHONPATH": str(project)}
    code = "import sys; from gpu.jit import work_ahead; work_ahead(int(sys.argv[1]), sys.argv[2:])"
    return subprocess.Popen([sys.executable, "-c", code, str(parent), module], env=env, cwd=project)


def test_of_several_first_runs_one_compiles_ahead_and_the_others_wait(project: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    run(project)
    folder = caches(project)[0]
    with (folder / "ahead.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiting = ahead(project, os.getpid(), "gpu.product")
        with pytest.raises(subprocess.TimeoutExpired):
            waiting.wait(2)
        assert not (folder / "ahead").exists()
    assert waiting.wait(60) == 0
    assert (folder / "ahead").exists()


def test_what_compiles_ahead_ends_with_the_run_that_wanted_it(project: Path) -> None:
    run(project)
    assert ahead(project, 1, "no.such.module").wait(60) == 0
    assert not (caches(project)[0] / "ahead").exists()
