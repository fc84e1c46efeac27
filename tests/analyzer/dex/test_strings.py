"""Modified UTF-8 and the string table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.dex import read
from analyzer.dex.strings import decode, encode
from tests.analyzer.dex.builder import Writer


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain", "plain"),
        (b"a\xc0\x80b", "a\0b"),
        ("ä€".encode(), "ä€"),
        (b"\xed\xa0\xbd\xed\xb8\x80", "\N{GRINNING FACE}"),
        (b"\xed\xa0\xbd", "\ud83d"),
        (b"\xed\xb8\x80\xed\xa0\xbd", "\ude00\ud83d"),
        (b"\xff\xfe", "\\xff\\xfe"),
    ],
)
def test_decode(raw: bytes, text: str) -> None:
    assert decode(raw) == text


@given(st.text(st.characters(exclude_categories=())))
def test_decode_undoes_encode(text: str) -> None:
    raw = encode(text)
    assert b"\0" not in raw
    expected = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    assert decode(raw) == expected


def test_the_table_decodes_finds_and_counts() -> None:
    writer = Writer()
    texts = ["one", "two", "drei€", "", "\N{GRINNING FACE}"]
    for text in texts:
        writer.strings.append(encode(text))
    table = read([writer.build()]).strings
    assert list(table) == texts
    assert [table.find(text) for text in texts] == list(range(5))
    assert table.find("three") == -1
    assert table.raw(2) == "drei€".encode()
    with pytest.raises(IndexError):
        table[-1]
    with pytest.raises(IndexError):
        table[5]
