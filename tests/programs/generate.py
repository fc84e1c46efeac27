"""Random small programs in the small language, from any source of randomness with the methods of `random.Random`."""

from __future__ import annotations

import random
from dataclasses import dataclass

_PARENTS = {
    "Map": "Object",
    "Text": "Object",
    "B": "A",
    "A": "L",
    "L": "Object",
    "E": "Throwable",
    "Throwable": "Object",
    "List": "Object",
    "String": "Object",
}
_TYPES = ("A", "B", "L", "Object")
_FIELDS = {
    "A": [("A", "f"), ("A", "g"), ("Object", "o"), ("A[]", "r"), ("int", "n")],
    "B": [("B", "h"), ("Object", "k")],
    "L": [("L", "l"), ("Object", "p")],
    "E": [("Object", "q"), ("A", "w")],
}
_STATICS = [("A", "A", "s"), ("A", "Object", "t"), ("L", "L", "u"), ("L", "Object", "v"), ("A", "int", "m")]


_OFTEN = (
    "load 6, store 6, alias 4, twins 3, call 6, copy 2, fresh 2, static 2, put_static 2, sink 2, label 1, mark 1, "
    "array 2, list 1, map 2, text 1, cast 1, int 1, unmodelled 1, if 2, while 2, try 2, throw 1, return 1"
)
_KINDS = {kind: int(weight) for kind, weight in (words.split() for words in _OFTEN.split(", "))}
"""Kinds of statements and how often each comes."""


class _Choice:
    """What a program is made of: only some fields, types and kinds of statements, so that these meet often."""

    def __init__(self, rng: random.Random) -> None:
        few = rng.random() < 0.7
        self.kinds: list[str] = []
        for kind, weight in _KINDS.items():
            keep = kind in ("load", "store", "alias", "call") or not few or rng.random() < 0.4
            self.kinds += [kind] * (weight * rng.choice((1, 1, 3)) if keep else 0)
        self.hot = set(rng.sample(("f", "g", "o", "l", "p"), 2))
        """Fields that most loads and stores are about."""
        self.fields = {
            cls: [f for f in fields if not few or rng.random() < 0.4] or fields[:1] for cls, fields in _FIELDS.items()
        }
        self.statics = [s for s in _STATICS if not few or rng.random() < 0.5] or _STATICS[:1]
        usual = ("A", "A", "Object", "L", "B", "int", "A[]", "E")
        for cls in ("A", "L"):  # hot fields are there
            self.fields[cls] = [f for f in _FIELDS[cls] if f in self.fields[cls] or f[1] in self.hot]
        self.constructor = rng.choice(("", "", "loop", "parameter"))
        self.types = rng.choice((("A",), ("A", "A", "Object"), ("A", "B", "L"), usual)) if few else usual
        self.locals = rng.choice(((), ("A",), ("A", "A"), ("A", "Object"))) if few else ("A", "A", "Object", "L")


@dataclass(frozen=True)
class _Method:
    cls: str
    name: str
    ret: str
    params: tuple[str, ...]
    static: bool


def _is_a(kind: str, target: str) -> bool:
    while kind != target:
        if kind not in _PARENTS:
            return kind.endswith("[]") and target == "Object"
        kind = _PARENTS[kind]
    return True


