"""The IDFG: facts at every point of the app, to be asked for and exported."""

from __future__ import annotations

from pathlib import Path

from analyzer.encode import Encoded, Layout
from analyzer.registers import Registers
from analyzer.shape import Context
from analyzer.tokens import Key
from analyzer.words import Names
from gpu.bits import bits_of
from gpu.errors import WrongConfiguration
from gpu.solution import Replay, Solution

Facts = dict[str, tuple[str, ...]]
"""Slot in words -> tokens in words, sorted."""

SYNTHETIC = "Lgdroid/"
"""Classes of environments and shims: a part of a name means one of these only if nothing else."""
MOST_CANDIDATES = 8
"""Methods listed when a name means several: the message is one line."""


class Idfg:
    """Facts of a solved app. Points are (method, pc); facts hold just before the statement.

    A method is given by its id or by name: a signature as in smali, or any part of one that only one method has
    (`Main.onCreate`, `onCreate`).
    """

    def __init__(self, ctx: Context, encoded: Encoded, solution: Solution, replay: Replay) -> None:
        self.ctx, self.encoded, self.solution, self.replay = ctx, encoded, solution, replay
        self.names = Names(ctx.program, ctx.fields, ctx.sites, ctx.library)
        self._registers: dict[int, Registers | None] = {}

    # -- methods -----------------------------------------------------------------------------------------------

    def layout(self, method: int) -> Layout:
        """Where a method's rows and columns are.

        Raises:
            WrongConfiguration: the method is not reached by the analysis.
        """
        if method not in self.encoded.layouts:
            raise WrongConfiguration(f"{self.ctx.program.signature(method)}: {self._why_missing(method)}")
        return self.encoded.layouts[method]

    def _why_missing(self, method: int) -> str:
        program = self.ctx.program
        if method in self.ctx.damaged:
            return f"its code is damaged ({self.ctx.damaged[method]})"
        if program.definition(method) is None:
            return "not defined in the app"
        if not program.has_code(method):
            return "abstract or native: it has no code"
        if self.ctx.hierarchy.is_modelled(program.method(method).cls):
            return "of a library that models stand for; --all-code looks into it"
        if method in self.ctx.graph.methods:
            return "not analysed: the analysis stopped at a limit"
        return "not reached by the analysis"

    def find(self, method: int | str) -> int:
        """Id of a method that the analysis reaches.

        Raises:
            WrongConfiguration: no such method, or several; the message lists what may have been meant.
        """
        if isinstance(method, int):
            self.layout(method)
            return method
        reached = {self.ctx.program.signature(m): m for m in self.encoded.layouts}
        if method in reached:
            return reached[method]
        exact = self._exact(method)
        if exact >= 0:
            self.layout(exact)
            return exact
        found = _matching(method, sorted(reached))
        if len(found) > 1:
            found = [name for name in found if not name.startswith(SYNTHETIC)] or found
        if len(found) == 1:
            return reached[found[0]]
        if found:
            raise WrongConfiguration(f"{method!r} may mean {len(found)} methods; say which: {_listed(found)}")
        raise WrongConfiguration(f"{method!r}: {self._why_unknown(method)}")

    def _exact(self, signature: str) -> int:
        owner, arrow, rest = signature.partition("->")
        name, parenthesis, _ = rest.partition("(")
        if not arrow or not parenthesis:
            return -1
        return self.ctx.program.method_find(owner, name, rest[len(name) :])

    def _why_unknown(self, text: str) -> str:
        program = self.ctx.program
        every = sorted(program.signature(m) for m in range(program.n_methods) if program.has_code(m))
        found = _matching(text, every)
        if found:
            return f"not reached by the analysis: {_listed(found)}"
        name = text.rpartition("->")[2].rpartition(".")[2].partition("(")[0]
        near = [s for s in every if name and f"->{name}(" in s]
        return f"no such method; of that name there are {_listed(near)}" if near else "no such method in the app's code"

    # -- facts -------------------------------------------------------------------------------------------------

    def tokens(self, layout: Layout, bits: int) -> tuple[str, ...]:
        """Tokens of a row in words, sorted."""
        return tuple(sorted({self.names.token(layout.method, layout.columns[c]) for c in bits_of(bits)}))

    def op_at(self, method: int, pc: int) -> int:
        """Index of the IR operation at a pc (the next one, where the pc holds none).

        Raises:
            WrongConfiguration: the method ends before it.
        """
        body = self.ctx.program.body(method)
        later = [(int(p), i) for i, p in enumerate(body.pc.tolist()) if p >= pc]
        if not later:
            last = max(body.pc.tolist(), default=0)
            raise WrongConfiguration(
                f"{self.ctx.program.signature(method)}: pc {pc:#x} is behind the last statement, at {max(last, 0):#x}"
            )
        return min(later)[1]

    def state(self, method: int, op: int) -> tuple[Layout, list[int]]:
        """All rows of a method just before an IR operation; value and channel rows are those of the whole method."""
        layout = self.layout(method)
        rows = list(self.solution.rows[layout.number])
        block, before = layout.place[op]
        solver = self.replay.method(layout.number)
        if block >= 0:
            heap = self.replay.state_at(layout.number, block, before)
            rows[solver.first_heap : solver.first_heap + solver.n_heap] = heap
        return layout, rows

    def facts(self, method: int | str, pc: int) -> Facts:
        """What every slot may hold just before the statement at a pc; empty slots are left out.

        Registers stand under `v0` … and `p0` … as in smali (`this`), values without one under `t0` …; returned and
        thrown values and sinks speak of the whole method.
        """
        method = self.find(method)
        op = self.op_at(method, pc)
        layout, rows = self.state(method, op)
        from analyzer.statements import MethodView

        found: dict[str, set[str]] = {}
        for name, bits in MethodView(self, method).named_values(op).items():
            found.setdefault(name, set()).update(self.tokens(layout, bits))
        for row in range(self.ctx.program.body(method).n_values, len(rows)):
            found.setdefault(self.names.slot(method, layout.rows[row]), set()).update(self.tokens(layout, rows[row]))
        return {slot: tuple(sorted(tokens)) for slot, tokens in sorted(found.items()) if tokens}

    def points_to(self, method: int | str, pc: int, register: int) -> tuple[str, ...]:
        """What a dex register may hold just before the statement at a pc. Registers are numbered as `v0`, `v1`, … are.

        Raises:
            WrongConfiguration: no such method, pc or register.
        """
        method = self.find(method)
        layout = self.layout(method)
        bits = 0
        for value in self.values_of_register(method, pc, register):
            bits |= self.solution.rows[layout.number][value]
        return self.tokens(layout, bits)

    def values_of_register(self, method: int | str, pc: int, register: int) -> tuple[int, ...]:
        """SSA values that a register may hold before a pc, over all paths that lead there; no phis.

        Raises:
            WrongConfiguration: no such method, pc or register, or a synthetic method, which has no registers.
        """
        method = self.find(method)
        signature = self.ctx.program.signature(method)
        registers = self.registers(method)
        if registers is None:
            raise WrongConfiguration(f"{signature}: a synthetic method has no registers")
        if not 0 <= register < registers.n_registers:
            raise WrongConfiguration(f"{signature}: no register v{register}; it has v0 to v{registers.n_registers - 1}")
        row = registers.row_at(pc)
        if row < 0:
            raise WrongConfiguration(f"{signature}: pc {pc:#x} is behind the last statement, at {registers.last_pc:#x}")
        return tuple(sorted(v for v in registers.values(row, register) if v >= 0))

    def registers(self, method: int) -> Registers | None:
        """Reaching definitions of a method; None for synthetic methods."""
        if method not in self._registers:
            program = self.ctx.program
            definition = program.definition(method)
            known = None
            if definition is not None and definition.code >= 0:
                known = Registers(program, method, program.body(method), program.table.code(definition.code))
            self._registers[method] = known
        return self._registers[method]

    def row(self, layout: Layout, key: Key) -> int:
        """Row number of a slot key; -1 if the method has no such slot."""
        try:
            return layout.rows.index(key)
        except ValueError:
            return -1

    # -- files -------------------------------------------------------------------------------------------------

    def write(self, path: Path, form: str) -> None:
        """Writes the graph with its facts to a file; `form` is npz, json or graphml (see `analyzer.idfg_export`)."""
        from analyzer.idfg_export import write

        write(self, path, form)


def _listed(signatures: list[str]) -> str:
    more = f" and {len(signatures) - MOST_CANDIDATES} more" if len(signatures) > MOST_CANDIDATES else ""
    return ", ".join(signatures[:MOST_CANDIDATES]) + more


def _matching(text: str, signatures: list[str]) -> list[str]:
    """Signatures that a name means: those whose method is called so, else those that hold the text."""
    owner, arrow, name = text.rpartition("->") if "->" in text else text.partition("(")[0].rpartition(".")
    if arrow == ".":
        name = text[len(owner) + 1 :]
    owner = owner.removesuffix(";").replace("/", ".")
    wanted, parenthesis, _ = name.partition("(")
    named = []
    for signature in signatures:
        cls, _, rest = signature.partition("->")
        plain = cls[1:-1].replace("/", ".")
        fits = not arrow or owner in (plain, f"L{plain}") or plain.endswith((f".{owner}", f"${owner}"))
        if fits and rest.partition("(")[0] == wanted and (not parenthesis or rest.startswith(name)):
            named.append(signature)
    return named or [s for s in signatures if text and text in s]
