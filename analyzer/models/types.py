"""What gdroid knows about library methods, as frozen records.

Everything here is read from YAML by `analyzer.models.schema` and handed out by `analyzer.models.Knowledge`.
Descriptors are those of dex files: 'Landroid/app/Activity;', '(I)V'.
"""

from __future__ import annotations

from dataclasses import dataclass, field

STATIC = "static:"


@dataclass(frozen=True, slots=True, order=True)
class Access:
    """A place relative to one call: a base and the fields that are followed from there.

    base    'this', 'arg0' … (arg0 is the first declared parameter), 'ret', the name of an earlier step (in shims),
            or 'static:NAME': the app-wide object of that name, see `Singleton`.
    fields  field names. Pseudo fields: '$elem' (elements; read: of every key, written: of an unknown key),
            '$elem[arg0]' (the element whose constant key or index that argument gives; as '$elem' when it is not
            constant), '$elem[*]' (only on both sides of a flow: every key is copied to the same key), '$key',
            '$value', '$target' and other names with '$'. '*' comes last: everything reachable from there,
            that place included.
    key     only with 'static:': the parameter whose constant value tells apart objects of one name, as in
            'static:views[arg0]'. To ignore it is sound: it merges the objects.

    Reading a path works like loads do (semantics.md, 3): the labels of every reference on the way come along. '$value'
    holds data only; objects are kept in '$held', '$elem', '$key', '$target' … Elements of arrays are '#any'. Names
    without '$' are fields of framework classes ('obj' of a Message).
    """

    base: str
    fields: tuple[str, ...] = ()
    key: str | None = None

    @property
    def argument(self) -> int:
        """Index of the declared parameter that is the base, or -1."""
        return int(self.base[3:]) if self.base.startswith("arg") and self.base[3:].isdigit() else -1

    @property
    def singleton(self) -> str | None:
        """Name of the app-wide object that is the base, or None."""
        return self.base[len(STATIC) :] if self.base.startswith(STATIC) else None

    def __str__(self) -> str:
        base = f"{self.base}[{self.key}]" if self.key else self.base
        return ".".join((base, *self.fields))


@dataclass(frozen=True, slots=True)
class Flow:
    """`source -> target` copies references and data, `source ~> target` (data) only labels and what stands for them."""

    source: Access
    target: Access
    data: bool

    def __str__(self) -> str:
        return f"{self.source} {'~>' if self.data else '->'} {self.target}"


@dataclass(frozen=True, slots=True)
class LibraryModel:
    """What a library method does with its arguments. No flows: it does nothing that matters.

    Order of effects: `fresh`, `creates` in order, then all flows at once (they read the state before the call).
    """

    id: str
    flows: tuple[Flow, ...] = ()
    fresh: bool = False
    """The result is a new object of the declared return type."""
    creates: tuple[tuple[Access, str], ...] = ()
    """New objects (place, type descriptor) that the call puts into fields, such as the entries of a map's entry set."""
    sanitizer: bool = False
    """The result carries neither labels nor formals."""
    escapes: bool = False
    """The arguments may be called back later, also where their declared types are classes (receivers, observers)."""
    begins: bool = False
    """The receiver is called back from now on (a dialog that is shown)."""


@dataclass(frozen=True, slots=True)
class Source:
    """A place at which private or foreign data comes in.

    `at` starts with 'ret' or, for parameters of callbacks and for what a call fills, with 'arg0' …
    """

    kind: str
    at: Access
    id: str
    when: str | None = None
    """Name of a `Condition` that must hold too, or None."""


@dataclass(frozen=True, slots=True)
class Sink:
    """Places of a call at which data goes out."""

    kind: str
    at: tuple[Access, ...]
    reach: bool
    """Take everything reachable from the place, not only what the reference itself carries."""
    id: str
    when: str | None = None


