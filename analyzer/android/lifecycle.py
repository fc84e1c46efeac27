"""The environment method of one component, or of one class of objects with a lifecycle (fragments)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from analyzer.android.code import Code, Value
from analyzer.android.kit import Kit
from analyzer.android.names import (
    ACTIVITY,
    APP_WIDE,
    BINDER,
    ENV,
    ESCAPED,
    INTENT,
    LIVE,
    OBJECT_OF,
    RESULT,
    dotted,
)
from analyzer.callgraph import scc
from analyzer.hierarchy import Hierarchy
from analyzer.ir import CallKind
from analyzer.models import Lifecycle, LifecycleCall, State, Transition
from analyzer.program import Program

_INTENT_TYPE = "Landroid/content/Intent;"


@dataclass(frozen=True, slots=True)
class Role:
    """What an environment is made for."""

    cls: int
    lifecycle: Lifecycle
    callbacks: tuple[int, ...]
    """Methods that may run in running states, beside those of the lifecycle."""
    made_by_android: bool
    """True: Android makes the object (components); False: it is one of `$escaped`."""
    exported: bool = False
    """Other apps can send it an intent."""
    app_wide: tuple[str, ...] = ()
    """Names of the app-wide objects that it is."""


def environments(kit: Kit, role: Role) -> tuple[int, ...]:
    """Adds the environment methods of a class; the first one is its environment proper.

    - The life of a new object up to where it may pause. For objects that the app makes: all of an escaped one's life.
    - `again`: what goes on, in any resting state, with an object left earlier, to its end.
    - `short`: the life of an object that ends before it can pause.

    They are methods of their own so that what a new object holds can be told from what an old one may hold, and what
    a dead one held is not taken for what a live one holds.
    """
    writer = _Writer(kit, role)
    if not role.made_by_android or not writer.resting:
        return (writer.write("", writer.every()),)
    found = [writer.write("", writer.alive()), _Writer(kit, role).write("again", writer.every())]
    short = writer.short()
    if short:
        found.append(_Writer(kit, role).write("short", short))
    return tuple(found)


class _Writer:
    def __init__(self, kit: Kit, role: Role) -> None:
        self.kit, self.role = kit, role
        self.code = Code(kit.program, ())
        self.program = kit.program
        self.cls_name = kit.program.type_name(role.cls)
        self.live = kit.component_static(LIVE, role.cls, self.cls_name)
        self.states = _simplified(role.lifecycle, self._runs_app_code)
        self.names = list(dict.fromkeys(state.name for state in self.states.values()))
        self.heads = {name: self.code.label() for name in self.names}
        self.waiting: dict[str, list[Value]] = {name: [] for name in self.names}
        """Objects that come into a state which is not written yet."""
        self.objects: dict[str, Value] = {}
        """The object of each state that is written."""
        self.resting = [name for name in self.names if self.states[name].resting]
        self.edges: dict[str, list[Transition]] = {}

    def every(self) -> dict[str, list[Transition]]:
        """All transitions."""
        return {name: list(self.states[name].next) for name in self.names}

    def alive(self) -> dict[str, list[Transition]]:
        """Those that do not lead to the end of the object's life."""
        ends = {name for name in self.names if not self.states[name].next and not self.states[name].resting}
        return {name: [t for t in ts if t.to not in ends] for name, ts in self.every().items()}

    def short(self) -> dict[str, list[Transition]]:
        """Those on the ways from the start to an end that pass no resting state; none if there is no such way."""
        ends = {name for name in self.names if not self.states[name].next and not self.states[name].resting}
        known = 0
        while known < len(ends):
            known = len(ends)
            ends |= {n for n in self.names if n not in self.resting and any(t.to in ends for t in self.states[n].next)}
        start = self.states[self.role.lifecycle.start].name
        return {n: [t for t in self.states[n].next if t.to in ends] for n in ends} if start in ends else {}

    def write(self, which: str, edges: dict[str, list[Transition]]) -> int:
        """Writes one of the methods, over these transitions."""
        code, life = self.code, self.role.lifecycle
        self.edges = edges
        self._intents_from_outside()
        starts = [self.states[life.start].name] if which != "again" else []
        if which == "again":
            me = code.cast(code.sget(self.live), self.role.cls)
            self._hand_intent(me)
        else:
            me = self._begin()
        if which == "again" or not self.role.made_by_android:
            starts += [name for name in self.resting if name not in starts]
        for name in starts:
            self.waiting[name].append(me)
        code.choose([self.heads[name] for name in starts])
        for name in self._reachable(starts):
            self._state(name)
        return self.kit.add(ENV, f"{' '.join((life.kind, *which.split()))}:{dotted(self.cls_name)}", "()V", code)

    def _reachable(self, starts: list[str]) -> list[str]:
        """States that can be come to, in the order of the data."""
        found, stack = set(starts), list(starts)
        while stack:
            for transition in self.edges[stack.pop()]:
                if transition.to not in found:
                    found.add(transition.to)
                    stack.append(transition.to)
        return [name for name in self.names if name in found]

    def _intents_from_outside(self) -> None:
        """Other apps' intents: to exported components, and as results of what was asked of them."""
        code, t = self.code, self.program.type_id(_INTENT_TYPE)
        names = [INTENT] if self.role.exported else []
        if any(RESULT in call.arguments for call in self.role.lifecycle.calls):
            names.append(RESULT)
        for name in names:
            code.sput(self._pseudo_static(name), code.unknown(t))

    def _hand_intent(self, me: Value) -> None:
        """What `getIntent`, `getActivity` and the like read: cells of the component's object."""
        code, kit, life = self.code, self.kit, self.role.lifecycle
        if self.role.made_by_android:
            code.put(me, kit.pseudo_field(INTENT), code.sget(self._pseudo_static(INTENT)))
        if any(ACTIVITY in call.arguments for call in life.calls):
            code.put(me, kit.pseudo_field(ACTIVITY), kit.escaped(code, self.program.type_id("Landroid/app/Activity;")))
        for name in sorted({to for call in life.calls if self._runs_app_code(call) for _, to in call.saves}):
            code.put(me, kit.pseudo_field(name), code.sget(self._pseudo_static(name)))

    def _begin(self) -> Value:
        """The object in its first state."""
        code, kit, role = self.code, self.kit, self.role
        if not role.made_by_android:
            me = kit.escaped(code, role.cls)
            self._hand_intent(me)
            return me
        made = code.new(role.cls)
        self._hand_intent(made)
        for name, descriptor in role.lifecycle.create:
            if name == "<init>":
                constructor = kit.constructor(role.cls, descriptor)
                if constructor < 0 and kit.constructors(role.cls):
                    constructor = kit.constructors(role.cls)[0]
                if constructor >= 0:
                    code.call(CallKind.DIRECT, constructor, [made, *kit.arguments(code, constructor)])
            else:
                self._call(made, LifecycleCall(name, descriptor))
        for name in role.app_wide:
            code.put(code.sget(kit.static(APP_WIDE + name)), kit.pseudo_field(OBJECT_OF), made)
        code.sput(kit.static(ESCAPED), made)  # so it may come back: as a listener, as a fragment's activity
        return made

    def _go(self, state: str, me: Value) -> None:
        self._comes_to(state, me)
        self.code.jump(self.heads[state])

    def _comes_to(self, state: str, me: Value) -> None:
        if state not in self.objects:
            self.waiting[state].append(me)
        elif self.objects[state] != me:
            self.code.add_to_phi(self.objects[state], me)

    def _state(self, name: str) -> None:
        code, state = self.code, self.states[name]
        code.place(self.heads[name])
        me = self.objects[name] = code.phi(self.waiting[name])
        silent = [t.to for t in self.edges[name] if not t.calls]
        edges = [(code.label(), t) for t in self.edges[name] if t.calls]
        runs = [(code.label(), m) for m in self.role.callbacks] if state.running else []
        rest = [code.label()] if state.resting else []
        options = [label for label, _ in edges] + [label for label, _ in runs] + rest
        for to in silent:
            self._comes_to(to, me)
        options += [self.heads[to] for to in silent]
        if not options:
            code.ret()
            return
        code.choose(options)
        for label, transition in edges:
            code.place(label)
            for call in transition.calls:
                self._call(me, call)
            self._go(transition.to, me)
        for label, method in runs:
            code.place(label)
            self.kit.call_on(code, me, method)
            self._go(name, me)
        for label in rest:
            code.place(label)
            if self.role.made_by_android:
                code.sput(self.live, me)
            code.ret()

    def _runs_app_code(self, call: LifecycleCall) -> bool:
        return self.kit.hierarchy.resolve(self.role.cls, call.name, call.descriptor) >= 0

    def _call(self, me: Value, call: LifecycleCall) -> None:
        """A lifecycle method, where the app defines it (else only the framework's code runs)."""
        kit, code = self.kit, self.code
        target = kit.hierarchy.resolve(self.role.cls, call.name, call.descriptor)
        if target < 0:
            return
        params = self.program.method(target).params
        given = call.arguments or ("",) * len(params)
        arguments = [self._argument(what, t) for what, t in zip(given, params, strict=True)]
        result = kit.call_on(code, me, target, arguments)
        for place, pseudo in call.saves:
            value = result if place.base == "ret" else arguments[place.argument] if place.argument >= 0 else me
            for name in place.fields:
                value = code.get(value, kit.pseudo_field(name)) if value is not None else None
            if value is not None:
                code.sput(self._pseudo_static(pseudo), value)
                code.put(me, kit.pseudo_field(pseudo), value)

    def _argument(self, what: str, declared: int) -> Value:
        code = self.code
        if what in ("", ACTIVITY):
            return self.kit.argument(code, declared)
        if what == "null":
            return code.null()
        if what == "new":
            made = code.new(declared)
            init = self.program.method_id(self.program.type_name(declared), "<init>", "()V")
            code.call(CallKind.DIRECT, init, [made])
            return made
        return code.cast(code.sget(self._pseudo_static(what)), declared)

    def _pseudo_static(self, name: str) -> int:
        return self.kit.static(name) if name == BINDER else self.kit.component_static(name, self.role.cls)


