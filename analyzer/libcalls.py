"""Library methods as summaries: their model, or the default for methods without one (semantics.md 5).

By default all data that goes in may come out: it reaches the result and the receiver's `$value`. The data that a
sink lets out, and that goes into an unmodelled method, is what library code reaches from an object:

- from a text or a box, its value;
- from what is passed as an Object, as something serializable, or as an unknown type: everything, all fields;
- from receivers, and from what is passed as another library type: all fields that library code knows (pseudo-fields,
  fields of framework classes, elements of arrays), and everything behind those. Fields that the app's own classes
  declare are out of its sight: it gets at them only by calling the object back, and what it calls back runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from analyzer import summary
from analyzer.android.escape import RECEIVER, Escapes
from analyzer.android.names import APP_WIDE, ENV, OBJECT_OF, OUTBOX
from analyzer.hierarchy import Hierarchy
from analyzer.models import Knowledge
from analyzer.models.types import Access, LibraryModel, Sink, Source
from analyzer.program import Program
from analyzer.summary import Summary
from analyzer.tokens import (
    CELL,
    CELL_DATA,
    DEEP,
    FORMAL,
    FRESH,
    OBJECT,
    PSEUDO,
    RETURN,
    RETURN_DATA,
    SINK,
    SOURCE,
    Fields,
    Key,
    Site,
    Sites,
    Through,
)

ACC_NATIVE = 0x100

SENT = "sent_"
"""What the names of app-wide objects begin with that stand for outboxes: see `analyzer.android.intents`."""

HERE = -2
"""Site of a sink row in a library summary: the call at hand."""

Keys = tuple[tuple[str, ...] | None, ...]
"""Per argument (receiver first): the constant texts that it may be, or None when it is not constant."""

_VALUES = frozenset(
    [
        "Ljava/lang/String;",
        "Ljava/lang/CharSequence;",
        "Ljava/lang/Class;",
        "Ljava/lang/Integer;",
        "Ljava/lang/Long;",
        "Ljava/lang/Boolean;",
        "Ljava/lang/Double;",
        "Ljava/lang/Float;",
        "Ljava/lang/Short;",
        "Ljava/lang/Byte;",
        "Ljava/lang/Character;",
        "Ljava/lang/Number;",
    ]
)
"""Types whose objects hold nothing but their value: nothing else is reached from them."""

_OPEN = frozenset(
    [
        "Ljava/lang/Object;",
        "Ljava/io/Serializable;",
        "Landroid/os/Parcelable;",
        "Ljava/lang/Comparable;",
        "Ljava/lang/Cloneable;",
    ]
)
"""Types of parameters that say nothing of what the library does with the object: it may describe or serialize it."""


@dataclass(frozen=True, slots=True)
class Effect:
    """What a library call does: its summary, and whether that is a guess for want of a model."""

    summary: Summary
    guess: bool


class LibraryCalls:
    """Summaries of library methods, made on demand."""

    def __init__(
        self, program: Program, hierarchy: Hierarchy, knowledge: Knowledge, fields: Fields, sites: Sites, escaped: int
    ) -> None:
        self.program, self.hierarchy, self.knowledge = program, hierarchy, knowledge
        self.fields, self.sites, self.escaped = fields, sites, escaped
        self.escapes = Escapes(program, hierarchy, knowledge)
        self.sources: list[Source] = []
        self.sinks: list[Sink] = []
        self._source_ids: dict[Source, int] = {}
        self._sink_ids: dict[Sink, int] = {}
        self._effects: dict[tuple[int, bool, bool, Keys], Effect] = {}
        self._chains: dict[int, list[str]] = {}
        self._keyed: dict[int, bool] = {}
        self._native: dict[int, bool] = {}
        self._singletons: dict[tuple[str, str | None], int] = {}
        self.app_wide: set[int] = set()
        """Sites of app-wide objects; all of them are in the table, from when they are first named."""
        self.kin: dict[int, list[int]] = {}
        """Sites of one name that may be the same object: one without a key, and each of those with a key."""

    def source_id(self, source: Source) -> int:
        """Number of a source, new or known."""
        if source not in self._source_ids:
            self._source_ids[source] = len(self.sources)
            self.sources.append(source)
        return self._source_ids[source]

    def chain(self, method: int) -> list[str]:
        """Class of a method reference and its supertypes, most specific first; none for native methods of the app."""
        if self.is_native(method):
            return []
        cls = self.program.method(method).cls
        if cls not in self._chains:
            self._chains[cls] = self.hierarchy.class_chain(cls)
        return self._chains[cls]

    def is_native(self, method: int) -> bool:
        """Whether the app itself defines the method, in native code."""
        if method not in self._native:
            ref = self.program.method(method)
            found = self.hierarchy.resolve(ref.cls, ref.name, self.program.descriptor(method))
            definition = self.program.definition(found) if found >= 0 else None
            self._native[method] = definition is not None and bool(definition.access & ACC_NATIVE)
        return self._native[method]

    def model(self, method: int) -> LibraryModel | None:
        """The model of a method, if there is one."""
        ref = self.program.method(method)
        return self.knowledge.model(self.chain(method), ref.name, self.program.descriptor(method))

    def keyed(self, method: int) -> bool:
        """Whether the model of the method looks at constant keys."""
        if method not in self._keyed:
            model = self.model(method)
            places = [a for f in model.flows for a in (f.source, f.target)] if model else []
            self._keyed[method] = any(a.key or any(f.startswith("$elem[arg") for f in a.fields) for a in places)
        return self._keyed[method]

    def singleton(self, name: str, key: str | None = None) -> int:
        """Site of an app-wide object: one per name and constant key, and one per name for all keys that are unknown."""
        found = self._singletons.get((name, key))
        if found is None:
            kind = self.program.type_id(self.knowledge.singletons[name].type)
            found = self.sites.id(Site(-1, len(self._singletons), -1, "library", kind))
            self._singletons[name, key] = found
            self.app_wide.add(found)
            if key is not None:
                whole = self.singleton(name)
                self.kin.setdefault(found, []).append(whole)
                self.kin.setdefault(whole, []).append(found)
        return found

    @property
    def singletons(self) -> Collection[int]:
        """Sites of the app-wide objects named so far."""
        return self._singletons.values()

    def outbox(self, kind: str) -> int:
        """Pseudo-static that intents sent to components of a kind go to."""
        return self.fields.resolve(self.program.field_id(ENV, f"{OUTBOX}${kind}", "Ljava/lang/Object;"))

    def app_wide_name(self, site: int) -> tuple[str, str | None] | None:
        """Name and key of an app-wide object; None for other sites."""
        return next((name for name, found in self._singletons.items() if found == site), None)

    def app_wide_static(self, name: str) -> int:
        """Site of the app-wide object that a pseudo-static of this name holds; -1 for other pseudo-statics."""
        return self.singleton(name.removeprefix(APP_WIDE)) if name.startswith(APP_WIDE) else -1

    def effect(self, method: int, static: bool, shimmed: bool, marks_only: bool, keys: Keys) -> Effect:
        """What a call of the method does.

        `shimmed`: what it calls back is known, so that the default does not apply; `marks_only`: the call runs app
        code only, of which just sources and sinks are wanted.
        """
        key = (method, static, shimmed or marks_only, keys)
        if key not in self._effects:
            self._effects[key] = _Builder(self, method, static, keys).build(shimmed, marks_only)
        return self._effects[key]

    def sink_id(self, sink: Sink) -> int:
        """Number of a sink, new or known."""
        if sink not in self._sink_ids:
            self._sink_ids[sink] = len(self.sinks)
            self.sinks.append(sink)
        return self._sink_ids[sink]


class ParameterSources:
    """Which parameters of a callback bring in data: (argument, receiver first; source; pseudo-field or 0)."""

    def __init__(self, library: LibraryCalls) -> None:
        self.library = library
        self._known: dict[int, tuple[tuple[int, int, int], ...]] = {}

    def __call__(self, method: int) -> tuple[tuple[int, int, int], ...]:
        if method not in self._known:
            self._known[method] = tuple(self._find(method))
        return self._known[method]

    def _find(self, method: int) -> list[tuple[int, int, int]]:
        lib = self.library
        definition = lib.program.definition(method)
        if definition is None or lib.program.is_static(method):
            return []
        ref, descriptor = lib.program.method(method), lib.program.descriptor(method)
        found: set[tuple[int, int, int]] = set()
        for cls in lib.hierarchy.overrides_framework(method):
            for source in lib.knowledge.parameter_sources(lib.hierarchy.class_chain(cls), ref.name, descriptor):
                if 0 <= source.at.argument < len(ref.params):
                    path = lib.fields.pseudo(source.at.fields[-1]) if source.at.fields else 0
                    found.add((source.at.argument + 1, lib.source_id(source), path))
        return sorted(found)


class _Builder:
    """Builds one library summary."""

    def __init__(self, lib: LibraryCalls, method: int, static: bool, keys: Keys) -> None:
        self.lib, self.method, self.static, self.keys = lib, method, static, keys
        self.ref = lib.program.method(method)
        self.shift = 0 if static else 1
        self.rows: dict[Key, set[Key]] = defaultdict(set)
        self.regions: dict[Key, tuple[tuple[Key, ...], Through]] = {}
        self.created: dict[Access, list[Key]] = defaultdict(list)

    def build(self, shimmed: bool, marks_only: bool) -> Effect:
        lib, program = self.lib, self.lib.program
        chain, name, descriptor = lib.chain(self.method), self.ref.name, program.descriptor(self.method)
        model = lib.knowledge.model(chain, name, descriptor)
        guess = model is None and not shimmed and not marks_only
        if not marks_only:
            if model is not None:
                self.apply_model(model)
            elif not shimmed:
                self.apply_default()
            if self.is_reference(self.ref.ret) and not self.rows.get((RETURN,)) and not shimmed:
                self.rows[(RETURN,)].add((FRESH, self.ref.ret))
                self.created[Access("ret")].append((FRESH, self.ref.ret))
            self.escape()
        for source in lib.knowledge.sources(chain, name, descriptor):
            self.mark_source(source)
        for sink in (*lib.knowledge.sinks(chain, name, descriptor), *self.native_sinks()):
            self.mark_sink(sink)
        rows = {row: keys for row, keys in self.rows.items() if keys}
        return Effect(summary.make(rows, self.regions, lib.fields, lib.sites), guess)

    # -- places ------------------------------------------------------------------------------------------------

    def is_reference(self, type_id: int) -> bool:
        return self.lib.program.type_name(type_id)[0] in "L["

    def root(self, access: Access) -> int | None:
        """Parameter (receiver first) at the root of a place, or None."""
        if access.base == "this":
            return None if self.static else 0
        return access.argument + self.shift if 0 <= access.argument < len(self.ref.params) else None

    def roots(self, access: Access) -> list[Key]:
        """Objects at the root of a place as FORMAL keys: a parameter, or app-wide objects."""
        name = access.singleton
        if name is None:
            root = self.root(access)
            return [] if root is None else [(FORMAL, root, ())]
        number = int(access.key[3:]) + self.shift if access.key else -1
        texts = self.keys[number] if 0 <= number < len(self.keys) else None
        found: list[Key] = [(FORMAL, (OBJECT, self.lib.singleton(name, t), -1), ()) for t in texts or (None,)]
        if self.lib.knowledge.singletons[name].component:
            found += [(FORMAL, root, (self.lib.fields.pseudo(OBJECT_OF),)) for _, root, _ in found]
        return found

    def fields_of(self, name: str) -> list[int]:
        """Fields that a path element names: several for an argument with several constant keys."""
        fields = self.lib.fields
        if name.startswith("$elem["):
            inner = name[6:-1]
            if inner == "*":
                return [fields.elem]
            number = int(inner[3:]) + self.shift
            texts = self.keys[number] if number < len(self.keys) else None
            return [fields.key(t) for t in texts] if texts else [fields.elem]
        return [fields.pseudo(name)]

    def owners(self, access: Access) -> list[Key]:
        """Objects at a place: what it held before the call, and what this call creates there."""
        found = list(self.created.get(Access(access.base, access.fields), ()))
        keys = self.roots(access)
        for name in access.fields:
            keys = [(FORMAL, root, (*path, f)) for _, root, path in keys for f in self.fields_of(name)]
        return found + keys

    def reads(self, access: Access, reach: bool = False) -> set[Key]:
        """Columns that a place stands for when it is read."""
        star = bool(access.fields) and access.fields[-1] == "*"
        place = Access(access.base, access.fields[:-1], access.key) if star else access
        keys = set(self.owners(place))
        if star or reach:
            for key in [k for k in keys if k[0] == FORMAL]:
                keys |= self.reached(key)
        return keys

    def reached(self, key: Key) -> set[Key]:
        """What library code reaches from an object: see the head of this module."""
        _, root, path = key
        if isinstance(root, int) and not path:
            declared = self.lib.program.type_name(self.type_of(root))
            if declared in _VALUES:
                return {(FORMAL, root, (self.lib.fields.value,))}
            if declared[0] not in "L[":
                return set()
            if not self.is_open(root):
                key = (FORMAL, root, (self.lib.fields.outer,))
        deep = (DEEP, root, key[2])
        self.regions[deep] = ((key,), self.lib.fields.through((self.lib.fields.star,)))
        return {key, deep}

    def is_open(self, root: int) -> bool:
        """Whether library code may look into app objects that it gets as this parameter."""
        if root < self.shift:
            return False
        type_id = self.type_of(root)
        hierarchy, name = self.lib.hierarchy, self.lib.program.type_name(type_id)
        return name in _OPEN or (name[0] == "L" and (hierarchy.is_app(type_id) or not hierarchy.is_known(type_id)))

    def type_of(self, root: int) -> int:
        """Declared type of a parameter, receiver first."""
        return self.ref.cls if root < self.shift else self.ref.params[root - self.shift]

    def write(self, target: Access, keys: set[Key], data: bool) -> None:
        """Adds columns to a place."""
        if target.base == "ret" and not target.fields:
            self.rows[(RETURN_DATA,) if data else (RETURN,)] |= keys
            return
        if target.singleton is not None and target.singleton.startswith(SENT) and not target.fields:
            self.rows[(PSEUDO, self.lib.outbox(target.singleton.removeprefix(SENT)))] |= keys
            return
        name = target.fields[-1] if target.fields else "$value"
        if name == "*":
            name = "$value"
        base = target.fields[:-1]
        owners = self.owners(Access(target.base, base, target.key))
        while data and base and not owners:  # where this call makes no such object, its holder holds the data
            base, name = base[:-1], base[-1]
            owners = self.owners(Access(target.base, base, target.key))
        for owner in owners:
            for field in self.fields_of(name):
                self.rows[(CELL_DATA if data else CELL, owner, field)] |= keys

    # -- effects -----------------------------------------------------------------------------------------------

    def apply_model(self, model: LibraryModel) -> None:
        ret = Access("ret")
        reference = self.is_reference(self.ref.ret)
        aliases = any(f.target == ret and not f.data for f in model.flows)
        if reference and (model.fresh or model.sanitizer or not aliases):
            self.rows[(RETURN,)].add((FRESH, self.ref.ret))
            self.created[ret].append((FRESH, self.ref.ret))
        if model.sanitizer:
            return
        for flow in model.flows:
            if flow.target == ret and not flow.data:
                self.created[ret] += [k for k in self.reads(flow.source) if k[0] == FORMAL]
        for place, descriptor in model.creates:
            key = (FRESH, self.lib.program.type_id(descriptor))
            self.write(place, {key}, data=False)
            self.created[place].append(key)
        for flow in model.flows:
            self.write(flow.target, self.reads(flow.source), flow.data)

    def apply_default(self) -> None:
        """Everything that comes in may come out: of the result, and of the receiver's `$value`."""
        places = [] if self.static else [Access("this")]
        arguments = [Access(f"arg{i}") for i in range(len(self.ref.params))]
        everything = (
            set().union(*(self.reads(a, reach=True) for a in [*places, *arguments])) if places or arguments else set()
        )
        if everything and self.lib.program.type_name(self.ref.ret) != "V":
            self.rows[(RETURN_DATA,)] |= everything
        if not self.static:
            given: set[Key] = set().union(*(self.reads(a, reach=True) for a in arguments)) if arguments else set()
            if given:
                self.rows[(CELL_DATA, (FORMAL, 0, ()), self.lib.fields.value)] |= given

    def escape(self) -> None:
        """App objects handed to the framework may be called back."""
        handed: set[Key] = set()
        for position in self.lib.escapes.called_back(self.method):
            if position == RECEIVER:
                handed |= set() if self.static else {(FORMAL, 0, ())}
            elif self.lib.program.type_name(self.ref.params[position]) != "Ljava/lang/String;":
                handed.add((FORMAL, position + self.shift, ()))
                if self.lib.program.type_name(self.ref.params[position])[0] == "[":
                    handed.add((FORMAL, position + self.shift, (self.lib.fields.any,)))
        if handed:
            self.rows[(PSEUDO, self.lib.escaped)] |= handed

    def mark_source(self, source: Source) -> None:
        key = (SOURCE, self.lib.source_id(source))
        self.write(source.at, {key}, data=True)

    def native_sinks(self) -> list[Sink]:
        """Native code that gives no object back keeps what it is given, or lets it out."""
        places = tuple(Access(f"arg{i}") for i in range(len(self.ref.params)))
        if not places or self.is_reference(self.ref.ret) or not self.lib.is_native(self.method):
            return []
        return [Sink("native", places, True, "native")]

    def mark_sink(self, sink: Sink) -> None:
        number = self.lib.sink_id(sink)
        for access in sink.at:
            if self.roots(access):
                root = self.root(access)
                position = root - self.shift if root is not None else -1
                self.rows[(SINK, number, HERE, position)] |= self.reads(access, sink.reach)
