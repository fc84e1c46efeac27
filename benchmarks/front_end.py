"""How fast the dex reader is: ours against Androguard's DEX() with a walk over all instructions, and LIEF's parse.

One process, one thread, warm kernel cache; all bytes are inflated beforehand. LIEF reads the dex files from a folder,
as its other entry point copies a list of numbers. CPU time, minimum and median of the repeats.

    python benchmarks/front_end.py app.apk ...

Exit code 1 if a bar is missed (see BARS). LIEF decodes no instruction and reads no handlers: the comparison favours it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import resource
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

BARS = {"androguard": 60.0, "lief": 2.2}
"""The least ratio of their best time to ours."""


def dex_files(path: Path) -> list[bytes]:
    """Dex files of an app, in the order of Android's class path."""
    if path.suffix == ".dex":
        return [path.read_bytes()]
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if re.fullmatch(r"classes\d*\.dex", name)]
        names.sort(key=lambda name: int(re.sub(r"\D", "", name) or 1))
        return [archive.read(name) for name in names]


def measure(work: Callable[[], Any], repeats: int) -> list[float]:
    """CPU milliseconds of each run."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        times.append(1e3 * (time.process_time() - start))
        del result
    return times


def walk(files: list[bytes]) -> int:
    """Androguard: parse and visit every instruction."""
    from androguard.core.dex import DEX

    count = 0
    for data in files:
        for method in DEX(data).get_encoded_methods():
            if method.get_code() is not None:
                count += sum(1 for _ in method.get_instructions())
    return count


def summary(times: list[float]) -> dict[str, float]:
    """What is kept of the times, in milliseconds."""
    return {"min_ms": round(min(times), 2), "median_ms": round(statistics.median(times), 2), "repeats": len(times)}


def app(path: Path, repeats: int, slow_repeats: int) -> dict[str, Any]:
    """Measure one app."""
    import lief
    from loguru import logger

    from analyzer.dex import read

    logger.disable("androguard")
    files = dex_files(path)
    dex = read(files)
    facts: dict[str, Any] = {
        "app": path.name,
        "dex_files": len(files),
        "dex_bytes": sum(map(len, files)),
        "code_items": len(dex.code_off),
        "instructions": len(dex.op),
        "damaged_code_items": int((dex.code_status != 0).sum()),
    }
    del dex
    ours = measure(lambda: read(files), repeats)
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, data in enumerate(files):
            paths.append(str(Path(folder) / f"{number}.dex"))
            Path(paths[-1]).write_bytes(data)
        theirs = measure(lambda: [lief.DEX.parse(name) for name in paths], repeats)
    # Again, so that a change of the machine's speed in between shows in ours as in theirs.
    ours += measure(lambda: read(files), repeats)
    androguard = measure(lambda: walk(files), slow_repeats)
    facts["ours"], facts["lief"], facts["androguard"] = summary(ours), summary(theirs), summary(androguard)
    facts["ratio"] = {name: round(facts[name]["min_ms"] / facts["ours"]["min_ms"], 2) for name in BARS}
    return facts


def machine() -> dict[str, Any]:
    """Where this was measured."""
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        match = re.search(r"model name\s*:\s*(.*)", info.read_text())
        model = match.group(1) if match else model
    return {
        "cpu": model,
        "cores": os.cpu_count(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "androguard", "lief")},
    }


def main() -> int:
    """Measure, print a table, write the JSON."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("apps", nargs="+", type=Path, help=".apk, .jar or .dex files")
    parser.add_argument("--repeats", type=int, default=9, help="runs of ours (twice as many) and of LIEF")
    parser.add_argument("--slow-repeats", type=int, default=2, help="runs of Androguard")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results", help="folder of the JSON")
    options = parser.parse_args()
    before = machine()
    rows = []
    print(f"{'app':44} {'insns':>9} {'ours ms':>16} {'LIEF ms':>16} {'Androguard ms':>18} {'x LIEF':>7} {'x Andr.':>8}")
    for path in options.apps:
        row = app(path, options.repeats, options.slow_repeats)
        rows.append(row)
        cells = [f"{row[name]['min_ms']:.1f} ({row[name]['median_ms']:.1f})" for name in ("ours", "lief", "androguard")]
        ratios = f"{row['ratio']['lief']:7.2f} {row['ratio']['androguard']:8.1f}"
        print(
            f"{row['app']:44} {row['instructions']:9} {cells[0]:>16} {cells[1]:>16} {cells[2]:>18} {ratios}", flush=True
        )
    now = datetime.datetime.now(datetime.UTC)
    document = {
        "benchmark": "front_end",
        "date": now.isoformat(timespec="seconds"),
        "command": " ".join(["python", "benchmarks/front_end.py", *(Path(argument).name for argument in sys.argv[1:])]),
        "machine": before,
        "load_after": [round(load, 2) for load in os.getloadavg()],
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "bars": BARS,
        "apps": rows,
    }
    options.out.mkdir(parents=True, exist_ok=True)
    out = options.out / f"front_end-{now:%Y-%m-%d-%H%M%S}.json"
    out.write_text(json.dumps(document, indent=2) + "\n")
    missed = [f"{row['app']}: {name}" for row in rows for name, bar in BARS.items() if row["ratio"][name] < bar]
    print(f"written: {out}")
    if missed:
        print("bars missed: " + ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
