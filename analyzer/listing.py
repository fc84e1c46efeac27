"""`gdroid facts`: a method statement by statement, with what may hold before each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from analyzer.concrete import Concrete
from analyzer.idfg import Idfg
from analyzer.ir import Op
from analyzer.statements import Change, MethodView
from analyzer.tokens import (
    BEYOND,
    BY_TYPE,
    CELL,
    DEEP,
    FORMAL,
    LIBRARY_BY_TYPE,
    OBJECT,
    PARAMETER,
    PSEUDO,
    RANGE,
    RETURN,
    SINK,
    TAINT,
    THROWN,
    Key,
)
from analyzer.words import Names, java_name

MOST_TOKENS = 8
"""Tokens shown in a row; with `--at`, all are."""
MOST_ROWS = 12
"""Rows of one kind shown at a statement."""
WIDTH = 120
"""Characters of a row after which no further token is shown, if some are already."""
LEAST_TOKENS = 2
"""Tokens shown in a row however long they are."""
LONG = 130
"""Characters of a line from which it is not said twice in a row."""

_PLAIN = (Op.CONST, Op.STRING, Op.CLASS, Op.NEW, Op.NEW_ARRAY)
"""Statements that say all about what they define."""
_COPIES = (Op.CAST, Op.DATA, Op.PHI)

_LEGEND = {
    "formal": ("in:x", "what x was on entry: the caller's objects and data (--concrete shows them)"),
    "region": ("in:x.…", "anything reached from what x was on entry"),
    "label": ("«k from f()@pc»", "data of kind k that came from the call of f at pc"),
    "new": ("new T@pc", "the object made at pc"),
    "library": ("T from f()@pc", "the object that the library call of f at pc returned, declared as a T"),
    "via": ("… via @pc", "made in a method that the call at pc runs"),
    "beyond": ("inside f()@pc", "whatever that library object holds"),
    "some": ("some T", "any object of type T: too many to tell apart"),
    "exception": ("T caught@pc", "an exception that the runtime or a library throws"),
    "origin": ("v3@0012", "the value that register v3 got at 0012, where v3 has or may have another one by now"),
    ":=": ("a := x", "afterwards the cell holds x only"),
    "+=": ("a += x", "afterwards the cell may also hold x"),
    "=": ("a = x", "here the cell holds x"),
    "→": ("→ v", "what the statement defines"),
    "!": ("! sink", "data that leaves the app, or will when the caller passes some"),
}
_KINDS = {FORMAL: "formal", DEEP: "region", TAINT: "label", BEYOND: "beyond", BY_TYPE: "some", LIBRARY_BY_TYPE: "some"}


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
    return "\n".join([*lines, *pages.legend()]) + "\n"


def wrapped(words: Sequence[str]) -> list[str]:
    """Words joined by commas, in lines of about WIDTH characters."""
    lines: list[str] = []
    for i, word in enumerate(words):
        text = f"{word}," if i + 1 < len(words) else word
        if lines and len(lines[-1]) + len(text) < WIDTH:
            lines[-1] += f" {text}"
        else:
            lines.append(text)
    return lines


class _Listing:
    """Lines about one method."""

    def __init__(self, view: MethodView, concrete: Concrete | None) -> None:
        self.view, self.concrete = view, concrete
        self.names: Names = view.names
        self.program = view.program
        self.most = MOST_TOKENS
        self.used: set[str] = set()
        """Entries of the legend that are wanted."""
        self.just_defined = -1
        """Value whose row is the last line."""

    def legend(self) -> list[str]:
        """Words and signs that were used, explained."""
        lines = [f"  {word:<16} {meaning}" for name, (word, meaning) in _LEGEND.items() if name in self.used]
        return ["", *lines] if lines else []

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
        self.used.update(self.entry_of(k) for k in keys)
        self.used.update("via" for k in keys if k[0] == OBJECT and k[2] >= 0)
        return list(dict.fromkeys(text for _, text in sorted(self.names.order(m, k) for k in keys)))

    def entry_of(self, key: Key) -> str:
        """Entry of the legend for a token."""
        return self.view.idfg.ctx.sites[key[1]].kind if key[0] == OBJECT else _KINDS.get(key[0], "")

    def slot(self, at: int) -> str:
        """A heap row in words."""
        name = self.view.slot_name(at)
        if name.startswith("(in:"):
            self.used.add("formal")
        return name

    def cut(self, words: Sequence[str]) -> str:
        """A row of tokens, cut where it is long."""
        shown, length = 0, 0
        for word in words[: self.most]:
            length += len(word) + 2
            if shown >= LEAST_TOKENS and length > WIDTH and self.most == MOST_TOKENS:
                break
            shown += 1
        more = len(words) - shown
        if more == 1:
            shown, more = shown + 1, 0
        return ", ".join([*words[:shown], *([f"… and {more} more"] if more else [])])

    def row(self, label: str, bits: int, mark: str = " ", data: bool = False) -> list[str]:
        """A line `label  tokens`; none when there is nothing."""
        words = self.words(bits, data)
        if words:
            self.used.add(mark)
        if self.most == MOST_TOKENS:
            return [self.line(f"{mark} {label}", self.cut(words))] if words else []
        return [self.line("" if i else f"{mark} {label}", text) for i, text in enumerate(wrapped(words))]

    @staticmethod
    def line(label: str, text: str) -> str:
        """A line beneath a statement."""
        return f"{'':14}{label:<10} {text}".rstrip()

    def rows(self, lines: list[str]) -> list[str]:
        """Lines, cut where they are many."""
        if len(lines) <= MOST_ROWS + 1 or self.most != MOST_TOKENS:
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
                if self.says_nothing(op):
                    continue
                number = self.program.line(view.method, view.pc(op))
                yield self.statement(op, number if number != line else None)
                line = number if number is not None else line
                yield from self.around(op)
            last = view.after(off[block + 1] - 1)

    def says_nothing(self, op: int) -> bool:
        """A merge of values that hold nothing, or a jump of synthetic code to the next line."""
        view, kind = self.view, self.view.body.op[op]
        if kind == Op.PHI:
            return not view.value(int(view.body.dst[op]))
        if kind != Op.GOTO or view.idfg.registers(view.method) is not None:
            return False
        below = view.position[op] + 1
        return view.successors(view.block_of[op]) == view.order[below : below + 1]

    def block(self, block: int, last: list[int] | None) -> Iterator[str]:
        """How a block is entered, where that is not just from the line above; and what differs in the heap."""
        view = self.view
        head = int(view.body.block_off[block])
        preds = view.predecessors.get(head, [])
        ways = []
        at = view.position[head]
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
            yield ""
            yield f"      {view.pc(head):04x}:  ({'; '.join(ways)})"
        if last is not None and view.reached(head):
            changes = [c for c in view.difference(last, view.before(head)) if c.after & ~c.before]
            lines = [line for c in changes for line in self.row(f"{self.slot(c.row)} =", c.after, "·")]
            self.used.update("=" for _ in lines)
            yield from self.rows(lines)

    def catches(self, block: int) -> str:
        """What a handler catches, and where it is thrown."""
        view, body = self.view, self.view.body
        caught = body.caught_by(block)
        types = dict.fromkeys(int(body.handler_type[h]) for _, h in caught)
        names = " or ".join("anything" if t < 0 else self.names.type(t) for t in types)
        inside = {r for r, _ in caught}
        covered = [op for op in view.order if int(body.block_range[view.block_of[op]]) in inside]
        pcs = [view.pc(op) for op in covered if body.throws[op]]
        if not pcs:
            return f"catches {names}"
        last = f"–{max(pcs):04x}" if min(pcs) < max(pcs) else ""
        return f"catches {names} thrown in {min(pcs):04x}{last}"

    def statement(self, op: int, line: int | None) -> str:
        """The statement itself."""
        number = f"{line}" if line is not None else ""
        phi = self.view.body.op[op] == Op.PHI
        pc = "    " if phi else f"{self.view.pc(op):04x}"
        if phi or any("@" in self.view.operand_name(op, v) for v in self.view.operands(op)):
            self.used.add("origin")
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
            yield from self.operands(op, operands)
        self.just_defined = -1
        base = view.base(op)
        if base >= 0 and not view.value(base) and base not in view.body.constant:
            nothing = "no known object" if kind == Op.CALL else "no known object: nothing is read or written"
            yield self.line(f"  {view.operand_name(op, base)}", nothing)
        if kind in (Op.GET, Op.AGET):
            yield from self.read_cells(op)
        if kind == Op.CALL:
            yield from self.callees(op)
        yield from self.rows(self.changes(op))
        channels = view.channels(op)
        thrown = [bits for key, bits in channels.items() if key[0] in (THROWN, RANGE)]
        if thrown and kind != Op.THROW:
            yield from self.row("throws", reduce(or_, thrown), "·")
        for key, bits in sorted(channels.items(), key=lambda item: str(item[0])):
            yield from self.channel(key, bits)
        if dst >= 0 and kind not in _PLAIN:
            yield from self.row(view.value_name(dst), defined, "→")
            self.just_defined = dst

    def operands(self, op: int, operands: list[int]) -> Iterator[str]:
        """What each operand may be. A long row that stands just above is not said again."""
        view = self.view
        for value in operands:
            if self.concrete is not None or not view.own_formal(value):
                for line in self.row(view.operand_name(op, value), view.value(value)):
                    again = value == self.just_defined and len(line) > LONG
                    yield self.line(f"  {view.operand_name(op, value)}", "as above") if again else line

    def read_cells(self, op: int) -> Iterator[str]:
        """What each cell holds that a read may mean, when there are several."""
        view = self.view
        before = view.before(op)
        cells = [at for at in view.touched(op) if before[at]]
        if len(cells) > 1:
            self.used.add("=")
            lines = [self.row(f"{self.slot(at)} =", before[at], "·") for at in cells]
            yield from self.rows([line for found in lines for line in found])

    def changes(self, op: int) -> list[str]:
        """Cells that a statement changes; of a store, also those that hold the value already."""
        view = self.view
        before, after = view.before(op), view.after(op)
        found = {c.row: c for c in view.difference(before, after)}
        if view.body.op[op] in (Op.PUT, Op.APUT, Op.SPUT):
            for at in view.touched(op):
                found.setdefault(at, Change(at, before[at], after[at]))
        replaced = view.cleared(op)
        lines = []
        for at, change in sorted(found.items()):
            key, name = view.heap_row(at), self.slot(at)
            if key[0] == CELL and key[1][0] == BEYOND:
                continue
            sign = "=" if change.before == change.after else ":=" if at in replaced or not change.before else "+="
            words = self.words(change.after & ~change.before if sign == "+=" else change.after)
            if words or sign == ":=":
                self.used.add(sign)
                lines.append(self.line(f"· {name} {sign} {self.cut(words) or 'null'}", ""))
        return lines

    def channel(self, key: Key, bits: int) -> Iterator[str]:
        """What leaves the method, or the app, at a statement."""
        names, m = self.names, self.view.method
        if key[0] == SINK:
            yield from self.row(names.sink(m, key) + "  gets", bits, "!", data=True)
        elif key[0] == PSEUDO:
            yield from self.row(f"{names.static_field(key[1])} +=", bits, "·")
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
        """One statement below everything that may hold before it."""
        view = self.view
        statement = self.statement(op, self.program.line(view.method, view.pc(op)))
        if not view.reached(op):
            yield from (statement, "", "  never reached: nothing holds")
            return
        self.most = 1000
        yield f"  before {view.pc(op):04x}:"
        lines = [line for name, bits in view.named_values(op).items() for line in self.row(name, bits)]
        same: list[str] = []
        for at, (bits, entry) in enumerate(zip(view.before(op), view.entry, strict=True)):
            if bits and bits == entry:
                same += [self.slot(at)] if view.heap_row(at)[-1] not in view.idfg.ctx.fields.below else []
            elif bits:
                self.used.add("=")
                lines += self.row(f"{self.slot(at)} =", bits, "·")
        yield from lines
        for i, text in enumerate(wrapped(same)):
            yield self.line("" if i else "· as on entry:", text)
        yield ""
        yield statement
        yield from self.around(op)
