"""Questions to a solved app: registers, facts at a point, methods by name, and the files that it is written to."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import gdroid
from analyzer.idfg import Idfg
from analyzer.ir import Op
from analyzer.lift import FILLED, MOVE, A, B, C
from analyzer.lift import OP as ROW_OP
from analyzer.registers import Registers, origins
from analyzer.statements import MethodView
from analyzer.words import Names
from gdroid.app import App
from gpu.errors import WrongConfiguration

APKS = sorted((Path(__file__).resolve().parent.parent.parent / "apks").glob("*.apk"))


@cache
def app(name: str) -> App:
    return gdroid.load(next(path for path in APKS if path.stem == name))


def idfg(name: str) -> Idfg:
    return app(name).idfg()


# -- registers -------------------------------------------------------------------------------------------------


def operands(registers: Registers, row: list[int], op: int) -> list[tuple[int, int]]:
    """(register, SSA value) of what an instruction reads."""
    body, code = registers.body, registers.code
    if row[ROW_OP] == Op.CALL:
        given = code.args[row[A] - code.args_start : row[B] - code.args_start]
        return list(zip(given, body.args[body.arg_off[op] : body.arg_off[op + 1]].tolist(), strict=True))
    pairs = [(row[A], int(body.a[op])), (row[B], int(body.b[op]))]
    if row[ROW_OP] == Op.APUT:
        pairs.append((row[C], int(body.c[op])))
    return [(register, value) for register, value in pairs if register >= 0 and value >= 0]


@pytest.mark.parametrize("path", APKS, ids=lambda path: path.stem)
def test_a_register_holds_what_the_ssa_form_says_of_every_operand(path: Path) -> None:
    program = gdroid.load(path).program
    checked = 0
    for method in program.methods_with_code():
        definition = program.definition(method)
        assert definition is not None
        if definition.code in program.table.damaged:
            continue
        body = program.body(method)
        registers = Registers(program, method, body, program.table.code(definition.code))
        known = origins(body)
        at = {int(pc): i for i, pc in enumerate(body.pc.tolist()) if body.op[i] != Op.PHI}
        for i, row in enumerate(registers.code.rows):
            op = at.get(row[1], -1)
            if op < 0 or row[ROW_OP] in (MOVE, FILLED, Op.NOP) or int(body.op[op]) != row[ROW_OP]:
                continue
            for register, value in operands(registers, row, op):
                assert registers.values(i, register) - {-1} == known[value], (program.signature(method), row)
                checked += 1
    assert checked


def test_a_register_is_asked_for_at_a_place_not_in_the_order_of_the_code() -> None:
    graph = idfg("Fields_Bad")
    label = "«device_id from getDeviceId()@000b»"
    assert graph.points_to("fields.Main.onCreate", 0x3, 1) == ("in:p1",)
    assert graph.points_to("fields.Main.onCreate", 0x5, 1) == ('"phone"',)
    assert graph.points_to("fields.Main.onCreate", 0xF, 1) == ("String from getDeviceId()@000b", label)


def test_a_register_at_a_merge_holds_what_comes_in_on_every_path() -> None:
    graph = idfg("Loops_Bad")
    program = graph.ctx.program
    found = 0
    for method in graph.encoded.layouts:
        view = MethodView(graph, method)
        if graph.registers(method) is None:
            continue
        for op in (view.body.op == Op.PHI).nonzero()[0].tolist():
            value = int(view.body.dst[op])
            register = int(view.body.value_reg[value])
            here = graph.values_of_register(method, view.pc(op), register)
            assert set(here) >= origins(view.body)[value], program.signature(method)
            assert set(view.keys(view.value(value))) <= {key for v in here for key in view.keys(view.value(v))}, (
                program.signature(method)
            )
            found += 1
    assert found > 3


# -- facts -----------------------------------------------------------------------------------------------------


def test_facts_hold_before_the_statement() -> None:
    graph = idfg("Fields_Bad")
    cell = "(new Pair@0000).inner"
    before, after = graph.facts("NestedFieldBad.run", 0xA), graph.facts("NestedFieldBad.run", 0xC)
    assert cell not in before and after[cell] == ("new Pair@0005",)
    assert before["v0"] == ("new Pair@0000",) and before["p0"] == ("in:p0",)
    assert list(after) == sorted(after)


def test_no_slot_of_the_facts_is_empty() -> None:
    graph = idfg("Collections_Bad")
    for method in graph.encoded.layouts:
        assert all(graph.facts(method, 0).values())


def test_methods_go_by_id_signature_and_unique_parts() -> None:
    graph = idfg("Fields_Bad")
    signature = "Lorg/gdroid/samples/fields/NestedFieldBad;->run(Ljava/lang/String;)V"
    wanted = graph.find(signature)
    assert graph.ctx.program.signature(wanted) == signature
    for name in (
        wanted, "NestedFieldBad.run", "fields.NestedFieldBad.run", "org.gdroid.samples.fields.NestedFieldBad.run",
        "NestedFieldBad;->run", "Lorg/gdroid/samples/fields/NestedFieldBad;->run",
        "NestedFieldBad.run(Ljava/lang/String;)V",
    ):  # fmt: skip
        assert graph.find(name) == wanted, name


def test_a_bad_question_is_answered_with_what_would_be_right() -> None:
    graph = idfg("Fields_Bad")
    with pytest.raises(WrongConfiguration, match="no register v99; it has v0 to v3"):
        graph.points_to("NestedFieldBad.run", 0, 99)
    with pytest.raises(WrongConfiguration, match="not defined in the app"):
        graph.facts("Landroid/util/Log;->i(Ljava/lang/String;Ljava/lang/String;)I", 0)
    with pytest.raises(WrongConfiguration, match="behind the last"):
        graph.points_to("NestedFieldBad.run", 0x400, 0)
    with pytest.raises(WrongConfiguration, match="synthetic"):
        graph.points_to("Lgdroid/Env;->app()V", 0, 0)


def test_a_method_that_nothing_calls_is_said_to_be_not_reached() -> None:
    graph = idfg("UnreachableCode_Ok")
    program = graph.ctx.program
    unreached = [m for m in program.methods_with_code() if m not in graph.encoded.layouts]
    assert unreached
    with pytest.raises(WrongConfiguration, match="not reached by the analysis"):
        graph.facts(program.signature(unreached[0]), 0)


def test_wide_parameters_count_twice_in_names_as_in_smali() -> None:
    names = Names.__new__(Names)
    graph = idfg("Fields_Bad")
    names.program = graph.ctx.program
    program = names.program
    method = program.add_method("Lx/Wide;", "m", "(JLjava/lang/String;D[I)V", 0x9, None)
    assert [names.parameter(method, i) for i in range(4)] == ["p0", "p2", "p3", "p5"]
    method = program.add_method("Lx/Wide;", "n", "(JI)V", 0x1, None)
    assert [names.parameter(method, i) for i in range(3)] == ["this", "p1", "p3"]


# -- files -----------------------------------------------------------------------------------------------------


def record(graph: Idfg, path: Path) -> dict[str, Any]:
    graph.write(path, "json")
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("name", ["Fields_Bad", "Exceptions_Bad", "Collections_Bad", "Recursion_Bad"])
def test_json_gives_back_the_facts_before_every_statement(name: str, tmp_path: Path) -> None:
    graph = idfg(name)
    found = record(graph, tmp_path / "a.json")
    assert found["digest"] == graph.solution.digest()
    assert [m["signature"] for m in found["methods"]] == sorted(
        graph.ctx.program.signature(m) for m in graph.encoded.layouts
    )
    for entry in found["methods"]:
        method = graph.find(entry["signature"])
        view = MethodView(graph, method)
        heap = {slot: sum(1 << t for t in tokens) for slot, tokens in entry["entry"]}
        assert entry["slots"] == [view.slot_name(i) for i in range(view.facts.n_heap)]
        for op, statement in zip(view.order, entry["statements"], strict=True):
            heap.update({slot: sum(1 << t for t in tokens) for slot, tokens in statement["heap"]})
            if view.reached(op):
                assert [heap.get(i, 0) for i in range(view.facts.n_heap)] == view.before(op)


@pytest.mark.parametrize("form", ["json", "npz", "graphml"])
def test_two_analyses_write_the_same_bytes(form: str, tmp_path: Path) -> None:
    path = next(path for path in APKS if path.stem == "Exceptions_Bad")
    for name in ("a", "b"):
        gdroid.load(path).idfg().write(tmp_path / f"{name}.{form}", form)
    assert (tmp_path / f"a.{form}").read_bytes() == (tmp_path / f"b.{form}").read_bytes()


def test_npz_holds_the_solution_bit_for_bit(tmp_path: Path) -> None:
    graph = idfg("Collections_Bad")
    graph.write(tmp_path / "a.npz", "npz")
    with np.load(tmp_path / "a.npz", allow_pickle=False) as data:
        found = dict(data)
    solution = graph.solution
    for m, method in enumerate(found["method_key"].tolist()):
        width = int(found["words"][m])
        layout = graph.encoded.layouts[method]
        assert found["signature"][m] == graph.ctx.program.signature(method)
        words = [found["text"][i] for i in found["col_text"][found["col_off"][m] : found["col_off"][m + 1]]]
        assert words == [graph.names.token(method, key) for key in layout.columns]

        def rows(name: str, m: int = m, width: int = width) -> list[int]:
            flat = found[f"{name}s"][found[f"{name}_off"][m] : found[f"{name}_off"][m + 1]].reshape(-1, width)
            return [sum(int(word) << 64 * i for i, word in enumerate(row)) for row in flat]

        assert rows("value") == list(solution.rows[m])
        assert rows("head") == [row for head in solution.heads[m] for row in head]


def test_graphml_is_the_icfg_with_statements_and_facts(tmp_path: Path) -> None:
    graph = idfg("Fields_Bad")
    graph.write(tmp_path / "a.graphml", "graphml")
    read = nx.read_graphml(tmp_path / "a.graphml", force_multigraph=True)
    icfg = app("Fields_Bad").icfg()
    assert (len(read), read.number_of_edges()) == (len(icfg), icfg.number_of_edges())
    sink = [data for _, data in read.nodes(data=True) if data.get("statement") == "Log.i(v0, p0)"]
    assert any('v0: "sample"' in data["facts"] and "p0: in:p0" in data["facts"] for data in sink)


def test_any_string_can_be_written(tmp_path: Path) -> None:
    for name in ("OddCode_Bad", "Strings_Bad", "AllInstructions_Bad", "DamagedMethod_Bad", "Multidex_Bad"):
        for form in ("json", "npz", "graphml"):
            idfg(name).write(tmp_path / f"a.{form}", form)
        nx.read_graphml(tmp_path / "a.graphml", force_multigraph=True)


def test_an_unknown_form_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WrongConfiguration, match="npz, json, graphml"):
        idfg("Fields_Bad").write(tmp_path / "a.xml", "xml")
