"""Which form of the report goes where."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gdroid.cli import output
from gpu.errors import WrongConfiguration

if TYPE_CHECKING:
    from gdroid.report.model import Report

_SUFFIXES = {".json": "json", ".sarif": "sarif", ".html": "html", ".htm": "html"}
_WRITTEN = ("console", "json")
_FILE_SUFFIX = {"console": ".txt", "json": ".json"}


@dataclass(frozen=True, slots=True)
class Target:
    """One place that a report is written to."""

    path: Path | None
    """A file; None is standard output."""
    format: str


def targets(files: Sequence[str], wanted: str | None, app: Path, several: bool) -> list[Target]:
    """Where the report of `app` goes. A file's suffix says its format; `wanted` (--format) says it for the rest.

    Several apps cannot share a file, so then each `-o` must be a folder, which gets a file per app.
    """
    if not files:
        return [Target(None, _supported(wanted or "console", "--format"))]
    result = []
    for name in files:
        path = Path(name)
        if name == "-":
            result.append(Target(None, _supported(wanted or "console", "--format")))
        elif output.is_folder(path) or name.endswith(("/", os.sep)):
            form = _supported(wanted or "json", "--format")
            result.append(Target(path / (app.resolve().name + _FILE_SUFFIX[form]), form))
        elif several:
            raise WrongConfiguration(f"-o {name}: with several apps an output must be a folder that exists, or -")
        else:
            result.append(Target(path, _supported(_of_file(path, wanted), name)))
    return result


def _of_file(path: Path, wanted: str | None) -> str:
    suffix = path.suffix.lower()
    by_suffix = _SUFFIXES.get(suffix)
    if by_suffix is not None and wanted is not None and wanted != by_suffix:
        raise WrongConfiguration(f"-o {path}: the suffix says {by_suffix}, --format says {wanted}")
    form = by_suffix or wanted or ("console" if suffix == ".txt" else None)
    if form is None:
        known = ", ".join((*_SUFFIXES, ".txt"))
        raise WrongConfiguration(f"-o {path}: the suffix says no format; use one of {known}, or give --format")
    return form


def _supported(form: str, where: str) -> str:
    if form not in _WRITTEN:
        raise WrongConfiguration(f"{where}: format {form} is not supported yet; use {' or '.join(_WRITTEN)}")
    return form


def write(report: Report, target: Target, *, full: bool, several: bool) -> None:
    """Writes the report to its place: in colour on a terminal, one JSON document a line when there are several."""
    to_stdout = target.path is None
    if target.format == "json":
        from gdroid.report import json

        text = json.dumps(report, indent=None if several and to_stdout else 2)
    else:
        from gdroid.report import console

        terminal = to_stdout and sys.stdout.isatty()
        text = console.render(report, width=_width(terminal), colour=terminal and _colour_is_welcome(), full=full)
        if several and to_stdout:
            text += "\n"
    if target.path is None:
        output.emit(text)
    else:
        output.write(target.path, text)


def _width(terminal: bool) -> int:
    from gdroid.report.console import WIDTH

    if not terminal:
        return WIDTH
    try:
        return max(60, os.get_terminal_size(sys.stdout.fileno()).columns)
    except OSError:
        return WIDTH


def _colour_is_welcome() -> bool:
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
