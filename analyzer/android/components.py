"""The components that an app declares, and whether each can be entered."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.android.names import descriptor_of
from analyzer.container import AppFiles, Component
from analyzer.hierarchy import Hierarchy
from analyzer.models import Lifecycle
from analyzer.program import Program

ENTERED, DISABLED, MISSING = "entered", "disabled", "missing class"
SAME_CLASS, NO_LIFECYCLE, MODELLED = "same class", "no lifecycle", "modelled"


@dataclass(frozen=True, slots=True)
class ComponentEntry:
    """A declared component.

    `status` is 'entered'; 'disabled' in the manifest; 'missing class': the dex does not define it; 'same class': an
    earlier entry of this list (an alias's target, mostly) has its environment; 'no lifecycle': nothing is known of
    such a component; 'modelled': its class is one of a library that the models speak for. `environment` is its
    synthetic method, or -1.
    """

    component: Component
    status: str
    cls: int
    """Type id of its class, or -1."""
    lifecycle: str
    """Kind of the lifecycle that it follows, or ''."""
    environment: int = -1


def find(
    program: Program, hierarchy: Hierarchy, lifecycles: dict[str, Lifecycle], files: AppFiles
) -> tuple[ComponentEntry, ...]:
    """All declared components in the manifest's order, without environments yet."""
    entries: list[ComponentEntry] = []
    seen: dict[int, int] = {}
    for component in _declared(files):
        cls = program.type_find(descriptor_of(component.alias_of or component.name))
        if cls < 0 or not hierarchy.is_app(cls):
            status = MODELLED if cls >= 0 and hierarchy.is_modelled(cls) else MISSING
            entries.append(ComponentEntry(component, status if component.enabled else DISABLED, -1, ""))
            continue
        if not component.enabled:
            entries.append(ComponentEntry(component, DISABLED, cls, ""))
            continue
        if cls in seen:
            first = entries[seen[cls]]
            entries.append(ComponentEntry(component, SAME_CLASS, cls, first.lifecycle))
            continue
        kind = lifecycle_of(program, hierarchy, lifecycles, cls, component.kind)
        if kind:
            seen[cls] = len(entries)
        entries.append(ComponentEntry(component, ENTERED if kind else NO_LIFECYCLE, cls, kind))
    return tuple(entries)


def lifecycle_of(
    program: Program, hierarchy: Hierarchy, lifecycles: dict[str, Lifecycle], cls: int, declared: str = ""
) -> str:
    """The kind whose base class is the most specific supertype of the class, else the declared kind; '' if none."""
    chain = hierarchy.class_chain(cls)
    best, best_rank = "", len(chain)
    for kind in sorted(lifecycles, key=lambda k: (k != declared, k)):
        ranks = [chain.index(base) for base in lifecycles[kind].base_classes if base in chain]
        if ranks and min(ranks) < best_rank:
            best, best_rank = kind, min(ranks)
    if best:
        return best
    return declared if declared in lifecycles else ""


def _declared(files: AppFiles) -> Iterable[Component]:
    manifest = files.manifest
    if manifest is None:
        return
    yield from manifest.components
    if manifest.application_class and not any(c.kind == "application" for c in manifest.components):
        yield Component(manifest.application_class, "application", exported=False)