class _Body:
    """Statements of one method."""

    def __init__(
        self, rng: random.Random, choice: _Choice, methods: list[_Method], method: _Method, constructor: bool
    ) -> None:
        self.rng, self.choice, self.methods, self.me = rng, choice, methods, method
        self.number = next((i for i, m in enumerate(methods) if m.name == method.name), -1)
        self.constructor = constructor
        self.vars: list[tuple[str, str]] = [(kind, f"p{i}") for i, kind in enumerate(method.params)]
        self.params = list(self.vars)
        if not method.static:
            self.vars.append((method.cls, "this"))
        self.lines: list[str] = []
        self.n_caught = 0

    def pick(self, target: str) -> str | None:
        """A variable that fits a type."""
        found = [name for kind, name in self.vars if _is_a(kind, target)]
        return self.rng.choice(found) if found else None

    def base(self) -> tuple[str, str]:
        """(type, name) of a variable with fields."""
        return self.rng.choice([v for v in self.vars if v[0] in _FIELDS])

    def assignable(self) -> list[tuple[str, str]]:
        return [v for v in self.vars if v[1] != "this"]

    def fields(self, kind: str) -> list[tuple[str, str]]:
        found = []
        while kind in _PARENTS:
            found += self.choice.fields.get(kind, [])
            kind = _PARENTS[kind]
        return found

    def run(self, size: int) -> list[str]:
        rng = self.rng
        main = self.me.name == "main"
        for i, kind in enumerate(("A", "A", *self.choice.locals) if main else self.choice.locals):
            name = f"v{i}"
            init = self.fresh(kind) if main or rng.random() < 0.4 else self.pick(kind) or "null"
            self.lines.append(f"{kind} {name} = {init};")
            self.vars.append((kind, name))
        if not any(kind in _FIELDS for kind, _ in self.vars):
            self.lines.append("A w = new A();")
            self.vars.append(("A", "w"))
        more = [
            ("B", "b"),
            ("int", "n"),
            ("List", "z"),
            ("A[]", "a"),
            ("E", "e"),
            ("Map", "y"),
            ("Text", "x"),
            ("String", "s"),
        ]
        used = {
            "int": "int",
            "List": "list",
            "A[]": "array",
            "E": "throw",
            "Map": "map",
            "Text": "text",
            "String": "text",
        }
        for kind, name in more:
            if rng.random() < (0.05 if used.get(kind, "") not in self.choice.kinds else 0.5):
                self.lines.append(f"{kind} {name} = {self.fresh(kind)};")
                self.vars.append((kind, name))
        if main:
            for _ in range(rng.randint(0, 4)):
                self.s_store(0)
        for _ in range(size):
            self.statement(0)
        if self.me.ret != "void":
            self.lines.append(f"return {self.pick(self.me.ret) or ('0' if self.me.ret == 'int' else 'null')};")
        return self.lines

    def fresh(self, kind: str) -> str:
        """A new object, or a number."""
        if kind == "Object":
            return self.rng.choice(("new A()", "new B()", "source()", '"s"', "new Object()", "new L()"))
        if kind == "int":
            return self.rng.choice(("1", "number()"))
        fixed = {"A[]": "new A[]", "Throwable": "new E()", "String": '"s"'}
        if kind == "A" and self.choice.constructor == "parameter" and self.rng.random() < 0.4:
            return f"new A({self.pick('A') or 'null'})"
        return self.rng.choice(("new A()", "new A()", "new B()")) if kind == "A" else fixed.get(kind, f"new {kind}()")

    def block(self, depth: int) -> None:
        for _ in range(self.rng.randint(1, 3)):
            self.statement(depth + 1)

    def statement(self, depth: int) -> None:
        rng = self.rng
        kinds = self.choice.kinds
        if depth >= 2:
            kinds = [k for k in kinds if k not in ("if", "while", "try", "throw", "return")]
        getattr(self, "s_" + rng.choice(kinds))(depth)

    def s_load(self, depth: int) -> None:
        found = [
            (target, name)
            for kind, base in self.vars
            for field_kind, field in self.fields(kind)
            for name in (f"{base}.{field}",)
            for target_kind, target in self.assignable()
            if _is_a(field_kind, target_kind)
        ]
        hot = [(target, name) for target, name in found if name.partition(".")[2] in self.choice.hot]
        if found:
            target, name = self.rng.choice(hot if hot and self.rng.random() < 0.7 else found)
            self.lines.append(f"{target} = {name};")
            if self.rng.random() < 0.2 and {n: k for k, n in self.vars}[target] == "A":
                self.lines += [f"if ({target} == null) {{", f"{target} = new A();", "}"]

    def s_store(self, depth: int) -> None:
        kind, base = self.base()
        fields = self.fields(kind)
        hot = [f for f in fields if f[1] in self.choice.hot]
        field_kind, name = self.rng.choice(hot if hot and self.rng.random() < 0.7 else fields)
        value = self.pick(field_kind)
        if value is None or self.rng.random() < 0.25:
            value = self.fresh(field_kind) if self.rng.random() < 0.9 or field_kind == "int" else "null"
        self.lines.append(f"{base}.{name} = {value};")

    def s_alias(self, depth: int) -> None:
        """Two stores and a load that may be about one cell."""
        bases = [v for v in self.vars if v[0] in _FIELDS]
        (_, first), (kind, second) = self.rng.choice(bases), self.rng.choice(bases)
        found = [
            (k, f) for k, f in self.fields(kind) if f in self.choice.hot and any(_is_a(k, t) for t, _ in self.vars)
        ]
        shared = [(k, f) for k, f in found if any(_is_a(t, o) for t, n in bases if n == first for o in self.owner(f))]
        if not shared:
            return
        field_kind, field = self.rng.choice(shared)
        for base in (first, second):
            value = self.fresh(field_kind) if self.rng.random() < 0.5 else self.pick(field_kind)
            self.lines.append(f"{base}.{field} = {value or 'null'};")
        targets = [name for k, name in self.assignable() if _is_a(field_kind, k) and name not in (first, second)]
        if targets:
            self.lines.append(f"{self.rng.choice(targets)} = {first}.{field};")
        else:
            self.lines.append(f"sink({first}.{field});")

    def s_twins(self, depth: int) -> None:
        """Two objects that have one name, if anything is wrong with names: a store to one, a load from the other."""
        rng = self.rng
        self.n_caught += 1
        q, r, field = f"q{self.n_caught}", f"r{self.n_caught}", rng.choice(("f", "o"))
        first, second = (rng.choice(("new A()", "new B()", "null", self.pick("A") or "null")) for _ in range(2))
        maker = rng.choice(("new A()", "Main.mk()", "L.mk()", "Main.wrap(null)"))
        form = rng.choice(("loop", "twice", "again", "virtual", "maybe"))
        if form == "loop":
            self.lines += [f"A {q} = null;", f"A {r} = null;", "while (*) {", f"{r} = {q};", f"{q} = {maker};"]
            self.lines += [f"{q}.{field} = {first};", "}", f"if ({r} != null) {{"]
        elif form == "twice":
            self.lines += [
                f"A {q} = {maker};",
                f"A {r} = {maker};",
                f"{r}.{field} = {first};",
                f"{q}.{field} = {second};",
                "if (*) {",
            ]
        elif form == "again" and self.me.ret == "A" and self.number >= 0:
            args = ", ".join(self.pick(p) or (self.fresh(p) if p != "Object" else "null") for p in self.me.params)
            call = f"{self.me.cls if self.me.static else 'this'}.{self.me.name}({args})"
            self.lines += [f"A {r} = {maker};", f"{r}.{field} = {first};", "if (*) {", f"A {q} = {call};"]
            self.lines += ["if (" + q + ") {", f"{q}.{field} = {second};", "}", "}", f"if ({r} != null) {{"]
        else:
            call = f"{r}.put({second})" if form == "virtual" else f"Main.maybe({r}, {second})"
            self.lines += [
                f"A {r} = {self.pick('A') or 'null'};",
                f"if ({r} != null) {{",
                f"{r}.f = {first};",
                f"{call};",
            ]
        targets = [name for k, name in self.assignable() if k == ("A" if field == "f" else "Object")]
        self.lines += [f"{rng.choice(targets)} = {r}.{field};" if targets else f"sink({r}.{field});", "}"]
        if form == "again" and self.me.ret == "A":
            self.lines += ["if (*) {", f"return {r};", "}"]

    def owner(self, field: str) -> list[str]:
        """Classes that declare a field."""
        return [cls for cls, fields in _FIELDS.items() if any(name == field for _, name in fields)]

    def s_call(self, depth: int) -> None:
        methods = [m for m in self.methods if m.static or self.pick(m.cls)]
        if not methods:
            return
        m = self.rng.choice(methods)
        given: list[str] = []
        for p in m.params:
            again = given and m.params[len(given) - 1] == p and self.rng.random() < 0.4
            given.append(given[-1] if again else self.pick(p) or (self.fresh(p) if p != "Object" else "null"))
        args = ", ".join(given)
        call = f"{m.cls if m.static else self.pick(m.cls)}.{m.name}({args})"
        targets = [v[1] for v in self.assignable() if m.ret != "void" and _is_a(m.ret, v[0])]
        line = f"{self.rng.choice(targets)} = {call};" if targets else f"{call};"
        # what may call back ends at some time
        self.lines += [line] if self.number < self.methods.index(m) else ["if (*) {", line, "}"]

    def s_copy(self, depth: int) -> None:
        if not self.assignable():
            return
        kind, name = self.rng.choice(self.assignable())
        value = self.pick(kind)
        if value is not None and value != name:
            self.lines.append(f"{name} = {value};")

    def s_fresh(self, depth: int) -> None:
        if not self.assignable():
            return
        kind, name = self.rng.choice(self.assignable())
        value = "null" if self.rng.random() < 0.2 and kind != "int" else self.fresh(kind)
        self.lines.append(f"{name} = {value};")

    def s_static(self, depth: int) -> None:
        cls, kind, name = self.rng.choice(self.choice.statics)
        targets = [v for v in self.assignable() if _is_a(kind, v[0])]
        if targets:
            self.lines.append(f"{self.rng.choice(targets)[1]} = {cls}.{name};")

    def s_put_static(self, depth: int) -> None:
        cls, kind, name = self.rng.choice(self.choice.statics)
        self.lines.append(f"{cls}.{name} = {self.pick(kind) or self.fresh(kind)};")

    def s_sink(self, depth: int) -> None:
        value = self.pick("int") if self.rng.random() < 0.2 else None
        self.lines.append(f"out({value});" if value else f"sink({self.pick('Object')});")

    def s_label(self, depth: int) -> None:
        targets = [v[1] for v in self.assignable() if v[0] == "Object"]
        if targets:
            self.lines.append(f"{self.rng.choice(targets)} = source();")

    def s_mark(self, depth: int) -> None:
        targets = [v for v in self.assignable() if v[0] in _TYPES]
        if targets:
            kind, name = self.rng.choice(targets)
            self.lines.append(f"{name} = ({kind}) mark({self.pick(kind)});")

    def s_array(self, depth: int) -> None:
        arrays = [name for kind, name in self.vars if kind == "A[]"]
        if not arrays:
            return
        index = self.rng.choice(("0", "1", "?", "9"))
        array = self.rng.choice(arrays)
        targets = [v[1] for v in self.assignable() if _is_a("A", v[0])]
        if self.rng.random() < 0.5 and targets:
            self.lines.append(f"{self.rng.choice(targets)} = {array}[{index}];")
        else:
            self.lines.append(f"{array}[{index}] = {self.pick('A') or 'null'};")

    def s_list(self, depth: int) -> None:
        lists = [name for kind, name in self.vars if kind == "List"]
        if not lists:
            return
        targets = [v[1] for v in self.assignable() if v[0] == "Object"]
        if self.rng.random() < 0.5 and targets:
            self.lines.append(f"{self.rng.choice(targets)} = {lists[0]}.get(0);")
        else:
            self.lines.append(f"{lists[0]}.add({self.pick('Object')});")

    def s_map(self, depth: int) -> None:
        maps = [name for kind, name in self.vars if kind == "Map"]
        if not maps:
            return
        key = self.rng.choice(('"a"', '"b"', '"a"', self.pick("Object")))
        targets = [v[1] for v in self.assignable() if v[0] == "Object"]
        if self.rng.random() < 0.5:
            self.lines.append(f"{maps[0]}.put({key}, {self.pick('Object')});")
        elif targets:
            self.lines.append(f"{self.rng.choice(targets)} = {maps[0]}.get({key});")
        else:
            self.lines.append(f"sink({maps[0]}.get({key}));")

    def s_text(self, depth: int) -> None:
        builders = [name for kind, name in self.vars if kind == "Text"]
        if not builders:
            return
        if self.rng.random() < 0.6:
            text = self.pick("String") if self.rng.random() < 0.6 else "source()"
            self.lines.append(f"{builders[0]}.append({text or 'null'});")
        else:
            targets = [v[1] for v in self.assignable() if v[0] in ("Object", "String")]
            self.lines.append(
                f"{self.rng.choice(targets)} = {builders[0]}.toString();" if targets else "sink(x.toString());"
            )

    def s_cast(self, depth: int) -> None:
        targets = [v for v in self.assignable() if v[0] in ("A", "B", "L", "A[]", "E")]
        if targets:
            kind, name = self.rng.choice(targets)
            self.lines.append(f"{name} = ({kind}) {self.pick('Object')};")

    def s_int(self, depth: int) -> None:
        target = [v[1] for v in self.assignable() if v[0] == "int"]
        if target:
            self.lines.append(
                f"{target[0]} = {self.pick('int')} + {self.rng.choice(('1', 'number()', str(self.pick('int'))))};"
            )

    def s_unmodelled(self, depth: int) -> None:
        targets = [v[1] for v in self.assignable() if v[0] == "Object"]
        if targets:
            self.lines.append(f"{self.rng.choice(targets)} = Other.mix({self.pick('Object')}, {self.pick('Object')});")

    def condition(self) -> str:
        if self.rng.random() < 0.7:
            return "*"
        first, second = self.pick("Object"), self.pick("Object")
        return self.rng.choice((f"{first} == {second}", f"{first} != {second}", f"{first}", "0", "1"))

    def s_if(self, depth: int) -> None:
        self.lines.append(f"if ({self.condition()}) {{")
        self.block(depth)
        if self.rng.random() < 0.5:
            self.lines.append("} else {")
            self.block(depth)
        self.lines.append("}")

    def s_while(self, depth: int) -> None:
        self.lines.append("while (*) {")
        self.block(depth)
        self.lines.append("}")

    def s_try(self, depth: int) -> None:
        self.lines.append("try {")
        self.block(depth)
        for kind in self.rng.choice((["E"], ["Throwable"], ["E", "Throwable"])):
            name = f"c{self.n_caught}"
            self.n_caught += 1
            self.lines.append(f"}} catch ({kind} {name}) {{")
            before = len(self.vars)
            self.vars.append((kind, name))
            self.block(depth)
            del self.vars[before:]
        self.lines.append("}")

    def s_throw(self, depth: int) -> None:
        value = self.pick("Throwable")
        if value:
            self.lines += ["if (*) {", f"throw {value};", "}"]

    def s_return(self, depth: int) -> None:
        value = (
            "" if self.me.ret == "void" else f" {self.pick(self.me.ret) or ('0' if self.me.ret == 'int' else 'null')}"
        )
        self.lines += ["if (*) {", f"return{value};", "}"]


