"""What a synthetic app consists of: classes, methods and who calls whom, all of it reachable.

Shape and sizes follow what was measured on three real apps (433,000 to 1.2 million instructions): half of the methods
have up to 5 instructions, 1 % more than 140; half call no method of the app; calls form a DAG some tens of methods deep
with small cycles and, for each 10,000 methods, one of some tens of methods; most virtual calls have one target, some
up to 40. About 3 % of the code is the app's own, the rest are libraries of 2,000 methods each.

Each method but the entry points is *attached*: some method that is there already calls it, in a way that type
propagation follows. So everything is reachable, and depths grow with the logarithm of the size. More calls then go
from shallow methods to deep ones, so that no cycle comes from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from random import Random

LIBRARY_METHODS = 2_000
"""Methods of one library."""
OWN_SHARE = 0.03
"""Share of methods in the app's own classes."""
ACTIVITY_METHODS = 5_000
"""For each so many methods there is one more activity."""
CYCLE_METHODS = 10_000
"""For each so many methods there is one more large cycle."""
ACTIVITY = "Landroid/app/Activity;"
CUT = 20
"""Targets of a virtual call over which not all of them are reached by it."""
_SIZES = ((0, 2), (0.25, 3), (0.5, 5), (0.75, 13), (0.9, 33), (0.99, 140), (0.999, 500), (0.99999, 2_000), (1, 9_000))
_TARGETS = ((0.6, 2), (0.9, 5), (0.99, 20), (1, 40))


class Role(Enum):
    """What a method is in its class."""

    STATIC = "static"
    INSTANCE = "instance"
    CONSTRUCTOR = "constructor"
    INITIALISER = "class initialiser"
    FACTORY = "makes an object of one of several classes"
    ABSTRACT = "abstract"
    ENTRY = "called by Android"


class Way(Enum):
    """How a caller gets at the receiver."""

    STATIC = "needs none"
    THIS = "its own object"
    NEW = "makes it"
    SUPER = "the superclass's constructor on its own object"
    FIELD = "a field of its own object"
    OWNED = "makes it and keeps it in a field of its own object"
    SINGLETON = "a static field"
    FAMILY = "a factory that makes one of several classes"
    THREAD = "makes it and starts it as a thread"
    LISTENER = "makes it and registers it"


@dataclass(slots=True)
class Call:
    """A call of an app method; `field` is the number of a field of the caller's class where `way` needs one."""

    way: Way
    callee: int
    field: int = -1


@dataclass(slots=True)
class Method:
    """A method. Types are "I", "S" (String), "O" (Object), "L" (ArrayList), "V" (none) or numbers of classes."""

    cls: int
    role: Role
    size: int
    params: tuple[str | int, ...] = ()
    returns: str | int = "V"
    name: str = ""
    depth: int = 0
    parent: int = -1
    calls: list[Call] = field(default_factory=list)


@dataclass(slots=True)
class Class:
    """A class, its fields (all types as in `Method`) and its methods by number."""

    name: str
    package: int
    superclass: int | str = "Ljava/lang/Object;"
    interfaces: tuple[int | str, ...] = ()
    is_interface: bool = False
    is_abstract: bool = False
    constructor: int = -1
    singleton: bool = False
    factory: int = -1
    """For the base of a family: the method that makes its objects."""
    implementations: tuple[int, ...] = ()
    fields: list[str | int] = field(default_factory=list)
    statics: list[str | int] = field(default_factory=list)
    methods: list[int] = field(default_factory=list)


@dataclass
class Plan:
    """A whole app."""

    classes: list[Class] = field(default_factory=list)
    methods: list[Method] = field(default_factory=list)
    activities: list[int] = field(default_factory=list)

    @property
    def with_code(self) -> int:
        """Methods that have code: all of them can be reached."""
        return sum(m.role is not Role.ABSTRACT for m in self.methods)


