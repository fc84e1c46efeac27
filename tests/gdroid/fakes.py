"""Stand-ins for the analysis, so that the command line is tested without one."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gdroid.options import Options
from gdroid.report.model import Report
from tests.gdroid.samples import sample


class FakePipeline(types.ModuleType):
    """`gdroid.pipeline` that answers with a report, or raises, by the app's file name."""

    def __init__(self) -> None:
        super().__init__("gdroid.pipeline")
        self.calls: list[tuple[Path, Options]] = []
        self.answers: dict[str, Report | BaseException | Callable[[Options], Report]] = {}

    def analyze(self, path: Path, options: Options) -> Report:
        self.calls.append((path, options))
        answer = self.answers.get(path.name, sample())
        if isinstance(answer, BaseException):
            raise answer
        report = answer if isinstance(answer, Report) else answer(options)
        return replace(report, app=replace(report.app, path=str(path)))


def install(monkeypatch: pytest.MonkeyPatch, name: str, module: Any) -> None:
    """Puts a stand-in where `from package import module` finds it."""
    package, _, attribute = name.rpartition(".")
    monkeypatch.setitem(sys.modules, name, module)
    if package in sys.modules:
        monkeypatch.setattr(sys.modules[package], attribute, module, raising=False)
