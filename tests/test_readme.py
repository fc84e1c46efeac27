"""The README's commands are the ones that people and CI run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
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


def test_the_report_shown_is_what_the_first_command_prints() -> None:
    """The findings of it, and the labels of the rest, whose numbers differ from machine to machine."""
    app = commands()[0].split()[-1]
    whole = [sys.executable, "-m", "gdroid", "analyze", app]
    printed = subprocess.run(whole, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False).stdout
    match = re.search(r"<!-- report:.*?-->\n```\n(.*?)```\n<!-- end", README, re.DOTALL)
    assert match is not None
    shown_findings, _, shown_rest = match[1].partition("\nanalysis ")
    findings, _, rest = printed.partition("\nanalysis ")
    assert shown_findings == findings
    assert [line.split()[0] for line in shown_rest.splitlines()] == [line.split()[0] for line in rest.splitlines()]
