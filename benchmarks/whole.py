"""Whole analyses: gdroid and Mariana Trench on the same apps, processes alternating, wall time and peak memory.

    pip install mariana-trench packaging setuptools
    python benchmarks/whole.py --repeats 3 app.apk ...

Mariana Trench gets no system jars and indexes no sources, which makes it faster; both get all cores. The kernel cache
of gdroid is warm: one run comes first that is not counted. Results go to benchmarks/results/ with --save.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def timed(command: list[str], limit: float, env: dict[str, str]) -> dict[str, Any]:
    """Wall seconds, CPU seconds, peak MB and exit code of a process and its children; rc None: over the limit."""
    with tempfile.TemporaryFile() as sink:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=sink, stderr=sink, env=env)
        peak, rc = 0.0, None
        while time.monotonic() - start < limit:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                rc = os.waitstatus_to_exitcode(status)
                process.returncode = rc
                peak = usage.ru_maxrss / 1024
                return {
                    "wall_s": round(time.monotonic() - start, 3),
                    "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
                    "peak_mb": round(peak, 1),
                    "rc": rc,
                }
            time.sleep(0.02)
        process.kill()
        process.wait()
        return {"wall_s": limit, "cpu_s": None, "peak_mb": None, "rc": None}


def mariana_trench(app: Path, folder: Path) -> list[str] | None:
    """Its command line, or None where it is not installed."""
    program = shutil.which("mariana-trench", path=f"{Path(sys.executable).parent}:{os.environ.get('PATH', '')}")
    if program is None:
        return None
    jars = folder / "jars.json"
    jars.write_text("[]")
    out = folder / "out"
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    options = ["--system-jar-configuration-path", str(jars), "--skip-source-indexing", "--output-directory", str(out)]
    return [program, *options, "--apk-path", str(app)]


def phases(report: Path) -> list[dict[str, Any]]:
    """Stage times of a report."""
    data = json.loads(report.read_text())
    return [{k: p[k] for k in ("name", "status", "seconds", "peak_mb")} for p in data.get("phases", ())]


def measure(app: Path, repeats: int, limit: float) -> dict[str, Any]:
    """All runs of both on one app."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # Mariana Trench looks beside it
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": path}
    runs: dict[str, list[dict[str, Any]]] = {"gdroid": [], "mariana_trench": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        report = folder / "report.json"
        ours = [sys.executable, "-m", "gdroid", "analyze", str(app), "--format", "json", "-o", str(report)]
        theirs = mariana_trench(app, folder)
        for i in range(repeats):
            runs["gdroid"].append(timed(ours, limit, env))
            print(f"  {i + 1} gdroid {runs['gdroid'][-1]}", flush=True)
            if theirs is not None:
                mariana_trench(app, folder)
                runs["mariana_trench"].append(timed(theirs, limit, env))
                print(f"  {i + 1} mariana trench {runs['mariana_trench'][-1]}", flush=True)
        found: dict[str, Any] = {"app": app.name, "runs": runs}
        if report.exists():
            data = json.loads(report.read_text())
            found |= {"phases": phases(report), "stats": data["stats"], "status": data["status"]}
            found["findings"] = len(data["findings"])
    medians = {
        tool: statistics.median(r["wall_s"] for r in done if r["rc"] in (0, 1))
        for tool, done in runs.items()
        if any(r["rc"] in (0, 1) for r in done)
    }
    found["median_wall_s"] = medians
    if len(medians) == 2:
        found["times_faster"] = round(medians["mariana_trench"] / medians["gdroid"], 2)
    return found


def installed(name: str) -> str | None:
    """Version of a distribution."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apps", nargs="+", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600, help="seconds for one process")
    parser.add_argument("--save", action="store_true", help="write benchmarks/results/whole-DATE.json")
    options = parser.parse_args()
    warm = [sys.executable, "-m", "gdroid", "analyze", str(ROOT / "apks" / "DirectLeak_Bad.apk"), "--format", "json"]
    timed(warm, options.limit, {**os.environ, "PYTHONPATH": str(ROOT)})
    results = []
    for app in options.apps:
        print(app.name, flush=True)
        results.append(measure(app, options.repeats, options.limit))
        print(f"  median wall seconds {results[-1]['median_wall_s']}, {results[-1].get('times_faster')} times as fast")
    record = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "machine": {
            "cpu": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "load": os.getloadavg(),
        },
        "python": platform.python_version(),
        "versions": {name: installed(name) for name in ("numba", "numpy", "mariana-trench")},
        "command": " ".join(sys.argv),
        "results": results,
    }
    if options.save:
        path = ROOT / "benchmarks" / "results" / f"whole-{datetime.datetime.now():%Y-%m-%d-%H%M%S}.json"
        path.write_text(json.dumps(record, indent=1) + "\n")
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
