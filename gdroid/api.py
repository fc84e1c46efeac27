"""The two calls of the Python API; everything else hangs on what they return."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.limits import Limits
from gdroid.options import Options, Progress
from gdroid.report.model import Report

if TYPE_CHECKING:
    from gdroid.app import App


def analyze(
    path: str | PathLike[str],
    *,
    engine: str = "auto",
    rules: Iterable[str | PathLike[str]] = (),
    limits: Limits | None = None,
    progress: Progress | None = None,
    all_code: bool = False,
) -> Report:
    """Analyses one app and returns its report, complete or partial (`report.status`, `report.limits`).

    `all_code`: also the code of libraries that models speak for (AndroidX, OkHttp, …).

    Raises `UnreadableInput` when nothing of the file can be read, `WrongConfiguration` for a bad rule file or engine
    name, and `EngineUnavailable` when the engine that was asked for cannot run here.
    """
    from gdroid.pipeline import analyze as analyzed

    return analyzed(Path(path), _options(engine, rules, limits, progress, all_code))


def load(
    path: str | PathLike[str],
    *,
    engine: str = "auto",
    rules: Iterable[str | PathLike[str]] = (),
    limits: Limits | None = None,
    progress: Progress | None = None,
    all_code: bool = False,
) -> App:
    """Opens one app for questions about its program, call graph and facts; each is computed when it is asked for."""
    from gdroid.app import load as loaded

    return loaded(Path(path), _options(engine, rules, limits, progress, all_code))


def _options(
    engine: str,
    rules: Iterable[str | PathLike[str]],
    limits: Limits | None,
    progress: Progress | None,
    all_code: bool,
) -> Options:
    files = tuple(Path(rule) for rule in rules)
    return Options(engine, files, Limits() if limits is None else limits, progress, all_code)
