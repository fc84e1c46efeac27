"""Run-time values of the concrete interpreter: objects that know where they come from, and every cell's history."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

SiteKey = tuple[int, int, str]
"""(method, IR operation, kind of the site) at which something was made."""

CellKey = int | tuple[str, int | str]
"""Field id, ("#", index) of an array, ("$elem", number or constant key) of a collection, ("$value", 0) of a text."""


@dataclass(eq=False)
class Origin:
    """An object or a label, and the activations that were running when it was made."""

    number: int
    site: SiteKey
    chain: dict[int, int]
    """Activation -> the IR operation at which it was."""
    type: int = -1
    """Exact type of an object; the declared one of a library object."""
    text: str | None = None
    """Of a string constant."""
    cells: dict[CellKey, list[Write]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """new, string, class, library, exception or label."""
        return self.site[2]


class Value(NamedTuple):
    """What a register, a field or an array cell holds: an object, a number or null, and labels that travel with it."""

    payload: Origin | int | None
    labels: frozenset[Origin] = frozenset()

    @property
    def object(self) -> Origin | None:
        return self.payload if isinstance(self.payload, Origin) else None

    @property
    def carries(self) -> bool:
        """Whether the analysis has anything to say about it."""
        return isinstance(self.payload, Origin) or bool(self.labels)


class Write(NamedTuple):
    """One store to a cell or a static field."""

    time: int
    value: Value
    activation: int
    base: int
    """SSA value of the base in that activation; -1 for a library method."""


NULL = Value(None)


def window(history: Iterable[Write], start: int) -> Iterator[Write]:
    """The write that was in force at a time, and all later ones."""
    before: Write | None = None
    for write in history:
        if write.time < start:
            before = write
        else:
            if before is not None:
                yield before
                before = None
            yield write
    if before is not None:
        yield before


def reachable(value: Value) -> tuple[set[Origin], set[Origin]]:
    """(objects, labels) that a value reaches at present through all cells."""
    objects: set[Origin] = set()
    labels: set[Origin] = set(value.labels)
    pending = [value.object] if value.object else []
    while pending:
        o = pending.pop()
        if o in objects:
            continue
        objects.add(o)
        for history in o.cells.values():
            now = history[-1].value
            labels |= now.labels
            if now.object:
                pending.append(now.object)
    return objects, labels
