"""Constant texts: what a string, a class or an address can be, where all its parts are constants (semantics.md 5).

Read off the shapes: the object that a call of a string operation returned is named by that call, whose arguments are
known there. Builders count where everything that happens to them stands in one basic block.
"""

from __future__ import annotations

from analyzer.ir import Op
from analyzer.shape import Context, MethodShape
from analyzer.strings import BUILDERS, MOST, OPERATIONS, Part, combined
from analyzer.tokens import OBJECT, Site
from gpu.bits import bits_of

_DEEPEST = 12


class Texts:
    """Answers for one app, on the shapes as they are; not kept, as shapes may still grow."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def of(self, shape: MethodShape, bits: int, depth: int = 0) -> tuple[str, ...] | None:
        """Texts that a row may hold, sorted; None when one of them is not known, () when it holds nothing."""
        found: set[str] = set()
        for token in bits_of(bits & ~shape.labels):
            texts = self.of_token(shape, token, depth)
            if texts is None:
                return None
            found.update(texts)
        return tuple(sorted(found)) if len(found) <= MOST else None

    def of_token(self, shape: MethodShape, token: int, depth: int = 0) -> tuple[str, ...] | None:
        """Texts that one object may stand for; those of a ComponentName are its class's name."""
        key = shape.keys[token]
        if key[0] != OBJECT or depth > _DEEPEST:
            return None
        site, program = self.ctx.sites[key[1]], self.ctx.program
        if site.kind == "string":
            return (program.string(site.text),)
        if site.kind == "class":
            return (program.type_name(site.text).removeprefix("L").removesuffix(";").replace("/", "."),)
        if program.type_name(site.type) == "Landroid/content/ComponentName;":
            return self.field(shape, token, "$class", depth) or None
        if site.method < 0 or site.kind != "library":
            return None
        return self._result(site, depth + 1)

    def field(self, shape: MethodShape, token: int, name: str, depth: int = 0) -> tuple[str, ...] | None:
        """Texts that a pseudo-field of an object may hold."""
        fields = self.ctx.fields
        rows = [shape.cells[token][f] for f in fields.related(fields.pseudo(name), shape.cells[token])]
        bits = 0
        for row in rows:
            bits |= shape.rows[row]
        return self.of(shape, bits, depth + 1)

    def _result(self, site: Site, depth: int) -> tuple[str, ...] | None:
        """Texts that the call at a site returns."""
        shape, program = self.ctx.shapes.get(site.method), self.ctx.program
        call = shape.calls.get(site.op) if shape is not None else None
        if shape is None or call is None:
            return self._constant(site)
        ref = program.method(call.method)
        owner = program.type_name(ref.cls)
        if owner in BUILDERS and ref.name == "toString":
            return self._built(shape, call.args[0], depth)
        if ref.name == "getClass" and not ref.params:
            return self._class_names(shape, call.args[0])
        operation = OPERATIONS.get((owner, ref.name))
        if operation is None:
            return None
        parts = [self._parts(shape, a, depth) for a in call.args]
        return combined(operation, parts)

    def _class_names(self, shape: MethodShape, value: int) -> tuple[str, ...] | None:
        """Names of the classes of objects whose exact class is known."""
        found = set()
        for token in bits_of(shape.rows[value] & ~shape.labels):
            key = shape.keys[token]
            if key[0] != OBJECT or not self.ctx.sites[key[1]].exact:
                return None
            name = self.ctx.program.type_name(self.ctx.sites[key[1]].type)
            found.add(name.removeprefix("L").removesuffix(";").replace("/", "."))
        return tuple(sorted(found))

    def _constant(self, site: Site) -> tuple[str, ...] | None:
        """What a static field of the framework stands for."""
        program = self.ctx.program
        body = program.body(site.method)
        if int(body.op[site.op]) != Op.SGET:
            return None
        field = program.field(int(body.ref[site.op]))
        text = self.ctx.lowering.knowledge.constant(program.type_name(field.cls), field.name)
        return None if text is None else (text,)

    def _parts(self, shape: MethodShape, value: int, depth: int) -> tuple[Part, ...] | None:
        if value < 0:
            return None
        if value in shape.low.body.constant:
            return (int(shape.low.body.constant[value]),)
        return self.of(shape, shape.rows[value], depth) or None

    def _built(self, shape: MethodShape, builder: int, depth: int) -> tuple[str, ...] | None:
        """Texts of a builder: what its constructor and its appends, in their order, put there."""
        bits = shape.rows[builder] & ~shape.labels
        if bits.bit_count() != 1:
            return None
        parts: list[tuple[Part, ...] | None] = []
        blocks = set()
        for op in sorted(shape.calls):
            call = shape.calls[op]
            if not any(a >= 0 and shape.rows[a] & bits for a in call.args):
                continue
            blocks.add(shape.low.block_of[op])
            ref = self.ctx.program.method(call.method)
            if (
                call.args[0] < 0
                or shape.rows[call.args[0]] & ~shape.labels != bits
                or ref.name not in ("<init>", "append", "toString")
            ):
                return None
            if ref.name == "toString":
                continue
            if len(ref.params) > 1 or (
                ref.name == "<init>" and ref.params and self.ctx.program.type_name(ref.params[0]) == "I"
            ):
                if ref.name == "append":
                    return None
                continue
            for value, kind in zip(call.args[1:], ref.params, strict=True):
                found = self._parts(shape, value, depth)
                if found is not None and self.ctx.program.type_name(kind) == "C":
                    found = tuple(chr(x) if isinstance(x, int) else x for x in found)
                parts.append(found)
        if len(blocks) != 1 or shape.low.body.in_cycle[blocks.pop()]:
            return None
        return combined(lambda *texts: "".join(map(str, texts)), parts)