def generate(rng: random.Random, most_methods: int = 5, most_statements: int = 7) -> str:
    """A program: classes A, B extends A, the library class L (which A extends), E, and Main."""
    choice = _Choice(rng)
    methods: list[_Method] = []
    for i in range(rng.randint(1, most_methods)):
        cls = rng.choice(("A", "A", "Main", "L"))
        params = tuple(rng.choice(choice.types) for _ in range(rng.randint(0, 3)))
        static = cls == "Main" or rng.random() < 0.4
        methods.append(_Method(cls, f"m{i}", rng.choice(("void", "A", "A", *choice.types)), params, static))
    overridden = [m for m in methods if not m.static and rng.random() < 0.6]
    bodies: dict[str, list[str]] = {"A": [], "B": [], "L": [], "E": [], "Main": []}

    def define(cls: str, m: _Method, constructor: bool = False) -> None:
        params = ", ".join(f"{kind} p{i}" for i, kind in enumerate(m.params))
        head = f"{cls}({params})" if constructor else f"{'static ' if m.static else ''}{m.ret} {m.name}({params})"
        body = _Body(rng, choice, methods, _Method(cls, m.name, m.ret, m.params, m.static), constructor)
        lines = body.run(rng.randint(1, most_statements) + (4 if m.name == "main" else 0))
        bodies[cls] += [f"  {head} {{", *(f"    {line}" for line in lines), "  }"]

    for m in methods:
        define(m.cls, m)
    for m in overridden:
        define("B" if m.cls == "A" else "A", m)
    define("Main", _Method("Main", "main", "void", (), True))
    parents = {"A": " extends L", "B": " extends A", "E": " extends Throwable"}
    text = ['extern class Other = "Lother/Other;" { static Object mix(Object a, Object b); }']
    if choice.constructor:
        stores = [f"this.{name} = this;" for kind, name in choice.fields["A"] if kind in ("A", "Object")]
        bodies["A"] += ["  A() {", *stores, "  }"]
    if choice.constructor == "parameter":
        bodies["A"] += [
            "  A(A x) {",
            *(
                f"{v}.f = {w};"
                for v, w in rng.sample((("x", "this"), ("this", "x"), ("this", "this"), ("this", "x.f")), 3)
            ),
            "  }",
        ]
    if "twins" in choice.kinds:
        bodies["Main"] += [
            "  static A mk() { return new A(); }",
            "  static A wrap(A p) { A x = mk(); x.f = p; return x; }",
        ]
        bodies["Main"] += ["  static void maybe(A p, A q) { if (*) { p.f = q; } }"]
        bodies["L"] += ["  static A mk() { return new A(); }"]
        bodies["A"] += ["  void put(A p) { this.f = p; }"]
        bodies["B"] += [rng.choice(("  void put(A p) { }", "  void put(A p) { if (p != null) { p.put(this); } }"))]
    for cls, code in bodies.items():
        text.append(f"{'lib ' if cls == 'L' else ''}class {cls}{parents.get(cls, '')} {{")
        text += [f"  {kind} {name};" for kind, name in _FIELDS.get(cls, [])]
        text += [f"  static {kind} {name};" for owner, kind, name in _STATICS if owner == cls]
        text += code
        text.append("}")
    return "\n".join(text)
