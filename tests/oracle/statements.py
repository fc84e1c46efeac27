"""The transfer functions of semantics.md 3, one per IR operation."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.ir import Op
from analyzer.tokens import OBJECT, PARAMETER, PSEUDO, RANGE, RETURN, TAINT, Site
from tests.oracle.clearing import Clearing
from tests.oracle.sets import NOTHING, Call, Change, Tokens, View, data


class Statements(Clearing):
    """What each operation of a method does."""

    def statement(self, i: int, see: View, solving: bool) -> Iterator[Change]:
        """What an operation does; environments' calls first bring in what their callbacks are given."""
        body, fields = self.body, self.fields
        op, d, a, b, c, ref = (int(x[i]) for x in (body.op, body.dst, body.a, body.b, body.c, body.ref))
        if op == Op.CALL:
            call = self.calls[i]
            if self.environment:
                yield from self.parameter_sources(call, see)
            effects = [self.apply(call, applied, see) for applied in self.applications(call, solving)]
            yield self.cleared(i, solving), [added for effect in effects for added in effect]
        elif op in (Op.NEW, Op.NEW_ARRAY):
            yield [], [(d, self.new(i, "new", ref))]
        elif op == Op.STRING:
            yield [], [(d, self.new(i, "string", self.ctx.program.type_id("Ljava/lang/String;"), ref))]
        elif op == Op.CLASS:
            yield [], [(d, self.new(i, "class", self.ctx.program.type_id("Ljava/lang/Class;"), ref))]
        elif op == Op.UNKNOWN and not fields.is_primitive(ref):
            yield [], [(d, self.new(i, "library", ref))]
        elif op == Op.PHI:
            for v in body.args[body.arg_off[i] : body.arg_off[i + 1]].tolist():
                yield [], [(d, see(v))]
        elif op == Op.CAST:
            yield [], [(d, self.keep(see(a), ref))]
        elif op == Op.DATA:
            yield [], [(d, data(see(a)) | data(see(b)))]
        elif op == Op.CAUGHT:
            for r, handler in body.caught_by(self.block_of[i]):
                declared = int(body.handler_type[handler])
                declared = declared if declared >= 0 else self.ctx.program.type_id("Ljava/lang/Throwable;")
                yield [], [(d, self.new(i, "exception", declared) | self.keep(see((RANGE, r)), declared))]
        elif op == Op.GET:
            yield [], [(d, self.read(see, see(a), fields.instance(ref)) | self.field_labels(i, ref))]
        elif op == Op.AGET:
            yield [], [(d, self.read(see, see(a), self.index(b)))]
        elif op in (Op.PUT, Op.APUT):
            f, value = (fields.instance(ref), b) if op == Op.PUT else (self.index(b), c)
            yield self.cleared(i, solving), self.store(see(a), f, see(value))
        elif op == Op.SGET:
            yield [], [(d, self.static_read(i, see, ref) | self.field_labels(i, ref))]
        elif op == Op.SPUT:
            slot = self.static_slot(ref)
            if slot is not None:
                yield self.cleared(i, solving), [(slot, self.keep(see(a), self.wants(slot)))]
        elif op == Op.RETURN:
            ret = self.ctx.program.method(self.m).ret
            yield [], [((RETURN,), self.keep(see(a), self.of_type(ret)))]
        elif op == Op.THROW:
            yield [], [(row, see(a)) for row in self.thrown_rows(i)]

    def routed(self, i: int, see: View) -> Iterator[Change]:
        """What goes from one pseudo-static of the root to another: what passes is a constant of the shape pass."""
        shape = self.ctx.shapes[self.m]
        for n, (source, target, _) in enumerate(self.ctx.routes if shape.root and i == 0 else ()):
            passed = {key for t, key in enumerate(shape.keys) if (shape.granted[n] | shape.labels) >> t & 1}
            yield [], [((PSEUDO, target), see((PSEUDO, source)) & passed)]

    def static_read(self, i: int, see: View, ref: int) -> Tokens:
        f = self.fields.resolve(ref)
        owner = self.ctx.program.field(f).cls
        lowering = self.ctx.lowering
        if owner == lowering.env_class:
            site = lowering.app_wide(self.ctx.program.field(f).name)
            return frozenset({self.name((OBJECT, site, -1))}) if site >= 0 else see(self.static(f))
        if not self.ctx.hierarchy.is_app(owner):
            kind = self.ctx.program.field(f).type
            return NOTHING if self.fields.is_primitive(kind) else self.new(i, "library", kind)
        if lowering.is_own(owner):
            return see(self.static(f))
        return frozenset(self.name(t) for t in self.table.content(f, self.ctx.limits.objects_per_static))

    def field_labels(self, i: int, ref: int) -> Tokens:
        """Fields of framework classes may be sources."""
        ctx, named = self.ctx, self.ctx.program.field(ref)
        if ctx.hierarchy.is_app(named.cls):
            return NOTHING
        sources = ctx.lowering.knowledge.field_sources(ctx.program.type_name(named.cls), named.name)
        site = ctx.sites.id(Site(self.m, i, int(self.body.pc[i]), "call", -1))
        return frozenset((TAINT, ctx.lowering.source_id(s), site) for s in sources)

    def parameter_sources(self, call: Call, see: View) -> Iterator[Change]:
        """Labels of what callbacks are given, at the calls of an environment."""
        for target in call.targets:
            for number, source, path in self.ctx.parameter_sources(target):
                if number < len(call.args) and call.args[number] >= 0:
                    label = (TAINT, source, self.ctx.sites.id(Site(target, -1, 0, "parameter", -1)))
                    arg = call.args[number]
                    yield [], [((PARAMETER, call.op, number) if path else arg, frozenset({label}))]
                    if path:
                        yield [], self.store(see(arg), path, see((PARAMETER, call.op, number)))
