"""The command line: a file per command, each loaded when it is called. The only part that prints and exits."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn


def main() -> NoReturn:
    """Entry point of the `gdroid` script."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code; never raises."""
    from gdroid.cli import exits, root

    if not arguments:
        exits.guarded(lambda: root.invoke(["--help"]))
        return exits.USAGE
    return exits.guarded(lambda: root.invoke(list(arguments)))
