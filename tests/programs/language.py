"""A small Java-like language for whole programs, compiled to dex columns.

    class A extends B { A f; static A s; int n; A(A x) { this.f = x; } A m(A p) { return p.f; } static void t() {…} }
    lib class L {…}                      a class of a library inside the app (not the app's own)
    extern class List = "Ljava/util/ArrayList;" { List(); boolean add(Object o); Object get(int i); }

Statements: `A x = e;` `x = e;` `x.f = e;` `A.s = e;` `a[0] = e;` `a[?] = e;` `e;` `if (c) {…} else {…}` `while (c) {…}`
`try {…} catch (E e) {…}` `throw e;` `return e;`. A condition is `*` (anyone's guess), `e`, `e == e` or `e != e`.
Expressions: names, `null`, numbers, strings, `this`, `new A(…)`, `new A[]`, `e.f`, `A.s`, `e[0]`, `e[?]`, calls,
`(A) e`, `e + e`.
`source()`, `number()`, `mark(e)`, `sink(e)`, `out(n)` and `unknown()` are methods of `api.Api` (see api.yaml).
Where a static type does not fit, a cast is put in. Execution starts at `Main.main()`.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from analyzer.program import Program
from tests.analyzer.columns import Columns

T = TypeVar("T")

_TOKEN = re.compile(r'\s+|//[^\n]*|(?P<t>[A-Za-z_$][\w$]*|\d+|"[^"]*"|==|!=|[-{}()\[\].,;=*+?])')

BUILTIN = """
extern class Object = "Ljava/lang/Object;" {}
extern class String = "Ljava/lang/String;" {}
extern class Throwable = "Ljava/lang/Throwable;" { Throwable(); Throwable(String m); String getMessage(); }
extern class RuntimeException = "Ljava/lang/RuntimeException;" extends Throwable { RuntimeException(); }
extern class List = "Ljava/util/ArrayList;" { List(); boolean add(Object o); Object get(int i); }
extern class Map = "Ljava/util/HashMap;" { Map(); Object put(Object k, Object v); Object get(Object k); }
extern class Text = "Ljava/lang/StringBuilder;" { Text(); Text append(String s); String toString(); }
extern class Api = "Lapi/Api;" {
  static String source(); static int number(); static Object mark(Object o); static void sink(Object o);
  static void out(int n); static int unknown();
}
"""
_FUNCTIONS = ("source", "number", "mark", "sink", "out", "unknown")
_PRIMITIVE = {"int": "I", "boolean": "Z", "void": "V"}


@dataclass
class Method:
    """A method as parsed; `body` is None for external ones."""

    name: str
    params: list[tuple[str, str]]
    ret: str
    static: bool
    body: list[tuple] | None  # type: ignore[type-arg]


@dataclass
class Class:
    """A class as parsed."""

    name: str
    descriptor: str
    parent: str | None
    extern: bool
    fields: dict[str, tuple[str, bool]] = field(default_factory=dict)
    methods: list[Method] = field(default_factory=list)


class Parser:
    """Text to classes."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise SyntaxError(f"at {text[at : at + 20]!r}")
            if match["t"]:
                self.tokens.append(match["t"])
            at = match.end()
        self.tokens.append("")
        self.at = 0

    def peek(self, ahead: int = 0) -> str:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def next(self) -> str:
        if not self.peek():
            raise SyntaxError("unexpected end")
        self.at += 1
        return self.tokens[self.at - 1]

    def take(self, token: str) -> bool:
        if self.peek() == token:
            self.at += 1
            return True
        return False

    def want(self, token: str) -> None:
        if not self.take(token):
            raise SyntaxError(f"expected {token!r} before {' '.join(self.tokens[self.at : self.at + 6])!r}")

    def program(self) -> list[Class]:
        found = []
        while self.peek():
            found.append(self.cls())
        return found

    def cls(self) -> Class:
        extern, lib = self.take("extern"), self.take("lib")
        self.want("class")
        name = self.next()
        descriptor = f"Llib/{name};" if lib else f"L{name};"
        if self.take("="):
            descriptor = self.next()[1:-1]
        parent = self.next() if self.take("extends") else None if name == "Object" else "Object"
        result = Class(name, descriptor, parent, extern)
        self.want("{")
        while not self.take("}"):
            static = self.take("static")
            if self.peek() == name and self.peek(1) == "(":
                self.next()
                result.methods.append(self.method("<init>", "void", static))
                continue
            kind, member = self.type(), self.next()
            if self.peek() == "(":
                result.methods.append(self.method(member, kind, static))
            else:
                self.want(";")
                result.fields[member] = (kind, static)
        return result

    def method(self, name: str, ret: str, static: bool) -> Method:
        self.want("(")
        params = []
        while not self.take(")"):
            kind = self.type()
            params.append((kind, self.next()))
            self.take(",")
        return Method(name, params, ret, static, None if self.take(";") else self.block())

    def type(self) -> str:
        name = self.next()
        while self.peek() == "[" and self.peek(1) == "]":
            self.at += 2
            name += "[]"
        return name

    def block(self) -> list[tuple]:  # type: ignore[type-arg]
        self.want("{")
        found = []
        while not self.take("}"):
            found.append(self.statement())
        return found

    def statement(self) -> tuple:  # type: ignore[type-arg]
        word = self.peek()
        if word == "{":
            return ("block", self.block())
        if word in ("if", "while"):
            self.next()
            condition = self.condition()
            body = self.block()
            if word == "while":
                return ("while", condition, body)
            return ("if", condition, body, self.block() if self.take("else") else [])
        if word == "try":
            self.next()
            body, handlers = self.block(), []
            while self.take("catch"):
                self.want("(")
                kind, name = self.type(), self.next()
                self.want(")")
                handlers.append((kind, name, self.block()))
            return ("try", body, handlers)
        if word in ("return", "throw"):
            self.next()
            value = None if self.peek() == ";" else self.expression()
            self.want(";")
            return (word, value)
        ahead = 1
        while self.peek(ahead) == "[" and self.peek(ahead + 1) == "]":
            ahead += 2
        if re.match(r"[A-Za-z_]", word) and re.match(r"[A-Za-z_]", self.peek(ahead)) and word not in ("new",):
            kind, name = self.type(), self.next()
            value = self.expression() if self.take("=") else None
            self.want(";")
            return ("declare", kind, name, value)
        target = self.expression()
        value = self.expression() if self.take("=") else None
        self.want(";")
        return ("assign", target, value) if value is not None else ("do", target)

    def condition(self) -> tuple:  # type: ignore[type-arg]
        self.want("(")
        if self.take("*"):
            self.want(")")
            return ("any",)
        left = self.expression()
        sign = self.next() if self.peek() in ("==", "!=") else ""
        right = self.expression() if sign else None
        self.want(")")
        return ("compare", left, sign, right)

    def expression(self) -> tuple:  # type: ignore[type-arg]
        left = self.postfix()
        while self.take("+"):
            left = ("plus", left, self.postfix())
        return left

    def postfix(self) -> tuple:  # type: ignore[type-arg]
        value = self.primary()
        while True:
            if self.take("."):
                name = self.next()
                value = ("call", value, name, self.arguments()) if self.peek() == "(" else ("field", value, name)
            elif self.take("["):
                index = ("any",) if self.take("?") else self.expression()
                self.want("]")
                value = ("element", value, index)
            else:
                return value

    def arguments(self) -> list[tuple]:  # type: ignore[type-arg]
        self.want("(")
        found = []
        while not self.take(")"):
            found.append(self.expression())
            self.take(",")
        return found

    def primary(self) -> tuple:  # type: ignore[type-arg]
        word = self.next()
        if word == "(":
            kind = self.type()
            self.want(")")
            return ("cast", kind, self.postfix())
        if word == "new":
            name = self.next()
            if self.take("["):
                self.want("]")
                return ("array", name + "[]")
            return ("new", name, self.arguments())
        if word[0] == '"':
            return ("string", word)
        if word.isdigit():
            return ("number", int(word))
        if word == "null":
            return ("null",)
        if self.peek() == "(":
            return ("call", None, word, self.arguments())
        if not re.match(r"[A-Za-z_$]", word):
            raise SyntaxError(f"expected an expression before {word!r}")
        return ("name", word)


