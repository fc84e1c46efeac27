"""Places of the analysis as locations of the report."""

from __future__ import annotations

from functools import cached_property

from analyzer.ir import CallKind, Op
from analyzer.pretty import class_name, format_op
from gdroid.app import App
from gdroid.report.model import Location


class Places:
    """Turns methods, operations and sites into what a report shows."""

    def __init__(self, app: App) -> None:
        self.app, self.program = app, app.program

    def of(self, method: int, op: int) -> Location:
        """Location of an IR operation; op -1 is the method itself. A shim stands at the call that it was made for."""
        p = self.program
        while method in self.app.graph.shim_sites:
            method, op = self.app.graph.shim_sites[method]
        ref = p.method(method)
        pc: int | None = None
        if op >= 0:
            pc = max(int(p.body(method).pc[op]), 0)
        definition = p.class_of(ref.cls)
        return Location(
            class_name=class_name(p.type_name(ref.cls)),
            method=ref.name,
            descriptor=p.descriptor(method),
            pc=pc,
            file=definition.source_file if definition is not None else None,
            line=p.line(method, pc) if pc is not None else None,
            component=self._component(method),
        )

    def of_site(self, site: int) -> Location:
        """Location of a call or parameter site."""
        s = self.app.context.sites[site]
        return self.of(s.method, s.op)

    def signature(self, site: int) -> str:
        """What is called or read at a site; of a callback's parameter, the callback."""
        s = self.app.context.sites[site]
        p = self.program
        if s.op < 0:
            return p.signature(s.method)
        body = p.body(s.method)
        ref = int(body.ref[s.op])
        if int(body.op[s.op]) != Op.CALL:
            return p.field_signature(ref)
        if int(body.c[s.op]) == CallKind.CUSTOM:
            return p.signature(s.method)
        return self._declared(ref)

    def _declared(self, method: int) -> str:
        """A call through an app class of a framework method: by the framework class that it comes from."""
        p, hierarchy = self.program, self.app.hierarchy
        ref = p.method(method)
        if not hierarchy.is_app(ref.cls) or hierarchy.resolve(ref.cls, ref.name, p.descriptor(method)) >= 0:
            return p.signature(method)
        for t in hierarchy.supertypes(ref.cls):
            if not hierarchy.is_app(t):
                return f"{p.type_name(t)}->{ref.name}{p.descriptor(method)}"
        return p.signature(method)

    def statement(self, method: int, op: int) -> str:
        """An IR operation as text."""
        return format_op(self.program, self.program.body(method), op)

    def _component(self, method: int) -> str | None:
        names = self._reached.get(method, ())
        return names[0] if len(names) == 1 else None

    @cached_property
    def _reached(self) -> dict[int, list[str]]:
        """Method -> names of the components whose environment reaches it (two at most are kept)."""
        graph = self.app.graph
        found: dict[int, list[str]] = {}
        for entry in graph.components:
            if entry.environment < 0 or entry.status != "entered":
                continue
            seen = {entry.environment}
            stack = [entry.environment]
            while stack:
                m = stack.pop()
                names = found.setdefault(m, [])
                if len(names) < 2 and entry.component.name not in names:
                    names.append(entry.component.name)
                for callee in graph.callees(m):
                    if callee not in seen:
                        seen.add(callee)
                        stack.append(callee)
        return found
