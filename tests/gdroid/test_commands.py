"""The other commands, with an analysis that only pretends."""

from __future__ import annotations

import types
from pathlib import Path
from typing import Any

import pytest

import gdroid
from gdroid.cli import run
from gdroid.cli.root import COMMANDS
from gdroid.options import Options
from gpu.errors import WrongConfiguration
from tests.gdroid.fakes import FakePipeline, install

Captured = pytest.CaptureFixture[str]


class FakeApp:
    def __init__(self, path: Path, options: Options) -> None:
        self.options = options

    def idfg(self, engine: str) -> FakeApp:
        self.engine = engine
        return self

    def write(self, path: Path, form: str) -> None:
        path.write_text(f"{form} {self.engine} {self.options.engine}")

    def problem(self) -> FakeApp:
        return self

    def save(self, path: Path) -> None:
        path.write_text(f"problem {path.suffix}")

    def facts_text(self, method: str, pc: int | None, concrete: bool) -> str:
        if method == "nothing":
            raise WrongConfiguration("leak.apk: no method nothing")
        return f"{method} {pc} {concrete}\nx = \x1b[31m"


@pytest.fixture(autouse=True)
def app(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = types.ModuleType("gdroid.app")
    fake.load = FakeApp  # type: ignore[attr-defined]
    install(monkeypatch, "gdroid.app", fake)


def test_no_command_is_wrong_usage_and_shows_help(capsys: Captured) -> None:
    assert run([]) == 2
    assert capsys.readouterr().out.startswith("Usage: gdroid ")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, capsys: Captured) -> None:
    assert run([name, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: gdroid {name} ")


def test_version_is_said_both_ways(capsys: Captured) -> None:
    assert run(["version"]) == run(["--version"]) == 0
    assert capsys.readouterr().out == f"gdroid {gdroid.__version__}\n" * 2


@pytest.mark.parametrize(
    ("arguments", "file", "content"),
    [
        ([], "leak.idfg.npz", "npz auto auto"),
        (["--format", "json", "--engine", "cpu"], "leak.idfg.json", "json cpu cpu"),
        (["-o", "g.graphml"], "g.graphml", "graphml auto auto"),
        (["-o", "g.out", "--format", "npz"], "g.out", "npz auto auto"),
    ],
)
def test_idfg_writes_the_format_of_the_suffix(
    folder: Path, capsys: Captured, arguments: list[str], file: str, content: str
) -> None:
    assert run(["idfg", "leak.apk", *arguments]) == 0
    assert (folder / file).read_text() == content
    assert capsys.readouterr().err == f"wrote {file}\n"


def test_idfg_refuses_an_unknown_suffix(capsys: Captured) -> None:
    assert run(["idfg", "leak.apk", "-o", "g.png"]) == 2
    assert "no format" in capsys.readouterr().err


def test_encode_writes_the_problem(folder: Path) -> None:
    assert run(["encode", "leak.apk", "-q", "-o", "p.npz"]) == 0
    assert (folder / "p.npz").read_text() == "problem .npz"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [([], "m None False"), (["--at", "0xc"], "m 12 False"), (["--at", "3", "--concrete"], "m 3 True")],
)
def test_facts_are_printed_and_cannot_steer_the_terminal(capsys: Captured, arguments: list[str], said: str) -> None:
    assert run(["facts", "leak.apk", "m", *arguments]) == 0
    assert capsys.readouterr().out == f"{said}\nx = \\x1b[31m\n"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["facts", "leak.apk", "nothing"], 2, "no method nothing"),
        (["facts", "leak.apk", "m", "--at", "-1"], 2, "not a pc"),
        (["facts", "gone.apk", "m"], 3, "gone.apk: no such file"),
        (["idfg", "gone.apk"], 3, "gone.apk: no such file"),
        (["encode", "gone.apk", "-o", "p.npz"], 3, "gone.apk: no such file"),
        (["encode", "leak.apk"], 2, "--output"),
        (["encode", "leak.apk", "-o", "none/p.npz"], 2, "no folder"),
        (["solve", "gone.npz"], 3, "gone.npz: no such file"),
    ],
)
def test_wrong_usage_is_one_line(capsys: Captured, arguments: list[str], code: int, said: str) -> None:
    assert run(arguments) == code
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_solve_prints_facts_and_digest(folder: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "p.npz").write_bytes(b"")
    asked: list[Any] = []

    class Solution:
        n_facts = 42

        def digest(self) -> str:
            return "cafe"

    def choose(name: str, problem: object) -> tuple[str, Solution]:
        asked.append((problem, name))
        return "chosen", Solution()

    engines = types.ModuleType("gpu.engine")
    engines.choose = choose  # type: ignore[attr-defined]
    problems = types.ModuleType("gpu.problem")
    problems.Problem = types.SimpleNamespace(load=lambda path: path.name)  # type: ignore[attr-defined]
    install(monkeypatch, "gpu.engine", engines)
    install(monkeypatch, "gpu.problem", problems)
    assert run(["solve", "p.npz", "--engine", "reference"]) == 0
    assert capsys.readouterr().out.splitlines()[:3] == ["facts    42", "digest   cafe", "engine   chosen"]
    assert asked == [("p.npz", "reference")]


def test_doctor_says_what_a_bug_report_needs(capsys: Captured) -> None:
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    rows = dict(line.split(None, 1) for line in out.splitlines())
    assert {"gdroid", "python", "numpy", "numba", "androguard", "cores", "memory", "kernel", "GPU", "engines"} <= set(
        rows
    )
    assert "MISSING" not in out
    assert "reference" in rows["engines"]


def test_doctor_says_when_no_cache_folder_is_writable(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    from gpu import jit

    monkeypatch.setattr(jit, "prepare", lambda: None)
    assert run(["doctor"]) == 0
    assert "compiled in every run" in capsys.readouterr().out


def test_the_api_passes_its_options_on(pipeline: FakePipeline, folder: Path) -> None:
    report = gdroid.analyze("leak.apk", engine="cpu", rules=["r.yaml"], limits=gdroid.Limits(witness_steps=5))
    assert isinstance(report, gdroid.Report)
    [(path, options)] = pipeline.calls
    assert path == Path("leak.apk")
    assert options == Options("cpu", (Path("r.yaml"),), gdroid.Limits(witness_steps=5))
    assert isinstance(gdroid.load("leak.apk"), FakeApp)


def test_public_names_exist() -> None:
    assert all(getattr(gdroid, name) is not None for name in gdroid.__all__)
    with pytest.raises(AttributeError):
        gdroid.nonsense  # noqa: B018
