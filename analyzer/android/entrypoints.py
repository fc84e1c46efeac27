"""Methods that the knowledge says run without a caller in the app: by class and name, or by annotation."""

from __future__ import annotations

import re
from collections.abc import Iterable

from analyzer.android.own import Own
from analyzer.dex.annotations import annotated_methods
from analyzer.hierarchy import Hierarchy
from analyzer.models import Knowledge
from analyzer.models.types import Entrypoint
from analyzer.program import Program


def find(program: Program, hierarchy: Hierarchy, knowledge: Knowledge, own: Own) -> dict[int, tuple[int, ...]]:
    """Class of the objects -> methods with code that run on them, or that are static. Classes of known libraries that
    the app brings along are not looked at, unless they are named themselves."""
    found: dict[int, dict[int, None]] = {}
    for entry in knowledge.entrypoints:
        base = program.type_find(entry.type)
        if base < 0:
            continue
        for cls in sorted(hierarchy.subtypes(base)) if entry.subclasses else (base,):
            if cls == base or not own.is_known_library(program.type_name(cls)):
                methods = [m for m in _inherited(program, hierarchy, cls) if _fits(program, entry, m)]
                _add(program, hierarchy, found, cls, methods)
    for declaring, methods in _annotated(program, knowledge, own).items():
        for cls in sorted(hierarchy.subtypes(declaring)):
            _add(program, hierarchy, found, cls, methods)
    return {cls: tuple(sorted(found[cls])) for cls in sorted(found)}


def _add(
    program: Program, hierarchy: Hierarchy, found: dict[int, dict[int, None]], cls: int, methods: Iterable[int]
) -> None:
    abstract = hierarchy.is_abstract(cls)
    for m in methods:
        if program.has_code(m) and (program.is_static(m) or not abstract):
            found.setdefault(cls, {})[m] = None


def _inherited(program: Program, hierarchy: Hierarchy, cls: int) -> Iterable[int]:
    """Methods that an object of the class has from app classes, without those that are overridden."""
    seen: set[tuple[str, str]] = set()
    while cls >= 0:
        definition = program.class_of(cls) if hierarchy.is_app(cls) else None
        for m in definition.methods if definition is not None else ():
            key = (program.method(m).name, program.descriptor(m))
            if key not in seen:
                seen.add(key)
                yield m
        cls = hierarchy.superclass(cls)


def _fits(program: Program, entry: Entrypoint, method: int) -> bool:
    name, pattern = program.method(method).name, entry.name
    if pattern[:1] == "/":
        named = re.fullmatch(pattern[1:-1], name) is not None
    else:
        named = pattern in (name, "*")
    return named and entry.shape in ("", program.descriptor(method))


def _annotated(program: Program, knowledge: Knowledge, own: Own) -> dict[int, list[int]]:
    """Class -> its methods with an annotation that the knowledge names."""
    found: dict[int, list[int]] = {}
    types = [t for t in knowledge.entry_annotations if program.type_find(t) >= 0]
    for row, name, descriptor in annotated_methods(program.dex, types) if types else ():
        cls = int(program.dex.class_type[row])
        type_name = program.type_name(cls)
        method = program.method_find(type_name, name, descriptor)
        if method >= 0 and not own.is_known_library(type_name):
            found.setdefault(cls, []).append(method)
    return found
