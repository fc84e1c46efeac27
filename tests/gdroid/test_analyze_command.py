"""What `gdroid analyze` prints, writes and returns, with a pipeline that only pretends."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from gdroid.cli import run
from gdroid.report.model import Report
from gpu.errors import EngineUnavailable, LimitReached, UnreadableInput, UnsupportedFeature, WrongConfiguration
from tests.gdroid.fakes import FakePipeline
from tests.gdroid.samples import LEAK, partial, sample

Captured = pytest.CaptureFixture[str]


def with_severity(level: str, **changes: object) -> Report:
    return sample(findings=(replace(LEAK, severity=level),), **changes)  # type: ignore[arg-type]


def one_line(text: str) -> str:
    assert text.count("\n") == 1, text
    assert text.startswith("gdroid: ")
    return text


@pytest.mark.parametrize(
    ("report", "options", "code"),
    [
        (sample(findings=()), [], 0),
        (sample(), [], 1),
        (with_severity("medium"), [], 0),
        (with_severity("medium"), ["--fail-on", "medium"], 1),
        (with_severity("low"), ["--fail-on", "low"], 1),
        (sample(), ["--fail-on", "never"], 0),
        (partial(), [], 4),
        (partial(findings=(LEAK,)), [], 1),
        (partial(findings=(LEAK,)), ["--fail-on", "never"], 4),
        (sample(status="failed", findings=()), [], 4),
    ],
)
def test_exit_code_says_what_the_report_means(
    folder: Path, pipeline: FakePipeline, report: Report, options: list[str], code: int
) -> None:
    pipeline.answers["leak.apk"] = report
    assert run(["analyze", "leak.apk", *options]) == code


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UnreadableInput("leak.apk: not a zip at offset 0"), 3, "not a zip at offset 0"),
        (UnsupportedFeature("leak.apk: a protobuf manifest"), 3, "protobuf"),
        (LimitReached("input_mb = 1"), 4, "leak.apk: input_mb = 1"),
        (EngineUnavailable("cuda: no device"), 2, "no device"),
        (WrongConfiguration("rules.yaml:3: expected a list"), 2, "rules.yaml:3"),
        (MemoryError(), 4, "out of memory"),
        (PermissionError(13, "Permission denied", "leak.apk"), 3, "leak.apk: Permission denied"),
        (KeyError("x"), 5, "internal error, please report it: KeyError: 'x' (gdroid/cli/analyze.py:"),
        (RecursionError("\ndeep\ndown"), 5, "RecursionError: deep ("),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_an_error_is_one_line_and_an_exit_code(
    folder: Path, pipeline: FakePipeline, capsys: Captured, error: BaseException, code: int, said: str
) -> None:
    pipeline.answers["leak.apk"] = error
    assert run(["analyze", "leak.apk"]) == code
    captured = capsys.readouterr()
    assert said in one_line(captured.err.lstrip("\n"))
    assert captured.out == ""


@pytest.mark.parametrize("how", ["option", "environment"])
def test_a_traceback_is_shown_only_on_request(
    folder: Path, pipeline: FakePipeline, capsys: Captured, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    pipeline.answers["leak.apk"] = KeyError("x")
    if how == "environment":
        monkeypatch.setenv("GDROID_DEBUG", "1")
    assert run(["analyze", "leak.apk", *(["-v"] if how == "option" else [])]) == 5
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["analyze"], 2, "APP"),
        (["analyze", "--nonsense", "leak.apk"], 2, "--nonsense"),
        (["analyse", "leak.apk"], 2, "analyse"),
        (["analyze", "leak.apk", "--engine", "gpu"], 2, "gpu"),
        (["analyze", "leak.apk", "--timeout", "0"], 2, "positive"),
        (["analyze", "leak.apk", "--timeout", "nan"], 2, "positive"),
        (["analyze", "leak.apk", "--memory", "1.5"], 2, "integer"),
        (["analyze", "leak.apk", "--rules", "none.yaml"], 2, "none.yaml"),
        (["analyze", "leak.apk", "-v", "-q"], 2, "exclude"),
        (["analyze", "leak.apk", "missing.apk", "--together"], 3, "missing.apk: no such file"),
        (["analyze", "leak.apk", "-o", "x.sarif"], 2, "not supported yet"),
        (["analyze", "leak.apk", "--format", "html"], 2, "not supported yet"),
        (["analyze", "leak.apk", "-o", "x.pdf"], 2, "no format"),
        (["analyze", "leak.apk", "-o", "x.json", "--format", "console"], 2, "the suffix says json"),
        (["analyze", "leak.apk", "-o", "none/x.json"], 2, "no folder"),
        (["analyze", "leak.apk", "-o", "x.json", "-o", "x.json"], 2, "two reports"),
        (["analyze", "leak.apk", "leak.apk", "-o", "x.json"], 2, "folder"),
        (["analyze", "missing.apk"], 3, "missing.apk: no such file"),
        (["analyze", "n" * 300], 3, "n: File name too long"),
        (["analyze", "leak.apk", "-o", "n" * 300 + ".json"], 2, "File name too long"),
    ],
)
def test_wrong_usage_is_told_before_any_work(
    folder: Path, pipeline: FakePipeline, capsys: Captured, arguments: list[str], code: int, said: str
) -> None:
    assert run(arguments) == code
    assert said in one_line(capsys.readouterr().err)
    assert pipeline.calls == []


def test_apps_that_form_a_system_are_one_analysis(folder: Path, pipeline: FakePipeline) -> None:
    (folder / "other.apk").write_bytes(b"")
    run(["analyze", "leak.apk", "other.apk", "--together", "-o", "both.json"])
    [(path, options)] = pipeline.calls
    assert (path, options.together) == (Path("leak.apk"), (Path("other.apk"),))
    assert (folder / "both.json").is_file()


def test_options_reach_the_pipeline(folder: Path, pipeline: FakePipeline) -> None:
    (folder / "r.yaml").write_text("")
    arguments = ["--engine", "cpu", "--rules", "r.yaml", "--timeout", "1.5", "--memory", "300"]
    run(["analyze", "leak.apk", *arguments])
    [(path, options)] = pipeline.calls
    assert path == Path("leak.apk")
    assert (options.engine, options.rules) == ("cpu", (Path("r.yaml"),))
    assert (options.limits.wall_time_s, options.limits.memory_mb) == (1.5, 300)
    assert options.progress is None, "standard error is no terminal here"


@pytest.mark.parametrize(
    ("name", "head"), [("gdroid.toml", ""), ("pyproject.toml", "[project]\nname = 'x'\n[tool.gdroid]\n")]
)
def test_options_may_stand_in_a_file(
    folder: Path, pipeline: FakePipeline, capsys: Captured, name: str, head: str
) -> None:
    limits = "tool.gdroid.limits" if head else "limits"
    (folder / "r.yaml").write_text("")
    (folder / name).write_text(
        f"{head}engine = 'reference'\nfail-on = 'low'\nformat = 'json'\ntimeout = 3\nrules = ['r.yaml']\n"
        f"[{limits}]\nwitness_steps = 7\nmemory_mb = 900\n"
    )
    pipeline.answers["leak.apk"] = with_severity("low")
    assert run(["analyze", "leak.apk", "--timeout", "4"]) == 1
    assert json.loads(capsys.readouterr().out)["schema"] == "gdroid-report/1"
    [(_, options)] = pipeline.calls
    assert (options.engine, options.rules) == ("reference", (Path("r.yaml"),))
    assert options.limits.wall_time_s == 4, "the command line wins"
    assert (options.limits.witness_steps, options.limits.memory_mb) == (7, 900)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("colour = true", "colour: unknown key"),
        ("engine = 'gpu'", "engine: expected one of auto"),
        ("timeout = 'long'", "timeout: expected a positive number"),
        ("memory = 1.5", "memory: expected a positive whole number"),
        ("rules = 'r.yaml'", "rules: expected a list"),
        ("[limits]\nspeed = 1", "limits.speed: unknown limit"),
        ("[limits]\nwitness_steps = -1", "limits.witness_steps: expected"),
        ("engine", "gdroid.toml"),
        ("rules = ['none.yaml']", "none.yaml: no such rule file"),
    ],
)
def test_a_wrong_option_file_is_named_with_the_key(
    folder: Path, pipeline: FakePipeline, capsys: Captured, text: str, said: str
) -> None:
    (folder / "gdroid.toml").write_text(text)
    assert run(["analyze", "leak.apk"]) == 2
    assert said in one_line(capsys.readouterr().err)
    assert pipeline.calls == []


def test_the_suffix_says_the_format(folder: Path, pipeline: FakePipeline, capsys: Captured) -> None:
    (folder / "reports").mkdir()
    outputs = ["a.json", "b.txt", "reports"]
    run(["analyze", "leak.apk", *(word for name in outputs for word in ("-o", name))])
    assert json.loads((folder / "a.json").read_text())["app"]["path"] == "leak.apk"
    assert (folder / "b.txt").read_text().startswith("leak.apk")
    assert (folder / "reports/leak.apk.json").read_text() == (folder / "a.json").read_text()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "leak.apk: 1 finding, analysis complete; wrote a.json, b.txt, reports/leak.apk.json\n"
    assert sorted(p.name for p in folder.iterdir()) == ["a.json", "b.txt", "leak.apk", "reports"]


def test_format_may_repeat_the_suffix_and_decides_without_one(folder: Path, pipeline: FakePipeline) -> None:
    assert run(["analyze", "leak.apk", "--format", "json", "-o", "a.json", "-o", "b.out"]) == 1
    assert (folder / "a.json").read_text() == (folder / "b.out").read_text()


def test_quiet_leaves_only_the_result(folder: Path, pipeline: FakePipeline, capsys: Captured) -> None:
    run(["analyze", "leak.apk", "-q", "-o", "a.json", "-o", "-"])
    captured = capsys.readouterr()
    assert captured.err == ""
    assert "Device id is sent by SMS" in captured.out


def test_several_apps_are_reported_one_by_one_and_the_worst_code_wins(
    folder: Path, pipeline: FakePipeline, capsys: Captured
) -> None:
    for name in ("clean.apk", "bad.apk", "crash.apk"):
        (folder / name).write_bytes(b"")
    pipeline.answers |= {
        "clean.apk": sample(findings=()),
        "bad.apk": UnreadableInput("bad.apk: empty file"),
        "crash.apk": KeyError("x"),
    }
    apps = ["crash.apk", "bad.apk", "missing.apk", "clean.apk"]
    assert run(["analyze", *apps, "--format", "json"]) == 5
    captured = capsys.readouterr()
    assert [json.loads(line)["app"]["path"] for line in captured.out.splitlines()] == ["clean.apk"]
    assert [line.split(":")[1].strip() for line in captured.err.splitlines()] == ["crash.apk", "bad.apk", "missing.apk"]
    assert run(["analyze", *apps, "leak.apk"]) == 1, "a crash must not hide a leak"
    assert run(["analyze", "clean.apk", "bad.apk"]) == 3


def test_two_runs_write_the_same_bytes(folder: Path, pipeline: FakePipeline) -> None:
    run(["analyze", "leak.apk", "-o", "a.json"])
    first = (folder / "a.json").read_bytes()
    run(["analyze", "leak.apk", "-o", "a.json"])
    assert (folder / "a.json").read_bytes() == first
