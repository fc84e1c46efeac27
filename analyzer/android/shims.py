"""Shims: synthetic methods that call back what a library method calls back.

A call site whose library target has a `Shim` in the knowledge gets a static method of its own: its parameters are the
receiver (if there is one) and the declared parameters, its steps are ordinary virtual calls on them, each of which may
also not happen, so that nothing is cleared. Receivers that are called again later go to `$async`; per library method,
one method of the app's loop runs the same steps on those. In library classes a plain asynchronous step (no arguments,
no result) runs there only: at the place that posts it, it would join unrelated code to large recursive components.

What it returns: the shim's `result`; else, when the library method has a model, nothing (the model gives the result);
else an unknown value of the return type.
"""

from __future__ import annotations

from functools import partial

from analyzer.android.code import Code, Value
from analyzer.android.kit import Kit
from analyzer.android.library import Library
from analyzer.android.names import APP_WIDE, ASYNC, ENV, SHIM, dotted
from analyzer.android.own import Own
from analyzer.callgraph.graph import Site
from analyzer.ir import CallKind
from analyzer.models import Access, Shim, Step

_NESTED = 3
"""Library calls in shims get shims too, this many deep."""


class Shims:
    """Makes shims on demand and remembers which ones there are."""

    def __init__(self, kit: Kit, library: Library, own: Own) -> None:
        self._kit, self._library, self._own = kit, library, own
        self._depth: dict[int, int] = {}
        self._caller: dict[int, int] = {}
        self.later: dict[int, int] = {}
        self._sequences: dict[tuple[object, ...], int] = {}
        """Library method -> method that runs its shim's steps on objects of `$async`, for the app's loop."""

    def of(self, site: Site, library_method: int, n_args: int) -> int:
        """The shim of a call site for a library method, made now; -1 when it calls nothing back."""
        shim = self._library.shim(library_method)
        depth = self._depth.get(site[0], 0) + 1
        if shim is None or depth > _NESTED:
            return -1
        caller = self._caller.get(site[0], site[0])
        deferring = not self._own.is_certain(self._kit.program.method(caller).cls)
        method = self._make(site, library_method, n_args, shim, deferring)
        self._depth[method] = depth
        self._caller[method] = caller
        if shim.later and library_method not in self.later and any(s.on in shim.later for s in shim.steps):
            same = tuple((s.method, s.args, s.to, None if s.on in shim.later else s.on) for s in shim.steps)
            if same not in self._sequences:
                self._sequences[same] = self._later(shim, library_method)
            self.later[library_method] = self._sequences[same]
        return method

    def caller(self, method: int) -> int:
        """The method that holds the call site for which a shim was made; any other method is its own."""
        return self._caller.get(method, method)

    def stored(self, library_method: int) -> tuple[tuple[int, str], ...]:
        """(declared parameter, pseudo-field) pairs: what the method's model keeps for a shim to find; -1: receiver."""
        model = self._library.model(library_method)
        found = []
        for flow in model.flows if model is not None else ():
            source, target = flow.source, flow.target
            is_parameter = not source.fields and (source.base == "this" or source.argument >= 0)
            if not flow.data and is_parameter and target.fields:
                found.append((source.argument, target.fields[-1]))
        return tuple(found)

    def _make(self, site: Site, library_method: int, n_args: int, shim: Shim, deferring: bool) -> int:
        p = self._kit.program
        ref = p.method(library_method)
        static = n_args == len(ref.params)
        types = ref.params if static else (ref.cls, *ref.params)
        code = Code(p, types)
        names = dict(zip([f"arg{i}" for i in range(len(ref.params))], code.parameters[not static :], strict=True))
        if not static:
            names["this"] = code.parameters[0]
        places = _Places(self._kit, code, names)
        for access in shim.later:
            value = places.read(access)
            if value is not None:
                code.sput(self._kit.static(ASYNC), value)
        for step in shim.steps:
            if not (deferring and step.on in shim.later and not step.args and step.to is None):
                places.run(step)
        returns = p.type_name(ref.ret) != "V"
        if any(f.target.base == "ret" and f.target.fields for f in shim.flows):
            names["ret"] = code.unknown(ref.ret)
        results = self._flows(code, places, shim)
        if "ret" in names:
            results.append(names["ret"])
        elif shim.result is not None:
            value = places.read(shim.result)
            results += [] if value is None else [value]
        elif returns and self._library.model(library_method) is None:
            results.append(code.unknown(ref.ret))
        result = code.null()
        for value in results:
            result = code.maybe(partial(_known, value), result)
        code.ret(result if returns else None)
        descriptor = f"({''.join(map(p.type_name, types))}){p.type_name(ref.ret)}"
        name = f"{dotted(p.type_name(ref.cls))}.{ref.name}@{p.signature(site[0])}:{site[1]}"
        return self._kit.add(SHIM, name, descriptor, code)

    def _flows(self, code: Code, places: _Places, shim: Shim) -> list[Value]:
        """Writes the shim's flows; those to the result are returned."""
        results = []
        for flow in shim.flows:
            value = places.read(flow.source)
            if value is None:
                continue
            moved = code.data(value) if flow.data else value
            if flow.target.base == "ret" and not flow.target.fields:
                results.append(moved)
                continue
            fields = flow.target.fields or ("$value",)
            base = places.read(Access(flow.target.base, fields[:-1], flow.target.key))
            if base is not None:
                places.write(base, fields[-1], moved)
        return results

    def _later(self, shim: Shim, library_method: int) -> int:
        p = self._kit.program
        code = Code(p, ())
        first = next(s for s in shim.steps if s.on in shim.later)
        cls = p.type_id(first.method[0])
        me = code.cast(code.sget(self._kit.static(ASYNC)), cls)
        places = _Places(self._kit, code, {}, me, frozenset(shim.later))
        for step in shim.steps:
            places.run(step)
        code.ret()
        method = self._kit.add(ENV, f"later:{p.signature(library_method)}", "()V", code)
        self._depth[method] = _NESTED
        return method


