"""Every kind of input is known by its content, and what cannot be read is said in one line."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.container import AppFiles, open_app
from analyzer.limits import Limits
from gpu.errors import GdroidError, UnreadableInput, UnsupportedFeature
from tests.analyzer.container.zips import Made, make_zip

DEX = b"dex\n035\0" + bytes(200)
Open = Callable[..., AppFiles]


def real_dex(files: dict[str, bytes]) -> bytes:
    return files["classes.dex"]


def apk(files: dict[str, bytes], *dex: Made, **changed: bytes) -> bytes:
    """An APK with the sample's manifest and these dex files."""
    manifest = changed.get("manifest", files["AndroidManifest.xml"])
    return make_zip(Made("AndroidManifest.xml", manifest), Made("resources.arsc", files["resources.arsc"]), *dex)


def test_an_apk_gives_dex_manifest_and_digest(sample: Path, sample_files: dict[str, bytes]) -> None:
    app = open_app(sample / "sample.apk", Limits())
    assert app.kind == "apk"
    assert app.sha256 == hashlib.sha256((sample / "sample.apk").read_bytes()).hexdigest()
    assert [(dex.name, dex.data) for dex in app.dex] == [("classes.dex", real_dex(sample_files))]
    assert app.manifest is not None and app.manifest.package == "org.example.sample"
    assert app.problems == ()


def test_shortened_paths_and_bundles_say_the_same_as_the_apk(sample: Path) -> None:
    plain, short, bundle = (
        open_app(sample / name, Limits()) for name in ("sample.apk", "sample-short.apk", "sample.aab")
    )
    assert short.manifest == bundle.manifest == plain.manifest
    assert short.layouts == bundle.layouts == plain.layouts
    assert bundle.kind == "aab" and [dex.name for dex in bundle.dex] == ["base/dex/classes.dex"]
    assert short.problems == bundle.problems == ()


def test_content_decides_not_the_suffix(sample: Path, sample_files: dict[str, bytes], opened: Open) -> None:
    assert opened((sample / "sample.apk").read_bytes(), "a.dex").kind == "apk"
    assert opened(real_dex(sample_files), "a.apk").kind == "dex"
    assert opened((sample / "sample.aab").read_bytes(), "a.xapk").kind == "aab"


def test_dex_files_come_in_numeric_order_over_gaps_then_others_of_the_root(
    sample_files: dict[str, bytes], opened: Open
) -> None:
    names = ["zz.dex", "classes10.dex", "classes2.dex", "classes.dex", "classes02.dex", "assets/x.dex", "classes1.dex"]
    app = opened(apk(sample_files, *(Made(name, DEX) for name in names)))
    assert [dex.name for dex in app.dex] == [
        "classes.dex", "classes2.dex", "classes10.dex", "classes02.dex", "classes1.dex", "zz.dex",
    ]  # fmt: skip
    assert [(p.where, p.lost) for p in app.problems] == [("input.bin!/assets/x.dex", False)]


def test_what_is_named_like_a_dex_but_is_none_is_left_out_and_told(
    sample_files: dict[str, bytes], opened: Open
) -> None:
    app = opened(apk(sample_files, Made("classes.dex", DEX), Made("classes2.dex", b"encrypted")))
    assert [dex.name for dex in app.dex] == ["classes.dex"]
    assert [(p.where, p.lost) for p in app.problems] == [("input.bin!/classes2.dex", True)]


@pytest.mark.parametrize("manifest", [b"", b"<manifest/>", b"\x03\x00\x08\x00" + b"\xff" * 60, bytes(100)])
def test_a_damaged_manifest_beside_dex_is_a_problem_not_an_error(
    manifest: bytes, sample_files: dict[str, bytes], opened: Open
) -> None:
    app = opened(apk(sample_files, Made("classes.dex", DEX), manifest=manifest))
    assert app.manifest is None and len(app.dex) == 1
    assert any(p.lost and p.where.endswith("AndroidManifest.xml") for p in app.problems)


def test_damaged_resources_beside_dex_are_a_problem_not_an_error(sample_files: dict[str, bytes], opened: Open) -> None:
    entries = {**sample_files, "resources.arsc": b"\2\0\x0c\0" + bytes(50)}
    app = opened(make_zip(*(Made(name, data) for name, data in entries.items())))
    assert app.manifest is not None and len(app.manifest.components) == 10
    assert "onSend" in {w.on_click for layout in app.layouts for w in layout.widgets}
    assert {layout.resource_id for layout in app.layouts} == {None}
    assert any(p.lost and p.where.endswith("resources.arsc") for p in app.problems)


