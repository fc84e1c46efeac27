"""Look-ups over everything that is known about library methods."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import TypeVar, cast

from analyzer.models import compiled, flowdroid, schema, text
from analyzer.models.assemble import lifecycle, shim
from analyzer.models.pack import Pack, Row, Table
from analyzer.models.types import (
    Access,
    Callback,
    Condition,
    Entrypoint,
    LibraryModel,
    Lifecycle,
    Rule,
    Shim,
    Singleton,
    Sink,
    Source,
)
from gpu.errors import WrongConfiguration

Key = tuple[str, str, str]
ANY = "*"
T = TypeVar("T")
_MISSING = object()


class Knowledge:
    """Models, sources, sinks, shims, lifecycles and rules, found by class chain, method name and descriptor.

    A chain is a class and its supertypes, most specific first, as descriptors. The first class of it that has a
    matching entry decides; entries whose class is a pattern with '*' count where no plain name of the chain has one.
    All answers are immutable and memoised; the order of results is the order of the files, later files first.
    """

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._made: dict[tuple[str, str, str, str, bool, bool], object] = {}
        self._patterns: dict[str, list[str]] = {}
        self._fitting: dict[str, dict[str, tuple[str, ...]]] = {}  # section -> class -> its patterns

    @classmethod
    def load(cls, extra_paths: Iterable[Path | str] = ()) -> Knowledge:
        """The default rules, with more rule files (YAML, or source and sink lists as of FlowDroid) over them.

        A folder stands for the rule files in it. Raises WrongConfiguration 'file:line: expected …'.
        """
        pack = compiled.load()
        for path in _expand(extra_paths):
            try:
                content = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise WrongConfiguration(f"{path}: cannot be read: {error}") from error
            reader = schema.read if path.suffix in (".yaml", ".yml") else flowdroid.read
            pack.add(reader(content, str(path)))
        knowledge = cls(pack)
        if extra_paths:
            knowledge.check()
        return knowledge

    # Methods

    def model(self, chain: Sequence[str], name: str, descriptor: str) -> LibraryModel | None:
        """What the method does; None when nothing is known."""
        return self._first("models", chain, name, descriptor, _model, None)

    def sources(self, chain: Sequence[str], name: str, descriptor: str) -> tuple[Source, ...]:
        """The sources that a call to the method is."""
        return self._first("sources", chain, name, descriptor, _sources, ())

    def parameter_sources(self, chain: Sequence[str], name: str, descriptor: str) -> tuple[Source, ...]:
        """The sources among the parameters of a callback; chain of the class that declares the callback."""
        return self._first("parameters", chain, name, descriptor, _sources, ())

    def field_sources(self, class_descriptor: str, name: str) -> tuple[Source, ...]:
        """The sources that reading a library field is."""
        return self._first("fields", (class_descriptor,), name, "", _sources, ())

    def sinks(self, chain: Sequence[str], name: str, descriptor: str) -> tuple[Sink, ...]:
        """The sinks that a call to the method is."""
        return self._first("sinks", chain, name, descriptor, _sinks, ())

    def shim(self, chain: Sequence[str], name: str, descriptor: str) -> Shim | None:
        """What the method calls back; None when nothing."""
        return self._first("shims", chain, name, descriptor, _shim, None)

    def is_library(self, class_descriptor: str) -> bool:
        """Whether the class belongs to a known library, though it stands in an app."""
        return class_descriptor.startswith(self.libraries)

    def constant(self, class_descriptor: str, field: str) -> str | None:
        """The text that a static field of the framework stands for (an Uri's as its string); None when unknown."""
        return self._pack.constants.get(f"{class_descriptor}->{field}")

    # Whole sections

    @cached_property
    def lifecycles(self) -> dict[str, Lifecycle]:
        """Kind of component -> its lifecycle."""
        return {kind: lifecycle(kind, value) for kind, value in self._pack.lifecycles.items()}

    @cached_property
    def libraries(self) -> tuple[str, ...]:
        """Prefixes of descriptors of known libraries, such as 'Landroidx/'."""
        return tuple(sorted(set(self._pack.libraries)))

    @cached_property
    def modelled(self) -> tuple[str, ...]:
        """Prefixes of descriptors of libraries that models speak for, whatever code of theirs is in the app."""
        return tuple(sorted(set(self._pack.modelled)))

    @cached_property
    def analysed(self) -> tuple[str, ...]:
        """Prefixes of descriptors of packages in modelled libraries whose code counts."""
        return tuple(sorted(set(self._pack.analysed)))

    @cached_property
    def conditions(self) -> dict[str, Condition]:
        """What the `when` of sources and sinks mean."""
        return {
            name: Condition(name, about, text.access(at) if at else None, tuple(types), tuple(follow))
            for name, (about, at, types, follow) in self._pack.conditions.items()
        }

    @cached_property
    def singletons(self) -> dict[str, Singleton]:
        """Name -> app-wide object that models name as 'static:NAME'."""
        return {name: Singleton(name, *value) for name, value in self._pack.singletons.items()}

    @cached_property
    def callbacks(self) -> tuple[Callback, ...]:
        """Types that are called back though no framework class or interface says so."""
        return tuple(Callback(cls, tuple(names)) for cls, names in sorted(self._pack.callbacks.items()))

    @cached_property
    def entrypoints(self) -> tuple[Entrypoint, ...]:
        """Methods that run without a caller in the app."""
        return tuple(Entrypoint(*row) for row in self._pack.entrypoints)

    @cached_property
    def entry_annotations(self) -> tuple[str, ...]:
        """Types of annotations of methods that run without a caller in the app."""
        return tuple(sorted(set(self._pack.annotations)))

    @cached_property
    def source_kinds(self) -> frozenset[str]:
        """All kinds of sources."""
        tables = (self._pack.sources, self._pack.parameters, self._pack.fields)
        return frozenset(row[2] for t in tables for names in t.values() for rows in names.values() for row in rows) | {
            flowdroid.KIND
        }

    @cached_property
    def sink_kinds(self) -> frozenset[str]:
        """All kinds of sinks."""
        rows = (row for names in self._pack.sinks.values() for rows in names.values() for row in rows)
        return frozenset(row[2] for row in rows if row[2] is not None) | {"native", flowdroid.KIND}

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """All rules, by id; groups of kinds and '*' are spelt out."""
        result = []
        for name, raw in sorted(self._pack.rules.items()):
            result.append(
                Rule(
                    id=name,
                    title=raw["title"],
                    kind=raw["kind"],
                    sources=self._kinds(raw["sources"], self.source_kinds),
                    sinks=self._kinds(raw["sinks"], self.sink_kinds),
                    severity=raw["severity"],
                    cwe=tuple(raw.get("cwe", ())),
                    masvs=tuple(raw.get("masvs", ())),
                    text=raw.get("text", ""),
                    remedy=raw.get("remedy", ""),
                )
            )
        return tuple(result)

    def rules_for(self, source_kind: str, sink_kind: str) -> tuple[Rule, ...]:
        """The rules that join a kind of source to a kind of sink."""
        return self._by_kinds.get((source_kind, sink_kind), ())

    @cached_property
    def _by_kinds(self) -> dict[tuple[str, str], tuple[Rule, ...]]:
        result: dict[tuple[str, str], tuple[Rule, ...]] = {}
        for rule in self.rules:
            for source in sorted(rule.sources):
                for sink in sorted(rule.sinks):
                    result[source, sink] = (*result.get((source, sink), ()), rule)
        return result

    def check(self) -> None:
        """Raises WrongConfiguration where a name is used that nothing defines: kinds, groups, conditions."""
        for name, rule in sorted(self._pack.rules.items()):
            for side, known in (("sources", self.source_kinds), ("sinks", self.sink_kinds)):
                for kind in rule[side]:
                    if kind != ANY and kind not in known and kind not in self._pack.groups:
                        options = ", ".join(sorted(known | self._pack.groups.keys()))
                        where = rule["where"]
                        raise WrongConfiguration(
                            f"{where}: expected one of {options} among the {side} of rule {name}, found {kind!r}"
                        )
        for condition, where in sorted(self._pack.uses.items()):
            if condition not in self._pack.conditions:
                options = ", ".join(sorted(self._pack.conditions))
                raise WrongConfiguration(f"{where}: expected one of the conditions {options}, found {condition!r}")

    def signatures(self, section: str) -> list[tuple[str, str, str]]:
        """(class, name key, shape) of every entry of 'models', 'sources', 'parameters', 'fields', 'sinks', 'shims'."""
        table: Table = getattr(self._pack, section)
        return [(cls, name, row[0]) for cls, names in table.items() for name, rows in names.items() for row in rows]

    # Inside

    def _kinds(self, names: list[str], known: frozenset[str]) -> frozenset[str]:
        result: set[str] = set()
        for name in names:
            result |= known if name == ANY else set(self._pack.groups.get(name, (name,)))
        return frozenset(result)

    def _first(
        self,
        section: str,
        chain: Sequence[str],
        name: str,
        descriptor: str,
        build: Callable[[Sequence[Row], str, str], T],
        nothing: T,
    ) -> T:
        """What the first class of the chain with a matching entry says, built once."""
        table: Table = getattr(self._pack, section)
        fitting = self._fitting.setdefault(section, {})
        for plain in (True, False):
            for position, cls in enumerate(chain):
                if plain:
                    if cls not in table:
                        continue
                else:
                    patterns = fitting.get(cls)
                    if not (self._patterns_of(section, cls) if patterns is None else patterns):
                        continue
                key = (section, cls, name, descriptor, position == 0, plain)
                made = self._made.get(key)
                if made is None:
                    search = self._named if plain else self._by_pattern
                    rows = search(section, cls, name, descriptor)
                    if position:
                        rows = [row for row in rows if row[1]]
                    identity = f"{text.class_name(cls)}.{name}"
                    made = self._made[key] = build(rows, identity, descriptor) if rows else _MISSING
                if made is not _MISSING:
                    return cast(T, made)
        return nothing

    def _named(self, section: str, cls: str, name: str, descriptor: str) -> list[Row]:
        """Rows of the class's own entries; for models and shims the most specific key first."""
        table: Table = getattr(self._pack, section)
        found: list[tuple[int, Row]] = []
        for key, rows in table.get(cls, {}).items():
            if key in (name, ANY) or (key[0] == "/" and re.fullmatch(key[1:-1], name)):
                fitting = (row for row in rows if text.matches(row[0], descriptor))
                found += [(text.specificity(key, row[0]), row) for row in fitting]
        if section in ("models", "shims"):
            found.sort(key=lambda pair: -pair[0])
        return [row for _, row in found]

    def _by_pattern(self, section: str, cls: str, name: str, descriptor: str) -> list[Row]:
        """Rows of entries whose class is a pattern; longer patterns first."""
        found: list[Row] = []
        for pattern in self._patterns_of(section, cls):
            found += self._named(section, pattern, name, descriptor)
        return found

    def _patterns_of(self, section: str, cls: str) -> tuple[str, ...]:
        """The patterns of a section that fit a class."""
        fitting = self._fitting.setdefault(section, {})
        known = fitting.get(cls)
        if known is None:
            if section not in self._patterns:
                patterns = [c for c in getattr(self._pack, section) if "*" in c]
                self._patterns[section] = sorted(patterns, key=lambda c: (-len(c), c))
            known = tuple(pattern for pattern in self._patterns[section] if fnmatchcase(cls, pattern))
            fitting[cls] = known
        return known


def _model(rows: Sequence[Row], identity: str, descriptor: str) -> LibraryModel:
    """One entry may serve methods of several shapes: flows of places that this one lacks are dropped."""
    whole = text.model(rows[0][2], identity)
    types, result = _shape(descriptor)
    flows = [f for flow in whole.flows for f in text.fitted_flow(flow, types, result)]
    creates = [(text.fitted(at, types, result), cls) for at, cls in whole.creates]
    return replace(
        whole,
        flows=tuple(dict.fromkeys(flows)),
        creates=tuple((at, cls) for at, cls in creates if at is not None),
        fresh=whole.fresh and result[:1] in ("L", "["),
    )


def _sources(rows: Sequence[Row], identity: str, descriptor: str) -> tuple[Source, ...]:
    found = [Source(r[2], at, identity, r[4]) for r in rows for at in _places(r[3], descriptor)]
    return tuple(dict.fromkeys(found))


def _sinks(rows: Sequence[Row], identity: str, descriptor: str) -> tuple[Sink, ...]:
    if any(row[2] is None for row in rows):
        return ()
    found = [Sink(r[2], _places(r[3], descriptor), r[4], identity, r[5]) for r in rows]
    return tuple(sink for sink in dict.fromkeys(found) if sink.at)


def _shim(rows: Sequence[Row], identity: str, descriptor: str) -> Shim:
    types, result = _shape(descriptor)
    return shim(rows[0], identity, lambda place: text.fitted(place, types, result))


def _places(places: str, descriptor: str) -> tuple[Access, ...]:
    if not descriptor:
        return text.places(places)
    fitted = (text.fitted(at, *_shape(descriptor)) for at in text.places(places))
    return tuple(at for at in fitted if at is not None)


def _shape(descriptor: str) -> tuple[tuple[str, ...], str]:
    return text.parameters(descriptor), descriptor[descriptor.index(")") + 1 :]


def _expand(paths: Iterable[Path | str]) -> list[Path]:
    result: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            result += sorted(p for p in path.glob("**/*") if p.suffix in (".yaml", ".yml"))
        else:
            result.append(path)
    return result
