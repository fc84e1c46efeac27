"""Phis that need not be: trivial ones and dead ones. A phi is a set of values that come in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def trivial(phis: Mapping[int, set[int]]) -> dict[int, int]:
    """Phis that have one other value come in -> that value (itself not trivial)."""
    replaced: dict[int, int] = {}

    def find(value: int) -> int:
        root = value
        while root in replaced:
            root = replaced[root]
        while value != root:
            replaced[value], value = root, replaced[value]
        return root

    users: dict[int, list[int]] = {}
    for phi, values in phis.items():
        for value in values:
            if value in phis:
                users.setdefault(value, []).append(phi)
    work = list(phis)
    work.reverse()
    while work:
        phi = work.pop()
        if phi in replaced:
            continue
        incoming = {find(value) for value in phis[phi]}
        incoming.discard(phi)
        if len(incoming) > 1:
            continue
        only = incoming.pop() if incoming else -1
        replaced[phi] = only
        waiting = users.pop(phi, [])
        if only in phis:
            users.setdefault(only, []).extend(waiting)
        work.extend(waiting)
    return {phi: find(phi) for phi in replaced}


def reached(used: Iterable[int], incoming: Mapping[int, Iterable[int]]) -> set[int]:
    """Phis that an operation uses, directly or through other phis."""
    work = [value for value in used if value in incoming]
    found = set(work)
    while work:
        for value in incoming[work.pop()]:
            if value in incoming and value not in found:
                found.add(value)
                work.append(value)
    return found
