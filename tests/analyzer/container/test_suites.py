"""What the suites' files give: none crashes, none hangs, and what Android opens is opened."""

from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest

from analyzer.container import AppFiles, open_app
from analyzer.limits import Limits
from gpu.errors import UnreadableInput

NO_DEX = {
    "3521f0-bug9950697.apk": "only the manifest of a.b.c.d",
    "fc95af-asn1_unprintable.apk": "only the manifest of com.android.incallui",
    "a39576-sparse.apk": "only the manifest of com.android.sparse",
    "45cb7b-android-36.apk": "only the manifest of android",
    "fc9bd3-T-api36.dex": "zeros where a header should be",
    "1348d2-AndroidManifestLiapp.xml": "only the manifest of kc.dotoritv.android.air (46 components)",
    "e29a09-AndroidManifestNonZeroStyle.xml": "only the manifest of co.download.video (2 components)",
    "36b33e-AndroidManifestNullbytes.xml": "only the manifest of com.ditc.automobilityxxxxxxxxxxxx (3 components)",
    "9a1f37-AndroidManifestTextChunksXML.xml": "only the manifest of com.tslstudio.tsladsudoku (18 components)",
    "8e2157-AndroidManifestWrongFilesize.xml": "only the manifest of com.swampy.sexpos (11 components)",
    "29132c-AndroidManifest_StringNotTerminated.xml": "only the manifest of com.swampy.sexpos (11 components)",
    "b6f6f0-AndroidManifest-xmlns.xml": "only the manifest of com.real.RealPlayer (49 components)",
    "c91889-AndroidManifest-Chinese.xml": "only the manifest of com.hotel (41 components)",
}
"""Files of the odd folder that hold no dex, and what is said of them."""

DEX_FILES = {"1c5978-mobipwn-nores.apk": 4, "625aff-duplicatedex.apk": 2}


def test_odd_files_open_or_say_in_one_line_why_not(suites: Path) -> None:
    with (suites / "odd.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 40
    for row in rows:
        path = suites / "odd" / row["file"]
        if row["file"] in NO_DEX:
            with pytest.raises(UnreadableInput) as caught:
                open_app(path, Limits())
            message = str(caught.value)
            assert NO_DEX[row["file"]] in message and str(path) in message and "\n" not in message
            continue
        app = open_app(path, Limits())
        assert len(app.dex) == DEX_FILES.get(row["file"], 1), row["file"]
        assert [problem for problem in app.problems if problem.lost] == [], row["file"]
        if path.suffix == ".apk":
            assert app.kind == "apk" and app.manifest is not None and app.manifest.components
        else:
            assert app.kind == "dex" and app.manifest is None


def odd(suites: Path, start: str) -> AppFiles:
    (path,) = (suites / "odd").glob(f"{start}*")
    return open_app(path, Limits())


def test_of_two_classes_dex_the_one_that_runs_is_read(suites: Path) -> None:
    assert len(odd(suites, "f261e0").dex[0].data) == 449_804


def test_a_dex_with_a_wrong_checksum_is_read_whole(suites: Path) -> None:
    assert len(odd(suites, "70d5a6").dex[0].data) == 597_970


def test_a_dex_inside_a_compiled_file_has_its_declared_size(suites: Path) -> None:
    (dex,) = odd(suites, "05aab2").dex
    assert int.from_bytes(dex.data[0x20:0x24], "little") == len(dex.data) == 14_628


def test_every_dex_version_is_passed_on_unchanged(suites: Path) -> None:
    for path in sorted((suites / "dex-versions").glob("*.dex")):
        data = path.read_bytes()
        if not data[:64].strip(b"\0"):
            with pytest.raises(UnreadableInput, match="zeros where a header should be"):
                open_app(path, Limits())
        else:
            assert [dex.data for dex in open_app(path, Limits()).dex] == [data]


def test_every_benchmark_app_has_a_manifest_with_components(suites: Path) -> None:
    apps = [path for folder in ("droidbench3", "iccbench2", "ubcbench") for path in (suites / folder).rglob("*.apk")]
    assert len(apps) > 100
    for path in sorted(apps):
        app = open_app(path, Limits())
        assert app.manifest is not None and app.manifest.package, path
        assert any(component.kind != "application" for component in app.manifest.components), path
        assert app.problems == (), path


def test_real_apps_open_quickly_and_whole(suites: Path) -> None:
    for path in sorted((suites / "real").iterdir()):
        started = time.perf_counter()
        app = open_app(path, Limits())
        assert time.perf_counter() - started < 3, path  # about 0.2 s for the largest on an idle machine
        assert app.manifest is not None and not any(problem.lost for problem in app.problems), path


def test_handlers_of_a_known_app_are_found(suites: Path) -> None:
    (path,) = (suites / "droidbench3").rglob("Button1.apk")
    handlers = {w.on_click for layout in open_app(path, Limits()).layouts for w in layout.widgets if w.on_click}
    assert "sendMessage" in handlers
