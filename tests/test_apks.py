"""The sample apps of `apks/` give exactly the flows of `apks/expected.yaml`.

A flow is `source@Class>sink@Class`: the methods called and the classes that hold the statements, without package.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

APKS = Path(__file__).resolve().parents[1] / "apks"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((APKS / "expected.yaml").read_text("utf-8"))
SIZE_LIMIT_BYTES = 1_000_000

needs_pipeline = pytest.mark.skipif(
    importlib.util.find_spec("gdroid.pipeline") is None, reason="the analysis pipeline is not there yet"
)


def alternatives(flow: str) -> tuple[frozenset[str], str]:
    """The sources, any of which will do, and the sink of an expected flow."""
    sources, _, sink = flow.partition(">")
    return frozenset(sources.split("|")), sink


def matches(flow: str, found: str) -> bool:
    """Whether a found flow is the expected one."""
    sources, sink = alternatives(flow)
    source, _, found_sink = found.partition(">")
    return source in sources and found_sink == sink


@dataclass(frozen=True)
class Deviation:
    """A result that is known to be wrong today."""

    flow: str
    today: str
    truth: str
    reason: str


def deviations(entry: dict[str, Any]) -> list[Deviation]:
    return [Deviation(**wrong) for wrong in entry.get("wrong", [])]


def compare(entry: dict[str, Any], found: set[str]) -> list[str]:
    """What differs between an app's expected flows, known deviations counted in, and the flows found."""
    wrong = deviations(entry)
    missed_today = {d.flow: d for d in wrong if d.today == "missed"}
    reported_today = [d for d in wrong if d.today == "reported"]
    problems = []
    for flow in entry.get("flows", []):
        hit = any(matches(flow, f) for f in found)
        if flow in missed_today and hit:
            problems.append(f"now found, delete its `wrong` entry: {flow} ({missed_today[flow].reason})")
        elif flow not in missed_today and not hit:
            problems.append(f"missed: {flow}")
    for d in reported_today:
        if not any(matches(d.flow, f) for f in found):
            problems.append(f"no longer reported, delete its `wrong` entry: {d.flow} ({d.reason})")
    known = [*entry.get("flows", []), *(d.flow for d in reported_today)]
    for flow in sorted(f for f in found if not any(matches(k, f) for k in known)):
        trap = flow.partition(">")[2] in entry.get("traps", [])
        problems.append(f"{'reported, but is a trap' if trap else 'reported, not expected'}: {flow}")
    return problems


def place(signature: str, class_name: str) -> str:
    name = re.search(r"->([^(]+)\(", signature)
    assert name is not None, signature
    return f"{name.group(1)}@{class_name.rpartition('.')[2]}"


@cache
def report(name: str) -> Any:
    import gdroid

    return gdroid.analyze(APKS / f"{name}.apk")


def found_flows(name: str) -> set[str]:
    return {
        place(f.source.signature, f.source.location.class_name)
        + ">"
        + place(f.sink.signature, f.sink.location.class_name)
        for f in report(name).findings
        if f.kind == "leak"
    }


@needs_pipeline
@pytest.mark.parametrize("name", EXPECTED)
def test_app_gives_the_expected_flows(name: str) -> None:
    problems = compare(EXPECTED[name], found_flows(name))
    assert not problems, "\n".join([name, *problems])


@needs_pipeline
@pytest.mark.parametrize("name", EXPECTED)
def test_app_has_the_expected_status(name: str) -> None:
    assert report(name).status == EXPECTED[name].get("status", "complete")


def test_every_app_has_sources_an_apk_and_an_expectation() -> None:
    names = sorted(p.name for p in (APKS / "src").iterdir() if p.is_dir())
    assert sorted(EXPECTED) == names == sorted(p.stem for p in APKS.glob("*.apk"))


def test_apps_stay_small() -> None:
    assert sum(p.stat().st_size for p in APKS.glob("*.apk")) < SIZE_LIMIT_BYTES


@pytest.mark.parametrize("name", EXPECTED)
def test_name_says_whether_the_app_leaks(name: str) -> None:
    assert name.endswith("_Bad" if EXPECTED[name].get("flows") else "_Ok")


@pytest.mark.parametrize("name", EXPECTED)
def test_known_wrong_results_contradict_the_truth_with_a_reason(name: str) -> None:
    entry = EXPECTED[name]
    for d in deviations(entry):
        if d.today == "missed":
            assert d.truth == "leak" and d.flow in entry["flows"], d
        else:
            assert d.today == "reported" and d.truth == "no leak", d
            assert alternatives(d.flow)[1] in entry["traps"], d
        assert len(d.reason) > 10, d


@pytest.mark.parametrize("name", EXPECTED)
def test_flow_and_trap_classes_exist_in_the_app(name: str) -> None:
    with zipfile.ZipFile(APKS / f"{name}.apk") as archive:
        dex = b"".join(archive.read(n) for n in archive.namelist() if n.endswith(".dex"))
    entry = EXPECTED[name]
    places = set(entry.get("traps", []))
    for flow in entry.get("flows", []):
        sources, sink = alternatives(flow)
        places |= {*sources, sink}
    for method, _, class_name in (p.partition("@") for p in places):
        assert f"/{class_name};".encode() in dex, f"{name}: no class {class_name}"
        assert method.encode() + b"\0" in dex, f"{name}: no method {method}"


@pytest.mark.parametrize(
    ("entry", "found", "problem"),
    [
        ({"flows": ["s@A>t@B"]}, {"s@A>t@B"}, None),
        ({"flows": ["s@A>t@B"]}, set(), "missed: s@A>t@B"),
        ({"flows": ["s@A|r@A>t@B"]}, {"r@A>t@B"}, None),
        ({"traps": ["t@C"]}, {"s@A>t@C"}, "reported, but is a trap: s@A>t@C"),
        ({}, {"s@A>t@C"}, "reported, not expected: s@A>t@C"),
    ],
)
def test_comparison_tells_each_difference(entry: dict[str, Any], found: set[str], problem: str | None) -> None:
    assert compare(entry, found) == ([problem] if problem else [])


@pytest.mark.parametrize("today", ["missed", "reported"])
def test_known_wrong_result_is_pinned_in_both_directions(today: str) -> None:
    flow = "s@A>t@B"
    entry: dict[str, Any] = {"wrong": [{"flow": flow, "today": today, "truth": "", "reason": "why"}]}
    if today == "missed":
        entry["flows"] = [flow]
    as_known, changed = (set(), {flow}) if today == "missed" else ({flow}, set())
    assert compare(entry, as_known) == []
    assert len(compare(entry, changed)) == 1


@pytest.mark.slow
@pytest.mark.skipif("GDROID_BUILD_APKS" not in os.environ, reason="needs the build tools; set GDROID_BUILD_APKS=1")
def test_apps_are_built_again_with_the_same_contents() -> None:
    done = subprocess.run([sys.executable, str(APKS / "build.py"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