@dataclass(frozen=True, slots=True)
class Condition:
    """What a `when` asks beyond the method's name. An analysis that cannot decide it takes it as true."""

    name: str
    text: str
    at: Access | None = None
    """The place that it speaks of."""
    types: tuple[str, ...] = ()
    """Type descriptors that it speaks of."""
    follow: tuple[str, ...] = ()
    """Fields that are followed from the place before its types are looked at (streams that wrap streams)."""


@dataclass(frozen=True, slots=True)
class Step:
    """One call that a library method makes to the app: `method` (class, name, descriptor) on an object.

    `on` and `args` are places of the shim's call or names of earlier steps; an argument None is an unknown value of
    the parameter's type. `to` names the result for later steps.
    """

    method: tuple[str, str, str]
    on: Access
    args: tuple[Access | None, ...] = ()
    to: str | None = None


@dataclass(frozen=True, slots=True)
class Shim:
    """What a call to a library method calls back. The method's model, if any, applies first, then the steps in order.

    With a shim the default for unmodelled methods does not apply. `flows` come last and may name steps.
    """

    id: str
    steps: tuple[Step, ...]
    result: Access | None = None
    """What the call returns, when it is not what the model says."""
    later: tuple[Access, ...] = ()
    """Objects on which the same steps may run again at any later time (`$async` of semantics.md, 6)."""
    flows: tuple[Flow, ...] = ()


@dataclass(frozen=True, slots=True)
class LifecycleCall:
    """A method that the framework calls on a component.

    arguments  one per parameter: a pseudo-static of the component class ('$saved', '$intent', '$result', …), 'new' (a
               new empty object of the parameter's type), 'null', or '' (an unknown value of that type).
    saves      (place, pseudo-static) pairs, e.g. (arg0, '$saved'): after the call that place feeds the pseudo-static.
    """

    name: str
    descriptor: str
    arguments: tuple[str, ...] = ()
    saves: tuple[tuple[Access, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Transition:
    """An edge of a lifecycle: the calls, in order, that lead to state `to`."""

    to: str
    calls: tuple[LifecycleCall, ...] = ()


@dataclass(frozen=True, slots=True)
class State:
    """A state of a component. `running`: callbacks may run in it, any number of times.

    `resting`: the component may stay in it: a run may begin (with a live object) or stop there.
    """

    name: str
    next: tuple[Transition, ...] = ()
    running: bool = False
    resting: bool = False


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The life of one kind of component: a small graph of states that begins, with a new object, in `start`."""

    kind: str
    base_classes: tuple[str, ...]
    """Type descriptors; a component of this kind extends one of them."""
    create: tuple[tuple[str, str], ...]
    """(name, descriptor) of what makes the object: the constructor, attachBaseContext …"""
    start: str
    states: dict[str, State] = field(default_factory=dict)

    @property
    def calls(self) -> tuple[LifecycleCall, ...]:
        """All calls of the graph, each once, in the order of the data."""
        return tuple(dict.fromkeys(c for s in self.states.values() for t in s.next for c in t.calls))


@dataclass(frozen=True, slots=True)
class Singleton:
    """An app-wide object of the framework that models name as 'static:NAME': preferences, clipboard, views …

    `component` names the kind of component ('application') whose object it is, if the app has one.
    """

    name: str
    type: str
    component: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """Joins kinds of sources to kinds of sinks. `kind` is 'leak' or 'injection' (formats.md)."""

    id: str
    title: str
    kind: str
    sources: frozenset[str]
    sinks: frozenset[str]
    severity: str
    cwe: tuple[str, ...] = ()
    masvs: tuple[str, ...] = ()
    text: str = ""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Callback:
    """Library types whose methods the framework calls back when an app class implements them."""

    type: str
    methods: tuple[str, ...] = ()
    """Names; empty: every method that the type declares."""


@dataclass(frozen=True, slots=True)
class Entrypoint:
    """Methods that run without a caller in the app: of a class, or of its subclasses too."""

    type: str
    name: str
    """A name, '*', or a pattern between slashes."""
    shape: str
    """'' fits any descriptor."""
    subclasses: bool = True
