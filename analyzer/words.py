"""Tokens, slots and sites in words, for reports and for `gdroid facts`."""

from __future__ import annotations

from analyzer.libcalls import LibraryCalls
from analyzer.program import Program
from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    DEEP,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    PSEUDO,
    RANGE,
    RETURN,
    SINK,
    STATIC,
    TAINT,
    THROWN,
    UNKNOWN,
    Fields,
    Key,
    Sites,
    root_field,
)


def java_name(descriptor: str) -> str:
    """`Ljava/util/List;` -> `java.util.List`; arrays and primitives too."""
    dims = len(descriptor) - len(descriptor.lstrip("["))
    base = descriptor[dims:]
    primitives = {"I": "int", "J": "long", "Z": "boolean", "B": "byte", "S": "short", "C": "char", "F": "float", "D": "double", "V": "void"}
    name = base[1:-1].replace("/", ".") if base.startswith("L") else primitives.get(base, base)
    return name + "[]" * dims


def simple_name(descriptor: str) -> str:
    """Class name without its package."""
    return java_name(descriptor).rsplit(".", 1)[-1]


class Names:
    """Words for keys."""

    def __init__(self, program: Program, fields: Fields, sites: Sites, library: LibraryCalls) -> None:
        self.program, self.fields, self.sites, self.library = program, fields, sites, library

    def type(self, type_id: int) -> str:
        """Simple class name of a type id."""
        return simple_name(self.program.type_name(type_id)) if type_id >= 0 else "?"

    def root(self, method: int, root: int) -> str:
        """Name of a root: `this`, `p1`, `C.f`."""
        f = root_field(root)
        if f >= 0:
            ref = self.program.field(f)
            return f"{self.type(ref.cls)}.{ref.name}"
        return "this" if root == 0 and not self.program.is_static(method) else f"p{root}"

    def path(self, name: str, path: tuple[int, ...]) -> str:
        """An access path: `p0.f.g`, `p1[3]`."""
        for f in path:
            field = self.fields.name(f)
            if field.startswith("#"):
                name += "[*]" if field == "#any" else f"[{field[1:]}]"
            else:
                name += f".{field}"
        return name

    def place(self, site: int) -> str:
        """`Class.method@pc` of a site."""
        s = self.sites[site]
        if s.method < 0:
            return "app-wide"
        ref = self.program.method(s.method)
        return f"{self.type(ref.cls)}.{ref.name}@{max(s.pc, 0):x}"

    def token(self, method: int, key: Key) -> str:
        """A token in words."""
        kind = key[0]
        if kind == OBJECT:
            s = self.sites[key[1]]
            where = f" (via {self.place(key[2])})" if key[2] >= 0 else ""
            if s.kind == "string":
                return repr(self.program.string(s.text))
            if s.kind == "class":
                return f"{self.type(s.text)}.class"
            word = {"new": "new ", "library": "library ", "exception": "exception "}.get(s.kind, "")
            return f"{word}{self.type(s.type)} {self.place(key[1])}{where}"
        if kind == FORMAL:
            return "in:" + self.path(self.root(method, key[1]), key[2])
        if kind == DEEP:
            return "in:" + self.root(method, key[1]) + ".…"
        if kind == TAINT:
            source = self.library.sources[key[1]]
            return f"«{source.kind} from {self.place(key[2])}»"
        if kind == BY_TYPE:
            return f"some {self.type(key[1])}"
        if kind == LIBRARY_BY_TYPE:
            return f"some library {self.type(key[1])}"
        if kind == BEYOND:
            return "beyond " + (self.place(key[1]) if key[1] >= 0 else "a library result")
        return "some object" if kind == UNKNOWN else str(key)

    def slot(self, method: int, key: Key | int) -> str:
        """A slot in words."""
        if isinstance(key, int):
            return f"%{key}"
        kind = key[0]
        if kind == RETURN:
            return "return"
        if kind == THROWN:
            return "thrown"
        if kind == RANGE:
            return f"thrown in try {key[1]}"
        if kind in (STATIC, PSEUDO):
            ref = self.program.field(key[1])
            return f"{self.type(ref.cls)}.{ref.name}"
        if kind == SINK:
            sink = self.library.sinks[key[1]]
            where = self.place(key[2]) if key[2] >= 0 else "somewhere"
            return f"sink {sink.kind} {where}"
        if kind == CELL:
            return self.path(f"({self.token(method, key[1])})", (key[2],))
        return str(key)
