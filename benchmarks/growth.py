"""How time and memory grow with the size of an app, and the solver's time with threads.

    python benchmarks/growth.py --sizes 1000,10000,100000 app.apk ...
    python benchmarks/growth.py --quick                                 under a minute, to see that it works
    python benchmarks/growth.py --plot results/growth-DATE.json         draws the picture again

Whole processes (`gdroid analyze X --format json`), one after the other, small before large, kernels warm: real apps
as given, and synthetic ones (`benchmarks/synthetic`) that are written beforehand and not counted. A run ends after
`--limit` seconds with what it has, and is kept as partial. Nothing starts after `--total` seconds; it is listed as not
run.
Then one app is encoded once more, and the engine `cpu` solves it with 1, 2, 4 … threads.

Exponents are the slopes of least squares of log(seconds) over log(instructions); partial runs do not count.
"""

from __future__ import annotations

import argparse
import datetime
import json
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.plot import COLOURS, Panel, Series, svg  # noqa: E402  (after the path is set)
from benchmarks.whole import installed, timed  # noqa: E402

STAGES = ("open", "read", "call graph", "shapes", "encode", "solve", "findings")
BAR = 1.15
"""The exponent that the growth of time must not exceed."""
LARGE = 100_000
"""Instructions from which on the start of the process, about a second, no longer hides the growth."""
PICTURE = "growth.svg"
Row = dict[str, Any]


def run(path: Path, kind: str, repeats: int, limit: float, until: float) -> Row:
    """Analyses one app in processes of its own; what its reports say, with medians of the repeats."""
    row: Row = {"app": path.name, "kind": kind, "runs": []}
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        for _ in range(repeats):
            left = min(limit, until - time.monotonic())
            if left < 5 or (row["runs"] and row["runs"][-1]["wall_s"] > left):
                break
            command = [sys.executable, "-m", "gdroid", "analyze", str(path), "--format", "json", "-o", str(report)]
            report.unlink(missing_ok=True)
            measured = timed([*command, "--timeout", f"{left:.0f}"], left + 60, env)
            if report.exists():
                data = json.loads(report.read_text())
                measured |= {"status": data["status"], "stages": data["phases"]}
                row |= {"stats": data["stats"], "findings": len(data["findings"])}
                row["limits_hit"] = sorted(known["name"] for known in data["limits"] if known["hit"])
            row["runs"].append(measured)
    return row | _medians(row["runs"])


def _medians(runs: Sequence[Row]) -> Row:
    """Status, and medians of wall and CPU seconds, memory, and seconds of each stage."""
    done = [r for r in runs if r.get("status")]
    if not done:
        return {"status": "not run" if not runs else "failed"}
    stages = {}
    for name in STAGES:
        seconds = [sum(s["seconds"] for s in r["stages"] if s["name"] == name) for r in done]
        stages[name] = round(statistics.median(seconds), 3)
    cut = any(s["status"] != "complete" for r in done for s in r["stages"])
    found: Row = {"status": "partial" if cut else "complete", "stage_s": stages}
    for name in ("wall_s", "cpu_s", "peak_mb"):
        found[name] = round(statistics.median(r[name] for r in done), 3)
    return found


def threads(path: Path, repeats: int) -> Row:
    """Seconds that the engine `cpu` needs for one app with 1, 2, 4 … threads; least of the repeats."""
    from gdroid import app
    from gdroid.options import Options
    from gpu import cpu

    problem = app.load(path, Options()).problem()
    cores = os.cpu_count() or 1
    seconds: dict[int, float] = {}
    for count in sorted({*(2**i for i in range(cores.bit_length()) if 2**i <= cores), cores}):
        times = []
        for _ in range(repeats + 1):  # the first warms up
            start = time.perf_counter()
            cpu.solve(problem, threads=count)
            times.append(time.perf_counter() - start)
        seconds[count] = round(min(times[1:]), 4)
    return {"app": path.name, "methods": problem.n_methods, "seconds": seconds, "repeats": repeats}


# -- what grows how --------------------------------------------------------------------------------------------------


def exponent(points: Sequence[tuple[float, float]]) -> float | None:
    """Slope of least squares of log y over log x; None for fewer than two sizes."""
    logs = [(math.log(x), math.log(y)) for x, y in points if x > 0 and y > 0]
    if len({x for x, _ in logs}) < 2:
        return None
    x0, y0 = (statistics.fmean(values) for values in zip(*logs, strict=True))
    return round(sum((x - x0) * (y - y0) for x, y in logs) / sum((x - x0) ** 2 for x, _ in logs), 3)


