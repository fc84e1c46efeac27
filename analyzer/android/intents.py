"""Where intents go: which components one that was sent can reach (semantics.md 6).

Library models say what sends: `arg0 -> static:sent_activity` and so on puts an intent into the pseudo-static
`$outbox$activity`. Only the app's loop sees all intents as objects, with all their fields; there, what stands in an
outbox reaches the pseudo-static `$intent` of every component that it can resolve to:

- An intent with a component reaches that component, by name.
- Any other is held against the components' filters: action, categories, scheme and type as far as they are constants.
  Of what may be there on some path, one fitting value is enough.
- What cannot be known fits everything of its kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from analyzer.android.components import ComponentEntry
from analyzer.android.kit import Kit
from analyzer.android.names import BROADCAST, INTENT, OUTBOX, RESULT
from analyzer.container import Component, IntentFilter
from analyzer.program import Program

KINDS = {"activity": "activity", "service": "service", "receiver": "broadcast"}
"""Kind of component -> name of its outbox."""


class Facts(Protocol):
    """What can be asked about an intent: texts that a field may hold, None where one of them is not known."""

    def texts(self, field: str) -> tuple[str, ...] | None:
        """Names of classes, constant texts, addresses; empty when the field was never set."""


@dataclass(frozen=True, slots=True)
class Route:
    """Intents in one pseudo-static that reach another."""

    source: int
    """Field id."""
    target: int
    """Field id."""
    accepts: Callable[[Facts], bool]


def routes(kit: Kit, entries: Sequence[ComponentEntry]) -> tuple[Route, ...]:
    """All ways that intents can go in an app, in the order of its components."""
    found = []
    by_class: dict[int, list[Component]] = {}
    for entry in entries:
        if entry.cls >= 0 and entry.component.enabled:
            by_class.setdefault(entry.cls, []).append(entry.component)
    for entry in entries:
        if entry.environment < 0 or entry.component not in by_class.get(entry.cls, [])[:1]:
            continue
        kind = KINDS.get(entry.component.kind)
        if kind is not None:
            accepts = _Resolution(kit.program, tuple(by_class[entry.cls]))
            found.append(Route(_outbox(kit, kind), kit.component_static(INTENT, entry.cls), accepts))
        if kind == "activity":
            found.append(Route(_outbox(kit, "result"), kit.component_static(RESULT, entry.cls), lambda facts: True))
    found.append(Route(_outbox(kit, "broadcast"), kit.static(BROADCAST), lambda facts: facts.texts("$component") == ()))
    return tuple(found)


def _outbox(kit: Kit, kind: str) -> int:
    return kit.static(f"{OUTBOX}${kind}")


class _Resolution:
    """Whether an intent can resolve to a component, under any of its names."""

    def __init__(self, program: Program, components: tuple[Component, ...]) -> None:
        self.names = {c.name for c in components} | {c.alias_of for c in components if c.alias_of}
        self.filters = [f for c in components for f in c.filters]

    def __call__(self, facts: Facts) -> bool:
        named = facts.texts("$component")
        if named is None or named:
            return named is None or not self.names.isdisjoint(named)
        return any(_fits(f, facts) for f in self.filters)


def _fits(wanted: IntentFilter, facts: Facts) -> bool:
    """The tests for action, category and data of android.content.IntentFilter."""
    actions, categories, types = facts.texts("$action"), facts.texts("$categories"), facts.texts("$type")
    addresses = facts.texts("$data")
    if not wanted.actions or (actions and set(actions).isdisjoint(wanted.actions)):
        return False
    if categories and set(categories).isdisjoint(wanted.categories):
        return False
    if wanted.mime_types:
        if types is not None and not any(_type_fits(t, m) for t in types for m in wanted.mime_types):
            return False
    elif types:
        return False
    if wanted.schemes:
        return addresses is None or any(_address_fits(a, wanted) for a in addresses)
    if addresses is None or not addresses:
        return True
    return bool(wanted.mime_types) and any(a.startswith(("content:", "file:")) for a in addresses)


def _type_fits(given: str, wanted: str) -> bool:
    if wanted in ("*/*", "*") or given in ("*/*", wanted):
        return True
    major, _, minor = wanted.partition("/")
    mine, _, rest = given.partition("/")
    return mine == major and "*" in (minor, rest)


def _address_fits(address: str, wanted: IntentFilter) -> bool:
    scheme, colon, rest = address.partition(":")
    if not colon or scheme not in wanted.schemes:
        return False
    if not wanted.hosts or not rest.startswith("//"):
        return not wanted.hosts
    host, _, path = rest[2:].partition("/")
    if not _in(host.partition(":")[0].rpartition("@")[2], wanted.hosts):
        return False
    return not wanted.paths or any(_path_fits(f"/{path}", kind, text) for kind, text in wanted.paths)


def _in(host: str, hosts: Iterable[str]) -> bool:
    return any(h == "*" or host == h or (h.startswith("*") and host.endswith(h[1:])) for h in hosts)


def _path_fits(path: str, kind: str, text: str) -> bool:
    path = path.partition("?")[0].partition("#")[0]
    if kind == "exact":
        return path == text
    if kind == "prefix":
        return path.startswith(text)
    return path.endswith(text) if kind == "suffix" else True