def test_an_archive_without_manifest_is_a_jar(opened: Open) -> None:
    app = opened(make_zip(Made("classes.dex", DEX), Made("META-INF/MANIFEST.MF", b"")))
    assert app.kind == "jar" and app.manifest is None and app.problems == ()


def test_a_dex_that_ends_as_an_apk_is_an_apk(sample_files: dict[str, bytes], opened: Open) -> None:
    entries = Made("AndroidManifest.xml", sample_files["AndroidManifest.xml"]), Made("classes.dex", DEX)
    app = opened(make_zip(*entries, prefix=b"dex\n035\0" + bytes(100)))
    assert app.kind == "apk"
    assert any("CVE-2017-13156" in problem.what for problem in app.problems)


def test_an_end_record_inside_a_dex_does_not_make_it_an_archive(opened: Open) -> None:
    assert opened(DEX + b"PK\5\6" + bytes(30)).kind == "dex"


def test_splits_are_one_app_in_every_wrapping(sample: Path, opened: Open, tmp_path: Path) -> None:
    base = (sample / "sample.apk").read_bytes()
    code = make_zip(Made("AndroidManifest.xml", b"damaged"), Made("classes.dex", DEX))
    wrapped = {
        "a.xapk": {"manifest.json": b"{}", "config.en.apk": code, "org.example.sample.apk": base},
        "a.apkm": {"info.json": b"{}", "base.apk": base, "split_config.en.apk": code},
        "a.apks": {"toc.pb": b"", "splits/base-master.apk": base, "splits/base-en.apk": code,
                   "standalones/standalone.apk": base},
    }  # fmt: skip
    for name, files in wrapped.items():
        app = opened(make_zip(*(Made(n, d, method=0) for n, d in files.items())), name)
        assert app.kind == "splits"
        assert app.manifest is not None and app.manifest.package == "org.example.sample"
        assert len(app.dex) == 2, name
        assert {dex.data for dex in app.dex} >= {DEX}
    folder = tmp_path / "splits"
    folder.mkdir()
    for name, data in wrapped["a.apkm"].items():
        (folder / name).write_bytes(data)
    app = open_app(folder, Limits())
    assert app.kind == "splits" and [dex.name for dex in app.dex] == [
        "base.apk!/classes.dex", "split_config.en.apk!/classes.dex",
    ]  # fmt: skip


def test_the_newest_variant_of_a_split_is_taken(sample: Path, opened: Open) -> None:
    base = (sample / "sample.apk").read_bytes()
    names = ["splits/base-master.apk", "splits/base-master_2.apk", "splits/base-master_10.apk"]
    app = opened(make_zip(*(Made(name, base, method=0) for name in names)))
    assert [dex.name for dex in app.dex] == ["splits/base-master_10.apk!/classes.dex"]


def test_different_apps_in_one_folder_are_refused(sample: Path, sample_files: dict[str, bytes], tmp_path: Path) -> None:
    manifest = sample_files["AndroidManifest.xml"]
    other = manifest.replace("org.example.sample".encode("utf-16-le"), "org.example.simple".encode("utf-16-le"))
    (tmp_path / "a.apk").write_bytes((sample / "sample.apk").read_bytes())
    (tmp_path / "b.apk").write_bytes(make_zip(Made("AndroidManifest.xml", other), Made("classes.dex", DEX)))
    with pytest.raises(UnreadableInput, match=r"several apps in it \(org\.example\.sample, org\.example\.simple\)"):
        open_app(tmp_path, Limits())


def test_a_compiled_file_gives_the_dex_inside(sample_files: dict[str, bytes], opened: Open) -> None:
    dex = real_dex(sample_files)
    app = opened(b"\x7fELF" + bytes(100) + dex + b"behind" + b"dex\n035\0" + bytes(30))
    assert [(d.name, d.data) for d in app.dex] == [("input.bin@0x68", dex)]


