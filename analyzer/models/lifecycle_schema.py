"""The section `lifecycles` of a rule file: one kind of component as plain JSON values, checked."""

from __future__ import annotations

from typing import Any

from analyzer.models import text
from analyzer.models.nodes import Place

_ARGUMENTS = ("new", "null", "unknown")


def lifecycle(place: Place) -> dict[str, Any]:
    """`{bases, create, start, states: {name: [running, resting, [[to, [call…]]]]}}`.

    A call is [name, descriptor, [arguments], [[place, pseudo-static]…]].
    """
    entry = place.record("a lifecycle", ("bases", "create", "calls", "start", "states"))
    for needed in ("bases", "create", "start", "states"):
        if needed not in entry:
            place.fail(f"'{needed}' in a lifecycle")
    calls: dict[str, list[Any]] = {}
    if "calls" in entry:
        for key, value in entry["calls"].items("methods and their arguments"):
            call = _call(key, value)
            calls[call[0] + call[1]] = call
    states: dict[str, Any] = {}
    pairs = entry["states"].items("states")
    names = {key.text() for key, _ in pairs}
    for key, value in pairs:
        part = value.record("a state", ("next", "running", "resting"))
        edges = []
        if "next" in part:
            for to, body in _edges(part["next"]):
                if to.text() not in names:
                    to.fail(f"one of the states {', '.join(sorted(names))}, found {to.text()!r}")
                edges.append([to.text(), [_known(p, calls) for p in body]])
        flags = [name in part and part[name].boolean() for name in ("running", "resting")]
        states[key.text()] = [*flags, edges]
    if entry["start"].text() not in states:
        entry["start"].fail(f"one of the states {', '.join(sorted(names))}, found {entry['start'].text()!r}")
    return {
        "bases": [p.parse(text.class_descriptor, "a class name") for p in entry["bases"].list_or_one()],
        "create": [_method(p) for p in entry["create"].list_or_one()],
        "start": entry["start"].text(),
        "states": states,
    }


def _edges(place: Place) -> list[tuple[Place, list[Place]]]:
    """`next: {to: [calls]}`, or a list of such mappings where two edges lead to the same state."""
    return [(key, list(value.list())) for one in place.list_or_one() for key, value in one.items("edges")]


def _method(place: Place) -> list[str]:
    value = place.text("a method such as onCreate(Landroid/os/Bundle;)V")
    try:
        _, name, descriptor = text.signature(f"Lx;->{value}")
    except ValueError:
        place.fail(f"a method such as onCreate(Landroid/os/Bundle;)V, found {value!r}")
    return [name, descriptor]


def _call(key: Place, value: Place) -> list[Any]:
    """`onCreate(Landroid/os/Bundle;)V: {arg0: $saved}`; `saves: {arg0: $saved}` feeds a pseudo-static afterwards."""
    name, descriptor = _method(key)
    arguments = [""] * len(text.parameters(descriptor))
    saves = []
    for where, what in value.items("arguments") if value.is_mapping else ():
        if where.text() == "saves":
            for source, target in what.items("what is saved where"):
                source.parse(text.access, "a place")
                saves.append([source.text(), _pseudo_static(target)])
            continue
        index = where.parse(text.access, "arg0 … or saves").argument
        if not 0 <= index < len(arguments):
            where.fail(f"an argument of {name}{descriptor} or 'saves', found {where.text()!r}")
        chosen = what.text()
        arguments[index] = "" if chosen == "unknown" else chosen if chosen in _ARGUMENTS else _pseudo_static(what)
    return [name, descriptor, arguments, saves]


def _pseudo_static(place: Place) -> str:
    value = place.text()
    if not value.startswith("$") or len(value) < 2:
        place.fail(f"a pseudo-static such as $saved, new, null or unknown, found {value!r}")
    return value


def _known(place: Place, calls: dict[str, list[Any]]) -> list[Any]:
    name, descriptor = _method(place)
    if name + descriptor not in calls:
        calls[name + descriptor] = [name, descriptor, [""] * len(text.parameters(descriptor)), []]
    return calls[name + descriptor]
