"""Where results go: standard output, or files that appear whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from gdroid.cli import exits
from gpu.errors import WrongConfiguration


def emit(text: str) -> None:
    """Writes a result to standard output. A reader that went away is no error: the rest is dropped."""
    stream = sys.stdout
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        exits.silence_stdout()


def is_folder(path: Path) -> bool:
    """Whether the path is a folder; no for what cannot even be a name."""
    try:
        return path.is_dir()
    except OSError:
        return False


def writable(path: Path) -> None:
    """Refuses early an output that could not be written later, before minutes are spent on it."""
    try:
        if is_folder(path):
            raise WrongConfiguration(f"{path}: is a folder")
        if not path.parent.is_dir():
            raise WrongConfiguration(f"{path}: there is no folder {path.parent}")
        written_to = path if path.exists() and not path.is_file() else path.parent
    except OSError as error:
        raise WrongConfiguration(f"{path}: cannot be written: {error.strerror}") from error
    if not os.access(written_to, os.W_OK):
        raise WrongConfiguration(f"{path}: {written_to} is not writable")


def write(path: Path, text: str) -> None:
    """Writes text to a file, whole or not at all."""
    write_with(path, lambda temporary: temporary.write_text(text, encoding="utf-8", newline="\n"))


def write_with(path: Path, writer: Callable[[Path], object]) -> None:
    """Lets `writer` fill a temporary file beside `path` and then puts it in its place.

    The temporary file has the suffix of `path`, as some writers look at it. What is not a regular file (a pipe,
    /dev/null) is written to directly.
    """
    writable(path)
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        writer(path)
        return
    temporary = path.with_name(f".{path.stem[:100]}.{os.getpid()}.part{path.suffix}")
    try:
        writer(temporary)
        temporary.replace(path.resolve() if path.is_symlink() else path)
    except OSError as error:
        raise WrongConfiguration(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        with suppress(OSError):
            temporary.unlink()
