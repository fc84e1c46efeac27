"""What the tests of the container share."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.container import AppFiles, open_app
from analyzer.limits import Limits

SAMPLE = Path(__file__).resolve().parent / "sample"


@pytest.fixture(scope="session")
def sample() -> Path:
    """The folder of the sample app: sources, sample.apk, sample-short.apk, sample.aab."""
    return SAMPLE


@pytest.fixture(scope="session")
def sample_files() -> dict[str, bytes]:
    """The files inside of sample.apk."""
    with zipfile.ZipFile(SAMPLE / "sample.apk") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., AppFiles]:
    """Opens bytes as a file of the given name."""

    def open_bytes(data: bytes, name: str = "input.bin", limits: Limits | None = None) -> AppFiles:
        path = tmp_path / name
        path.write_bytes(data)
        return open_app(path, limits or Limits())

    return open_bytes
