"""Records of lifecycles and shims from the plain values of a pack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from analyzer.models import text
from analyzer.models.pack import Row
from analyzer.models.types import Access, Flow, Lifecycle, LifecycleCall, Shim, State, Step, Transition


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
    return LifecycleCall(name, descriptor, tuple(arguments), tuple((text.access(at), to) for at, to in saves))


def shim(row: Row, identity: str, fit: Callable[[Access], Access | None]) -> Shim:
    """The record of one row of the table of shims; `fit` as `text.fitted` for the method at hand.

    A step on a place that the method lacks is left out.
    """
    _, _, raw, result, later, flows = row

    def place(at: str | None) -> Access | None:
        return None if at is None else fit(text.access(at))

    steps = []
    for call, on, arguments, to in raw:
        receiver = place(on)
        if receiver is not None:
            steps.append(Step(text.signature(call), receiver, tuple(place(a) for a in arguments), to))
    moved = []
    for one in (f for f in flows for f in text.flows(f)):
        source, target = fit(one.source), fit(one.target)
        if source is not None and target is not None:
            moved.append(Flow(source, target, one.data))
    again = (place(at) for at in later)
    return Shim(identity, tuple(steps), place(result), tuple(at for at in again if at is not None), tuple(moved))
