"""Making text that an app's author chose safe to show on a terminal."""

from __future__ import annotations

import unicodedata

_MARKS_IN_A_ROW = 2


def visible(text: str, longest: int = 300) -> str:
    """The text on one line, with nothing in it that a terminal would obey.

    Control characters (so ANSI escapes and line ends), direction overrides, odd spaces, zero-width and unassigned
    characters and lone surrogates come out as escapes (`\\x1b`, `\\u202e`); so do stacks of combining marks. Text of
    more than `longest` characters is cut in the middle, and says so.
    """
    if len(text) > longest:
        head = longest * 2 // 3
        text = f"{text[:head]}…{len(text) - longest} more…{text[head - longest :]}"
    if text.isascii() and text.isprintable():
        return text
    shown = []
    marks = 0
    for char in text:
        marks = marks + 1 if unicodedata.category(char) in ("Mn", "Me") else 0
        shown.append(_escaped(char) if marks > _MARKS_IN_A_ROW or not char.isprintable() else char)
    return "".join(shown)


def _escaped(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
