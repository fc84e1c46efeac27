"""What all synthetic methods share: the pseudo-statics, arguments from the framework, calls of app methods."""

from __future__ import annotations

from collections.abc import Iterable

from analyzer.android.code import Code, Value
from analyzer.android.names import (
    ACC_PUBLIC_STATIC_SYNTHETIC,
    APP_WIDE,
    BINDER,
    BROADCAST,
    ENV,
    ESCAPED,
    LAMBDA,
    OBJECT,
    PSEUDO,
    SHIM,
    dotted,
)
from analyzer.hierarchy import Hierarchy
from analyzer.ir import CallKind
from analyzer.program import Program

_NEVER_APP = frozenset(
    {
        "Ljava/lang/String;",
        "Ljava/lang/CharSequence;",
        "Ljava/lang/Class;",
        "Landroid/os/Bundle;",
        "Landroid/content/Intent;",
        "Landroid/net/Uri;",
        "Landroid/os/Message;",
        "Landroid/location/Location;",
    }
)
"""Types of which the framework makes the objects that it passes to callbacks by itself."""


_HANDED = {
    ("onReceive", "(Landroid/content/Context;Landroid/content/Intent;)V"): BROADCAST,
    ("onServiceConnected", "(Landroid/content/ComponentName;Landroid/os/IBinder;)V"): BINDER,
}
"""Callbacks whose second argument stands in a pseudo-static."""


_APP_WIDE_ARGUMENTS = {"Landroid/content/SharedPreferences;": "preferences"}
"""Types of which the framework passes an app-wide object to callbacks."""


class Kit:
    """Emits into `Code`s; one per app."""

    def __init__(self, program: Program, hierarchy: Hierarchy, instantiated: Iterable[int]) -> None:
        """`instantiated`: app classes of which there may be objects (a superset will do)."""
        self.program, self.hierarchy = program, hierarchy
        define(program)
        self.instantiated = tuple(sorted(set(instantiated)))
        self._passable: dict[int, bool] = {}
        self.object = program.type_id(OBJECT)

    def static(self, name: str, type_name: str = OBJECT) -> int:
        """Field id of a pseudo-static."""
        return self.program.field_id(ENV, name, type_name)

    def pseudo_field(self, name: str) -> int:
        """Field id that stands for a pseudo-field such as `$elem`."""
        return self.program.field_id(PSEUDO, name, OBJECT)

    def component_static(self, name: str, cls: int, type_name: str = OBJECT) -> int:
        """Field id of `$saved$a.b.C` and the like."""
        return self.static(f"{name}${dotted(self.program.type_name(cls))}", type_name)

    def escaped(self, code: Code, cls: int) -> Value:
        """One of the objects handed to the framework, of the given type."""
        return code.cast(code.sget(self.static(ESCAPED)), cls)

    def argument(self, code: Code, declared: int) -> Value:
        """What the framework passes for a parameter: something of its own, or an app object that it was given."""
        name = self.program.type_name(declared)
        if name in _APP_WIDE_ARGUMENTS:
            return code.sget(self.static(APP_WIDE + _APP_WIDE_ARGUMENTS[name], name))
        own = code.unknown(declared)
        return code.maybe(lambda: self.escaped(code, declared), own) if self.passable(declared) else own

    def arguments(self, code: Code, method: int) -> list[Value]:
        """`argument` for each declared parameter; receivers also get what is broadcast, connections what is bound."""
        ref = self.program.method(method)
        found = [self.argument(code, t) for t in ref.params]
        more = _HANDED.get((ref.name, self.program.descriptor(method)))
        if more is not None:
            own = found[1]
            found[1] = code.maybe(lambda: code.cast(code.sget(self.static(more)), ref.params[1]), own)
        return found

    def passable(self, declared: int) -> bool:
        """Whether an app object may be passed where the framework passes a value of this type."""
        known = self._passable.get(declared)
        if known is None:
            name = self.program.type_name(declared)
            h = self.hierarchy
            known = name[0] == "L" and name not in _NEVER_APP
            known = known and any(h.is_subtype(t, declared) for t in self.instantiated)
            self._passable[declared] = known
        return known

    def call_on(self, code: Code, receiver: Value, method: int, arguments: list[Value] | None = None) -> Value | None:
        """Calls an app method virtually; its result, if it may be an app object, is handed to the framework."""
        p = self.program
        ref = p.method(method)
        args = self.arguments(code, method) if arguments is None else arguments
        if p.is_static(method):
            result = code.call(CallKind.STATIC, method, args)
        elif ref.name == "<init>":
            result = code.call(CallKind.DIRECT, method, [receiver, *args])
        else:
            kind = CallKind.INTERFACE if self.hierarchy.is_interface(ref.cls) else CallKind.VIRTUAL
            result = code.call(kind, method, [receiver, *args])
        if result is not None and self.passable(ref.ret):
            code.sput(self.static(ESCAPED), result)
        return result

    def make(self, code: Code, cls: int, constructor: int) -> Value:
        """A new object, with arguments from the framework for its constructor."""
        made = code.new(cls)
        if constructor >= 0:
            code.call(CallKind.DIRECT, constructor, [made, *self.arguments(code, constructor)])
        return made

    def constructors(self, cls: int) -> list[int]:
        """The class's own constructors with code, sorted."""
        definition = self.program.class_of(cls)
        methods = definition.methods if definition is not None else ()
        return sorted(m for m in methods if self.program.method(m).name == "<init>" and self.program.has_code(m))

    def constructor(self, cls: int, descriptor: str) -> int:
        """The constructor of that descriptor with code, or -1."""
        return next((m for m in self.constructors(cls) if self.program.descriptor(m) == descriptor), -1)

    def add(self, holder: str, name: str, descriptor: str, code: Code) -> int:
        """Adds a static synthetic method."""
        return self.program.add_method(holder, name, descriptor, ACC_PUBLIC_STATIC_SYNTHETIC, code.body())


def define(program: Program) -> None:
    """Defines the synthetic classes, before anything asks what they are."""
    for name in (ENV, SHIM, PSEUDO, LAMBDA):
        if program.class_of(program.type_id(name)) is None:
            program.add_class(name)