def plan(n_methods: int, seed: int = 0) -> Plan:
    """The app of `n_methods` methods with code for this seed.

    Raises:
        ValueError: fewer than 20 methods.
    """
    if n_methods < 20:
        raise ValueError("a synthetic app has at least 20 methods")
    return _Planner(n_methods, Random(f"{n_methods}/{seed}")).run()


class _Planner:
    def __init__(self, n_methods: int, rng: Random) -> None:
        self.rng, self.left = rng, n_methods
        self.plan = Plan()
        self.classes, self.methods = self.plan.classes, self.plan.methods
        self.free: list[int] = []  # per method: calls that it has room for
        self.here: list[int] = []  # methods of this package with room, once per call
        self.anywhere: list[int] = []
        self.packages: list[list[int]] = []  # methods that may be called more often

    def run(self) -> Plan:
        total, rng = self.left, self.rng
        self.packages.append([])
        for _ in range(min(1 + total // ACTIVITY_METHODS, total // 10)):
            self._activity()
        libraries = total - max(self.left // 10, int(OWN_SHARE * total))
        self._fill(min(self.left, libraries))
        while self.left:
            self.anywhere += self.here
            self.here = []
            self.packages.append([])
            self._fill(max(0, self.left - LIBRARY_METHODS))
        self.anywhere += self.here
        self._cycles(total)
        rng.shuffle(self.anywhere)
        self._more_calls()
        return self.plan

    def _fill(self, until: int) -> None:
        """Classes for the current package until so many methods are left for others."""
        while self.left > until:
            self._class(self.left - until)

    # -- classes ----------------------------------------------------------------------------------------------------

    def _class(self, room: int) -> None:
        rng = self.rng
        kind = rng.random()
        if kind < 0.07 and room >= 8:
            self._family(room)
        elif kind < 0.09 and room >= 2:
            self._runner(Way.THREAD, "Ljava/lang/Runnable;", "run", ())
        elif kind < 0.10 and room >= 2:
            self._runner(Way.LISTENER, "Landroid/view/View$OnClickListener;", "onClick", ("W",))
        elif kind < 0.26 or room < 2:
            self._utilities(room)
        else:
            self._objects(room)

    def _new_class(self, **facts: object) -> int:
        package = len(self.packages) - 1
        number = len(self.classes)
        where = "com/example/app" if package == 0 else f"org/lib{package}/p{number // 40 % 12}"
        self.classes.append(Class(f"L{where}/C{number};", package, **facts))  # type: ignore[arg-type]
        return number

    def _utilities(self, room: int) -> None:
        cls = self._new_class()
        for _ in range(min(room, self._class_size())):
            parent = self._slot()
            self._attach(self._method(cls, Role.STATIC, signature=True), parent, Way.STATIC)

    def _objects(self, room: int) -> None:
        cls = self._new_class(singleton=self.rng.random() < 0.06)
        c, rng = self.classes[cls], self.rng
        self._fields(c)
        parent = self._slot()  # before there is something new, which nothing leads to yet
        constructor = self._constructor(cls)
        caller = self.methods[parent]
        owned = caller.role is not Role.STATIC and caller.role is not Role.FACTORY and rng.random() < 0.5
        at = -1
        if owned:
            at = len(self.classes[caller.cls].fields)
            self.classes[caller.cls].fields.append(cls)
        self._attach(constructor, parent, Way.OWNED if owned else Way.NEW, at)
        self._extend(cls)
        room -= 1
        if room and c.singleton:
            self._initialiser(cls)
            room -= 1
        for _ in range(min(room, self._class_size())):
            way = self._way_to(cls, caller.cls if owned else -1, at)
            self._attach(self._method(cls, Role.INSTANCE, signature=True), *way)

    def _family(self, room: int) -> None:
        """A base, classes that implement it, and a factory that makes one of them."""
        rng = self.rng
        pick = rng.random()
        low, high = 2, 2
        for share, most in _TARGETS:
            high = most
            if pick < share:
                break
            low = most + 1
        n_ops = 1 + (high <= CUT and rng.random() < 0.3)
        k = min(rng.randint(low, high), (room - 1) // (1 + n_ops))
        base = self._new_class(is_interface=True, is_abstract=True)
        ops = []
        for _ in range(n_ops):
            ops.append(self._method(base, Role.ABSTRACT, signature=True))
        makers = self._new_class()
        parent = self._slot()
        factory = self._method(makers, Role.FACTORY)
        self.methods[factory].params, self.methods[factory].returns = ("I",), base
        self.methods[factory].size = 2 + 5 * k
        self._attach(factory, parent, Way.STATIC)
        del self.methods[parent].calls[-1]  # it comes with the call of the base's method
        found = []
        for _ in range(k):
            cls = self._new_class(interfaces=(base,))
            found.append(cls)
            self._fields(self.classes[cls])
            self._attach(self._constructor(cls), factory, Way.NEW, forced=True)
            for op in ops:
                m = self._method(cls, Role.INSTANCE)
                done, model = self.methods[m], self.methods[op]
                done.params, done.returns, done.name = model.params, model.returns, model.name
                done.depth, done.parent = self.methods[parent].depth + 1, parent
                if k > CUT:  # the analysis gives such calls up
                    self.methods[factory].calls[-1].callee = m
                    done.depth, done.parent = self.methods[factory].depth + 1, factory
        self.classes[base].factory, self.classes[base].implementations = factory, tuple(found)
        for op in ops:
            self.methods[op].depth = self.methods[factory].depth
            self.methods[parent].calls.append(Call(Way.FAMILY, op))
            self.packages[-1].append(op)

    def _runner(self, way: Way, interface: str, name: str, params: tuple[str, ...]) -> None:
        cls = self._new_class(interfaces=(interface,))
        self._fields(self.classes[cls])
        parent = self._slot()
        self._attach(self._constructor(cls), parent, way)
        m = self._method(cls, Role.INSTANCE)
        body = self.methods[m]
        body.name, body.size = name, max(body.size, 6)
        body.params = params
        body.depth, body.parent = self.methods[parent].depth + 1, parent

    def _activity(self) -> None:
        cls = self._new_class(superclass=ACTIVITY)
        self.plan.activities.append(cls)
        self._fields(self.classes[cls])
        constructor = self._method(cls, Role.CONSTRUCTOR)
        self.classes[cls].constructor = constructor
        self.methods[constructor].name, self.methods[constructor].size = "<init>", 4
        for name, params in (("onCreate", ("B",)), ("onResume", ()), ("onPause", ())):
            m = self._method(cls, Role.ENTRY, least=40)
            self.methods[m].name, self.methods[m].params = name, params

    # -- members ----------------------------------------------------------------------------------------------------

    def _fields(self, c: Class) -> None:
        for _ in range(min(40, int(self.rng.expovariate(1 / 2.2)))):
            c.fields.append(self.rng.choices(("I", "S", "O", "L"), (50, 28, 12, 10))[0])
        if self.rng.random() < 0.1:
            c.statics.append(self.rng.choices(("I", "S", "O", "L"), (50, 25, 10, 15))[0])

    def _method(self, cls: int, role: Role, signature: bool = False, least: int = 2) -> int:
        """A method with room for calls that fits its size; abstract ones cost nothing."""
        rng, number = self.rng, len(self.methods)
        size = max(least, _interpolate(_SIZES, rng.random()))
        m = Method(cls, role, size, name=f"m{len(self.classes[cls].methods)}")
        if signature:
            m.params = tuple(self._type(cls) for _ in range(rng.choices((0, 1, 2, 3), (40, 35, 17, 8))[0]))
            m.returns = "V" if rng.random() < 0.45 else self._type(cls)
        self.methods.append(m)
        self.classes[cls].methods.append(number)
        room = 0
        if role in (Role.STATIC, Role.INSTANCE, Role.CONSTRUCTOR, Role.ENTRY):
            room = int(0.125 * max(0, size - 3) + rng.random())
        self.free.append(room)
        if role is not Role.ABSTRACT:
            self.left -= 1
            self.here += [number] * room
            if role is Role.STATIC:
                self.packages[-1].append(number)
        return number

    def _type(self, cls: int) -> str | int:
        kind = self.rng.choices("ISOLC", (30, 28, 22, 5, 15))[0]
        return cls if kind == "C" else kind

    def _constructor(self, cls: int) -> int:
        m = self._method(cls, Role.CONSTRUCTOR)
        body = self.methods[m]
        body.name, body.size = "<init>", min(body.size, 60)
        body.params = tuple(self.rng.choices(("I", "S", "O"), k=self.rng.choices((0, 1, 2), (5, 3, 2))[0]))
        self.classes[cls].constructor = m
        if self.rng.random() < 0.3:
            self.packages[-1].append(m)
        return m

    def _initialiser(self, cls: int) -> None:
        m = self._method(cls, Role.INITIALISER)
        body, constructor = self.methods[m], self.methods[self.classes[cls].constructor]
        body.name, body.size = "<clinit>", 4
        body.depth = constructor.depth - 1
        body.calls.append(Call(Way.NEW, self.classes[cls].constructor))

    def _extend(self, cls: int) -> None:
        """Now and then gives a class a superclass of the same library whose constructor is deeper."""
        if self.rng.random() > 0.35 or not self.packages[-1]:
            return
        own = self.methods[self.classes[cls].constructor]
        for _ in range(4):
            callee = self.rng.choice(self.packages[-1])
            m = self.methods[callee]
            if m.role is Role.CONSTRUCTOR and m.depth > own.depth and not self.classes[m.cls].singleton:
                self.classes[cls].superclass = m.cls
                own.calls.insert(0, Call(Way.SUPER, callee))
                return

    def _class_size(self) -> int:
        """Methods of a class besides its constructor: 4 at the median, 6 on average."""
        return max(1, min(150, round(self.rng.lognormvariate(math.log(4), 0.9))))

    # -- calls ------------------------------------------------------------------------------------------------------

    def _slot(self) -> int:
        """A method with room for one more call, mostly of this package."""
        while True:
            pool = self.here if self.here and (self.rng.random() < 0.9 or not self.anywhere) else self.anywhere
            if not pool:
                return self._enlarged()
            at = max(self.rng.randrange(len(pool)), self.rng.randrange(len(pool)), key=self._depth_in(pool))
            pool[at], pool[-1] = pool[-1], pool[at]
            number = pool.pop()
            if self.free[number] > 0:
                self.free[number] -= 1
                return number

    def _depth_in(self, pool: list[int]) -> Callable[[int], int]:
        """Deep methods are picked more often: graphs as deep as real ones."""
        return lambda at: self.methods[pool[at]].depth

    def _enlarged(self) -> int:
        """Some method that makes room by growing."""
        while True:
            number = self.rng.randrange(len(self.methods))
            if self.methods[number].role in (Role.STATIC, Role.INSTANCE, Role.ENTRY):
                self.methods[number].size += 5
                return number

    def _attach(self, m: int, parent: int, way: Way, at: int = -1, forced: bool = False) -> None:
        caller = self.methods[parent]
        self.methods[m].depth, self.methods[m].parent = caller.depth + 1, parent
        caller.calls.append(Call(way, m, at))
        if self.methods[m].role is Role.INSTANCE and not forced:
            self.packages[-1].append(m)

    def _way_to(self, cls: int, owner: int, at: int) -> tuple[int, Way, int]:
        """A caller for one more method of a class: of its owner, of itself, or any, with how it gets the object."""
        rng, c = self.rng, self.classes[cls]
        if owner >= 0 and rng.random() < 0.5:
            found = self._with_room(owner)
            if found >= 0 and self.methods[found].role is not Role.STATIC:
                return found, Way.FIELD, at
        if rng.random() < 0.6:
            found = self._with_room(cls)
            if found >= 0:
                return found, Way.THIS, -1
        for _ in range(3):
            parent = self._slot()
            caller = self.methods[parent]
            if caller.cls == cls and caller.role is not Role.STATIC:
                return parent, Way.THIS, -1
            if c.singleton:
                return parent, Way.SINGLETON, -1
            if caller.depth < self.methods[c.constructor].depth:
                return parent, Way.NEW, -1
            self.free[parent] += 1
            self.anywhere.append(parent)
        constructor = self.methods[c.constructor]
        constructor.size += 2
        return c.constructor, Way.THIS, -1

    def _with_room(self, cls: int) -> int:
        """A method of the class with room for a call, or -1."""
        methods = self.classes[cls].methods
        for _ in range(3):
            number = self.rng.choice(methods)
            if self.free[number] > 0:
                self.free[number] -= 1
                return number
        return -1

    def _cycles(self, total: int) -> None:
        """Small cycles here and there, and large ones: descendants of a method that call it."""
        rng = self.rng
        for _ in range(total // 80):
            number = self._slot()
            up = number
            for _ in range(min(4, int(rng.expovariate(0.7)))):
                up = self.methods[up].parent if self.methods[up].parent >= 0 else up
            self._call(number, up, cycle=True)
        for _ in range(max(1, total // CYCLE_METHODS)):
            top = rng.randrange(len(self.methods))
            for _ in range(6):
                top = self.methods[top].parent if self.methods[top].parent >= 0 else top
            below = [n for n in self.packages[self.classes[self.methods[top].cls].package] if self._is_below(n, top)]
            for number in rng.sample(below, min(len(below), 40)):
                if self.free[number] > 0:
                    self.free[number] -= 1
                    self._call(number, top, cycle=True)

    def _is_below(self, number: int, top: int) -> bool:
        for _ in range(20):
            if number == top:
                return True
            number = self.methods[number].parent
            if number < 0:
                return False
        return False

    def _more_calls(self) -> None:
        """Fills the room that is left: some deeper method of the same package, or of any; popular ones often."""
        rng = self.rng
        for package in self.packages:
            package.sort(key=lambda n: -self.methods[n].depth)
        hubs = [n for package in self.packages for n in package[: max(5, len(package) // 50)]]
        for number in self.anywhere:
            if self.free[number] <= 0:
                continue
            self.free[number] -= 1
            package = self.packages[self.classes[self.methods[number].cls].package]
            for _ in range(4):
                near = package and rng.random() < 0.75
                callee = package[int(len(package) * rng.random() ** 2)] if near else rng.choice(hubs)
                if self._call(number, callee):
                    break

    def _call(self, number: int, callee: int, cycle: bool = False) -> bool:
        """Adds a call where the caller can get at the receiver; unless it may be a cycle, only of deeper methods."""
        caller, m = self.methods[number], self.methods[callee]
        c = self.classes[m.cls]
        deepest = m.depth
        if m.role is Role.STATIC:
            way, at = Way.STATIC, -1
        elif m.role is Role.ABSTRACT:
            way, at = Way.FAMILY, -1
        elif m.role is Role.CONSTRUCTOR and c.superclass != ACTIVITY:
            way, at = Way.NEW, -1
        elif m.role is Role.INSTANCE and not c.is_abstract:
            static = caller.role in (Role.STATIC, Role.FACTORY)
            at = -1
            if not static and caller.cls == m.cls:
                way = Way.THIS
            elif not static and m.cls in self.classes[caller.cls].fields:
                way, at = Way.FIELD, self.classes[caller.cls].fields.index(m.cls)
            elif c.singleton:
                way = Way.SINGLETON
            elif self.rng.random() < 0.3:
                way, deepest = Way.NEW, min(m.depth, self.methods[c.constructor].depth)
            else:
                return False
        else:
            return False
        if not cycle and deepest <= caller.depth:
            return False
        caller.calls.append(Call(way, callee, at))
        return True


def _interpolate(points: tuple[tuple[float, int], ...], share: float) -> int:
    """The quantile at `share`, between given ones on a logarithmic scale."""
    (low, start), *rest = points
    for high, end in rest:
        if share <= high:
            return round(start * (end / start) ** ((share - low) / (high - low)))
        low, start = high, end
    return points[-1][1]
