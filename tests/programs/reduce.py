"""Makes a failing program smaller: drops lines, and the lines of whole blocks, while it still fails."""

from __future__ import annotations

from collections.abc import Callable


def _end(lines: list[str], at: int) -> int:
    """Line behind the block that begins at a line."""
    depth = 0
    for i in range(at, len(lines)):
        depth += lines[i].count("{") - lines[i].count("}")
        if (depth <= 0 and i > at) or "{" not in lines[at]:
            return i + 1
    return len(lines)


def reduce_text(text: str, fails: Callable[[str], bool]) -> str:
    """The smallest text found for which `fails` still holds; texts that do not compile must not fail."""
    lines = text.splitlines()
    again = True
    while again:
        again = False
        for at in range(len(lines) - 1, -1, -1):
            if at >= len(lines):
                continue
            candidates = [lines[:at] + lines[_end(lines, at) :]]
            if "{" in lines[at]:
                candidates.append(lines[:at] + lines[at + 1 : _end(lines, at) - 1] + lines[_end(lines, at) :])
            for candidate in candidates:
                if len(candidate) < len(lines) and fails("\n".join(candidate)):
                    lines, again = candidate, True
                    break
    return "\n".join(lines)
