"""Files appear whole or not at all."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from gdroid.cli import output
from gpu.errors import WrongConfiguration


def test_a_failed_writer_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")

    def fail(temporary: Path) -> None:
        temporary.write_text("half")
        raise KeyError("broken")

    with pytest.raises(KeyError):
        output.write_with(target, fail)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_new_file_has_the_permissions_of_any_new_file(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    output.write(tmp_path / "a.json", "new")
    assert (tmp_path / "a.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_writer_sees_the_suffix(tmp_path: Path) -> None:
    seen: list[str] = []

    def writer(temporary: Path) -> None:
        seen.append(temporary.suffix)
        temporary.write_text("x")

    output.write_with(tmp_path / "a.npz", writer)
    assert seen == [".npz"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link = tmp_path / "a.json"
    (tmp_path / "real/b.json").write_text("old")
    link.symlink_to("real/b.json")
    output.write(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "real/b.json").read_text() == "new"


def test_what_is_no_regular_file_is_written_directly(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(fifo.read_text()))
    reader.start()
    output.write(fifo, "through")
    reader.join(10)
    assert received == ["through"]
    assert stat.S_ISFIFO(fifo.stat().st_mode)


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(WrongConfiguration, match="is a folder"):
        output.writable(tmp_path)
    with pytest.raises(WrongConfiguration, match="no folder"):
        output.writable(tmp_path / "none" / "a.json")
