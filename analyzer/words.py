"""Tokens, slots and places in words, for reports and for `gdroid facts`.

Words are said from inside a method: `@000b` is a place in it, `@Main.onCreate:000b` one elsewhere.
"""

from __future__ import annotations

from ast import literal_eval

from analyzer.android.names import ENV, SHIM
from analyzer.ir import CallKind, Op
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
    PARAMETER,
    PSEUDO,
    RANGE,
    RETURN,
    SINK,
    STATIC,
    TABLE,
    TABLE_CELL,
    TAINT,
    THROWN,
    UNKNOWN,
    Fields,
    Key,
    Site,
    Sites,
    root_field,
)

LONGEST_TEXT = 40
"""Characters of a string constant that are shown."""

_PRIMITIVES = {
    "I": "int", "J": "long", "Z": "boolean", "B": "byte", "S": "short", "C": "char", "F": "float", "D": "double",
    "V": "void",
}  # fmt: skip
_ORDER = {TAINT: 0, OBJECT: 1, BY_TYPE: 2, LIBRARY_BY_TYPE: 3, FORMAL: 4, DEEP: 5, BEYOND: 6, UNKNOWN: 7}
"""Kinds of tokens as people want to read them: data first, then objects, then what stands for others."""


def java_name(descriptor: str) -> str:
    """`Ljava/util/List;` -> `java.util.List`; arrays and primitives too."""
    dims = len(descriptor) - len(descriptor.lstrip("["))
    base = descriptor[dims:]
    name = base[1:-1].replace("/", ".") if base.startswith("L") else _PRIMITIVES.get(base, base)
    return name + "[]" * dims


def simple_name(descriptor: str) -> str:
    """Class name without its package."""
    return java_name(descriptor).rsplit(".", 1)[-1]


def quoted(text: str) -> str:
    """A string constant as in Java, cut where it is long."""
    shown = text if len(text) <= LONGEST_TEXT else text[: LONGEST_TEXT - 1]
    plain = shown.encode("unicode_escape", "surrogatepass").decode("ascii").replace('"', '\\"')
    return f'"{plain}…"' if len(text) > LONGEST_TEXT else f'"{plain}"'


