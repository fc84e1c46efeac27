"""Synthetic apps are the same each time, readable by others, reachable as a whole, and shaped like real ones."""

from __future__ import annotations

import math
import statistics
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from analyzer import dex
from benchmarks import growth
from benchmarks.synthetic import apk
from benchmarks.synthetic.structure import Role, plan
from gdroid.app import App, load
from gdroid.options import Options


def written(folder: Path, n_methods: int, seed: int = 0) -> Path:
    path = folder / f"{n_methods}-{seed}.apk"
    apk.write(path, n_methods, seed)
    return path


def reachable(app: App) -> int:
    return sum(m < app.program.n_dex_methods for m in app.graph.methods)


def dex_files(path: Path) -> list[bytes]:
    with zipfile.ZipFile(path) as archive:
        return [archive.read(name) for name in archive.namelist() if name.endswith(".dex")]


def test_bytes_depend_on_size_and_seed_only(tmp_path: Path) -> None:
    first, other = written(tmp_path, 300), written(tmp_path, 300, seed=1)
    before = first.read_bytes()
    assert written(tmp_path, 300).read_bytes() == before != other.read_bytes()


@pytest.mark.parametrize(("n_methods", "seed"), [(20, 0), (150, 1), (150, 2), (2_500, 0)])
def test_every_method_is_reachable(n_methods: int, seed: int, tmp_path: Path) -> None:
    app = load(written(tmp_path, n_methods, seed), Options())
    assert reachable(app) == n_methods
    assert not app.graph.problems and not app.program.dex.problems
    assert [c.status for c in app.graph.components] == ["entered"] * len(app.graph.components)


def test_many_methods_go_to_several_dex_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = written(tmp_path, 600)
    monkeypatch.setattr(apk, "_MOST", 300)
    several = tmp_path / "several.apk"
    apk.write(several, 600)
    assert len(dex_files(one)) == 1 < len(dex_files(several))
    app = load(several, Options())
    assert reachable(app) == 600
    assert len(app.program.dex.op) == len(load(one, Options()).program.dex.op)


def test_tables_are_in_the_order_of_the_format(tmp_path: Path) -> None:
    (data,) = dex_files(written(tmp_path, 300))
    found = dex.read([data])
    names = [found.strings[s] for s in range(len(found.strings))]
    assert names == sorted(names)
    assert not found.problems and not found.code_status.any()


def test_sizes_and_calls_are_like_those_of_real_apps(tmp_path: Path) -> None:
    small, large = (dex.read(dex_files(written(tmp_path, n))) for n in (1_000, 4_000))
    assert 3.4 < len(large.op) / len(small.op) < 4.6
    made = plan(20_000)
    with_code = [m for m in made.methods if m.role is not Role.ABSTRACT]
    sizes = sorted(m.size for m in with_code)
    assert 4 <= statistics.median(sizes) <= 6
    assert 110 < sizes[int(0.99 * len(sizes))] < 180
    assert max(sizes) > 800
    assert 0.45 < sum(not m.calls for m in with_code) / len(with_code) < 0.65
    assert 30 < max(m.depth for m in with_code) < 120


def test_the_exponent_is_the_slope_of_the_logarithms() -> None:
    points = [(x, 0.3 * x**1.2) for x in (1e3, 5e3, 1e5, 3e6)]
    assert growth.exponent(points) == pytest.approx(1.2)
    assert growth.exponent(points[:1]) is None


def test_the_picture_shows_all_apps_and_which_are_not_complete() -> None:
    def row(kind: str, size: int, status: str) -> growth.Row:
        return {
            "app": f"{kind}{size}.apk",
            "kind": kind,
            "status": status,
            "wall_s": size / 1e4,
            "peak_mb": 100.0,
            "stats": {"instructions": size},
            "stage_s": dict.fromkeys(growth.STAGES, size / 1e5),
        }

    rows = [row("synthetic", 10**k, "partial" if k == 6 else "complete") for k in range(4, 7)]
    rows += [row("real", 300_000, "complete"), {"app": "late.apk", "kind": "real", "status": "not run", "runs": []}]
    solved = [{"app": "x.apk", "methods": 10, "seconds": {"1": 2.0, "2": 1.1}}]
    machine = {"cores": 2, "cpu": "a < b"}
    document = {"rows": rows, "threads": solved, "machine": machine, "commit": "c", "date": "2026-12-01"}
    root = ElementTree.fromstring(growth.picture(document))
    circles = [e for e in root.iter() if e.tag.endswith("circle") and e.get("stroke")]
    hollow = [e for e in circles if e.get("fill") == "#fff"]
    assert len(hollow) == 2 + (len(growth.STAGES) - 1)
    assert all(math.isfinite(float(e.get("cx", "nan"))) for e in circles)
    assert "real300000" in {e.text for e in root.iter()}


def test_threads_are_measured_on_the_app_with_the_most_facts_that_is_quick_enough() -> None:
    rows: list[growth.Row] = [
        {"app": f"{facts}.apk", "status": status, "wall_s": wall_s, "stats": {"facts": facts}}
        for facts, wall_s, status in ((10, 1.0, "complete"), (20, 5.0, "complete"), (30, 50.0, "complete"), (9, 2, "x"))
    ]
    jobs = [("real", Path(row["app"])) for row in rows]
    assert growth.largest(rows, jobs, growth.options([]).threads_below) == [Path("20.apk")]
    assert growth.largest([], [], 30) == []