class _Places:
    """Reads places and runs steps of a shim in one body."""

    def __init__(
        self,
        kit: Kit,
        code: Code,
        names: dict[str, Value],
        later: Value | None = None,
        later_places: frozenset[Access] = frozenset(),
    ) -> None:
        self.kit, self.code, self.names = kit, code, names
        self.later, self.later_places = later, later_places

    def read(self, access: Access) -> Value | None:
        """The value at a place, or None where it is not to be had here."""
        if access in self.later_places:
            return self.later
        if access.singleton is not None:
            value: Value | None = self.code.sget(self.kit.static(f"{APP_WIDE}{access.singleton}"))
        else:
            value = self.names.get(access.base)
        for name in access.fields:
            if value is None:
                return None
            if name.startswith("#"):
                value = self.code.aget(value, self._anywhere())
            elif name != "*":
                value = self.code.get(value, self.kit.pseudo_field(_without_key(name)))
        return value

    def write(self, base: Value, name: str, value: Value) -> None:
        """Stores into a field of an object, or into any element of an array."""
        if name.startswith("#"):
            self.code.aput(base, self._anywhere(), value)
        else:
            self.code.put(base, self.kit.pseudo_field("$value" if name == "*" else _without_key(name)), value)

    def _anywhere(self) -> Value:
        return self.code.unknown(self.kit.program.type_id("I"))

    def run(self, step: Step) -> None:
        """Calls the step's method, or does not."""
        p, code = self.kit.program, self.code
        receiver = self.read(step.on)
        if receiver is None:
            return
        method = p.method_id(*step.method)
        ref = p.method(method)
        given = [self.read(a) if a is not None else None for a in step.args]
        given += [None] * (len(ref.params) - len(given))

        def call() -> Value | None:
            args = [
                self.kit.argument(code, t) if v is None else code.fit(v, t)
                for v, t in zip(given, ref.params, strict=False)
            ]
            kind = CallKind.INTERFACE if self.kit.hierarchy.is_interface(ref.cls) else CallKind.VIRTUAL
            return code.call(kind, method, [code.cast(receiver, ref.cls), *args])

        result = code.maybe(call, code.null())
        if step.to is not None:
            self.names[step.to] = result


def _without_key(name: str) -> str:
    """Elements with a constant key count as elements with any key here."""
    return "$elem" if name.startswith("$elem[") else name


def _known(value: Value) -> Value:
    return value
