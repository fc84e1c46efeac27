"""A folder with an app in it, and a pipeline that only pretends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.gdroid.fakes import FakePipeline, install


@pytest.fixture
def pipeline(monkeypatch: pytest.MonkeyPatch) -> FakePipeline:
    fake = FakePipeline()
    install(monkeypatch, "gdroid.pipeline", fake)
    return fake


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test, holding a file `leak.apk`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GDROID_DEBUG", raising=False)
    (tmp_path / "leak.apk").write_bytes(b"PK")
    return tmp_path