UNREADABLE = {
    "empty": b"",
    "text": b"hello, world\n",
    "zeros": bytes(5000),
    "ELF without dex": b"\x7fELF" + bytes(200),
    "archive without dex": make_zip(Made("a.txt", b"a")),
    "Java archive": make_zip(Made("a/B.class", b"\xca\xfe\xba\xbe")),
    "empty archive": b"PK\5\6" + bytes(18),
    "dex entry that is none": make_zip(Made("classes.dex", b"nope")),
    "empty dex entry": make_zip(Made("classes.dex", b"")),
    "bundle without dex": make_zip(Made("BundleConfig.pb", b""), Made("base/manifest/AndroidManifest.xml", b"")),
    "splits that are none": make_zip(Made("base.apk", b"nope")),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_without_dex_there_is_one_line_that_names_the_file(what: str, opened: Open, tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput) as caught:
        opened(UNREADABLE[what], "some app.apk")
    message = str(caught.value)
    assert "\n" not in message and str(tmp_path / "some app.apk") in message


def test_a_bare_manifest_is_named_as_what_it_is(sample_files: dict[str, bytes], opened: Open) -> None:
    with pytest.raises(UnreadableInput, match=r"no dex in it, only the manifest of org\.example\.sample \(10 comp"):
        opened(sample_files["AndroidManifest.xml"])


def test_compact_dex_is_an_unsupported_feature(opened: Open) -> None:
    for data in (b"cdex001\0" + bytes(100), b"vdex021\0" + bytes(20) + b"cdex001\0" + bytes(100)):
        with pytest.raises(UnsupportedFeature):
            opened(data)


def test_what_is_no_file_is_unreadable(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "missing.apk", tmp_path / "pipe", tmp_path / "folder", tmp_path / "a\0b"):
        with pytest.raises(UnreadableInput):
            open_app(path, Limits())


def test_names_cannot_break_lines_or_drive_a_terminal(opened: Open) -> None:
    evil = "assets/\x1b[31m\n.dex"
    app = opened(make_zip(Made("classes.dex", DEX), Made(evil, DEX)))
    assert [p.where for p in app.problems] == ["input.bin!/assets/\\x1b[31m\\n.dex"]


def test_opening_writes_nothing_and_twice_is_the_same(sample: Path, tmp_path: Path) -> None:
    shutil.copy(sample / "sample.apk", tmp_path / "a.apk")
    first = open_app(tmp_path / "a.apk", Limits())
    assert [path.name for path in tmp_path.iterdir()] == ["a.apk"]
    assert open_app(tmp_path / "a.apk", Limits()) == first == pickle.loads(pickle.dumps(first))


def test_certificates_are_read_when_asked_for(suites: Path) -> None:
    app = open_app(suites / "odd" / "527145-v1v2v3-with-rsa-2048-lineage-3-signers-invalid-zip.apk", Limits())
    assert [(c.scheme, c.sha256[:6], c.subject) for c in app.certificates] == [
        ("v1", "fb5dbd", "Common Name: rsa-2048"),
        ("v2", "fb5dbd", "Common Name: rsa-2048"),
        ("v3", "bb77a7", "Common Name: rsa-2048_3"),
    ]


def test_an_unsigned_app_has_no_certificates(sample: Path) -> None:
    assert open_app(sample / "sample.apk", Limits()).certificates == ()


def test_a_gone_file_has_no_certificates_to_read(sample: Path, tmp_path: Path) -> None:
    shutil.copy(sample / "sample.apk", tmp_path / "a.apk")
    app = open_app(tmp_path / "a.apk", Limits())
    (tmp_path / "a.apk").unlink()
    with pytest.raises(GdroidError):
        _ = app.certificates


def test_python_and_we_agree_on_honest_archives(sample: Path) -> None:
    from analyzer.container.archive import Archive, Budget

    data = (sample / "sample.apk").read_bytes()
    archive = Archive.open(data, "a", Budget.of_mb(10))
    with zipfile.ZipFile(sample / "sample.apk") as expected:
        assert {n: archive.read(n) for n in archive.entries} == {n: expected.read(n) for n in expected.namelist()}


def test_opening_an_app_needs_no_androguard(sample: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from analyzer.limits import Limits;"
        "from analyzer.container import open_app;"
        "open_app(Path(sys.argv[1]), Limits()); print('androguard' in sys.modules, 'numpy' in sys.modules)"
    )
    root = Path(__file__).resolve().parents[3]
    command = [sys.executable, "-c", code, str(sample / "sample.apk")]
    assert subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout == "False False\n"


HOSTILE_SECONDS = 30


def test_layouts_that_inflate_without_end_cost_little(sample_files: dict[str, bytes], opened: Open) -> None:
    layout = sample_files["res/layout/main.xml"] + bytes(6_000_000)
    entries = [Made(f"res/layout/a{i}.xml", layout) for i in range(12)]
    started = time.process_time()
    app = opened(make_zip(Made("classes.dex", DEX), *entries))
    assert time.process_time() - started < HOSTILE_SECONDS
    assert any("MB of XML" in problem.what for problem in app.problems if problem.lost)


def test_layouts_that_include_each_other_end(opened: Open, sample_files: dict[str, bytes]) -> None:
    old, new = b"part.xml", b"main.xml"
    files = {**sample_files, "resources.arsc": sample_files["resources.arsc"].replace(old, new)}
    app = opened(make_zip(*(Made(name, data) for name, data in files.items())))
    assert {layout.name for layout in app.layouts} >= {"layout/main", "layout/part"}
