"""Environment methods follow the lifecycle data."""

from __future__ import annotations

from pathlib import Path

from analyzer.android.lifecycle import _simplified
from analyzer.ir import Body, Op
from analyzer.models import Lifecycle, LifecycleCall, State, Transition
from tests.analyzer.callgraph.apps import App, app

CREATE, START, STOP = (LifecycleCall(f"on{n}", "()V") for n in ("Create", "Start", "Stop"))
LIFE = Lifecycle(
    "thing",
    ("La/Thing;",),
    (("<init>", "()V"),),
    "made",
    {
        "made": State("made", (Transition("created", (CREATE,)),)),
        "created": State("created", (Transition("started", (START,)),)),
        "started": State("started", (Transition("stopped", (STOP,)),), running=True),
        "stopped": State("stopped", (Transition("started", (START,)),), resting=True),
    },
)


def test_nothing_is_simplified_where_every_call_runs_app_code() -> None:
    found = _simplified(LIFE, lambda call: True)
    assert found == LIFE.states


def test_states_that_no_call_tells_apart_become_one() -> None:
    found = _simplified(LIFE, lambda call: call == CREATE)
    assert found["started"] is found["stopped"]
    assert found["started"].running and found["started"].resting
    assert found["made"].next == (Transition("created", (CREATE,)),)
    assert found["created"].next == (Transition(found["started"].name),)


def test_order_is_kept_where_only_some_calls_run_app_code() -> None:
    found = _simplified(LIFE, lambda call: call == STOP)
    assert found["stopped"] is not found["started"]
    assert Transition(found["stopped"].name, (STOP,)) in found["started"].next


def environment(found: App, name: str) -> tuple[int, Body]:
    (entry,) = (e for e in found.graph.components if e.component.name.endswith(name))
    return entry.environment, found.program.body(entry.environment)


def blocks_that_call(found: App, method: int, name: str) -> set[int]:
    body, p = found.program.body(method), found.program
    return {
        b
        for b in range(body.n_blocks)
        for i in range(body.block_off[b], body.block_off[b + 1])
        if body.op[i] == Op.CALL and p.method(int(body.ref[i])).name == name
    }


def paths(body: Body, start: int, without: set[int]) -> set[int]:
    """Blocks reachable from `start` that avoid some."""
    seen, stack = {start}, [start]
    while stack:
        b = stack.pop()
        for s in body.succ[body.succ_off[b] : body.succ_off[b + 1]].tolist():
            if s not in seen and s not in without:
                seen.add(s)
                stack.append(s)
    return seen


def test_a_new_object_is_created_before_anything_else_runs(apks: Path) -> None:
    found = app(apks / "LifecycleFields_Bad.apk")
    for entry in found.graph.components:
        if entry.lifecycle != "activity":
            continue
        body = found.program.body(entry.environment)
        creates = blocks_that_call(found, entry.environment, "onCreate")
        if not creates:
            continue
        news = {b for b in range(body.n_blocks) if Op.NEW in body.op[body.block_off[b] : body.block_off[b + 1]]}
        assert len(news) == 1 and news <= blocks_that_call(found, entry.environment, "<init>")
        left = paths(body, min(news), creates)  # without onCreate a new object gets nowhere
        calls = {b for b in left for i in range(body.block_off[b], body.block_off[b + 1]) if body.op[i] == Op.CALL}
        assert calls <= news | creates


def methods_of(found: App, method: int) -> list[int]:
    """The environment methods of the same class: its new objects, those left earlier, those that live shortly."""
    p = found.program
    kind, _, cls = p.method(method).name.partition(":")
    return [
        m
        for m in found.graph.environments
        if p.method(m).name in (f"{kind}:{cls}", f"{kind} again:{cls}", f"{kind} short:{cls}")
    ]


def reads_live(found: App, method: int) -> bool:
    body, p = found.program.body(method), found.program
    return any(
        op == Op.SGET and p.field(int(ref)).name.startswith("$live") for op, ref in zip(body.op, body.ref, strict=True)
    )


def test_an_object_left_earlier_never_sees_on_create_again(apks: Path) -> None:
    found = app(apks / "LifecycleFields_Bad.apk")
    for entry in found.graph.components:
        if entry.lifecycle != "activity":
            continue
        (again,) = (m for m in methods_of(found, entry.environment) if reads_live(found, m))
        assert again != entry.environment
        assert not blocks_that_call(found, again, "onCreate")


def test_an_object_that_ends_before_it_can_pause_is_not_left(apks: Path) -> None:
    found = app(apks / "LifecycleFields_Bad.apk")
    method, _ = environment(found, "ClearedBeforeUseOk")
    (short,) = (m for m in methods_of(found, method) if " short:" in found.program.method(m).name)
    called = {found.program.method(t).name for t in found.graph.callees(short)}
    assert "onCreate" in called and not called & {"onStart", "onResume"}
    body, p = found.program.body(short), found.program
    assert not [r for op, r in zip(body.op, body.ref, strict=True) if op == Op.SPUT and "$live" in p.field(int(r)).name]


def test_layout_handlers_run_in_the_environment_of_their_activity(apks: Path) -> None:
    found = app(apks / "LayoutOnClick_Bad.apk")
    method, _ = environment(found, ".Main")
    called = {found.program.method(t).name for t in found.graph.callees(method)}
    assert "onCreate" in called
    assert not called & {"forgotten"}
    assert len(called) > 2


def test_saved_state_comes_back_through_its_pseudo_static(apks: Path) -> None:
    found = app(apks / "SavedState_Bad.apk")
    p = found.program
    _, body = environment(found, ".Main")
    names = {Op(op).name + " " + p.field(int(r)).name.split("$")[1]
             for op, r in zip(body.op, body.ref, strict=True) if op in (Op.SGET, Op.SPUT)}  # fmt: skip
    assert {"SGET saved", "SPUT saved"} <= names