def fits(rows: Sequence[Row]) -> Row:
    """Exponents of the process and of its stages: by kind of app, of all and of large ones, over two sizes."""
    found: Row = {}
    sizes = {"instructions": "instructions", "reachable operations": "icfg_nodes"}
    for kind in ("real", "synthetic"):
        for name, least in (("all", 0), ("large", LARGE)):
            chosen = [r for r in rows if r["kind"] == kind and r["status"] == "complete"]
            chosen = [r for r in chosen if r["stats"]["instructions"] >= least]
            for over, stat in sizes.items():

                def of(seconds: Callable[[Row], float], stat: str = stat, chosen: list[Row] = chosen) -> float | None:
                    return exponent([(r["stats"][stat], seconds(r)) for r in chosen])

                found[f"{kind}, {name}, over {over}"] = {
                    "apps": len(chosen),
                    "process": of(lambda r: r["wall_s"]),
                    "cpu": of(lambda r: r["cpu_s"]),
                    "memory": of(lambda r: r["peak_mb"]),
                    **{stage: of(lambda r, stage=stage: r["stage_s"][stage]) for stage in STAGES},  # type: ignore[misc]
                }
    return found


# -- the picture -----------------------------------------------------------------------------------------------------


def picture(document: Row) -> str:
    """Total time, stages, memory and threads as SVG."""
    rows = [r for r in document["rows"] if r.get("stats") and r["stats"]["instructions"]]
    rows.sort(key=lambda r: r["stats"]["instructions"])
    real, synthetic = ([r for r in rows if r["kind"] == kind] for kind in ("real", "synthetic"))

    def points(of: Sequence[Row], value: Callable[[Row], float]) -> list[tuple[float, float]]:
        return [(r["stats"]["instructions"], max(value(r), 0.001)) for r in of]

    def both(value: Callable[[Row], float]) -> list[Series]:
        known: Row = {"line": False, "labels": [short(r["app"]) for r in real]}
        found = [Series("synthetic apps", points(synthetic, value), COLOURS[0], open=_partial(synthetic))]
        found.append(Series("real apps", points(real, value), COLOURS[1], open=_partial(real), **known))
        return [s for s in found if s.points]

    x_name = "instructions in the app"
    total = Panel("Whole process", x_name, "seconds", both(lambda r: r["wall_s"]))
    whole = [r for r in synthetic or real if r["status"] == "complete"]
    if len(whole) > 1:
        x0, y0 = whole[-1]["stats"]["instructions"], whole[-1]["wall_s"]
        low = next((r["stats"]["instructions"] for r in whole if r["wall_s"] > 4), x0 / 20)
        line = [(x, y0 * (x / x0) ** BAR) for x in (low, x0)]
        total.series.append(Series(f"slope {BAR}", line, "#777", marks=False, dashed=True))
    stages = Panel("Stages, synthetic apps", x_name, "seconds")
    for colour, stage in zip(COLOURS, STAGES[1:], strict=False):
        found = [r for r in synthetic if r["stage_s"].get(stage, 0) >= 0.01]
        if found:
            values = points(found, lambda r, stage=stage: r["stage_s"][stage])  # type: ignore[misc]
            stages.series.append(Series(stage, values, colour, open=_partial(found)))
    memory = Panel("Peak memory", x_name, "MB", both(lambda r: r["peak_mb"]))
    solve = Panel("Solving with threads", "threads", "seconds")
    for colour, row in zip(COLOURS, document["threads"], strict=False):
        seconds = [(float(count), s) for count, s in row["seconds"].items()]
        solve.series.append(Series(f"{short(row['app'])}, {row['methods']:,} methods", seconds, colour))
    machine = document["machine"]
    commit, date = document["commit"][:10], document["date"][:10]
    note = f"gdroid {commit}, {date}, {machine['cores']} cores, {machine['cpu']}; hollow marks: not complete"
    return svg([total, stages, memory, solve], note=note)


def _partial(rows: Sequence[Row]) -> list[bool]:
    return [r["status"] != "complete" for r in rows]


def short(name: str) -> str:
    """A name that fits beside a mark."""
    return re.split(r"[-_]v?\d|\.apk|\.jar|_apk", name)[0].removeprefix("com.")[:22]


# -- the command -----------------------------------------------------------------------------------------------------


def machine() -> Row:
    """Where this was measured."""
    info = Path("/proc/cpuinfo")
    match = re.search(r"model name\s*:\s*(.*)", info.read_text()) if info.exists() else None
    return {
        "cpu": match.group(1) if match else platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "memory_mb": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 10**6,
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        **{name: installed(name) for name in ("numba", "numpy")},
    }