class Compiler:
    """Classes to columns."""

    def __init__(self, classes: Sequence[Class], shuffle: random.Random | None = None) -> None:
        """With `shuffle`, classes and methods come in any order and registers have any names."""
        self.shuffle = shuffle
        self.classes = {c.name: c for c in (self.shuffled(list(classes)))}
        self.columns = Columns()

    def shuffled(self, items: list[T]) -> list[T]:
        return self.shuffle.sample(items, len(items)) if self.shuffle else items

    def run(self) -> Columns:
        for cls in self.classes.values():
            for method in self.shuffled(cls.methods):
                if method.body is not None:
                    _MethodCompiler(self, cls, method).run()
        for cls in self.classes.values():
            if not cls.extern:
                self.columns.cls(cls.descriptor, self.classes[cls.parent or "Object"].descriptor)
        return self.columns

    def descriptor(self, kind: str) -> str:
        if kind.endswith("[]"):
            return "[" + self.descriptor(kind[:-2])
        return _PRIMITIVE.get(kind) or self.classes[kind].descriptor

    def signature(self, cls: Class, method: Method) -> str:
        params = "".join(self.descriptor(kind) for kind, _ in method.params)
        return f"{cls.descriptor}->{method.name}({params}){self.descriptor(method.ret)}"

    def chain(self, name: str | None) -> list[Class]:
        found = []
        while name is not None and name in self.classes:
            found.append(self.classes[name])
            name = self.classes[name].parent
        return found

    def fits(self, kind: str, target: str) -> bool:
        if kind == target or kind == "null" or target == "Object" or target in _PRIMITIVE:
            return True
        return any(c.name == target for c in self.chain(kind))

    def field(self, kind: str, name: str) -> tuple[Class, str, bool]:
        for cls in self.chain(kind):
            if name in cls.fields:
                return cls, *cls.fields[name]
        raise SyntaxError(f"no field {name} in {kind}")

    def method(self, kind: str, name: str, n_args: int) -> tuple[Class, Method]:
        for cls in self.chain(kind):
            for method in cls.methods:
                if method.name == name and len(method.params) == n_args:
                    return cls, method
            if name == "<init>":
                break
        raise SyntaxError(f"no method {name} with {n_args} arguments in {kind}")


