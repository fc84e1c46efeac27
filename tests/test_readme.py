"""The README's commands are the ones that people and CI run."""

from __future__ import annotations

import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def commands() -> list[str]:
    return [line for line in README.splitlines() if line.startswith("python3 -m venv")]


def test_there_are_two_commands_one_for_the_product_and_one_for_the_tests() -> None:
    first, second = commands()
    assert (ROOT / first.split()[-1]).is_file()
    assert "'.[test]'" in second and "pytest" in second


def test_ci_runs_what_the_readme_says() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert "pytest" not in script.read_text("utf-8"), "the command stands in the README only"


def test_links_lead_somewhere() -> None:
    targets = re.findall(r"\]\((?!http)([^)#]+)\)", README)
    assert targets
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_exit_codes_of_the_readme_are_those_of_the_program() -> None:
    from gdroid.cli import exits

    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert documented == {
        exits.OK,
        exits.FINDINGS,
        exits.USAGE,
        exits.UNREADABLE,
        exits.INCOMPLETE,
        exits.INTERNAL,
        exits.INTERRUPTED,
    }