def commit() -> str:
    """The commit of this working tree, with a `+` when files differ from it."""
    try:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        changed = subprocess.run(["git", "status", "--porcelain", "-uno"], cwd=ROOT, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head.strip() + ("+" if changed.stdout.strip() else "")


def synthetic_apps(sizes: Sequence[int], seed: int, folder: Path) -> list[Path]:
    """Writes those that are not there yet."""
    from benchmarks.synthetic.apk import write

    folder.mkdir(parents=True, exist_ok=True)
    found = []
    for size in sorted(sizes):
        path = folder / f"synthetic-{size}-{seed}.apk"
        if not path.exists():
            start = time.monotonic()
            part = path.with_suffix(".part")
            write(part, size, seed)
            part.rename(path)
            print(f"written in {time.monotonic() - start:.0f} s: {path}", flush=True)
        found.append(path)
    return found


def measure(options: argparse.Namespace, folder: Path) -> Row:
    """All runs."""
    before = machine()
    synthetic = synthetic_apps(options.sizes, options.seed, folder)
    todo = [("synthetic", p) for p in synthetic] + [("real", p) for p in options.apps]
    todo.sort(key=lambda job: (job[1].stat().st_size, job[1].name))
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    warm = [sys.executable, "-m", "gdroid", "analyze", str(ROOT / "apks" / "DirectLeak_Bad.apk"), "--format", "json"]
    timed(warm, 600, env)
    until = time.monotonic() + options.total
    rows = []
    for kind, path in todo:
        repeats = options.repeats if not rows or (rows[-1].get("wall_s") or 1e9) < options.repeat_below else 1
        row = run(path, kind, repeats, options.limit, until)
        rows.append(row)
        size = row.get("stats", {}).get("instructions", 0)
        stages = " ".join(f"{name} {seconds:.1f}" for name, seconds in row.get("stage_s", {}).items())
        cells = f"{size:10} {row.get('wall_s', 0):8.1f} s {row.get('peak_mb', 0):7.0f} MB x{len(row['runs'])}"
        print(f"{row['app'][:32]:32} {cells} {row['status']}  {stages}", flush=True)
    solved = []
    if options.threads:
        solved = [
            threads(p, options.repeats) for p in options.threads_app or largest(rows, todo, options.threads_below)
        ]
    return {
        "benchmark": "growth",
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "command": " ".join(["python", "benchmarks/growth.py", *(a.rpartition("/")[2] for a in sys.argv[1:])]),
        "machine": before,
        "load_after": [round(load, 2) for load in os.getloadavg()],
        "rows": rows,
        "threads": solved,
        "fits": fits(rows),
    }


def largest(rows: Sequence[Row], jobs: Sequence[tuple[str, Path]], below: float) -> list[Path]:
    """The app with the most facts of those that took less than so many seconds."""
    known = {path.name: path for _, path in jobs}
    quick = [r for r in rows if r["status"] == "complete" and r["wall_s"] < below]
    return [known[max(quick, key=lambda r: r["stats"]["facts"])["app"]]] if quick else []


def options(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("apps", nargs="*", type=Path, help="real apps")
    sizes = "methods of the synthetic apps, with commas"
    parser.add_argument("--sizes", default="1000,3000,10000,30000,100000", help=sizes)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--repeat-below", type=float, default=15, help="seconds over which an app runs only once")
    parser.add_argument("--limit", type=float, default=300, help="seconds for one process")
    parser.add_argument("--total", type=float, default=3600, help="seconds after which nothing more starts")
    parser.add_argument("--no-threads", dest="threads", action="store_false", help="no runs with threads")
    parser.add_argument("--threads-app", type=Path, action="append", help="app to solve with threads")
    below = "without --threads-app: the app with the most facts of those that take less than so many seconds"
    parser.add_argument("--threads-below", type=float, default=30, help=below)
    parser.add_argument("--quick", action="store_true", help="small sizes, once, kept in a temporary folder")
    parser.add_argument("--apps-folder", type=Path, help="where synthetic apps are kept for the next time")
    parser.add_argument("--out", type=Path, help="folder of JSON and picture (benchmarks/results)")
    parser.add_argument("--plot", type=Path, metavar="JSON", help="only draw the picture of these results again")
    found = parser.parse_args(arguments)
    found.sizes = [int(size) for size in found.sizes.split(",") if size] if not found.quick else [300, 1_000, 1_500]
    if found.quick:
        found.repeats = 1
        found.out = found.out or Path(tempfile.mkdtemp(prefix="gdroid-growth-"))
    found.out = found.out or ROOT / "benchmarks" / "results"
    return found


def main() -> int:
    """Measures, prints exponents, writes JSON and picture; exit code 1 if the bar is missed on large apps."""
    chosen = options()
    if chosen.plot:
        (chosen.plot.parent / PICTURE).write_text(picture(json.loads(chosen.plot.read_text())))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        document = measure(chosen, chosen.apps_folder or Path(folder))
    for name, fit in document["fits"].items():
        if fit["apps"] > 1:
            print(f"exponents, {name}: " + ", ".join(f"{k} {v}" for k, v in fit.items()))
    chosen.out.mkdir(parents=True, exist_ok=True)
    out = chosen.out / f"growth-{datetime.datetime.now():%Y-%m-%d-%H%M%S}.json"
    out.write_text(json.dumps(document, indent=1) + "\n")
    (chosen.out / PICTURE).write_text(picture(json.loads(out.read_text())))
    print(f"written: {out}, {chosen.out / PICTURE}")
    over = [n for n, f in document["fits"].items() if "over instructions" in n and (f["process"] or 0) > BAR]
    if over:
        print(f"grows faster than instructions^{BAR}: {'; '.join(over)}")
    return int(bool(over))


if __name__ == "__main__":
    sys.exit(main())
