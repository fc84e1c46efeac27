"""All kernels compile to machine code for four compute capabilities, within bounds on what they take."""

from __future__ import annotations

import pytest

from gpu.cuda import ptx
from gpu.errors import EngineUnavailable

MOST_STACK, MOST_SPILLS = 512, 512
"""Bytes. Measured when this was written: 440 and 376 at most."""


def resources(engine: str, kernel: str, capability: tuple[int, int]) -> ptx.Resources:
    try:
        return ptx.resources(engine, kernel, capability)
    except (EngineUnavailable, ImportError) as error:
        pytest.skip(f"{error}")


@pytest.mark.parametrize("capability", ptx.CAPABILITIES)
@pytest.mark.parametrize("kernel", ["count_words", "take_words"])
def test_small_kernels_compile(kernel: str, capability: tuple[int, int]) -> None:
    found = resources("cuda", kernel, capability)
    assert found.registers <= 40 and found.stack_bytes == found.spill_stores == 0


@pytest.mark.slow
@pytest.mark.parametrize("capability", ptx.CAPABILITIES)
@pytest.mark.parametrize("engine", ["cuda:plain", "cuda:mat", "cuda:grp", "cuda:mer", "cuda"])
def test_engines_compile(engine: str, capability: tuple[int, int]) -> None:
    found = resources(engine, "solve_ready" if engine == "cuda" else "solve_methods", capability)
    assert found.registers <= 255 and found.stack_bytes <= MOST_STACK
    assert found.spill_stores + found.spill_loads <= MOST_SPILLS
