"""All five engines agree with the reference in Numba's simulator: threads, barriers and atomics, on tiny problems."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gpu.cuda.problems import MAKERS

ROOT = Path(__file__).resolve().parents[3]


def why_no_simulator() -> str:
    try:
        import numba.cuda.simulator  # noqa: F401
        import numpy as np
    except ImportError as error:
        return f"no CUDA simulator: {error} (pip install numba-cuda)"
    return "" if int(np.__version__.split(".")[0]) >= 2 else "NumPy 1 makes floats of 64-bit words outside of kernels"


@pytest.mark.cudasim
@pytest.mark.parametrize("engine", ["cuda:plain", "cuda:mat", "cuda:grp", "cuda:mer", "cuda"])
def test_engines_agree_with_the_reference_in_the_simulator(engine: str) -> None:
    if reason := why_no_simulator():
        pytest.skip(reason)
    assert len(MAKERS) >= 30
    done = subprocess.run(
        [sys.executable, "-W", "error::RuntimeWarning", "-m", "tests.gpu.cuda.simulate", engine],
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(f"{len(MAKERS)} problems; wrong: none")
