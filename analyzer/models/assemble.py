"""Records of lifecycles and shims from the plain values of a pack."""

from __future__ import annotations

from typing import Any

from analyzer.models import text
from analyzer.models.pack import Row
from analyzer.models.types import Lifecycle, LifecycleCall, Shim, State, Step, Transition


def lifecycle(kind: str, raw: dict[str, Any]) -> Lifecycle:
    """The record of one kind of component."""
    states = {}
    for name, (running, resting, edges) in raw["states"].items():
        after = tuple(Transition(to, tuple(_call(c) for c in calls)) for to, calls in edges)
        states[name] = State(name, after, running, resting)
    create = tuple((name, descriptor) for name, descriptor in raw["create"])
    return Lifecycle(kind, tuple(raw["bases"]), create, raw["start"], states)


def _call(raw: list[Any]) -> LifecycleCall:
    name, descriptor, arguments, saves = raw
    arguments = ("" if a == "unknown" else a for a in arguments)
    return LifecycleCall(name, descriptor, tuple(arguments), tuple((text.access(at), to) for at, to in saves))


def shim(row: Row, identity: str) -> Shim:
    """The record of one row of the table of shims."""
    _, _, steps, result, later, flows = row
    return Shim(
        identity,
        tuple(
            Step(
                text.signature(call),
                text.access(on),
                tuple(None if a is None else text.access(a) for a in arguments),
                to,
            )
            for call, on, arguments, to in steps
        ),
        text.access(result) if result else None,
        tuple(text.access(p) for p in later),
        tuple(flow for f in flows for flow in text.flows(f)),
    )