class Names:
    """Words for keys."""

    def __init__(self, program: Program, fields: Fields, sites: Sites, library: LibraryCalls) -> None:
        self.program, self.fields, self.sites, self.library = program, fields, sites, library

    # -- names -------------------------------------------------------------------------------------------------

    def type(self, type_id: int) -> str:
        """Simple class name of a type id."""
        return simple_name(self.program.type_name(type_id)) if type_id >= 0 else "?"

    def method(self, method: int) -> str:
        """`Class.name` of a method; `env:Main` of an environment; `shim:Thread.start` of what a library calls back."""
        ref = self.program.method(method)
        owner = self.program.type_name(ref.cls)
        if owner == ENV:
            return "env:" + ref.name.rpartition(":")[2].rpartition(".")[2]
        if owner == SHIM:
            return "shim:" + ".".join(ref.name.partition("@")[0].rsplit(".", 2)[-2:])
        return f"{self.type(ref.cls)}.{ref.name}"

    def static_field(self, field: int) -> str:
        """`Class.field`; the name alone of a pseudo-static."""
        ref = self.program.field(field)
        return ref.name if self.program.type_name(ref.cls) == ENV else f"{self.type(ref.cls)}.{ref.name}"

    def parameter(self, method: int, number: int) -> str:
        """`this`, or `p1` as in smali: a wide parameter takes two numbers."""
        static = self.program.is_static(method)
        if number == 0 and not static:
            return "this"
        before = self.program.method(method).params[: number if static else number - 1]
        words = sum(2 if self.program.type_name(p) in ("J", "D") else 1 for p in before)
        return f"p{words if static else words + 1}"

    def root(self, method: int, root: int) -> str:
        """Name of a root: `this`, `p1`, `C.f`."""
        f = root_field(root)
        return self.static_field(f) if f >= 0 else self.parameter(method, root)

    def path(self, name: str, path: tuple[int, ...]) -> str:
        """An access path: `p0.f.g`, `p1[3]`; `…` for all fields."""
        for f in path:
            field = self.fields.name(f)
            if field.startswith("#"):
                name += "[*]" if field == "#any" else f"[{field[1:]}]"
            elif field.startswith("$elem["):
                name += f"[{quoted(literal_eval(field[6:-1]))}]"
            else:
                name += f".{field}"
        return name

    # -- places ------------------------------------------------------------------------------------------------

    def place(self, site: int, here: int = -1) -> str:
        """`@000b`, seen from method `here`; `@Class.method:000b` from elsewhere."""
        s = self.sites[site]
        if s.method < 0:
            return " app-wide"
        if s.op < 0:
            return f" of {self.method(s.method)}"
        where = f"{max(s.pc, 0):04x}"
        return f"@{where}" if s.method == here else f"@{self.method(s.method)}:{where}"

    def called(self, site: Site) -> str:
        """What is called or read at a site: `getDeviceId()`, `CONTENT_URI`."""
        if site.method < 0:
            return "the framework"
        if site.op < 0:
            return "an argument"
        body = self.program.body(site.method)
        op, ref = int(body.op[site.op]), int(body.ref[site.op])
        if op == Op.CALL:
            if int(body.c[site.op]) == CallKind.CUSTOM:
                return "invoke-custom"
            callee = self.program.method(ref)
            return f"new {self.type(callee.cls)}()" if callee.name == "<init>" else f"{callee.name}()"
        if op in (Op.GET, Op.SGET):
            return self.program.field(ref).name
        return "outside"

    # -- tokens ------------------------------------------------------------------------------------------------

    def order(self, method: int, key: Key) -> tuple[int, str]:
        """Sort key of tokens for people."""
        return _ORDER.get(key[0], 9), self.token(method, key)

    def token(self, method: int, key: Key) -> str:
        """A token in words, seen from a method."""
        kind = key[0]
        if kind == OBJECT:
            return self._object(method, key)
        if kind == FORMAL:
            return "in:" + self.path(self.root(method, key[1]), key[2])
        if kind == DEEP:
            return "in:" + self.root(method, key[1]) + ".…"
        if kind == TAINT:
            source = self.library.sources[key[1]]
            return f"«{source.kind} from {self.called(self.sites[key[2]])}{self.place(key[2], method)}»"
        if kind == BY_TYPE:
            return f"some {self.type(key[1])}"
        if kind == LIBRARY_BY_TYPE:
            return f"some library {self.type(key[1])}"
        if kind == BEYOND:
            return f"inside {self._result(method, key[1])}" if key[1] >= 0 else "inside a library object"
        return "some object" if kind == UNKNOWN else str(key)

    def _object(self, method: int, key: Key) -> str:
        s = self.sites[key[1]]
        if s.kind == "string":
            return quoted(self.program.string(s.text))
        if s.kind == "class":
            return f"{self.type(s.text)}.class"
        via = f" via {self.place(key[2], method)}" if key[2] >= 0 else ""
        if s.kind == "new":
            return f"new {self.type(s.type)}{self.place(key[1], method)}{via}"
        if s.kind == "exception":
            return f"{self.type(s.type)} caught{self.place(key[1], method)}{via}"
        return f"{self.type(s.type)} from {self._result(method, key[1])}{via}"

    def _result(self, method: int, site: int) -> str:
        s = self.sites[site]
        what = f"{self.type(s.type)} caught" if s.kind == "exception" else self.called(s)
        return f"{what}{self.place(site, method)}"

    # -- slots -------------------------------------------------------------------------------------------------

    def cell(self, method: int, owner: Key, field: int) -> str:
        """A cell: `this.name`, `(new Pair@0003).first`, `(in:this.pair).first` of the pair that was there on entry."""
        name = self.token(method, owner)
        return self.path("this" if name == "in:this" else f"({name})", (field,))

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
        if kind in (STATIC, PSEUDO, TABLE):
            return self.static_field(key[1])
        if kind == SINK:
            return self.sink(method, key)
        if kind == CELL:
            return self.cell(method, key[1], key[2])
        if kind == TABLE_CELL:
            owner = (OBJECT, key[1], -1) if key[1] >= 0 else (UNKNOWN,)
            return self.cell(method, owner, key[2])
        if kind == PARAMETER:
            return f"argument {key[2]}"
        return str(key)

    def sink(self, method: int, key: Key) -> str:
        """A sink row: `sink log: i() arg1 @000b`."""
        sink = self.library.sinks[key[1]]
        argument = "this" if key[3] < 0 else f"arg{key[3]}"
        if key[2] < 0:
            return f"sink {sink.kind}: {argument} somewhere below"
        return f"sink {sink.kind}: {argument} of {self._result(method, key[2])}"
