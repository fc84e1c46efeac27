"""Names of tokens, fields and slots (semantics.md 1).

Tokens, slots and summaries' keys are plain tuples of integers, so that they hash fast and sort canonically.
What the integers mean is kept here: `Sites` for allocation and call sites, `Fields` for fields and pseudo-fields.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from analyzer.hierarchy import Hierarchy
from analyzer.program import Program

Key = tuple[Any, ...]

# Token kinds: first element of a token key.
OBJECT = 0  # (OBJECT, site, call site of the app's own code that it came through, or -1)
FORMAL = 1  # (FORMAL, root, path): root is a parameter index, or static_root(field)
DEEP = 2  # (DEEP, root, own): a region of a root: through library fields only, or (own: 1) the app's own too
TAINT = 3  # (TAINT, source, site): label: data that came from a source at a call site
BY_TYPE = 4  # (BY_TYPE, type, own): objects of one type, folded; own 1: made by the app's own code
UNKNOWN = 5  # (UNKNOWN,): any objects, folded
BEYOND = 6  # (BEYOND, site): whatever is reached through a library result; or FOLDED, or ANYWHERE, for the site
LIBRARY_BY_TYPE = 7  # (LIBRARY_BY_TYPE, type, own): library results of one declared type, folded
FRESH = 8  # (FRESH, type): in library models only: the object that the call at hand returns
SOURCE = 9  # (SOURCE, source): in library models only: the label of the call at hand

FOLDED = -1  # site of BEYOND: through any library result
# Sites of BEYOND for any object that library statics reach; analyzer.table says how they differ.
ANYWHERE, FORGOTTEN = -2, -3

# Slot kinds: first element of a row key.
RETURN = 0  # (RETURN,)
THROWN = 1  # (THROWN,)
RANGE = 2  # (RANGE, try range): what is thrown inside a try range
STATIC = 3  # (STATIC, field): a static field of the app's classes
PSEUDO = 4  # (PSEUDO, field): weak pseudo-statics of the environments
SINK = 5  # (SINK, sink, site or -1, position)
TABLE = 6  # (TABLE, field): a library static written with values that still depend on the caller
TABLE_CELL = 7  # (TABLE_CELL, member, field): the same for a cell of a member of the table
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


class Through:
    """A set of fields that a callee, or library code, may go through any number of times: what a region is made of.

    With `*` in it, it has all fields but those that only app code can know: see `Fields.is_private`. Interned by
    `Fields.through`, so that two are the same set when they are the same object.
    """

    __slots__ = ("_fields", "_meets", "fields", "outer", "own", "private", "star")

    def __init__(self, fields: Fields, members: frozenset[int]) -> None:
        self._fields, self.fields = fields, members
        self.star, self.outer = fields.star in members, fields.outer in members
        self.own = int(any(fields.is_own(f) for f in members))
        self.private = any(fields.is_private(f) for f in members)
        self._meets = {g for f in members for g in (f, fields.wild(f)) if g >= 0}
        if any(not fields.is_own(f) for f in members):
            self._meets.add(fields.star)

    def meets(self, f: int) -> bool:
        """Whether a read through the set reads a cell of field f."""
        fields = self._fields
        return (
            f in self._meets
            or f == fields.below[0]
            or (self.own == 1 and f == fields.below[1])
            or (self.star and not fields.is_private(f))
            or (self.outer and f >= Fields.FIRST_PSEUDO and f != fields.below[1])
            or fields.wild(f) in self.fields
        )

    def __or__(self, other: Through) -> Through:
        return self if other.fields <= self.fields else self._fields.through(self.fields | other.fields)


class Fields:
    """Fields by id: dex fields as in the program (resolved), pseudo-fields behind them.

    Reading cell (o, f) reads what was stored to f, to the wild card of f's group (`#any` for array cells, `$elem`
    for keyed elements), and, unless the app's own classes declare f, to `*`: what a coarse summary stores there lost
    its field. Reading a wild card reads its whole group. `$*` is only ever read: it stands for all fields that library
    code knows, those that app classes declare left out. `…` is only ever read too: what a read through several fields
    finds in an object as it came in; `…own`, where some of them are the app's own.
    """

    FIRST_PSEUDO = 1 << 28

    def __init__(self, program: Program, hierarchy: Hierarchy, is_own: Callable[[int], bool]) -> None:
        """`is_own`: whether a class (type id) is the app's own."""
        self._program, self._hierarchy, self._is_own = program, hierarchy, is_own
        self._own: dict[int, bool] = {}
        self._private: dict[int, bool] = {}
        self._through: dict[frozenset[int], Through] = {}
        self._pseudo: dict[str, int] = {}
        self._names: list[str] = []
        self._wild: list[int] = []
        self._resolved: dict[int, int] = {}
        self._stand_ins = program.type_find("Lgdroid/Pseudo;")
        self.star = self.pseudo("*")
        self.outer = self.pseudo("$*")
        self.below = self.pseudo("…"), self.pseudo("…own")
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

    def is_own(self, field: int) -> bool:
        """Whether the app's own classes declare it: summaries that lose their fields keep those."""
        if field >= self.FIRST_PSEUDO:
            return False
        if field not in self._own:
            self._own[field] = self._is_own(self._program.field(field).cls)
        return self._own[field]

    def is_private(self, field: int) -> bool:
        """Whether only the app's own code can know it: others handle objects of its class, but not their new fields.

        Without a model, library code is taken to read what app classes hold that are mere data: it may print, compare
        or serialize them. An activity, a view, a task, a listener it knows by what it inherits.
        """
        if field >= self.FIRST_PSEUDO:
            return False
        if field not in self._private:
            self._private[field] = self.is_own(field) and self._hierarchy.is_active(self._program.field(field).cls)
        return self._private[field]

    def through(self, fields: Collection[int]) -> Through:
        """The one set of these fields."""
        key = frozenset(fields)
        found = self._through.get(key)
        if found is None:
            found = self._through[key] = Through(self, key)
        return found

    def related(self, field: int, present: Collection[int]) -> list[int]:
        """Fields among `present` whose cells a read of `field` reads, sorted."""
        if field == self.outer:
            return sorted(f for f in present if f >= self.FIRST_PSEUDO and f not in self.below)
        if field in (self.any, self.elem):
            return sorted(f for f in present if f in (field, self.star) or self.wild(f) == field)
        if self.is_own(field):
            return [field] if field in present else []
        return [f for f in sorted((field, self.star, self.wild(field))) if f in present]

    def sort_key(self, field: int) -> tuple[int, str]:
        """Order that does not depend on interning: by signature."""
        if field >= self.FIRST_PSEUDO:
            return 1, self._names[field - self.FIRST_PSEUDO]
        return 0, self._program.field_signature(field)
