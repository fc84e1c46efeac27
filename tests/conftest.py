"""What all tests share: tiers by what a test needs, and the folder of larger suites."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("gdroid", deadline=None, derandomize=True)
hypothesis.settings.load_profile("gdroid")
"""No time limit per example: these machines are noisy. The same examples on every run."""

ROOT = Path(__file__).resolve().parent.parent


def pytest_configure(config: pytest.Config) -> None:
    """On a fresh machine compiles the kernels first, once for all workers: tests that start processes have a limit."""
    if hasattr(config, "workerinput"):
        return
    from gdroid.app import KERNELS, LAST_KERNELS
    from gpu import jit

    folder = jit.prepare()
    if folder is None or (folder / jit.AHEAD).exists():
        return
    first = ("analyzer.dex.kernels", "analyzer.kernels.bodies", "analyzer.kernels.flow", *LAST_KERNELS)
    jit.compile_ahead(KERNELS)
    code = f"import {', '.join(first)}"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    jit.wait_for_ahead()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests that need a device where there is none."""
    marked = [item for item in items if item.get_closest_marker("gpu")]
    if marked and (reason := _why_no_device()):
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def _why_no_device() -> str:
    if os.environ.get("NUMBA_ENABLE_CUDASIM", "0") != "0":
        return "the simulator is no device"
    try:
        from numba import cuda

        return "" if cuda.is_available() else "no CUDA device"
    except Exception as error:  # noqa: BLE001  a broken driver raises whatever it likes
        return f"no CUDA device: {error}"


@pytest.fixture(scope="session")
def apks() -> Path:
    """The folder of this project's sample apps."""
    return ROOT / "apks"


@pytest.fixture(scope="session")
def suites() -> Path:
    """The folder that GDROID_SUITES names; the test is skipped where it names none."""
    folder = os.environ.get("GDROID_SUITES")
    if not folder:
        pytest.skip("GDROID_SUITES is not set")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.fail(f"GDROID_SUITES={folder} is no folder")
    return path
