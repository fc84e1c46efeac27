"""Names of tokens, fields and slots (semantics.md 1).

Tokens, slots and summaries' keys are plain tuples of integers, so that they hash fast and sort canonically.
What the integers mean is kept here: `Sites` for allocation and call sites, `Fields` for fields and pseudo-fields.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from analyzer.hierarchy import Hierarchy
from analyzer.program import Program

Key = tuple[Any, ...]

# Token kinds: first element of a token key.
OBJECT = 0  # (OBJECT, site, call site of the app's own code that it came through, or -1)
FORMAL = 1  # (FORMAL, root, path): root is a parameter index, or static_root(field)
DEEP = 2  # (DEEP, root): the region token of a root
TAINT = 3  # (TAINT, source, site): label: data that came from a source at a call site
BY_TYPE = 4  # (BY_TYPE, type): objects of one type, folded
UNKNOWN = 5  # (UNKNOWN,): any objects, folded
BEYOND = 6  # (BEYOND, site): whatever is reached through a library result; site -1 after folding
LIBRARY_BY_TYPE = 7  # (LIBRARY_BY_TYPE, type): library results of one declared type, folded
FRESH = 8  # (FRESH, type): in library models only: the object that the call at hand returns
SOURCE = 9  # (SOURCE, source): in library models only: the label of the call at hand

# Slot kinds: first element of a row key.
RETURN = 0  # (RETURN,)
THROWN = 1  # (THROWN,)
RANGE = 2  # (RANGE, try range): what is thrown inside a try range
STATIC = 3  # (STATIC, field): a static field of the app's classes
PSEUDO = 4  # (PSEUDO, field): weak pseudo-statics of the environments
SINK = 5  # (SINK, sink, site or -1, position)
TABLE = 6  # (TABLE, field): a library static written with values that still depend on the caller
TABLE_CELL = 7  # (TABLE_CELL, site, field): the same for a cell of an object in the table
CELL = 8  # (CELL, token key, field)
RETURN_DATA = 9  # (RETURN_DATA,): in library models only: labels and formals that reach the result
CELL_DATA = 10  # (CELL_DATA, token key, field): in library models only: labels and formals that reach a cell

PARAMETER = 11  # (PARAMETER, operation, number): in environments only: labels on their way into a callback's argument


def static_root(field: int) -> int:
    """Root number of a static field; parameters are 0, 1, …"""
    return -1 - field


def root_field(root: int) -> int:
    """Static field of a root, or -1 for a parameter."""
    return -1 - root if root < 0 else -1


@dataclass(frozen=True, slots=True)
class Site:
    """Where an object or a label comes from."""

    method: int
    op: int
    pc: int
    kind: str  # new, string, class, library, exception, call
    type: int  # of the object; exact for new, string and class; declared otherwise; -1 unknown
    text: int = -1  # string id of a string constant, type id of a class constant

    @property
    def exact(self) -> bool:
        """Whether `type` is the run-time type."""
        return self.kind in ("new", "string", "class")

    @property
    def outside(self) -> bool:
        """Whether it may stand for an object from before or outside the run of its method."""
        return self.kind in ("library", "exception")


class Sites:
    """Interns sites; ids follow the order of analysis, which is deterministic."""

    def __init__(self) -> None:
        self.all: list[Site] = []
        self._ids: dict[tuple[int, int, str, int], int] = {}

    def id(self, site: Site) -> int:
        """Id of a site, new or known."""
        key = (site.method, site.op, site.kind, site.type)
        found = self._ids.get(key)
        if found is None:
            found = self._ids[key] = len(self.all)
            self.all.append(site)
        return found

    def __getitem__(self, i: int) -> Site:
        return self.all[i]


class Fields:
    """Fields by id: dex fields as in the program (resolved), pseudo-fields behind them.

    Reading cell (o, f) reads what was stored to f, to the wild card of f's group (`#any` for array cells, `$elem`
    for keyed elements), and to `*` (every field); reading a wild card reads its whole group. `$*` is only ever read: it
    stands for all fields that library code knows, those that app classes declare left out.
    """

    FIRST_PSEUDO = 1 << 28

    def __init__(self, program: Program, hierarchy: Hierarchy) -> None:
        self._program, self._hierarchy = program, hierarchy
        self._pseudo: dict[str, int] = {}
        self._names: list[str] = []
        self._wild: list[int] = []
        self._resolved: dict[int, int] = {}
        self._stand_ins = program.type_find("Lgdroid/Pseudo;")
        self.star = self.pseudo("*")
        self.outer = self.pseudo("$*")
        self.any = self.pseudo("#any")
        self.elem = self.pseudo("$elem")
        self.value = self.pseudo("$value")

    def pseudo(self, name: str) -> int:
        """Id of a pseudo-field: `*`, `#any`, `#3`, `$elem`, `$elem["k"]`, `$value`, …"""
        found = self._pseudo.get(name)
        if found is None:
            found = self._pseudo[name] = self.FIRST_PSEUDO + len(self._names)
            self._names.append(name)
            array = name.startswith("#") and name != "#any"
            self._wild.append(self.any if array else self.elem if name.startswith("$elem[") else -1)
        return found

    def resolve(self, field: int) -> int:
        """The declaring definition of a dex field."""
        found = self._resolved.get(field)
        if found is None:
            found = self._resolved[field] = self._hierarchy.resolve_field(field)
        return found

    def instance(self, field: int) -> int:
        """The field that an instance access means: fields of framework classes go by name, as library models do."""
        resolved = self.resolve(field)
        ref = self._program.field(resolved)
        return resolved if self._hierarchy.is_app(ref.cls) and ref.cls != self._stand_ins else self.pseudo(ref.name)

    def index(self, i: int) -> int:
        """Array cell of a constant index."""
        return self.pseudo(f"#{i}")

    def key(self, text: str) -> int:
        """Element of a constant key."""
        return self.pseudo(f"$elem[{text!r}]")

    def name(self, field: int) -> str:
        """Short name for people."""
        if field >= self.FIRST_PSEUDO:
            return self._names[field - self.FIRST_PSEUDO]
        return self._program.field(field).name

    def type(self, field: int) -> int:
        """Declared type id, or -1 for pseudo-fields."""
        if field >= self.FIRST_PSEUDO:
            return -1
        return self._program.field(field).type

    def wild(self, field: int) -> int:
        """Wild card of the field's group; -1 if it has none or is one."""
        return self._wild[field - self.FIRST_PSEUDO] if field >= self.FIRST_PSEUDO else -1

    def weak(self, field: int) -> bool:
        """Whether stores to it never clear: wild cards, elements and values."""
        return field >= self.FIRST_PSEUDO and (field == self.any or not self.name(field).startswith("#"))

    def data_only(self, field: int) -> bool:
        """Whether only labels and formals are kept there: primitive fields and `$value`."""
        if field == self.value:
            return True
        return field < self.FIRST_PSEUDO and self.is_primitive(self.type(field))

    def is_primitive(self, type_id: int) -> bool:
        """Whether the type is a primitive one."""
        return type_id >= 0 and self._program.type_name(type_id)[0] not in "L["

    def related(self, field: int, present: Collection[int]) -> list[int]:
        """Fields among `present` whose cells a read of `field` reads, sorted."""
        if field == self.star:
            return sorted(present)
        if field == self.outer:
            return sorted(f for f in present if f >= self.FIRST_PSEUDO)
        if field in (self.any, self.elem):
            return sorted(f for f in present if f in (field, self.star) or self.wild(f) == field)
        return [f for f in sorted((field, self.star, self.wild(field))) if f in present]

    def sort_key(self, field: int) -> tuple[int, str]:
        """Order that does not depend on interning: by signature."""
        if field >= self.FIRST_PSEUDO:
            return 1, self._names[field - self.FIRST_PSEUDO]
        return 0, self._program.field_signature(field)
