"""How a command ends: the one place that turns errors into exit codes and one line on standard error."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import click

from gdroid.report.escape import visible
from gpu.errors import (
    EngineUnavailable,
    GdroidError,
    LimitReached,
    UnreadableInput,
    UnsupportedFeature,
)

OK = 0
FINDINGS = 1
USAGE = 2
UNREADABLE = 3
INCOMPLETE = 4
INTERNAL = 5
INTERRUPTED = 130
CLOSED_PIPE = 141
"""As a shell reports a process that a closed pipe ended."""

_ROOT = Path(__file__).parent.parent.parent
"""The folder that holds gdroid's packages."""

_WORST_FIRST = (INTERRUPTED, FINDINGS, USAGE, INTERNAL, UNREADABLE, INCOMPLETE)
"""A crash in one app must not hide a leak in another."""

_CODES: tuple[tuple[type[GdroidError], int], ...] = (
    (UnreadableInput, UNREADABLE),
    (UnsupportedFeature, UNREADABLE),
    (LimitReached, INCOMPLETE),
    (EngineUnavailable, USAGE),
    (GdroidError, USAGE),
)


def worst(codes: Iterable[int]) -> int:
    """The code that stands for several."""
    found = set(codes)
    return next((code for code in _WORST_FIRST if code in found), OK)


def guarded(call: Callable[[], object]) -> int:
    """Runs `call` and returns its exit code: an int that it returns, or what its error stands for."""
    try:
        code = call()
        sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
        return CLOSED_PIPE
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001  this is where every error ends
        return report(error)
    return code if isinstance(code, int) else OK


def report(error: BaseException, subject: str = "", *, verbose: bool = False) -> int:
    """Says on standard error what went wrong, in one line, and returns the exit code.

    `subject` is what was being worked on, named unless the message names it; `verbose` adds the traceback, as the
    environment variable GDROID_DEBUG does.
    """
    code, message = _said(error)
    say(message if subject in message else f"{subject}: {message}")
    if verbose or os.environ.get("GDROID_DEBUG", "0") not in ("", "0"):
        traceback.print_exception(error, file=sys.stderr)
    return code


def _said(error: BaseException) -> tuple[int, str]:
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return INTERRUPTED, "interrupted"
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if isinstance(context, click.Context) else ""
        return USAGE, error.format_message() + hint
    for kind, code in _CODES:
        if isinstance(error, kind):
            return code, str(error)
    if isinstance(error, MemoryError):
        return INCOMPLETE, "out of memory before there was a partial answer; see --memory"
    if isinstance(error, OSError) and error.filename is not None:
        return UNREADABLE, f"{os.fsdecode(error.filename)}: {error.strerror}"
    return INTERNAL, f"internal error, please report it: {_summary(error)}; GDROID_DEBUG=1 shows the traceback"


def _summary(error: BaseException) -> str:
    """`KeyError: 3 (analyzer/lift.py:120)`: the first line of what it says, and our own statement that raised it."""
    first = next((line for line in str(error).splitlines() if line.strip()), "")
    ours = ""
    for frame in traceback.extract_tb(error.__traceback__):
        file = Path(frame.filename)
        if any(file.is_relative_to(_ROOT / package) for package in ("gdroid", "analyzer", "gpu")):
            ours = f" ({file.relative_to(_ROOT)}:{frame.lineno})"
    return f"{type(error).__name__}: {first}{ours}"


def say(message: str) -> None:
    """One line on standard error, whatever the message holds."""
    with suppress(OSError):  # nobody may be reading
        print(f"gdroid: {visible(message, longest=1000)}", file=sys.stderr, flush=True)


def silence_stdout() -> None:
    """After a closed pipe: makes the interpreter's own flush at exit succeed."""
    with suppress(OSError, ValueError):  # standard output may have no descriptor of its own
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
