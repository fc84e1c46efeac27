"""Code for the methods of a plan: calls as planned, and around them what real methods do, up to the planned size.

A body keeps a register per purpose (an unknown number, a string, an object …) and knows which of them hold something
on the straight line that it stands on, so that the code is well typed. Branches hang on unknown numbers only: the
analysis sees through constants, and all code must stay reachable.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from random import Random

from benchmarks.synthetic.library import (
    BUILDER,
    EXCEPTION,
    LIST,
    OBJECT,
    PHONE,
    STRING,
    THREAD,
    VIEW,
    LibraryCall,
    pick,
)
from benchmarks.synthetic.structure import Call, Class, Method, Plan, Role, Way
from tests.analyzer.dex.builder import Code, Writer

DESCRIPTORS = {"I": "I", "S": STRING, "O": OBJECT, "L": LIST, "B": "Landroid/os/Bundle;", "W": VIEW, "V": "V"}
_LOCALS = 11
"""Registers before the parameters, at most: one per purpose."""
_SMALL = 14
"""Methods up to this size are written twice, so that they have no more registers than they need."""


class Names:
    """Ids of one dex file for numbers of the plan."""

    def __init__(self, plan: Plan, writer: Writer) -> None:
        self.plan, self.writer = plan, writer
        self._methods: dict[int, int] = {}

    def descriptor(self, kind: str | int) -> str:
        return self.plan.classes[kind].name if isinstance(kind, int) else DESCRIPTORS[kind]

    def signature(self, m: Method) -> str:
        return f"({''.join(map(self.descriptor, m.params))}){self.descriptor(m.returns)}"

    def method(self, number: int) -> int:
        known = self._methods.get(number)
        if known is None:
            m = self.plan.methods[number]
            known = self.writer.method(self.plan.classes[m.cls].name, m.name, self.signature(m))
            self._methods[number] = known
        return known


def code(names: Names, number: int, rng: Random) -> Code:
    """The code item of a method; the same for the same state of `rng`."""
    m = names.plan.methods[number]
    seed = rng.getrandbits(62)
    body = Body(names, m, Random(seed), _LOCALS)
    body.write()
    if m.size <= _SMALL:
        body = Body(names, m, Random(seed), len(body.locals))
        body.write()
    locals_ = _LOCALS if m.size > _SMALL else len(body.locals)
    return Code(
        body.units, registers=locals_ + body.ins, ins=body.ins, outs=body.outs, tries=body.tries, refs=body.refs
    )


class Body:
    """One method on its way."""

    def __init__(self, names: Names, m: Method, rng: Random, locals_: int) -> None:
        self.names, self.plan, self.writer = names, names.plan, names.writer
        self.m, self.rng = m, rng
        self.cls: Class = self.plan.classes[m.cls]
        self.units: list[int] = []
        self.refs: list[tuple[str, int]] = []
        self.tries: list[tuple[int, int, list[tuple[str | int, int]], int | None]] = []
        self.count, self.outs = 0, 0
        self.locals: dict[str, int] = {}
        self.defined: set[str] = set()
        self.holds: str | int = ""  # type of what register X holds
        static = m.role in (Role.STATIC, Role.FACTORY, Role.INITIALISER)
        self.this = -1 if static else locals_
        self.base = locals_
        self.params = [(kind, locals_ + (not static) + i) for i, kind in enumerate(m.params)]
        self.ins = len(m.params) + (not static)
        self.ways: tuple[list[Callable[[], object]], list[int]] | None = None  # statements, with how often each
        self.open: list[tuple[str, int, int, set[str]]] = []  # kind, unit of the branch or head, end, what was defined

    # -- instructions -----------------------------------------------------------------------------------------------

    def emit(self, *units: int) -> None:
        self.units += units
        self.count += 1

    def with_id(self, first: int, table: str, number: int, *rest: int) -> None:
        self.refs.append((table, len(self.units) + 1))
        self.emit(first, number, *rest)

    def invoke(self, op: int, method: int, args: list[int]) -> None:
        """`op`: opcode of invoke-kind; the method is an id."""
        self.outs = max(self.outs, len(args))
        nibbles = [*args, 0, 0, 0, 0, 0]
        last = nibbles[4] if len(args) == 5 else 0
        packed = nibbles[0] | nibbles[1] << 4 | nibbles[2] << 8 | nibbles[3] << 12
        self.with_id(op | len(args) << 12 | last << 8, "methods", method, packed)

    def field(self, op: int, value: int, holder: int, owner: str, name: str, kind: str) -> None:
        self.with_id(op | value << 8 | holder << 12, "fields", self.writer.field(owner, name, kind))

    def static(self, op: int, value: int, owner: str, name: str, kind: str) -> None:
        self.with_id(op | value << 8, "fields", self.writer.field(owner, name, kind))

    def make(self, register: int, descriptor: str) -> None:
        self.with_id(0x22 | register << 8, "types", self.writer.type(descriptor))

    # -- values -----------------------------------------------------------------------------------------------------

    def local(self, purpose: str) -> int:
        register = self.locals.get(purpose)
        if register is None:
            register = self.locals[purpose] = len(self.locals)
        return register

    def define(self, purpose: str) -> int:
        """The register of a purpose that the next instruction writes."""
        self.defined.add(purpose)
        return self.local(purpose)

    def parameter(self, kind: str | int) -> int:
        """A parameter of this type, or -1."""
        found = [register for have, register in self.params if have == kind]
        return self.rng.choice(found) if found else -1

    def unknown(self) -> int:
        """A number that is no constant."""
        if "I" in self.defined:
            return self.locals["I"]
        known = self.parameter("I")
        if known >= 0:
            return known
        text = self.parameter("S")
        if text >= 0:
            self.invoke(0x6E, self.writer.method(STRING, "length", "()I"), [text])
        else:
            self.invoke(0x71, self.writer.method(THREAD, "activeCount", "()I"), [])
        register = self.define("I")
        self.emit(0x0A | register << 8)
        return register

    def value(self, kind: str | int) -> int:
        """A register that holds a value of a type."""
        rng = self.rng
        known = self.parameter(kind)
        if known >= 0 and rng.random() < 0.6:
            return known
        if isinstance(kind, int):
            return self.object_of(kind)
        if kind in self.defined:
            return self.locals[kind]
        if kind == "I":
            register = self.define("K")
            self.emit(0x13 | register << 8, rng.randrange(30_000))
        elif kind == "S":
            register = self.text()
        elif kind == "O":
            if self.this >= 0 and rng.random() < 0.4:
                return self.this
            return self.value("S")
        elif kind == "L":
            register = self.define("L")
            self.make(register, LIST)
            self.invoke(0x70, self.writer.method(LIST, "<init>"), [register])
        elif kind == "T":
            self.invoke(0x71, self.writer.method(PHONE, "getDefault", f"(){PHONE}"), [])
            register = self.local("Y")
            self.emit(0x0C | register << 8)
        else:
            register = self.local("N")
            self.emit(0x12 | register << 8)
        return register

    def text(self) -> int:
        register = self.define("S")
        word = f"text {int(2_000 * self.rng.random() ** 2)}"
        self.with_id(0x1A | register << 8, "strings", self.writer.string(word))
        return register

    def object_of(self, cls: int) -> int:
        """An object of an app class: this, a parameter, what a field or static holds, or null."""
        if self.this >= 0 and cls == self.m.cls:
            return self.this
        if "X" in self.defined and self.holds == cls:
            return self.locals["X"]
        c = self.plan.classes[cls]
        if c.singleton:
            register = self.local("Y")
            self.static(0x62, register, c.name, "INSTANCE", c.name)
            return register
        if self.this >= 0 and cls in self.cls.fields:
            register = self.local("Y")
            self.field(0x54, register, self.this, self.cls.name, f"f{self.cls.fields.index(cls)}", c.name)
            return register
        register = self.local("N")
        self.emit(0x12 | register << 8)
        return register

    # -- the whole --------------------------------------------------------------------------------------------------

    def write(self) -> None:
        m = self.m
        if m.role is Role.FACTORY:
            self.factory()
            return
        if m.role is Role.INITIALISER:
            self.call(m.calls[0])
            self.static(0x69, self.locals["X"], self.cls.name, "INSTANCE", self.cls.name)
            self.emit(0x0E)
            return
        calls = list(m.calls)
        self.start(calls)
        guarded = m.size > 12 and self.rng.random() < 0.06
        start = len(self.units)
        left = len(calls)
        rest = max(1, m.size - self.count - 1)
        begin = self.count
        for i, call in enumerate(calls):
            while self.count - begin < rest * (i + 1) // (left + 1) - 2:
                self.something()
            self.call(call)
        while self.count < m.size - 2:
            self.something()
        while self.open:
            self.close()
        end = len(self.units)
        self.leave()
        if guarded and end > start:
            self.tries.append((start, end - start, [(EXCEPTION, len(self.units))], None))
            self.defined, self.holds = set(), ""
            self.emit(0x0D | self.define("E") << 8)
            self.leave()

    def start(self, calls: list[Call]) -> None:
        """What constructors and overridden lifecycle methods begin with."""
        if self.m.role is Role.CONSTRUCTOR:
            if calls and calls[0].way is Way.SUPER:
                self.call(calls.pop(0))
            else:
                up = self.cls.superclass
                base = self.names.descriptor(up) if isinstance(up, int) else up
                self.invoke(0x70, self.writer.method(base, "<init>"), [self.this])
            for i, kind in enumerate(self.cls.fields):
                if not isinstance(kind, int) and self.rng.random() < 0.4:
                    self.put(i)
        elif self.m.role is Role.ENTRY:
            method = self.writer.method(str(self.cls.superclass), self.m.name, self.names.signature(self.m))
            self.invoke(0x6F, method, [self.this, *(register for _, register in self.params)])

    def leave(self) -> None:
        kind = self.m.returns
        if kind == "V":
            self.emit(0x0E)
        elif kind == "I":
            self.emit(0x0F | self.value("I") << 8)
        else:
            self.emit(0x11 | self.value(kind) << 8)

    def factory(self) -> None:
        """A chain of comparisons with the parameter: one of several classes."""
        number = self.params[0][1]
        for i, call in enumerate(self.m.calls):
            last = i == len(self.m.calls) - 1
            if not last:
                register = self.define("K")
                self.emit(0x13 | register << 8, i)
                at = len(self.units)
                self.emit(0x33 | register << 8 | number << 12, 0)
            self.call(call)
            self.emit(0x11 | self.locals["X"] << 8)
            if not last:
                self.units[at + 1] = len(self.units) - at
                self.defined = set()

    # -- calls of the app's methods -----------------------------------------------------------------------------------

    def call(self, call: Call) -> None:
        callee = self.plan.methods[call.callee]
        c, way = self.plan.classes[callee.cls], call.way
        if way is Way.STATIC:
            self.pass_on(0x71, call.callee, [])
        elif way is Way.THIS:
            self.pass_on(0x70 if callee.role is Role.CONSTRUCTOR else 0x6E, call.callee, [self.this])
        elif way is Way.SUPER:
            self.pass_on(0x70, call.callee, [self.this])
        elif way is Way.FIELD:
            register = self.register_of_object(callee.cls)
            self.field(0x54, register, self.this, self.cls.name, f"f{call.field}", c.name)
            self.pass_on(0x6E, call.callee, [register])
        elif way is Way.SINGLETON:
            register = self.register_of_object(callee.cls)
            self.static(0x62, register, c.name, "INSTANCE", c.name)
            self.pass_on(0x6E, call.callee, [register])
        elif way is Way.FAMILY:
            self.pass_on(0x71, c.factory, [])
            register = self.register_of_object(callee.cls)
            self.emit(0x0C | register << 8)
            self.pass_on(0x72, call.callee, [register])
        else:
            self.made(call, callee, c)

    def made(self, call: Call, callee: Method, c: Class) -> None:
        """A call on a new object."""
        register = self.register_of_object(callee.cls)
        self.make(register, c.name)
        self.pass_on(0x70, c.constructor, [register])
        if callee.role is not Role.CONSTRUCTOR:
            self.pass_on(0x6E, call.callee, [register])
        elif call.way is Way.OWNED:
            self.field(0x5B, register, self.this, self.cls.name, f"f{call.field}", c.name)
        elif call.way is Way.THREAD:
            thread = self.local("Y")
            self.make(thread, THREAD)
            self.invoke(0x70, self.writer.method(THREAD, "<init>", "(Ljava/lang/Runnable;)V"), [thread, register])
            self.invoke(0x6E, self.writer.method(THREAD, "start"), [thread])
        elif call.way is Way.LISTENER:
            view, nothing = self.local("Y"), self.local("N")
            self.make(view, VIEW)
            self.emit(0x12 | nothing << 8)
            self.invoke(0x70, self.writer.method(VIEW, "<init>", "(Landroid/content/Context;)V"), [view, nothing])
            listen = self.writer.method(VIEW, "setOnClickListener", "(Landroid/view/View$OnClickListener;)V")
            self.invoke(0x6E, listen, [view, register])

    def register_of_object(self, cls: int) -> int:
        self.holds = cls
        return self.define("X")

    def pass_on(self, op: int, number: int, receiver: list[int]) -> None:
        """Invokes an app method with what is at hand, and keeps the result."""
        callee = self.plan.methods[number]
        holds = self.holds
        if receiver and receiver[0] == self.locals.get("X"):
            self.defined.discard("X")  # being made: not an argument yet
        if callee.role is Role.FACTORY:
            args = [self.unknown()]
        else:
            args = [self.value(kind) for kind in callee.params]
        self.invoke(op, self.names.method(number), [*receiver, *args])
        if receiver and receiver[0] == self.locals.get("X"):
            self.defined.add("X")
            self.holds = holds
        self.result(callee.returns if callee.role is not Role.FACTORY else "V")

    def result(self, kind: str | int) -> None:
        if kind == "V" or self.rng.random() < 0.25:
            return
        if kind == "I":
            self.emit(0x0A | self.define("I") << 8)
        else:
            purpose = kind if isinstance(kind, str) else "O"
            self.emit(0x0C | self.define(purpose) << 8)

    # -- what stands between calls ------------------------------------------------------------------------------------

    def something(self) -> None:
        """One statement, or the beginning or end of a branch."""
        if self.open and self.count >= self.open[-1][2]:
            self.close()
            return
        if self.ways is None:
            ways: list[tuple[int, Callable[[], object]]] = [
                *((18, self.library), (12, self.branch), (10, self.arithmetic), (6, self.text), (2, self.loop)),
                *((4, self.build_text), (4, self.list_of), (3, self.cast), (2, self.array), (3, self.move)),
            ]
            if self.this >= 0 and self.cls.fields:
                ways += [(18, self.get), (10, self.put)]
            if self.cls.statics:
                ways.append((8, self.shared))
            self.ways = [way for _, way in ways], list(accumulate(weight for weight, _ in ways))
        self.rng.choices(self.ways[0], cum_weights=self.ways[1])[0]()

    def branch(self) -> None:
        if len(self.open) > 3:
            return self.arithmetic()
        number = self.unknown()
        at = len(self.units)
        self.emit((0x38 + self.rng.randrange(6)) | number << 8, 0)
        self.open.append(("if", at, self.count + self.rng.randint(2, 9), set(self.defined)))

    def loop(self) -> None:
        if len(self.open) > 3:
            return
        self.unknown()
        self.defined.discard("X")
        self.open.append(("loop", len(self.units), self.count + self.rng.randint(4, 12), set(self.defined)))
        self.library()

    def close(self) -> None:
        kind, at, _, defined = self.open.pop()
        self.defined.discard("X")  # of whichever class, depending on the way here
        if kind == "loop":
            number = self.unknown()
            here = len(self.units)
            self.emit(0x39 | number << 8, at - here)
            return
        if kind == "if" and self.rng.random() < 0.4:
            here = len(self.units)
            self.emit(0x29, 0)
            self.units[at + 1] = len(self.units) - at
            self.defined = set(defined)
            self.open.append(("else", here, self.count + self.rng.randint(1, 6), defined))
            self.arithmetic()
            return
        if len(self.units) == at + 2:
            self.arithmetic()
        self.units[at + 1] = len(self.units) - at
        self.defined &= defined

    def arithmetic(self) -> None:
        number = self.unknown()
        self.emit(0xD8 | self.define("I") << 8, number | self.rng.randrange(1, 100) << 8)

    def move(self) -> None:
        source = self.value("O")
        self.emit(0x07 | self.define("O") << 8 | source << 12)

    def cast(self) -> None:
        self.move()
        register = self.locals["O"]
        text = self.define("S")
        self.emit(0x07 | text << 8 | register << 12)
        self.with_id(0x1F | text << 8, "types", self.writer.type(STRING))

    def array(self) -> None:
        number = self.unknown()
        made = self.local("A")
        self.with_id(0x23 | made << 8 | number << 12, "types", self.writer.type(f"[{OBJECT}"))
        stored = self.value("O")
        self.emit(0x4D | stored << 8, made | number << 8)
        self.emit(0x46 | self.define("O") << 8, made | number << 8)

    def list_of(self) -> None:
        have = self.value("L")
        item = self.value("O")
        self.invoke(0x6E, self.writer.method(LIST, "add", f"({OBJECT})Z"), [have, item])
        if self.rng.random() < 0.6:
            number = self.unknown()
            self.invoke(0x6E, self.writer.method(LIST, "get", f"(I){OBJECT}"), [have, number])
            self.emit(0x0C | self.define("O") << 8)

    def build_text(self) -> None:
        built = self.local("A")
        self.make(built, BUILDER)
        self.invoke(0x70, self.writer.method(BUILDER, "<init>"), [built])
        for _ in range(self.rng.randint(1, 3)):
            self.invoke(0x6E, self.writer.method(BUILDER, "append", f"({STRING}){BUILDER}"), [built, self.value("S")])
        self.invoke(0x6E, self.writer.method(BUILDER, "toString", f"(){STRING}"), [built])
        self.emit(0x0C | self.define("S") << 8)

    def library(self) -> None:
        made: LibraryCall = pick(self.rng, own=self.cls.package == 0)
        receiver = [self.value(made.receiver)] if made.receiver else []
        args = [self.value(kind) for kind in made.params]
        self.invoke(made.op, self.writer.method(made.owner, made.name, made.descriptor), [*receiver, *args])
        self.result(made.returns)

    def get(self) -> None:
        at = self.rng.randrange(len(self.cls.fields))
        kind = self.cls.fields[at]
        owner, name, descriptor = self.cls.name, f"f{at}", self.names.descriptor(kind)
        if isinstance(kind, int):
            self.field(0x54, self.register_of_object(kind), self.this, owner, name, descriptor)
        else:
            self.field(0x52 if kind == "I" else 0x54, self.define(kind), self.this, owner, name, descriptor)

    def put(self, at: int = -1) -> None:
        at = self.rng.randrange(len(self.cls.fields)) if at < 0 else at
        kind = self.cls.fields[at]
        register = self.value(kind)
        self.field(0x59 if kind == "I" else 0x5B, register, self.this, self.cls.name, f"f{at}",
                   self.names.descriptor(kind))  # fmt: skip

    def shared(self) -> None:
        """Reads or writes a static field of the class."""
        at = self.rng.randrange(len(self.cls.statics))
        kind = str(self.cls.statics[at])
        if self.rng.random() < 0.6:
            self.static(0x60 if kind == "I" else 0x62, self.define(kind), self.cls.name, f"s{at}", DESCRIPTORS[kind])
        else:
            self.static(0x67 if kind == "I" else 0x69, self.value(kind), self.cls.name, f"s{at}", DESCRIPTORS[kind])
