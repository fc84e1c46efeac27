"""Pruning and constants against a concrete run of random programs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer.dex import opcodes
from analyzer.ir import Op
from analyzer.program import Program
from tests.analyzer.columns import WIDTH, Columns
from tests.analyzer.readable.constants import fold, holds
from tests.analyzer.ssa_laws import check_dominance, check_shape

REGISTERS = 4
BINARY = ("add-int", "sub-int", "mul-int", "and-int", "or-int", "xor-int", "shl-int", "shr-int", "ushr-int")
TESTS = ("eq", "ne", "lt", "ge", "gt", "le")

register = st.integers(0, REGISTERS - 1)
line = st.integers(0, 11)


@st.composite
def instruction(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(("const", "const", "move", "binary", "lit", "ifz", "if", "switch", "goto", "input")))
    a, b, c, target = draw(register), draw(register), draw(register), draw(line)
    if kind == "const":
        return f"const/4 v{a} {draw(st.integers(-2, 2))}"
    if kind == "move":
        return f"move v{a} v{b}"
    if kind == "binary":
        return f"{draw(st.sampled_from(BINARY))} v{a} v{b} v{c}"
    if kind == "lit":
        return f"add-int/lit8 v{a} v{b} {draw(st.integers(-2, 2))}"
    if kind == "ifz":
        return f"if-{draw(st.sampled_from(TESTS))}z v{a} :l{target}"
    if kind == "if":
        return f"if-{draw(st.sampled_from(TESTS))} v{a} v{b} :l{target}"
    if kind == "switch":
        return f"packed-switch v{a} 0=:l{target} 1=:l{draw(line)} 2=:l{draw(line)}"
    if kind == "goto":
        return f"goto :l{target}"
    return f"move v{a} p0"


def assemble(lines: list[str]) -> tuple[Program, int]:
    columns = Columns()
    text = "\n".join(f"const/4 v{r} {r}" for r in range(REGISTERS))
    text += "".join(f"\n:l{k}\n{words}" for k, words in enumerate(lines))
    text += "".join(f"\n:l{k}" for k in range(len(lines), 12)) + "\nreturn-void"
    method = columns.add("LA;->m(I)V", REGISTERS + 1, text)
    return columns.program(), method


def run(program: Program, argument: int, steps: int) -> list[tuple[int, int | None]]:
    """(instruction, what it wrote) for each step of a concrete run."""
    dex = program.dex
    state = [0] * REGISTERS + [argument]
    at = 0
    trace: list[tuple[int, int | None]] = []
    for _ in range(steps):
        name = opcodes.NAMES[dex.op[at]]
        a, b, c, x = int(dex.a[at]), int(dex.b[at]), int(dex.c[at]), int(dex.x[at])
        wrote: int | None = None
        following = at + 1
        if name == "return-void":
            trace.append((at, None))
            break
        if name == "const/4":
            wrote = x
        elif name == "move":
            wrote = state[b]
        elif name == "add-int/lit8":
            wrote = wrap(state[b] + x)
        elif name in BINARY:
            wrote = compute(name, state[b], state[c])
        elif name == "goto":
            following = x // WIDTH
        elif name == "packed-switch":
            keys = dex.switch_key[x : x + b].tolist()
            if state[a] in keys:
                following = int(dex.switch_target[x + keys.index(state[a])]) // WIDTH
        else:
            left, right = state[a], state[b] if not name.endswith("z") else 0
            test = name.removeprefix("if-").removesuffix("z")
            outcome = {"eq": left == right, "ne": left != right, "lt": left < right}
            outcome |= {"ge": left >= right, "gt": left > right, "le": left <= right}
            if outcome[test]:
                following = x // WIDTH
        if wrote is not None:
            state[a] = wrote
        trace.append((at, wrote))
        at = following
    return trace


def wrap(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def compute(name: str, x: int, y: int) -> int:
    shift = y % 32
    results = {
        "add-int": x + y,
        "sub-int": x - y,
        "mul-int": x * y,
        "and-int": x & y,
        "or-int": x | y,
        "xor-int": x ^ y,
        "shl-int": x << shift,
        "shr-int": x >> shift,
        "ushr-int": x % (1 << 32) >> shift,
    }
    return wrap(results[name])


@settings(max_examples=300, deadline=None)
@given(st.lists(instruction(), min_size=3, max_size=12), st.integers(-3, 3))
def test_what_runs_is_in_the_body_and_constants_are_what_is_computed(lines: list[str], argument: int) -> None:
    program, method = assemble(lines)
    body = program.body(method)
    check_shape(body)
    check_dominance(body)
    by_pc = {int(body.pc[op]): op for op in range(len(body.op)) if body.op[op] != Op.PHI}
    for at, wrote in run(program, argument, 60):
        name = opcodes.NAMES[program.dex.op[at]]
        if name == "move":
            continue
        assert at * WIDTH in by_pc, f"{name} at {at} runs but was dropped"
        value = int(body.dst[by_pc[at * WIDTH]])
        if value in body.constant:
            assert body.constant[value] == wrote


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.integers(-(1 << 63), (1 << 63) - 1))
def test_long_arithmetic_wraps_at_64_bits(x: int, y: int) -> None:
    for name, exact in (("add-long", x + y), ("sub-long", x - y), ("mul-long", x * y), ("xor-long", x ^ y)):
        folded = fold(opcodes.OPCODES[name], x, y)
        assert folded is not None
        assert (folded - exact) % (1 << 64) == 0
        assert -(1 << 63) <= folded < 1 << 63
    assert fold(opcodes.OPCODES["cmp-long"], x, y) == (x > y) - (x < y)


def test_tests_are_those_of_the_opcode() -> None:
    for name, expected in (("eq", False), ("ne", True), ("lt", True), ("ge", False), ("gt", False), ("le", True)):
        assert holds(opcodes.OPCODES[f"if-{name}"], 1, 2) is expected
        assert holds(opcodes.OPCODES[f"if-{name}z"], -1, 0) is expected
