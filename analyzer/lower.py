"""From IR operations to the few primitives that the shape pass evaluates and the encoder writes down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from analyzer.hierarchy import Hierarchy
from analyzer.ir import Body, CallKind, Op
from analyzer.models import Knowledge
from analyzer.models.types import Source
from analyzer.program import Program
from analyzer.tokens import (
    OBJECT,
    PSEUDO,
    RANGE,
    RETURN,
    STATIC,
    TABLE,
    TAINT,
    THROWN,
    Fields,
    Key,
    Site,
    Sites,
)

GEN, OR, LOAD, STORE, CALL, TABLE_GET = range(6)
"""Kinds of primitives."""

DATA_ONLY = -2
"""Filter that lets labels and formals pass only; -1 lets all pass; a type id lets what may be of that type pass."""

Slot = int | Key
"""An SSA value, or the key of a named row."""


@dataclass(frozen=True, slots=True)
class Primitive:
    """One effect of an operation. Which fields are used depends on `kind`."""

    kind: int
    op: int
    """Index of the operation in its body."""
    dst: Slot = -1
    src: Slot = -1
    """OR: what is read; LOAD, STORE: the base."""
    field: int = -1
    filter: int = -1
    key: Key = ()
    """GEN: the token."""
    value: Slot = -1
    """STORE: what is stored."""


@dataclass(slots=True)
class Lowered:
    """The primitives of a method, and what does not depend on any analysis."""

    body: Body
    primitives: list[Primitive] = field(default_factory=list)
    block_of: list[int] = field(default_factory=list)
    """Block of each operation."""
    thrown: list[tuple[Key, ...]] = field(default_factory=list)
    """Rows that receive what an operation throws, per block."""


class Lowering:
    """Lowers methods. `is_own(type)` tells the app's own classes from libraries in it."""

    def __init__(
        self,
        program: Program,
        hierarchy: Hierarchy,
        knowledge: Knowledge,
        fields: Fields,
        sites: Sites,
        is_own: Callable[[int], bool],
        source_id: Callable[[Source], int],
        env_class: int,
        keys_per_object: int,
        app_wide: Callable[[str], int] = lambda name: -1,
    ) -> None:
        """`app_wide` gives the site of the object that a static field of `env_class` always holds, or -1."""
        self.program, self.hierarchy, self.knowledge = program, hierarchy, knowledge
        self.fields, self.sites = fields, sites
        self.is_own, self.source_id = is_own, source_id
        self.env_class, self.keys_per_object, self.app_wide = env_class, keys_per_object, app_wide

    def lower(self, method: int) -> Lowered:
        """The primitives of a method with code; raises UnreadableInput for a damaged one."""
        body = self.program.body(method)
        low = Lowered(body)
        blocks = body.block_off.tolist()
        for b in range(body.n_blocks):
            low.block_of.extend([b] * (blocks[b + 1] - blocks[b]))
            low.thrown.append(self._thrown_rows(body, b))
        _Method(self, method, low).run()
        return low

    def _thrown_rows(self, body: Body, block: int) -> tuple[Key, ...]:
        covered = int(body.block_range[block])
        if covered < 0:
            return ((THROWN,),)
        handlers = body.handler_type[body.range_off[covered] : body.range_off[covered + 1]].tolist()
        return ((RANGE, covered),) if -1 in handlers else ((RANGE, covered), (THROWN,))