class _MethodCompiler:
    """Compiles one method; each temporary has a register of its own."""

    def __init__(self, compiler: Compiler, cls: Class, method: Method) -> None:
        self.c, self.cls, self.method = compiler, cls, method
        self.lines: list[str] = []
        self.n_locals = self.n_labels = self.n_instructions = 0
        self.scopes: list[dict[str, tuple[str, str]]] = [{}]
        names = [(kind, name) for kind, name in method.params]
        if not method.static:
            names = [(cls.name, "this"), *names]
        for i, (kind, name) in enumerate(names):
            self.scopes[0][name] = (f"p{i}", kind)
        self.n_params = len(names)
        self.handlers: list[list[tuple[str, str]]] = []
        self.segment: tuple[str, int] | None = None

    def run(self) -> None:
        assert self.method.body is not None
        self.block(self.method.body)
        if self.method.ret == "void":
            self.emit("return-void")
        else:
            zero = self.null()
            self.emit(f"{self._op('return', self.method.ret)} {zero}")
        signature = self.c.signature(self.cls, self.method)
        text = "\n".join(self.lines)
        names = self.c.shuffled(list(range(self.n_locals)))
        text = re.sub(r"\bv(\d+)\b", lambda found: f"v{names[int(found[1])]}", text)
        self.c.columns.add(signature, self.n_locals + self.n_params, text, self.method.static)

    # -- helpers -----------------------------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        self.lines.append(line)
        self.n_instructions += 1

    def label(self) -> str:
        self.n_labels += 1
        return f":l{self.n_labels}"

    def place(self, label: str) -> None:
        self.lines.append(label)

    def temp(self) -> str:
        self.n_locals += 1
        return f"v{self.n_locals - 1}"

    def null(self) -> str:
        register = self.temp()
        self.emit(f"const/4 {register} 0")
        return register

    def _op(self, name: str, kind: str) -> str:
        return name if kind in _PRIMITIVE else name + "-object"

    def lookup(self, name: str) -> tuple[str, str] | None:
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def fitted(self, value: tuple, target: str) -> str:  # type: ignore[type-arg]
        """Register of an expression as a value of a type."""
        register, kind = self.value(value)
        if self.c.fits(kind, target):
            return register
        return self.cast(register, target)

    def cast(self, register: str, target: str) -> str:
        result = self.temp()
        self.emit(f"move-object {result} {register}")
        self.emit(f"check-cast {result} {self.c.descriptor(target)}")
        return result

    def unknown(self) -> str:
        result = self.temp()
        self.emit("invoke-static Lapi/Api;->unknown()I")
        self.emit(f"move-result {result}")
        return result

    # -- try ranges: disjoint segments, each with the handlers of all tries around it ----------------------------

    def close_segment(self) -> None:
        if self.segment is None:
            return
        start, first = self.segment
        self.segment = None
        if self.n_instructions == first:
            return
        end = self.label()
        self.place(end)
        for kind, handler in (h for group in reversed(self.handlers) for h in group):
            self.lines.append(f".catch {kind} {start} {end} {handler}")

    def open_segment(self) -> None:
        if self.handlers:
            start = self.label()
            self.place(start)
            self.segment = (start, self.n_instructions)

    # -- statements --------------------------------------------------------------------------------------------

    def block(self, statements: Sequence[tuple]) -> None:  # type: ignore[type-arg]
        self.scopes.append({})
        for statement in statements:
            getattr(self, "s_" + statement[0])(*statement[1:])
        self.scopes.pop()

    s_block = block

    def s_declare(self, kind: str, name: str, value: tuple | None) -> None:  # type: ignore[type-arg]
        register = self.temp()
        if value is None:
            self.emit(f"const/4 {register} 0")
        else:
            self.emit(f"{self._op('move', kind)} {register} {self.fitted(value, kind)}")
        self.scopes[-1][name] = (register, kind)

    def s_assign(self, target: tuple, value: tuple) -> None:  # type: ignore[type-arg]
        if target[0] == "name":
            found = self.lookup(target[1])
            if found is None:
                raise SyntaxError(f"no variable {target[1]}")
            self.emit(f"{self._op('move', found[1])} {found[0]} {self.fitted(value, found[1])}")
        elif target[0] == "field":
            owner = self.class_name(target[1])
            base, kind = ("", owner) if owner else self.value(target[1])
            cls, field_kind, static = self.c.field(kind, target[2])
            source = self.fitted(value, field_kind)
            signature = f"{cls.descriptor}->{target[2]}:{self.c.descriptor(field_kind)}"
            if static:
                self.emit(f"{self._op('sput', field_kind)} {source} {signature}")
            else:
                self.emit(f"{self._op('iput', field_kind)} {source} {base} {signature}")
        else:
            base, kind = self.value(target[1])
            index = self.index(target[2])
            source = self.fitted(value, kind[:-2])
            self.emit(f"{self._op('aput', kind[:-2])} {source} {base} {index}")

    def s_do(self, value: tuple) -> None:  # type: ignore[type-arg]
        self.value(value, wanted=False)

    def branch(self, condition: tuple, otherwise: str) -> None:  # type: ignore[type-arg]
        """Goes on where the condition holds, else to a label."""
        if condition[0] == "any":
            self.emit(f"if-eqz {self.unknown()} {otherwise}")
            return
        _, left, sign, right = condition
        first, _ = self.value(left)
        if right is None:
            self.emit(f"if-eqz {first} {otherwise}")
        else:
            second, _ = self.value(right)
            self.emit(f"{'if-ne' if sign == '==' else 'if-eq'} {first} {second} {otherwise}")

    def s_if(self, condition: tuple, then: list, otherwise: list) -> None:  # type: ignore[type-arg]
        other, end = self.label(), self.label()
        self.branch(condition, other)
        self.block(then)
        self.emit(f"goto {end}")
        self.place(other)
        self.block(otherwise)
        self.place(end)

    def s_while(self, condition: tuple, body: list) -> None:  # type: ignore[type-arg]
        head, end = self.label(), self.label()
        self.place(head)
        self.branch(condition, end)
        self.block(body)
        self.emit(f"goto {head}")
        self.place(end)

    def s_try(self, body: list, handlers: list) -> None:  # type: ignore[type-arg]
        labels = [(kind, name, code, self.label()) for kind, name, code in handlers]
        end = self.label()
        self.close_segment()
        self.handlers.append([(self.c.descriptor(kind), label) for kind, _, _, label in labels])
        self.open_segment()
        self.block(body)
        self.close_segment()
        self.handlers.pop()
        self.open_segment()
        self.emit(f"goto {end}")
        for kind, name, code, label in labels:
            self.place(label)
            register = self.temp()
            self.emit(f"move-exception {register}")
            self.scopes.append({name: (register, kind)})
            self.block(code)
            self.scopes.pop()
            self.emit(f"goto {end}")
        self.place(end)
        self.close_segment()
        self.open_segment()

    def s_return(self, value: tuple | None) -> None:  # type: ignore[type-arg]
        if value is None:
            self.emit("return-void")
        else:
            self.emit(f"{self._op('return', self.method.ret)} {self.fitted(value, self.method.ret)}")

    def s_throw(self, value: tuple) -> None:  # type: ignore[type-arg]
        self.emit(f"throw {self.fitted(value, 'Throwable')}")

    # -- expressions -------------------------------------------------------------------------------------------

    def class_name(self, value: tuple) -> str | None:  # type: ignore[type-arg]
        if value[0] == "name" and self.lookup(value[1]) is None and value[1] in self.c.classes:
            return str(value[1])
        return None

    def index(self, value: tuple) -> str:  # type: ignore[type-arg]
        return self.unknown() if value[0] == "any" else self.value(value)[0]

    def value(self, value: tuple, wanted: bool = True) -> tuple[str, str]:  # type: ignore[type-arg]
        """(register, static type) of an expression."""
        kind = value[0]
        if kind == "name":
            found = self.lookup(value[1])
            if found is None:
                raise SyntaxError(f"no variable {value[1]}")
            return found
        if kind == "call":
            return self.call(value[1], value[2], value[3], wanted)
        if kind == "null":
            return self.null(), "null"
        result = self.temp()
        if kind == "number":
            self.emit(f"const/16 {result} {value[1]}")
            return result, "int"
        if kind == "string":
            self.emit(f"const-string {result} {value[1]}")
            return result, "String"
        if kind == "plus":
            left, right = self.value(value[1])[0], self.value(value[2])[0]
            self.emit(f"add-int {result} {left} {right}")
            return result, "int"
        if kind == "cast":
            return self.cast(self.value(value[2])[0], value[1]), value[1]
        if kind == "array":
            size = self.temp()
            self.emit(f"const/16 {size} 100")
            self.emit(f"new-array {result} {size} {self.c.descriptor(value[1])}")
            return result, value[1]
        if kind == "new":
            cls = self.c.classes[value[1]]
            self.emit(f"new-instance {result} {cls.descriptor}")
            if value[2] or any(m.name == "<init>" for m in cls.methods):
                self.invoke(
                    "invoke-direct", [result], *self.c.method(value[1], "<init>", len(value[2])), value[2], False
                )
            return result, value[1]
        if kind == "element":
            base, array = self.value(value[1])
            index = self.index(value[2])
            self.emit(f"{self._op('aget', array[:-2])} {result} {base} {index}")
            return result, array[:-2]
        owner = self.class_name(value[1])
        base, of = ("", owner) if owner else self.value(value[1])
        cls, field_kind, static = self.c.field(of, value[2])
        signature = f"{cls.descriptor}->{value[2]}:{self.c.descriptor(field_kind)}"
        if static:
            self.emit(f"{self._op('sget', field_kind)} {result} {signature}")
        else:
            self.emit(f"{self._op('iget', field_kind)} {result} {base} {signature}")
        return result, field_kind

    def call(self, base: tuple | None, name: str, args: list, wanted: bool) -> tuple[str, str]:  # type: ignore[type-arg]
        if base is None:
            owner = "Api" if name in _FUNCTIONS else self.cls.name
            cls, method = self.c.method(owner, name, len(args))
            first = [] if method.static else ["p0"]
        else:
            named = self.class_name(base)
            register, kind = ("", named) if named else self.value(base)
            cls, method = self.c.method(kind, name, len(args))
            first = [] if method.static else [register]
        return self.invoke("invoke-static" if method.static else "invoke-virtual", first, cls, method, args, wanted)

    def invoke(
        self,
        op: str,
        first: list[str],
        cls: Class,
        method: Method,
        args: list,
        wanted: bool,  # type: ignore[type-arg]
    ) -> tuple[str, str]:
        registers = first + [self.fitted(a, kind) for a, (kind, _) in zip(args, method.params, strict=True)]
        self.emit(" ".join([op, *registers, self.c.signature(cls, method)]))
        if method.ret == "void" or not wanted:
            return "", method.ret
        result = self.temp()
        self.emit(f"{self._op('move-result', method.ret)} {result}")
        return result, method.ret


_builtin: list[Class] = []


def parse(text: str) -> list[Class]:
    """The classes of a program, built-in ones first."""
    if not _builtin:
        _builtin.extend(Parser(BUILTIN).program())
    return [*_builtin, *Parser(text).program()]


def compile_program(text: str, shuffle: random.Random | None = None) -> Program:
    """The program of a text; raises SyntaxError."""
    return Compiler(parse(text), shuffle).run().program()
