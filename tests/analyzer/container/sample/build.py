"""Makes sample.apk, sample-short.apk and sample.aab from the sources beside this file.

Needs Debian's aapt, android-framework-res and smali. Run by hand; the results are kept in the repository.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FRAMEWORK = "/usr/share/android-framework-res/framework-res.apk"
DATE = (1980, 1, 1, 0, 0, 0)


def run(*command: str | Path) -> None:
    """Runs a tool, which must succeed."""
    subprocess.run([str(part) for part in command], check=True)


def add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Adds an entry with a fixed date."""
    archive.writestr(zipfile.ZipInfo(name, DATE), data, zipfile.ZIP_DEFLATED)


def main() -> None:
    """Builds the three archives."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        run("smali", "a", "-o", work / "classes.dex", HERE / "Main.smali")
        dex = (work / "classes.dex").read_bytes()
        run("aapt2", "compile", "--dir", HERE / "res", "-o", work / "res.zip")
        link = ["aapt2", "link", "-I", FRAMEWORK, "--manifest", HERE / "AndroidManifest.xml"]
        run(*link, "-o", work / "binary.apk", work / "res.zip")
        run(*link, "--proto-format", "-o", work / "proto.apk", work / "res.zip")
        run("aapt2", "optimize", "--enable-resource-path-shortening", "--enable-sparse-encoding",
            "-o", work / "short.apk", work / "binary.apk")  # fmt: skip
        for name in ("binary", "short"):
            with zipfile.ZipFile(work / f"{name}.apk", "a") as archive:
                add(archive, "classes.dex", dex)
        shutil.copy(work / "binary.apk", HERE / "sample.apk")
        shutil.copy(work / "short.apk", HERE / "sample-short.apk")
        with zipfile.ZipFile(work / "proto.apk") as source, zipfile.ZipFile(HERE / "sample.aab", "w") as bundle:
            add(bundle, "BundleConfig.pb", b"")
            add(bundle, "base/dex/classes.dex", dex)
            for name in source.namelist():
                place = f"base/manifest/{name}" if name == "AndroidManifest.xml" else f"base/{name}"
                add(bundle, place, source.read(name))


if __name__ == "__main__":
    main()
