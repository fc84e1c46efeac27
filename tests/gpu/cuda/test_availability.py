"""Who has no GPU is told what is missing, and `auto` goes on without it."""

from __future__ import annotations

import pytest

from gpu import engine
from gpu.cuda import device
from gpu.errors import EngineUnavailable
from gpu.problem import Problem
from gpu.solution import Solution
from tests.gpu.cuda.problems import MAKERS

CUDA = [name for name in engine.ENGINES if name.startswith("cuda")]


def test_five_engines_are_registered() -> None:
    assert sorted(CUDA) == ["cuda", "cuda:grp", "cuda:mat", "cuda:mer", "cuda:plain"]


@pytest.mark.parametrize("name", CUDA)
def test_without_a_device_the_reason_is_said(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "_has", lambda name: False)
    monkeypatch.setattr(device, "_driver", lambda: False)
    monkeypatch.setattr(device, "simulated", lambda: False)
    with pytest.raises(EngineUnavailable, match=r"numba-cuda \(pip install 'gdroid\[cuda\]'\), and NVIDIA driver"):
        engine.solve(MAKERS["or"](), name)
    assert "numba-cuda" in engine.device(name)


def test_auto_takes_cuda_for_large_problems_and_falls_back(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = MAKERS["or"]()
    assert engine.choose("auto", problem)[0] == "cpu"

    def out_of_memory(problem: Problem, check: object) -> Solution:
        raise EngineUnavailable("CUDA: out of memory")

    monkeypatch.setattr(engine, "cuda_pays", lambda problem: True)
    monkeypatch.setitem(engine.ENGINES, "cuda", out_of_memory)
    assert engine.choose("auto", problem)[0] == "cpu"
    monkeypatch.setitem(engine.ENGINES, "cuda", engine.ENGINES["reference"])
    assert engine.choose("auto", problem)[0] == "cuda"
