"""Control-flow graphs: blocks, edges, order and cycles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer import cfg
from analyzer.cfg import Graph
from analyzer.program import Program
from tests.analyzer.columns import WIDTH, Columns


def graph_of(text: str, registers: int = 4) -> tuple[Program, Graph]:
    columns = Columns()
    columns.add("LA;->m(I)V", registers, text)
    program = columns.program()
    return program, cfg.build(program.table.code(0), program.table)


def test_straight_code_is_one_block() -> None:
    _, graph = graph_of("const/4 v0 1\n nop\n return-void")
    assert graph.bounds == [(0, 3)]
    assert graph.successors == [[]]


def test_blocks_end_at_branches_and_begin_at_targets() -> None:
    _, graph = graph_of("""
        if-eqz p0 :other
        const/4 v0 1
    :other
        const/4 v0 2
        return-void
    """)
    assert graph.bounds == [(0, 1), (1, 2), (2, 4)]
    assert graph.successors == [[1, 2], [2], []]


def test_blocks_are_split_at_both_bounds_of_a_try_range() -> None:
    program, graph = graph_of("""
        const/4 v0 1
    :begin
        const-string v0 "a"
        const-string v1 "b"
    :end
        const/4 v1 1
        return-void
    :catch
        return-void
    :all
        return-void
    .catch LE; :begin :end :catch
    .catch all :begin :end :all
    """)
    assert graph.bounds[:3] == [(0, 1), (1, 3), (3, 5)]
    assert graph.range_of == [-1, 0, -1, -1, -1]
    catching, everything = graph.handlers[1]
    assert graph.ranges == [[(program.type_find("LE;"), catching), (-1, everything)]]
    assert graph.handlers[0] == graph.handlers[2] == []


def test_a_switch_has_the_fall_through_first_and_each_target_once() -> None:
    _, graph = graph_of("""
        packed-switch p0 0=:a 1=:b 2=:a
        return-void
    :a
        return-void
    :b
        return-void
    """)
    assert len(graph.successors[0]) == 3
    assert graph.bounds[graph.successors[0][0]] == (1, 2)


def test_unreachable_code_is_dropped() -> None:
    _, graph = graph_of("goto :end\n const/4 v0 1\n :end\n return-void")
    assert graph.bounds == [(0, 1), (2, 3)]


def test_a_branch_to_the_first_instruction_gives_an_empty_entry() -> None:
    _, graph = graph_of(":a\n if-eqz p0 :a\n return-void")
    assert graph.bounds[0] == (0, 0)
    assert graph.successors[0] == [1]
    assert all(0 not in targets for targets in graph.successors)


def test_targets_are_instructions_whatever_their_length() -> None:
    _, graph = graph_of("goto :b\n :a\n return-void\n :b\n goto :a")
    assert WIDTH == 2
    assert graph.bounds == [(0, 1), (2, 3), (1, 2)]


EDGES = st.integers(1, 12).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=3, unique=True), min_size=n, max_size=n)
)


@given(EDGES)
def test_reverse_post_order_lists_what_is_reachable_and_orders_what_is_acyclic(edges: list[list[int]]) -> None:
    order = cfg.reverse_post_order(0, edges.__getitem__, len(edges))
    assert order[0] == 0
    assert set(order) == closure(edges, 0) | {0}
    position = {block: k for k, block in enumerate(order)}
    for block in order:
        for target in edges[block]:
            if block not in closure(edges, target) and block != target:
                assert position[block] < position[target]


@given(EDGES)
def test_in_cycle_is_reaching_oneself(edges: list[list[int]]) -> None:
    order = cfg.reverse_post_order(0, edges.__getitem__, len(edges))
    position = {block: k for k, block in enumerate(order)}
    renumbered = [[position[t] for t in edges[block]] for block in order]
    assert cfg.in_cycle(renumbered) == [b in closure(renumbered, b) for b in range(len(renumbered))]


def closure(edges: list[list[int]], start: int) -> set[int]:
    """What can be reached by at least one edge."""
    seen: set[int] = set()
    work = list(edges[start])
    while work:
        at = work.pop()
        if at not in seen:
            seen.add(at)
            work.extend(edges[at])
    return seen
