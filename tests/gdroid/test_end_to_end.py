"""The real analysis behind the command line, on a sample app and on files that are none."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema

from gdroid.report.json import schema

ROOT = Path(__file__).resolve().parent.parent.parent


def analyze(*arguments: object) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "gdroid", "analyze", *map(str, arguments)]
    return subprocess.run(whole, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def without_measurements(path: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text())
    for phase in report["phases"]:
        del phase["seconds"], phase["peak_mb"]
    return report


def test_the_readme_s_app_leaks(apks: Path) -> None:
    done = analyze("apks/DirectLeak_Bad.apk")
    assert done.returncode == 1, done.stderr
    assert "getDeviceId()" in done.stdout
    assert "complete" in done.stdout


def test_two_runs_give_the_same_valid_report(apks: Path, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        analyze("-q", apks / "DirectLeak_Bad.apk", "-o", tmp_path / name)
    first = without_measurements(tmp_path / "a.json")
    assert first == without_measurements(tmp_path / "b.json")
    jsonschema.validate(json.loads((tmp_path / "a.json").read_text()), schema())
    assert first["status"] == "complete"
    assert {limit["name"] for limit in first["limits"]} >= {"wall_time_s", "memory_mb", "witness_steps"}


def test_what_is_no_app_is_named_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty.apk").write_bytes(b"")
    (tmp_path / "text.apk").write_text("hello" * 100)
    (tmp_path / "cut.dex").write_bytes(b"dex\n035\0" + b"\0" * 20)
    with zipfile.ZipFile(tmp_path / "nothing.apk", "w") as archive:
        archive.writestr("readme.txt", "no dex here")
    for name in ("empty.apk", "text.apk", "cut.dex", "nothing.apk"):
        done = analyze(tmp_path / name)
        assert done.returncode in (3, 4), (name, done)
        if done.returncode == 3:
            assert done.stdout == ""
            assert name in done.stderr and done.stderr.count("\n") == 1
        assert "No leaks" not in done.stdout
