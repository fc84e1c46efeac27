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
    from gdroid.cli import exits
    from gdroid.cli.root import root

    return exits.guarded(lambda: root.main(args=list(arguments), prog_name="gdroid", standalone_mode=False))
