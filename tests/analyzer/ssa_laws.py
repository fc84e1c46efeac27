"""What must be true of every SSA body, computed in the plainest way from the dex columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from analyzer.dex import opcodes
from analyzer.ir import Body, Op
from analyzer.program import Program

ENDS = {Op.RETURN, Op.THROW}
JUMPS = {Op.GOTO, Op.IF, Op.SWITCH}


def operands(body: Body, op: int) -> list[int]:
    """SSA values that an operation uses; of a PHI, those that come in; undefined ones left out."""
    kind = body.op[op]
    found = [int(body.a[op]), int(body.b[op])]
    if kind in (Op.CALL, Op.PHI):
        found = body.args[body.arg_off[op] : body.arg_off[op + 1]].tolist()
    if kind == Op.APUT:
        found.append(int(body.c[op]))
    return [v for v in found if v >= 0]


def check_shape(body: Body) -> None:
    """Arrays fit together, edges and order are consistent, each value has one definition."""
    n_ops, n_blocks = len(body.op), body.n_blocks
    for column in (body.pc, body.dst, body.a, body.b, body.c, body.ref, body.throws):
        assert len(column) == n_ops
    for offsets, rows, items in (
        (body.arg_off, n_ops, len(body.args)),
        (body.block_off, n_blocks, n_ops),
        (body.succ_off, n_blocks, len(body.succ)),
        (body.range_off, len(body.range_off) - 1, len(body.handler_type)),
    ):
        assert len(offsets) == rows + 1
        assert offsets[0] == 0
        assert offsets[-1] == items
        assert (offsets[1:] >= offsets[:-1]).all()
    assert len(body.value_reg) == body.n_values
    assert len(body.handler_block) == len(body.handler_type)
    assert len(body.in_cycle) == len(body.block_range) == n_blocks

    defined = [*range(body.n_params), *body.dst[body.dst >= 0].tolist()]
    assert sorted(defined) == list(range(body.n_values))

    edges = successors(body)
    assert all(0 <= t < n_blocks for targets in edges for t in targets)
    assert all(0 not in targets for targets in edges)
    reached = {0}
    for block, targets in enumerate(edges):
        assert block in reached, "a block comes before all its predecessors"
        reached.update(targets)
    for block in range(n_blocks):
        span = range(body.block_off[block], body.block_off[block + 1])
        kinds = [Op(int(body.op[op])) for op in span]
        assert all(kind not in ENDS | JUMPS for kind in kinds[:-1])
        targets = body.succ[body.succ_off[block] : body.succ_off[block + 1]].tolist()
        assert len(set(targets)) == len(targets)
        last = kinds[-1] if kinds else None
        if last in ENDS:
            assert not targets
        elif last in (Op.IF, Op.SWITCH):
            assert len(targets) > 1
        else:
            assert len(targets) == 1
        head = [kind for kind in kinds if kind in (Op.PHI, Op.CAUGHT)]
        assert kinds[: len(head)] == head
        assert Op.CAUGHT not in head[1:]
        for op in span:
            if body.op[op] == Op.CAUGHT:
                assert body.handler_block[body.ref[op]] == block
                assert body.caught_by(block)[0][1] == body.ref[op]
    check_cycles(body, edges)


def successors(body: Body) -> list[list[int]]:
    """Normal and exceptional successors of each block."""
    return [
        body.succ[body.succ_off[block] : body.succ_off[block + 1]].tolist() + body.handlers_of(block)
        for block in range(body.n_blocks)
    ]


def check_cycles(body: Body, edges: list[list[int]]) -> None:
    """in_cycle says which blocks reach themselves."""
    if body.n_blocks > 200:
        return
    for block in range(body.n_blocks):
        seen: set[int] = set()
        work = list(edges[block])
        while work:
            at = work.pop()
            if at not in seen:
                seen.add(at)
                work.extend(edges[at])
        assert bool(body.in_cycle[block]) == (block in seen)


def check_dominance(body: Body) -> None:
    """On every path to a use, exceptional ones too, the value has been defined; phis are not idle."""
    everything = frozenset(range(body.n_values))
    heads = [everything] * body.n_blocks
    heads[0] = frozenset(range(body.n_params))
    normal = [body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist() for b in range(body.n_blocks)]
    work = set(range(body.n_blocks))
    while work:
        block = min(work)
        work.discard(block)
        now = set(heads[block])
        thrown = everything
        for op in range(body.block_off[block], body.block_off[block + 1]):
            if body.throws[op]:
                thrown &= now
            if body.dst[op] >= 0:
                now.add(int(body.dst[op]))
        arriving = [(t, frozenset(now)) for t in normal[block]] + [(h, thrown) for h in body.handlers_of(block)]
        for target, values in arriving:
            if not heads[target] <= values:
                heads[target] &= values
                work.add(target)
    for block in range(body.n_blocks):
        now = set(heads[block])
        for op in range(body.block_off[block], body.block_off[block + 1]):
            if body.op[op] != Op.PHI:
                assert now.issuperset(operands(body, op)), f"operation {op} uses a value that may be undefined"
            else:
                args = operands(body, op)
                assert args == sorted(set(args))
                assert int(body.dst[op]) not in args
            if body.dst[op] >= 0:
                now.add(int(body.dst[op]))


@dataclass
class Instruction:
    """One dex instruction, read from the columns without the lifter."""

    name: str
    pc: int
    writes: int  # register or -1
    reads: list[int]  # in the order of the IR's operands
    targets: list[int]  # pcs, the next instruction included
    throws: bool


_QUIET = ("nop", "move", "return", "const/", "const-wide", "goto", "packed", "sparse", "cmp", "if-", "neg", "not-")


def _throws(name: str) -> bool:
    if name == "const" or name.startswith(_QUIET) or "-to-" in name:
        return False
    base = name.split("/")[0]
    if base.split("-")[0] in ("add", "sub", "mul", "and", "or", "xor", "shl", "shr", "ushr", "rsub"):
        return False
    return base not in ("div-float", "div-double", "rem-float", "rem-double")


def instructions(program: Program, method: int) -> list[Instruction]:
    """All instructions of a method, move-result folded into the one before."""
    dex = program.dex
    definition = program.definition(method)
    assert definition is not None
    first, end = int(dex.insn_off[definition.code]), int(dex.insn_off[definition.code + 1])
    found: list[Instruction] = []
    for row in range(first, end):
        name = opcodes.NAMES[dex.op[row]]
        a, b, c, x = int(dex.a[row]), int(dex.b[row]), int(dex.c[row]), int(dex.x[row])
        after = [int(dex.pc[row + 1])] if row + 1 < end else []
        args = dex.args[dex.arg_off[row] : dex.arg_off[row + 1]].tolist()
        form = opcodes.FORMATS[opcodes.FORMAT[dex.op[row]]]
        group = name.split("-")[0].split("/")[0]
        writes, reads = -1, []
        if name.startswith("move-result"):
            if found and found[-1].name.startswith(("invoke", "filled")):
                found[-1].writes = a
            writes = -1
        elif group == "invoke":
            reads = _without_second_halves(program, name, x, b << 16 | c, args)
        elif group == "filled":
            reads = args
        elif group in ("return", "throw", "monitor", "packed", "sparse", "fill", "sput"):
            reads = [] if name == "return-void" else [a]
        elif group == "if":
            reads = [a, b] if form == "22t" else [a]
        elif group == "iput":
            reads = [b, a]
        elif group == "aput":
            reads = [b, c, a]
        elif name == "check-cast":
            writes, reads = a, [a]
        elif "/2addr" in name:
            writes, reads = a, [a, b]
        elif group in ("const", "sget") or name in ("move-exception", "new-instance"):
            writes = a
        elif group not in ("nop", "goto"):
            writes, reads = a, [b, c] if form == "23x" else [b]
        if name.startswith(("return", "throw")):
            targets = []
        elif group == "goto":
            targets = [x]
        elif group == "if":
            targets = [*after, x]
        elif group in ("packed", "sparse"):
            targets = [*after, *dex.switch_target[x : x + (b | c << 16)].tolist()]
        else:
            targets = after
        found.append(Instruction(name, int(dex.pc[row]), writes, reads, targets, _throws(name)))
    return found


def _without_second_halves(program: Program, name: str, ref: int, proto: int, args: list[int]) -> list[int]:
    if "custom" in name:
        params, _ = program.proto(int(program.dex.call_site_proto[ref]))
    elif "polymorphic" in name:
        params, _ = program.proto(proto)
    else:
        params = program.method(ref).params
    kept = [] if "static" in name or "custom" in name else [args.pop(0)]
    for kind in params:
        kept.append(args.pop(0))
        if program.type_name(kind) in ("J", "D"):
            args.pop(0)
    return kept


State = dict[int, frozenset[int]]
"""Register -> origins: pc of the defining instruction, or ~k for parameter k."""


def reaching(program: Program, method: int) -> dict[int, State]:
    """What each register may hold before each reachable instruction, exceptional edges included; by pc."""
    dex = program.dex
    definition = program.definition(method)
    assert definition is not None
    code = definition.code
    by_pc = {i.pc: i for i in instructions(program, method)}
    tries = []
    for t in range(int(dex.try_off[code]), int(dex.try_off[code + 1])):
        handlers = dex.handler_pc[dex.try_handler_off[t] : dex.try_handler_off[t + 1]].tolist()
        tries.append((int(dex.try_start[t]), int(dex.try_end[t]), handlers))
    start: State = {}
    register = int(dex.code_registers[code]) - int(dex.code_ins[code])
    kinds = [program.type_name(t) for t in program.method(method).params]
    for k, kind in enumerate([*([] if program.is_static(method) else ["this"]), *kinds]):
        start[register] = frozenset([~k])
        register += 2 if kind in ("J", "D") else 1
    before: dict[int, State] = {0: start}
    work = [0]

    def join(pc: int, state: State) -> None:
        old = before.get(pc)
        new = dict(old or {})
        for number, origins in state.items():
            new[number] = new.get(number, frozenset()) | origins
        if new != old:
            before[pc] = new
            work.append(pc)

    while work:
        pc = work.pop()
        instruction, state = by_pc[pc], before[pc]
        if instruction.throws:
            for begin, end, handlers in tries:
                if begin <= pc < end:
                    for handler in handlers:
                        join(handler, state)
        after = dict(state)
        if instruction.name.startswith("move") and instruction.reads:
            after[instruction.writes] = state.get(instruction.reads[0], frozenset())
        elif instruction.writes >= 0:
            after[instruction.writes] = frozenset([pc])
        for target in instruction.targets:
            join(target, after)
    return before


def check_against_reaching(program: Program, method: int, body: Body) -> None:
    """Each operand, through all phis, stands for exactly the definitions that reach it; nothing is left out.

    For bodies whose branches were not pruned.
    """
    before = reaching(program, method)
    by_pc = {i.pc: i for i in instructions(program, method)}
    definition: dict[int, int] = {v: ~v for v in range(body.n_params)}
    phis: dict[int, list[int]] = {}
    for op in range(len(body.op)):
        value = int(body.dst[op])
        if body.op[op] == Op.PHI:
            phis[value] = operands(body, op)
        elif value >= 0:
            definition[value] = int(body.pc[op])

    def origins(value: int) -> frozenset[int]:
        seen: set[int] = set()
        work = [value]
        while work:
            at = work.pop()
            if at >= 0 and at not in seen:
                seen.add(at)
                work.extend(phis.get(at, []))
        return frozenset(definition[v] for v in seen if v not in phis)

    lifted: dict[int, list[int]] = defaultdict(list)
    for op in range(len(body.op)):
        if body.op[op] != Op.PHI:
            lifted[int(body.pc[op])].append(op)
    for pc, state in before.items():
        instruction = by_pc[pc]
        if instruction.name.startswith(("nop", "move")) and instruction.name != "move-exception":
            assert pc not in lifted
            continue
        assert pc in lifted, f"no operation for {instruction.name} at {pc}"
        if instruction.name.startswith("filled"):
            used = [int(body.c[op]) for op in lifted[pc] if body.op[op] == Op.APUT]
        else:
            (op,) = lifted[pc]
            used = operands(body, op)
            assert bool(body.throws[op]) == instruction.throws
        if instruction.name.startswith(("if", "packed", "sparse")) and body.op[lifted[pc][0]] == Op.GOTO:
            continue  # all targets are one
        expected = [state.get(register, frozenset()) for register in instruction.reads]
        assert [origins(value) for value in used] == expected, f"{instruction.name} at {pc}"
    assert set(lifted) <= set(before)
