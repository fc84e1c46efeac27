"""`gdroid facts`: a method statement by statement, with what may hold before each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from analyzer.concrete import Concrete
from analyzer.idfg import Idfg
from analyzer.ir import Op
from analyzer.statements import Change, MethodView
from analyzer.tokens import BEYOND, CELL, DEEP, FORMAL, PARAMETER, PSEUDO, RANGE, RETURN, SINK, TAINT, THROWN, Key
from analyzer.words import Names, java_name

MOST_TOKENS = 8
"""Tokens shown in a row; with `--at`, all are."""
MOST_ROWS = 12
"""Rows of one kind shown at a statement."""
WIDTH = 110
"""Characters of a row after which no further token is shown."""

_PLAIN = (Op.CONST, Op.STRING, Op.CLASS, Op.NEW, Op.NEW_ARRAY)
"""Statements that say all about what they define."""
_COPIES = (Op.CAST, Op.DATA, Op.PHI)

_LEGEND = (
    ("in:", "in:x", "what x was on entry: the caller's objects and data (--concrete shows them)"),
    (".…", "in:x.…", "anything reached from what x was on entry"),
    ("«", "«k from f()@pc»", "data of kind k that came from the call of f at pc"),
    ("new ", "new T@pc", "the object made at pc"),
    (" from ", "T from f()@pc", "the object that the library call of f at pc returned, declared as a T"),
    (" via @", "… via @pc", "made in a method that the call at pc runs"),
    ("inside ", "inside f()@pc", "whatever that library object holds"),
    ("some ", "some T", "any object of type T: too many to tell apart"),
    (" caught@", "T caught@pc", "an exception that the runtime or a library throws"),
    (":= ", "a := x", "afterwards the cell holds x only"),
    ("+= ", "a += x", "afterwards the cell may also hold x"),
    ("@entry", "v3@0012", "the value that register v3 got at 0012, here where it has been written since"),
)


def listing(idfg: Idfg, method: str, pc: int | None, concrete: bool) -> str:
    """The statements of a method in code order with what may hold before each, and what each changes.

    `method`: a signature, or a part of one that only one method has. `pc`: that statement only, with all facts before
    it. `concrete`: what callers bring stands in place of formals.

    Raises:
        WrongConfiguration: no such method or pc, several methods, or one that the analysis does not reach.
    """
    found = idfg.find(method)
    view = MethodView(idfg, found)
    pages = _Listing(view, Concrete(idfg) if concrete else None)
    lines = [*pages.header(), ""]
    lines += pages.whole() if pc is None else pages.one(idfg.op_at(found, pc))
    return "\n".join([*lines, *_legend(lines)]) + "\n"


def _legend(lines: Sequence[str]) -> list[str]:
    text = "\n".join(lines)
    used = [(word, meaning) for mark, word, meaning in _LEGEND if mark in text]
    return ["", *(f"  {word:<16} {meaning}" for word, meaning in used)] if used else []


class _Listing:
    """Lines about one method."""

    def __init__(self, view: MethodView, concrete: Concrete | None) -> None:
        self.view, self.concrete = view, concrete
        self.names: Names = view.names
        self.program = view.program
        self.most = MOST_TOKENS

    # -- words -------------------------------------------------------------------------------------------------

    def words(self, bits: int, data: bool = False) -> list[str]:
        """Tokens of a row in words, data first; with `data`, labels and what stands for them only."""
        m = self.view.method
        keys: set[Key] = set()
        for key in self.view.keys(bits):
            if self.concrete is not None and key[0] in (FORMAL, DEEP):
                keys.update(k for _, k in self.concrete.tokens(m, key))
            else:
                keys.add(key)
        if data:
            keys = {k for k in keys if k[0] in (TAINT, FORMAL, DEEP)}
        return list(dict.fromkeys(text for _, text in sorted(self.names.order(m, k) for k in keys)))

    def cut(self, words: Sequence[str]) -> str:
        """A row of tokens, cut where it is long."""
        shown: list[str] = []
        length = 0
        for word in words:
            length += len(word) + 2
            if shown and (len(shown) >= self.most or (length > WIDTH and self.most == MOST_TOKENS)):
                return f"{', '.join(shown)}, … and {len(words) - len(shown)} more"
            shown.append(word)
        return ", ".join(shown)

    def row(self, label: str, bits: int, mark: str = " ", data: bool = False) -> list[str]:
        """A line `label  tokens`; none when there is nothing."""
        words = self.words(bits, data)
        return [self.line(f"{mark} {label}", self.cut(words))] if words else []

    @staticmethod
    def line(label: str, text: str) -> str:
        return f"{'':14}{label:<10} {text}".rstrip()

    def rows(self, lines: list[str]) -> list[str]:
        if len(lines) <= MOST_ROWS or self.most != MOST_TOKENS:
            return lines
        return [*lines[:MOST_ROWS], self.line("", f"… and {len(lines) - MOST_ROWS} more")]

    # -- header ------------------------------------------------------------------------------------------------

    def header(self) -> Iterator[str]:
        """The method, its parameters and callers."""
        p, m = self.program, self.view.method
        ref = p.method(m)
        params = list(ref.params) if p.is_static(m) else [ref.cls, *ref.params]
        params = params[: self.view.body.n_params]
        static = "static " if p.is_static(m) else ""
        arguments = ", ".join(self.names.type(t) for t in ref.params)
        owner = java_name(p.type_name(ref.cls))
        source = p.class_of(ref.cls)
        file = f"   {source.source_file}" if source is not None and source.source_file else ""
        yield f"{static}{self.names.type(ref.ret)} {owner}.{ref.name}({arguments}){file}"
        yield p.signature(m)
        yield ""
        for i, t in enumerate(params):
            words = self.cut(self.words(self.view.value(i)))
            yield f"  {self.view.value_name(i):<6} {self.names.type(t):<16} {words or 'null or plain data'}".rstrip()
        callers = [self.names.method(c) for c in self.view.idfg.ctx.graph.callers(m)]
        if callers:
            yield f"  called by {self.cut(list(dict.fromkeys(callers)))}"

    # -- statements --------------------------------------------------------------------------------------------

    def whole(self) -> Iterator[str]:
        """All statements."""
        view = self.view
        last: list[int] | None = None
        line: int | None = None
        off = view.body.block_off.tolist()
        for block in view.blocks:
            head = off[block]
            yield from self.block(block, last)
            for op in range(head, off[block + 1]):
                number = self.program.line(view.method, view.pc(op))
                yield self.statement(op, number if number != line else None)
                line = number if number is not None else line
                yield from self.around(op)
            last = view.after(off[block + 1] - 1)

    def block(self, block: int, last: list[int] | None) -> Iterator[str]:
        """How a block is entered, where that is not just from the line above; and what differs in the heap."""
        view = self.view
        head = int(view.body.block_off[block])
        preds = view.predecessors.get(head, [])
        ways = []
        at = view.order.index(head)
        above = view.order[at - 1] if at else -1
        jumps = sorted(view.pc(p) for p in preds if p != above)
        if jumps:
            ways.append("from " + ", ".join(f"{pc:04x}" for pc in jumps[:6]) + (" …" if len(jumps) > 6 else ""))
        caught = view.body.caught_by(block)
        if caught:
            ways.append(self.catches(block))
        if not view.reached(head):
            ways.append("never reached")
        if ways:
            yield f"      {view.pc(head):04x}:  ({'; '.join(ways)})"
        if last is not None and view.reached(head):
            changes = [c for c in view.difference(last, view.before(head)) if c.after & ~c.before]
            yield from self.rows([line for c in changes for line in self.change(c, here=True)])

    def catches(self, block: int) -> str:
        """What a handler catches, and where it is thrown."""
        view, body = self.view, self.view.body
        caught = body.caught_by(block)
        types = dict.fromkeys(int(body.handler_type[h]) for _, h in caught)
        names = " or ".join("anything" if t < 0 else self.names.type(t) for t in types)
        inside = {r for r, _ in caught}
        covered = [op for op in view.order if int(body.block_range[view.block_of[op]]) in inside]
        pcs = [view.pc(op) for op in covered if body.throws[op]]
        where = f" thrown in {min(pcs):04x}–{max(pcs):04x}" if pcs else ""
        return f"catches {names}{where}"

    def statement(self, op: int, line: int | None) -> str:
        """The statement itself."""
        number = f"{line}" if line is not None else ""
        phi = self.view.body.op[op] == Op.PHI
        pc = "    " if phi else f"{self.view.pc(op):04x}"
        return f"{number:>5} {pc}  {self.view.text(op)}".rstrip()

    def around(self, op: int) -> Iterator[str]:
        """What the operands may be, what is read, and what the statement does."""
        view = self.view
        if not view.reached(op):
            return
        kind, dst = Op(int(view.body.op[op])), int(view.body.dst[op])
        defined = view.value(dst)
        operands = view.operands(op)
        copied = kind in _COPIES and defined in [view.value(v) for v in operands]
        if kind != Op.PHI and not copied:
            for value in operands:
                if self.concrete is not None or not view.own_formal(value):
                    yield from self.row(view.operand_name(op, value), view.value(value))
        base = view.base(op)
        if base >= 0 and not view.value(base) and base not in view.body.constant:
            nothing = "no known object" if kind == Op.CALL else "no known object: nothing is read or written"
            yield self.line(f"  {view.operand_name(op, base)}", nothing)
        if kind in (Op.GET, Op.AGET):
            yield from self.read_cells(op)
        if kind == Op.CALL:
            yield from self.callees(op)
        changes = view.difference(view.before(op), view.after(op))
        yield from self.rows([line for change in changes for line in self.change(change)])
        for key, bits in sorted(view.channels(op).items(), key=lambda item: str(item[0])):
            yield from self.channel(kind, key, bits)
        if dst >= 0 and kind not in _PLAIN:
            yield from self.row(view.value_name(dst), defined, "→")

    def read_cells(self, op: int) -> Iterator[str]:
        """What each cell holds that a read may mean, when there are several."""
        view = self.view
        before = view.before(op)
        cells = [(at, owner) for at, owner in view.cells_of(op) if before[at]]
        if len(cells) > 1:
            yield from self.rows([line for at, _ in cells for line in self.row(view.slot_name(at), before[at], "·")])

    def change(self, change: Change, here: bool = False) -> list[str]:
        """A cell that holds something else now."""
        view = self.view
        name, key = view.slot_name(change.row), view.heap_row(change.row)
        if key[0] == CELL and key[1][0] == BEYOND:
            return []
        added = change.after & ~change.before
        if here:
            return self.row(f"{name} =", change.after, "·")
        if change.strong:
            words = self.words(change.after)
            return [self.line(f"· {name} := {self.cut(words) or 'null'}", "")]
        words = self.words(added)
        return [self.line(f"· {name} += {self.cut(words)}", "")] if words else []

    def channel(self, kind: Op, key: Key, bits: int) -> Iterator[str]:
        """What leaves the method, or the app, at a statement."""
        names, m = self.names, self.view.method
        if key[0] == SINK:
            yield from self.row(names.sink(m, key) + "  gets", bits, "!", data=True)
        elif key[0] == PSEUDO:
            yield from self.row(f"{names.static_field(key[1])} +=", bits, "·")
        elif key[0] in (THROWN, RANGE) and kind != Op.THROW:
            yield from self.row("throws", bits, "·")
        elif key[0] not in (RETURN, THROWN, RANGE, PARAMETER):
            yield from self.row(names.slot(m, key), bits, "·")

    def callees(self, op: int) -> Iterator[str]:
        """What a call runs, where the statement does not say it."""
        view = self.view
        call = view.shape.calls.get(op)
        if call is None:
            return
        applications = view.shape.applications(call)
        runs = sorted({a.target for a in applications if a.target >= 0})
        named = self.names.method(call.method)
        words = list(dict.fromkeys(self.names.method(t) for t in runs))
        if words and words != [named]:
            yield self.line("  runs", self.cut(words))
        if any(a.guess for a in applications) and any(view.value(v) for v in view.operands(op)):
            yield self.line("  no model", f"of {named}: what goes in may come out")

    def one(self, op: int) -> Iterator[str]:
        """One statement with everything that may hold before it."""
        view = self.view
        yield self.statement(op, self.program.line(view.method, view.pc(op)))
        yield from self.around(op)
        self.most = 1000
        if not view.reached(op):
            yield "  never reached: nothing holds"
            return
        yield ""
        yield "before it:"
        idfg = view.idfg
        for name, values in idfg._visible(view.method, op, view.pc(op)).items():
            bits = 0
            for value in values:
                bits |= view.value(value)
            yield from self.row(name, bits)
        same = []
        for at, (bits, entry) in enumerate(zip(view.before(op), view.entry, strict=True)):
            if bits and bits == entry:
                same.append(view.slot_name(at))
            else:
                yield from self.row(f"{view.slot_name(at)} =", bits)
        if same:
            yield f"  as on entry: {', '.join(same)}"