class _Method:
    def __init__(self, lowering: Lowering, method: int, low: Lowered) -> None:
        self.w, self.m, self.low, self.body = lowering, method, low, low.body
        ref = lowering.program.method(method)
        self.ret = ref.ret
        self.out = low.primitives

    def site(self, op: int, kind: str, type_id: int, text: int = -1) -> int:
        return self.w.sites.id(Site(self.m, op, int(self.body.pc[op]), kind, type_id, text))

    def run(self) -> None:
        body, w, out = self.body, self.w, self.out
        ops, dst, a, b, c, ref = (x.tolist() for x in (body.op, body.dst, body.a, body.b, body.c, body.ref))
        off, args = body.arg_off.tolist(), body.args.tolist()
        string, klass = w.program.type_id("Ljava/lang/String;"), w.program.type_id("Ljava/lang/Class;")
        for i, op in enumerate(ops):
            d = dst[i]
            if op == Op.CALL:
                out.append(Primitive(CALL, i, dst=d))
            elif op == Op.GET:
                out.append(Primitive(LOAD, i, dst=d, src=a[i], field=w.fields.instance(ref[i])))
                self.field_source(i, d, ref[i])
            elif op == Op.PUT:
                out.append(Primitive(STORE, i, src=a[i], field=w.fields.instance(ref[i]), value=b[i]))
            elif op == Op.AGET:
                out.append(Primitive(LOAD, i, dst=d, src=a[i], field=self.index(b[i])))
            elif op == Op.APUT:
                out.append(Primitive(STORE, i, src=a[i], field=self.index(b[i]), value=c[i]))
            elif op == Op.SGET:
                self.static_get(i, d, ref[i])
            elif op == Op.SPUT:
                self.static_put(i, a[i], ref[i])
            elif op == Op.PHI:
                for v in sorted(set(args[off[i] : off[i + 1]])):
                    if v >= 0:
                        out.append(Primitive(OR, i, dst=d, src=v))
            elif op == Op.CAST:
                out.append(Primitive(OR, i, dst=d, src=a[i], filter=ref[i]))
            elif op == Op.DATA:
                for v in dict.fromkeys((a[i], b[i])):
                    if v >= 0:
                        out.append(Primitive(OR, i, dst=d, src=v, filter=DATA_ONLY))
            elif op in (Op.NEW, Op.NEW_ARRAY):
                out.append(Primitive(GEN, i, dst=d, key=(OBJECT, self.site(i, "new", ref[i]), -1)))
            elif op == Op.STRING:
                out.append(Primitive(GEN, i, dst=d, key=(OBJECT, self.site(i, "string", string, ref[i]), -1)))
            elif op == Op.CLASS:
                out.append(Primitive(GEN, i, dst=d, key=(OBJECT, self.site(i, "class", klass, ref[i]), -1)))
            elif op == Op.UNKNOWN:
                if w.fields.is_primitive(ref[i]):
                    continue
                out.append(Primitive(GEN, i, dst=d, key=(OBJECT, self.site(i, "library", ref[i]), -1)))
            elif op == Op.CAUGHT:
                self.caught(i, d)
            elif op == Op.RETURN and a[i] >= 0:
                kind = DATA_ONLY if w.fields.is_primitive(self.ret) else self.ret
                out.append(Primitive(OR, i, dst=(RETURN,), src=a[i], filter=kind))
            elif op == Op.THROW and a[i] >= 0:
                for row in self.low.thrown[self.low.block_of[i]]:
                    out.append(Primitive(OR, i, dst=row, src=a[i]))

    def index(self, value: int) -> int:
        """Array cell of an index: apart only for small constants, so that no object has more than the limit."""
        constant = self.body.constant.get(value, -1)
        fields = self.w.fields
        return fields.index(constant) if 0 <= constant < self.w.keys_per_object else fields.any

    def caught(self, i: int, d: int) -> None:
        body, w = self.body, self.w
        block = self.low.block_of[i]
        offsets = body.range_off.tolist()
        for r in range(len(offsets) - 1):
            for h in range(offsets[r], offsets[r + 1]):
                if int(body.handler_block[h]) != block:
                    continue
                kind = int(body.handler_type[h])
                declared = kind if kind >= 0 else w.program.type_id("Ljava/lang/Throwable;")
                self.out.append(Primitive(OR, i, dst=d, src=(RANGE, r), filter=declared))
                self.out.append(Primitive(GEN, i, dst=d, key=(OBJECT, self.site(i, "exception", declared), -1)))

    def static_get(self, i: int, d: int, field_id: int) -> None:
        w = self.w
        f = w.fields.resolve(field_id)
        cls = w.program.field(f).cls
        if cls == w.env_class:
            site = w.app_wide(w.program.field(f).name)
            if site >= 0:
                self.out.append(Primitive(GEN, i, dst=d, key=(OBJECT, site, -1)))
            else:
                self.out.append(Primitive(OR, i, dst=d, src=(PSEUDO, f)))
        elif not w.hierarchy.is_app(cls):
            if not w.fields.is_primitive(w.program.field(f).type):
                self.out.append(
                    Primitive(GEN, i, dst=d, key=(OBJECT, self.site(i, "library", w.program.field(f).type), -1))
                )
        elif w.is_own(cls):
            self.out.append(Primitive(OR, i, dst=d, src=(STATIC, f)))
        else:
            self.out.append(Primitive(TABLE_GET, i, dst=d, field=f))
        self.field_source(i, d, field_id)

    def static_put(self, i: int, value: int, field_id: int) -> None:
        w = self.w
        f = w.fields.resolve(field_id)
        cls = w.program.field(f).cls
        if cls == w.env_class:
            self.out.append(Primitive(OR, i, dst=(PSEUDO, f), src=value))
        elif w.is_own(cls):
            kind = DATA_ONLY if w.fields.is_primitive(w.fields.type(f)) else w.fields.type(f)
            self.out.append(Primitive(OR, i, dst=(STATIC, f), src=value, filter=kind))
        elif w.hierarchy.is_app(cls):
            self.out.append(Primitive(OR, i, dst=(TABLE, f), src=value))

    def field_source(self, i: int, d: int, field_id: int) -> None:
        """Fields of framework classes may be sources."""
        w = self.w
        ref = w.program.field(field_id)
        if w.hierarchy.is_app(ref.cls):
            return
        for source in w.knowledge.field_sources(w.program.type_name(ref.cls), ref.name):
            self.out.append(Primitive(GEN, i, dst=d, key=(TAINT, w.source_id(source), self.site(i, "call", -1))))


def is_dispatched(kind: int) -> bool:
    """Whether a call looks its target up in the receiver's class."""
    return kind in (CallKind.VIRTUAL, CallKind.INTERFACE)
