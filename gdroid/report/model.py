"""The report of one app as frozen records, key for key the JSON report `gdroid-report/1`.

Field order is key order. `Report` sorts its lists and numbers its findings when it is made, so that two runs that
found the same things are equal, however they found them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal

SCHEMA = "gdroid-report/1"

Status = Literal["complete", "partial", "failed"]
Level = Literal["low", "medium", "high"]
Kind = Literal["leak", "injection", "misuse", "config"]

LEVELS: tuple[Level, ...] = ("low", "medium", "high")
"""Severities and confidences, ascending."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class AppInfo:
    """What was analysed. Fields of the manifest are None where there is no readable manifest."""

    path: str
    sha256: str
    package: str | None = None
    version_name: str | None = None
    version_code: int | None = None
    min_sdk: int | None = None
    target_sdk: int | None = None
    dex_files: tuple[str, ...] = ()
    """Names of all dex files, in the order in which they were read."""


@dataclass(frozen=True, slots=True)
class LimitRecord:
    """One bound of the analysis, and whether it cost anything."""

    name: str
    value: int | float
    hit: bool = False
    where: tuple[str, ...] = ()
    """Phases, components or methods at which the limit was hit."""


@dataclass(frozen=True, slots=True)
class Phase:
    name: str
    status: Status
    seconds: float
    """Wall time."""
    peak_mb: float
    """Highest resident memory of the process up to the end of the phase."""


@dataclass(frozen=True, slots=True)
class ComponentRecord:
    name: str
    kind: str
    """activity, service, receiver, provider, application, backup, instrumentation"""
    exported: bool
    status: Status


@dataclass(frozen=True, slots=True)
class EngineRecord:
    name: str
    device: str
    """What the engine ran on, in words."""


@dataclass(frozen=True, slots=True)
class Stats:
    classes: int = 0
    methods: int = 0
    reachable_methods: int = 0
    instructions: int = 0
    icfg_nodes: int = 0
    icfg_edges: int = 0
    slots: int = 0
    tokens: int = 0
    facts: int = 0
    call_sites: int = 0
    unresolved_calls: int = 0
    modelled_classes: int = 0
    """Classes of libraries that were taken from the models instead of from their code."""


@dataclass(frozen=True, slots=True)
class Location:
    """A statement of the app."""

    class_name: str = field(metadata={"key": "class"})
    """As in Java: `a.b.Outer$Inner`."""
    method: str
    descriptor: str
    """Of the method, as in smali: `(I)V`."""
    pc: int | None = None
    """In 16-bit units from the start of the method's code; None for a place that has no instruction."""
    file: str | None = None
    line: int | None = None
    component: str | None = None
    """The component whose environment reaches the statement, where there is exactly one."""

    def order(self) -> tuple[str, str, str, int]:
        """Key by which locations are sorted."""
        return (self.class_name, self.method, self.descriptor, -1 if self.pc is None else self.pc)


@dataclass(frozen=True, slots=True)
class Source:
    signature: str
    """As in smali; of the callback, when its parameter is the source."""
    location: Location


@dataclass(frozen=True, slots=True)
class Sink:
    signature: str
    argument: str
    """The position that the data reaches: `arg0`, `this`, …, with an access path if there is one."""
    location: Location


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a witness path."""

    location: Location
    statement: str
    why: str
    """Why the data is here, given the step before."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a rule objects to. `Report` fills in an empty `id`."""

    id: str
    rule: str
    kind: Kind
    title: str
    severity: Level
    confidence: Level
    cwe: tuple[str, ...] = ()
    masvs: tuple[str, ...] = ()
    source: Source | None = None
    sink: Sink | None = None
    path: tuple[Step, ...] = ()
    rests_on: tuple[str, ...] = ()
    """Guesses that the finding depends on: unmodelled library methods, reflection, widened sets."""

    def order(self) -> tuple[object, ...]:
        """Key by which findings are sorted: gravest first, then by rule and place."""
        ends = tuple(
            ("", ()) if end is None else (end.signature, end.location.order()) for end in (self.sink, self.source)
        )
        argument = "" if self.sink is None else self.sink.argument
        return (-LEVELS.index(self.severity), self.rule, ends, argument, self.title, self.id)

    def identity(self) -> tuple[str, ...]:
        """What stays the same when unrelated code moves: the rule, and both ends without pc and line."""
        parts = [self.rule]
        for end in (self.source, self.sink):
            if end is None:
                parts.append("")
            else:
                place = end.location
                parts += [end.signature, place.class_name, place.method, place.descriptor]
        if self.sink is not None:
            parts.append(self.sink.argument)
        else:
            parts.append(self.title)
        return tuple(parts)


@dataclass(frozen=True, slots=True)
class ProblemRecord:
    """Something of the input that was skipped or could not be read."""

    where: str
    what: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one analysis found out about one app, and how completely."""

    schema: str = field(default=SCHEMA, kw_only=True)
    tool: Tool
    app: AppInfo
    status: Status
    limits: tuple[LimitRecord, ...] = ()
    phases: tuple[Phase, ...] = ()
    """In the order in which they ran."""
    components: tuple[ComponentRecord, ...] = ()
    engine: EngineRecord = EngineRecord("none", "")
    stats: Stats = Stats()
    findings: tuple[Finding, ...] = ()
    problems: tuple[ProblemRecord, ...] = ()

    def __post_init__(self) -> None:
        def fix(name: str, value: object) -> None:
            object.__setattr__(self, name, value)

        fix("limits", tuple(sorted(_sorted_where(self.limits), key=lambda limit: limit.name)))
        fix("components", tuple(sorted(self.components, key=lambda c: (c.name, c.kind, c.exported, c.status))))
        fix("problems", tuple(sorted(set(self.problems), key=lambda p: (p.where, p.what))))
        fix("findings", numbered(self.findings))


def _sorted_where(limits: tuple[LimitRecord, ...]) -> list[LimitRecord]:
    return [replace(limit, where=tuple(sorted(limit.where))) for limit in limits]


def numbered(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings sorted, each with an id: a hash of its identity, and of its rank among those with the same one.

    The id survives edits elsewhere in the app, so baselines and code-scanning sites can follow a finding.
    """
    ranks: dict[tuple[str, ...], int] = {}
    result = []
    for finding in sorted(findings, key=Finding.order):
        if not finding.id:
            identity = finding.identity()
            rank = ranks[identity] = ranks.get(identity, -1) + 1
            text = "\0".join((*identity, str(rank)))
            digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
            finding = replace(finding, id=digest[:16])
        result.append(
            replace(
                finding,
                cwe=_sorted_set(finding.cwe),
                masvs=_sorted_set(finding.masvs),
                rests_on=_sorted_set(finding.rests_on),
            )
        )
    return tuple(result)


def _sorted_set(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(set(words)))
