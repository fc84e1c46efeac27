"""Tokens, slots and effects as plain sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from analyzer.tokens import CELL, DEEP, FORMAL, STATIC, TAINT, Fields, Key

Slot = int | Key
Tokens = frozenset[Key]
View = Callable[[Slot], Tokens]
"""R: what a slot holds just before the statement."""
Change = tuple[list[Slot], list[tuple[Slot, Tokens]]]
"""What a statement does at once: slots that it clears first, and what it adds to which slots."""

NOTHING: Tokens = frozenset()
ANY, DATA, ESCAPES = -1, -2, -3
"""What may pass: everything; labels and formals; what the framework may call back. A type id: what may be of it."""


@dataclass
class Effects:
    """What a call does, over tokens of the callee's naming (semantics.md 4)."""

    rows: dict[Key, Tokens] = field(default_factory=dict)
    regions: dict[Key, tuple[Tokens, frozenset[int]]] = field(default_factory=dict)
    """Per region token, the formals from whose cells it is reached, and the fields that this takes."""


@dataclass
class Applied:
    """One effect applied at a call: of an app method, or (target -1) of a library method."""

    target: int
    effects: Effects
    receivers: Tokens | None = None
    """What may be bound to the receiver; None: all."""


@dataclass
class Call:
    """What is known of a call site without any facts."""

    op: int
    site: int
    method: int
    dispatched: bool
    static: bool
    args: list[int]
    dst: int
    targets: tuple[int, ...]
    library: bool
    shim: int
    marked: bool


def labels(tokens: Iterable[Key]) -> Tokens:
    """The labels among tokens."""
    return frozenset(t for t in tokens if t[0] == TAINT)


def objects(tokens: Iterable[Key]) -> Tokens:
    """All but the labels."""
    return frozenset(t for t in tokens if t[0] != TAINT)


def data(tokens: Iterable[Key]) -> Tokens:
    """Labels and formals, which stand for labels."""
    return frozenset(t for t in tokens if t[0] in (TAINT, FORMAL, DEEP))


def formals(tokens: Iterable[Key]) -> Tokens:
    """Formals and regions."""
    return frozenset(t for t in tokens if t[0] in (FORMAL, DEEP))


def related(fields: Fields, f: int, present: Iterable[int]) -> list[int]:
    """Fields whose cells a read of f reads: a wild card and its group feed each other; `*` feeds all but own fields."""
    if f == fields.outer:
        return [g for g in present if g >= Fields.FIRST_PSEUDO and g not in fields.below]
    if fields.is_own(f):
        return [g for g in present if g == f]
    return [g for g in present if g in (f, fields.star) or g == fields.wild(f) or fields.wild(g) == f]


def met(fields: Fields, through: Iterable[int], present: Iterable[int]) -> set[int]:
    """Fields whose cells a read through some fields reads: `*` among them stands for all that is not private."""
    found: set[int] = set()
    through, present = set(through), set(present)
    for f in through:
        if f == fields.star:
            found |= {g for g in present if not fields.is_private(g) and g not in fields.below}
        else:
            found |= set(related(fields, f, present))
    own = any(fields.is_own(f) for f in through)
    return found | {g for g in present if g == fields.below[0] or (own and g == fields.below[1])}


def is_heap(slot: Slot) -> bool:
    """Whether the slot has a value per statement."""
    return not isinstance(slot, int) and slot[0] in (CELL, STATIC)
