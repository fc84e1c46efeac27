"""The IDFG as a file: npz for programs that read arrays, json for scripts, graphml for graph tools.

json, one method per line, sorted by signature; indices count from 0 within the method:

    {"schema": "gdroid-idfg/1", "digest": …, "methods": [{
      "signature", "own": the app's own code or a library in it, "callers": signatures,
      "tokens": what may be somewhere, in words,
      "values": per SSA value {"name": v3, p1, this …, "tokens": indices},
      "channels": what is returned, thrown, given to sinks: [[slot in words, indices]], of the whole method,
      "slots": cells and static fields in words,
      "entry": what they hold on entry: [[slot index, token indices]],
      "statements": [{"pc", "line", "text", "uses": values, "defines": value or null, "next": statements,
                      "handlers": statements, "calls": signatures,
                      "heap": as "entry", slots that differ from the statement before in this list}]}]}

The facts before a statement are `values`, and `entry` updated by the `heap` of each statement up to and with it:
written in full they would be a thousand times as long.

npz, read with `allow_pickle=False`: see `arrays`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from analyzer.icfg import Node, edges, to_networkx
from analyzer.idfg import Idfg
from analyzer.ir import Op
from analyzer.statements import MethodView
from analyzer.tokens import Key
from gpu.bits import bits_of
from gpu.errors import WrongConfiguration

VERSION = 1
LONGEST = 160
"""Characters of a slot, token or statement in words in npz."""
MOST_TOKENS = 50
"""Tokens of a row in the facts of a graphml node."""


def write(idfg: Idfg, path: Path, form: str) -> None:
    """Writes a solved app; the same app gives the same bytes.

    Raises:
        WrongConfiguration: unknown form.
    """
    writers: dict[str, Callable[[Idfg, Path], None]] = {"npz": write_npz, "json": write_json, "graphml": write_graphml}
    if form not in writers:
        raise WrongConfiguration(f"{form!r}: the IDFG is written as {', '.join(writers)}")
    writers[form](idfg, path)


def _methods(idfg: Idfg) -> list[int]:
    """Analysed methods by signature."""
    return sorted(idfg.encoded.layouts, key=idfg.ctx.program.signature)


# -- json ------------------------------------------------------------------------------------------------------


def write_json(idfg: Idfg, path: Path) -> None:
    """Writes json, method by method."""
    with path.open("w", encoding="ascii", newline="\n") as out:
        head = json.dumps({"schema": "gdroid-idfg/1", "digest": idfg.solution.digest()})
        out.write(f'{head[:-1]}, "methods": [')
        for i, method in enumerate(_methods(idfg)):
            out.write(",\n" if i else "\n")
            json.dump(method_record(idfg, method), out, separators=(",", ":"))
        out.write("\n]}\n")


def method_record(idfg: Idfg, method: int) -> dict[str, Any]:
    """What json says of a method."""
    view = MethodView(idfg, method)
    program, layout, names = idfg.ctx.program, view.layout, idfg.names
    n_values = view.body.n_values
    rows = idfg.solution.rows[layout.number]
    heap = range(view.facts.first_heap, view.facts.first_heap + view.facts.n_heap)
    channels = [
        [names.slot(method, layout.rows[row]), list(bits_of(rows[row]))]
        for row in range(n_values, len(rows))
        if rows[row] and row not in heap
    ]
    return {
        "signature": program.signature(method),
        "own": idfg.ctx.is_own(method),
        "callers": sorted(program.signature(c) for c in idfg.ctx.graph.callers(method)),
        "tokens": [names.token(method, key) for key in layout.columns],
        "values": [{"name": view.value_name(v), "tokens": list(bits_of(rows[v]))} for v in range(n_values)],
        "channels": channels,
        "slots": [view.slot_name(i) for i in range(view.facts.n_heap)],
        "entry": [[i, list(bits_of(bits))] for i, bits in enumerate(view.entry) if bits],
        "statements": _statements(view),
    }


def _statements(view: MethodView) -> list[dict[str, Any]]:
    number = {op: i for i, op in enumerate(view.order)}
    following: dict[int, list[int]] = {}
    handlers: dict[int, list[int]] = {}
    for a, b, exceptional in edges(view.body):
        (handlers if exceptional else following).setdefault(a, []).append(number[b])
    program = view.program
    last = view.entry
    found = []
    for op in view.order:
        before = view.before(op) if view.reached(op) else last
        targets = view.idfg.ctx.graph.targets(view.method, op) if view.body.op[op] == Op.CALL else ()
        found.append(
            {
                "pc": view.pc(op),
                "line": program.line(view.method, view.pc(op)),
                "text": view.plain_text(op),
                "uses": view.operands(op),
                "defines": int(view.body.dst[op]) if view.body.dst[op] >= 0 else None,
                "next": following.get(op, []),
                "handlers": handlers.get(op, []),
                "calls": sorted(program.signature(t) for t in targets),
                "heap": [[c.row, list(bits_of(c.after))] for c in view.difference(last, before)],
            }
        )
        last = before
    return found


# -- graphml ---------------------------------------------------------------------------------------------------


def write_graphml(idfg: Idfg, path: Path) -> None:
    """Writes the ICFG of `analyzer.icfg`; nodes have method, pc, line, statement and the facts before it as text."""
    import networkx as nx

    program = idfg.ctx.program
    graph = to_networkx(program, idfg.ctx.graph)
    signatures = {program.signature(m): m for m in idfg.ctx.graph.methods}
    views = {s: MethodView(idfg, m) for s, m in signatures.items() if m in idfg.encoded.layouts}
    numbers = {signature: i for i, signature in enumerate(sorted(signatures))}
    names = {}
    for (signature, op), data in graph.nodes(data=True):
        names[signature, op] = f"m{numbers[signature]}.{op}"
        data["method"] = legal(signature)
        line = program.line(signatures[signature], data["pc"])
        if line is not None:
            data["line"] = line
        view = views.get(signature)
        if view is not None:
            data["statement"] = legal(view.plain_text(op))
            data["facts"] = legal("; ".join(facts_text(view, op)))
    renamed: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    for node in sorted(names, key=lambda n: (numbers[n[0]], n[1])):
        renamed.add_node(names[node], **graph.nodes[node])

    def order(edge: tuple[Node, Node, str]) -> tuple[int, int, int, int, str]:
        (a, i), (b, j), kind = edge
        return numbers[a], i, numbers[b], j, kind

    for a, b, kind in sorted(graph.edges(keys=True), key=order):
        renamed.add_edge(names[a], names[b], kind=kind)
    with path.open("wb") as out:
        nx.write_graphml_xml(renamed, out)


def facts_text(view: MethodView, op: int) -> list[str]:
    """What holds before a statement in the slots that it uses: its operands and the cells that they select."""
    rows = [(view.value_name(v), view.value(v)) for v in view.operands(op)]
    if view.reached(op):
        before = view.before(op)
        rows += [(view.slot_name(at), before[at]) for at in view.touched(op)]
    found = []
    for name, bits in rows:
        keys = sorted(view.keys(bits), key=lambda k: view.names.order(view.method, k))
        words = list(dict.fromkeys(view.names.token(view.method, k) for k in keys[:MOST_TOKENS]))
        if len(keys) > MOST_TOKENS:
            words.append(f"… and {len(keys) - MOST_TOKENS} more")
        if words:
            found.append(f"{name}: {', '.join(words)}")
    return found


def legal(text: str) -> str:
    """Text without characters that XML cannot hold; they come as `\\uXXXX`."""

    def fits(char: str) -> bool:
        code = ord(char)
        return code in (0x9, 0xA, 0xD) or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code >= 0x10000

    if text.isascii() and text.isprintable():
        return text
    return "".join(c if fits(c) else f"\\u{ord(c):04x}" for c in text)


# -- npz -------------------------------------------------------------------------------------------------------

_PROBLEM = (
    *("method_key", "scc_off", "col_off", "col_flag", "row_off", "row_kind", "block_off", "exit_block", "succ_off"),
    *("succ", "op_off", "op_origin", "entry_off", "entry_row", "entry_col"),
)


def write_npz(idfg: Idfg, path: Path) -> None:
    """Writes `arrays` compressed, no pickled objects."""
    with path.open("wb") as out:
        _save(out, arrays(idfg))


def _save(out: IO[bytes], found: dict[str, NDArray[Any]]) -> None:
    np.savez_compressed(out, **found)  # type: ignore[arg-type]


def arrays(idfg: Idfg) -> dict[str, NDArray[Any]]:
    """The facts as arrays. Methods, rows, columns and blocks are numbered as in the encoded problem.

    version (1,) i4
    method_key, scc_off, col_off, col_flag, row_off, row_kind, block_off, exit_block, succ_off, succ, op_off,
    op_origin, entry_*: as in the encoded problem (`gpu.problem`)
    signature (n_methods,) unicode
    text (n_texts,) unicode, sorted: words of tokens, slots and statements; col_text (n_cols,), row_text (n_rows,),
    stmt_text (n_statements,) i4 indices into it
    stmt_off (n_methods + 1,) i4; stmt_pc, stmt_block, stmt_before i4: place of each IR operation: a block of the
    problem in its method, or -1, and the number of the block's operations before it
    words (n_methods,) i4: 64-bit words per row of a method
    value_off (n_methods + 1,) i8 into values u8: rows of a method in order, `words` each, bit c of a row says that
    column c may be there; heap rows are 0 here
    head_off (n_methods + 1,) i8 into heads u8: per block, its heap rows at the head of the block
    """
    problem, solution, names = idfg.encoded.problem, idfg.solution, idfg.names
    program = idfg.ctx.program
    found: dict[str, NDArray[Any]] = {"version": np.array([VERSION], np.int32)}
    found.update((name, getattr(problem, name)) for name in _PROBLEM)
    texts: dict[str, int] = {}

    def text(words: str) -> int:
        return texts.setdefault(_storable(words), len(texts))

    cols: list[int] = []
    rows: list[int] = []
    statements: list[tuple[int, int, int, int]] = []
    stmt_off, words = [0], []
    values: list[NDArray[np.uint64]] = []
    heads: list[NDArray[np.uint64]] = []
    order = [int(m) for m in problem.method_key]
    for number, method in enumerate(order):
        view = MethodView(idfg, method)
        layout = view.layout
        cols += [text(names.token(method, key)) for key in layout.columns]
        rows += [text(_slot(view, row, key)) for row, key in enumerate(layout.rows)]
        for op, (block, before) in enumerate(layout.place):
            statements.append((view.pc(op), block, before, text(view.plain_text(op))))
        stmt_off.append(len(statements))
        width = (len(layout.columns) + 63) // 64
        words.append(width)
        values.append(_words(list(solution.rows[number]), width))
        heads.append(_words([row for head in solution.heads[number] for row in head], width))
    known = sorted(texts)
    place = np.zeros(len(texts), np.int32)
    place[[texts[t] for t in known]] = np.arange(len(known), dtype=np.int32)
    columns = np.asarray(statements, np.int32).reshape(-1, 4)
    found |= {
        "signature": np.asarray([_storable(program.signature(m), 1000) for m in order], np.str_),
        "text": np.asarray(known, np.str_),
        "col_text": place[np.asarray(cols, np.int64)],
        "row_text": place[np.asarray(rows, np.int64)],
        "stmt_off": np.asarray(stmt_off, np.int32),
        "stmt_pc": columns[:, 0].copy(),
        "stmt_block": columns[:, 1].copy(),
        "stmt_before": columns[:, 2].copy(),
        "stmt_text": place[columns[:, 3]],
        "words": np.asarray(words, np.int32),
        "value_off": np.cumsum([0, *map(len, values)]).astype(np.int64),
        "values": np.concatenate(values) if values else np.zeros(0, np.uint64),
        "head_off": np.cumsum([0, *map(len, heads)]).astype(np.int64),
        "heads": np.concatenate(heads) if heads else np.zeros(0, np.uint64),
    }
    return found


def _slot(view: MethodView, row: int, key: Key | int) -> str:
    return view.value_name(row) if isinstance(key, int) else view.names.slot(view.method, key)


def _words(rows: list[int], width: int) -> NDArray[np.uint64]:
    """Rows as 64-bit words, low ones first."""
    data = b"".join(row.to_bytes(width * 8, "little") for row in rows)
    return np.frombuffer(data, "<u8").astype(np.uint64)


def _storable(text: str, longest: int = LONGEST) -> str:
    """Text that a unicode array keeps as it is: cut, lone surrogates and trailing zeros escaped."""
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{ord(c):04x}" if 0xD800 <= ord(c) < 0xE000 or c == "\0" else c for c in text)