def _simplified(lifecycle: Lifecycle, runs: Callable[[LifecycleCall], bool]) -> dict[str, State]:
    """Each state's name -> what stands for it: calls that run no app code are left out, and states become one that
    can then be reached from each other without any call."""
    kept = {
        name: [Transition(t.to, tuple(c for c in t.calls if runs(c))) for t in state.next]
        for name, state in lifecycle.states.items()
    }
    names = list(kept)
    number = {name: i for i, name in enumerate(names)}
    silent = {number[n]: [number[t.to] for t in ts if not t.calls] for n, ts in kept.items()}
    result: dict[str, State] = {}
    groups = [[names[i] for i in group] for group in scc.components(range(len(names)), silent)]
    leader = {name: group[0] for group in groups for name in group}
    for name in names:
        if leader[name] != name:
            continue
        group = [n for n in names if leader[n] == name]
        edges = dict.fromkeys(Transition(leader[t.to], t.calls) for n in group for t in kept[n])
        result[name] = State(
            name,
            next=tuple(t for t in edges if t.calls or t.to != name),
            running=any(lifecycle.states[n].running for n in group),
            resting=any(lifecycle.states[n].resting for n in group),
        )
    return {name: result[leader[name]] for name in names}


def running_callbacks(role_callbacks: Iterable[int], lifecycle: Lifecycle, kit: Kit) -> tuple[int, ...]:
    """Those callbacks of a class that its lifecycle does not call by itself."""
    own: set[tuple[str, str]] = {(c.name, c.descriptor) for c in lifecycle.calls} | set(lifecycle.create)
    p = kit.program
    return tuple(m for m in role_callbacks if (p.method(m).name, p.descriptor(m)) not in own)


def handlers(hierarchy: Hierarchy, program: Program, cls: int, names: Sequence[str]) -> tuple[int, ...]:
    """Methods `name(View)` of the class or its app supertypes that a layout's android:onClick names."""
    found = {hierarchy.resolve(cls, name, "(Landroid/view/View;)V") for name in names}
    return tuple(sorted(m for m in found if m >= 0 and program.has_code(m)))


def methods(hierarchy: Hierarchy, lifecycle: Lifecycle, cls: int) -> tuple[int, ...]:
    """The methods that the app defines of those that the lifecycle calls on objects of a class."""
    keys = [*lifecycle.create, *((c.name, c.descriptor) for c in lifecycle.calls)]
    found = {hierarchy.resolve(cls, name, descriptor) for name, descriptor in keys}
    return tuple(sorted(m for m in found if m >= 0))
