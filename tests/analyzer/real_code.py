"""Real dex files for tests, without the rooms that open apps."""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path

from analyzer.dex import read
from analyzer.program import Program

APKS = sorted((Path(__file__).resolve().parents[2] / "apks").rglob("*.apk"))


@lru_cache(maxsize=2)
def program_of(path: Path) -> Program:
    """The program of an apk or dex file."""
    if path.suffix == ".dex":
        return Program(read([path.read_bytes()], [path.name]))
    with zipfile.ZipFile(path) as archive:
        names = sorted(n for n in archive.namelist() if n.startswith("classes") and n.endswith(".dex"))
        return Program(read([archive.read(name) for name in names], names))


def suite_files(suites: Path) -> list[Path]:
    """A few apps of each compiler: micro-benchmarks, dx, D8 and R8."""
    real = ("com.politedroid_4.apk", "a2dp.Vol_137.apk", "selendroid-test-app.apk", "app-uiautomator.apk")
    found = [suites / "real" / name for name in real]
    return found + sorted((suites / "droidbench3").rglob("*.apk"))[::6] + sorted((suites / "dex-versions").glob("d8*"))


def methods_of(program: Program, most: int | None = None) -> list[int]:
    """Methods with intact code; at most so many, evenly spread."""
    every = [m for m in program.methods_with_code() if not program.dex.code_status[code_of(program, m)]]
    return every[:: max(1, len(every) // most)] if most else every


def code_of(program: Program, method: int) -> int:
    """The code index of a method."""
    definition = program.definition(method)
    assert definition is not None
    return definition.code
