"""The command line as a process: start-up time, pipes, signals, terminals. The analysis only pretends."""

from __future__ import annotations

import os
import pty
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

FAKE = """
import sys, types, time, os
def analyze(path, options):
    from dataclasses import replace
    from tests.gdroid.samples import sample, LEAK
    if options.progress:
        options.progress("dex", 1, 3); time.sleep(0.3); options.progress("solve", 2, 3); time.sleep(0.3)
    if path.name == "slow.apk":
        print("started", file=sys.stderr, flush=True); time.sleep(60)
    report = sample(findings=(LEAK,) * 200 if path.name == "long.apk" else (LEAK,))
    return replace(report, app=replace(report.app, path=str(path)))
import gdroid
fake = types.ModuleType("gdroid.pipeline"); fake.analyze = analyze
sys.modules["gdroid.pipeline"] = gdroid.pipeline = fake
from gdroid.cli import main
main()
"""


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    script = tmp_path / "fake_gdroid.py"
    script.write_text(FAKE)
    for name in ("leak.apk", "slow.apk", "long.apk"):
        (tmp_path / name).write_bytes(b"PK")
    return [sys.executable, str(script)]


@pytest.fixture
def environment() -> dict[str, str]:
    left = {key: value for key, value in os.environ.items() if key not in ("GDROID_DEBUG", "NO_COLOR")}
    return {**left, "PYTHONPATH": str(ROOT), "TERM": "xterm"}


def test_help_is_quick(environment: dict[str, str]) -> None:
    """By processor time, which is the wall time of a machine that does nothing else."""
    times = []
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "gdroid", "--help"], env=environment, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.25


@pytest.mark.parametrize("form", ["console", "json"])
def test_a_closed_pipe_ends_quietly(command: list[str], environment: dict[str, str], tmp_path: Path, form: str) -> None:
    whole = [*command, "analyze", "long.apk", "--format", form]
    process = subprocess.Popen(whole, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(20) == 1, "the findings still count"


def test_help_into_a_closed_pipe_does_not_claim_findings(environment: dict[str, str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    whole = [sys.executable, "-m", "gdroid", "analyze", "--help"]
    done = subprocess.run(whole, env=environment, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_ctrl_c_ends_with_130_and_keeps_what_is_done(
    command: list[str], environment: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    whole = [*command, "analyze", "leak.apk", "slow.apk", "-q", "-o", "out"]
    process = subprocess.Popen(whole, cwd=tmp_path, env=environment, stderr=subprocess.PIPE)
    assert process.stderr is not None
    assert process.stderr.readline() == b"started\n"
    process.send_signal(signal.SIGINT)
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(20) == 130
    assert b"Traceback" not in said
    assert said.strip() == b"gdroid: interrupted"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["leak.apk.json"]


def on_terminal(whole: list[str], cwd: Path, environment: dict[str, str], descriptors: tuple[str, ...]) -> str:
    """What a terminal of 100 columns gets to see when the named streams are connected to it."""
    master, slave = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    streams = {name: slave if name in descriptors else subprocess.DEVNULL for name in ("stdout", "stderr")}
    process = subprocess.Popen(whole, cwd=cwd, env=environment, **streams)  # type: ignore[call-overload]
    os.close(slave)
    seen = bytearray()
    while True:
        try:
            block = os.read(master, 4096)
        except OSError:
            break
        if not block:
            break
        seen += block
    os.close(master)
    assert process.wait(20) == 1
    return seen.decode()


Terminal = Callable[..., str]


def test_progress_is_drawn_on_a_terminal_only(command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    whole = [*command, "analyze", "leak.apk"]
    assert "leak.apk: solve" in on_terminal(whole, tmp_path, environment, ("stderr",))
    assert "solve" not in on_terminal([*whole, "-q"], tmp_path, environment, ("stderr",))
    done = subprocess.run(whole, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_colour_is_for_terminals_that_want_it(command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    whole = [*command, "analyze", "leak.apk"]
    coloured = on_terminal(whole, tmp_path, environment, ("stdout",))
    assert "\x1b[" in coloured
    assert (
        max(
            len(line)
            for line in on_terminal(whole, tmp_path, {**environment, "NO_COLOR": "1"}, ("stdout",)).splitlines()
        )
        <= 100
    )
    assert "\x1b[" not in on_terminal(whole, tmp_path, {**environment, "NO_COLOR": "1"}, ("stdout",))
    done = subprocess.run(whole, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "\x1b[" not in done.stdout


def test_output_survives_a_narrow_encoding(command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    narrow = {**environment, "PYTHONIOENCODING": "ascii"}
    name = "café.apk"
    (tmp_path / name).write_bytes(b"PK")
    done = subprocess.run([*command, "analyze", name], cwd=tmp_path, env=narrow, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    assert b"caf?.apk" in done.stdout


def test_a_name_that_is_no_text_is_no_crash(command: list[str], environment: dict[str, str], tmp_path: Path) -> None:
    name = b"odd\xff\x1b[31m.apk"
    (tmp_path / os.fsdecode(name)).write_bytes(b"PK")
    whole = [*map(os.fsencode, command), b"analyze", name]
    done = subprocess.run(whole, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert done.returncode == 1, done.stderr
    assert b"odd\\udcff\\x1b[31m.apk" in done.stdout
    gone = subprocess.run([*whole[:-1], name + b"x"], cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert gone.returncode == 3
    assert b"\x1b" not in gone.stderr and gone.stderr.count(b"\n") == 1
