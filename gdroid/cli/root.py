"""The `gdroid` command: finds its subcommands by module name and imports one only when it is needed."""

from __future__ import annotations

import os
from importlib import import_module

import click

from gdroid import __version__

COMMANDS = ("analyze", "idfg", "facts", "encode", "solve", "doctor", "version")
"""Each is the module of this package that defines a `command`."""

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


class _Modules(click.Group):
    """A group whose commands are modules of this package."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"gdroid.cli.{cmd_name}").command
        return command


@click.group(cls=_Modules, context_settings=_CONTEXT)
@click.version_option(__version__, message="%(prog)s %(version)s")
def root() -> None:
    """Finds how private data leaves an Android app.

    Exit codes: 0 nothing at or over the gate, 1 findings at or over the gate, 2 wrong usage or configuration, 3 input
    cannot be read, 4 analysis incomplete and nothing at the gate, 5 internal error, 130 interrupted.
    """


def invoke(arguments: list[str]) -> object:
    """Runs one command line and returns what its command returns; errors come out as they are.

    `click.Group.main` would turn some of them into SystemExit: a closed pipe into code 1, which means findings here.
    """
    if "_GDROID_COMPLETE" in os.environ:  # a shell asks for completions
        return root.main(arguments, "gdroid")
    try:
        with root.make_context("gdroid", arguments) as context:
            return root.invoke(context)
    except click.exceptions.Exit as end:  # --help, --version
        return end.exit_code
