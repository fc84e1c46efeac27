"""What one or several rule files say, as plain lists and dicts: the form that is compiled to JSON.

Kept raw on purpose: records are made when a method is asked for, so loading costs one `json.loads`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

Row = list[Any]
"""[shape, subclasses, *payload] of one method key."""
Table = dict[str, dict[str, list[Row]]]
"""class descriptor (may hold '*') -> method name ('*', '/…/') -> rows, later files first."""


@dataclass(slots=True)
class Pack:
    """All sections. Payloads:

    models      text (see `text.model`)
    sources     kind, place, when
    parameters  the same, of callbacks; sources of what a parameter brings
    fields      the same; shape is ''
    sinks       kind (None: not a sink), places, reach, when
    shims       steps [[signature, on, [args], to]], result, later, flows
    """

    models: Table = field(default_factory=dict)
    sources: Table = field(default_factory=dict)
    parameters: Table = field(default_factory=dict)
    fields: Table = field(default_factory=dict)
    sinks: Table = field(default_factory=dict)
    shims: Table = field(default_factory=dict)
    lifecycles: dict[str, Any] = field(default_factory=dict)
    rules: dict[str, Any] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)
    conditions: dict[str, Any] = field(default_factory=dict)
    uses: dict[str, str] = field(default_factory=dict)
    """Condition -> 'file:line' that uses it."""
    singletons: dict[str, Any] = field(default_factory=dict)
    libraries: list[str] = field(default_factory=list)
    modelled: list[str] = field(default_factory=list)
    """Prefixes of descriptors of libraries whose code is not looked at."""
    analysed: list[str] = field(default_factory=list)
    """And of packages in these whose code is."""
    callbacks: dict[str, list[str]] = field(default_factory=dict)
    entrypoints: list[Row] = field(default_factory=list)
    """[class, method name ('*', '/…/'), shape, subclasses]"""
    annotations: list[str] = field(default_factory=list)
    """Annotations of methods that run without a caller."""
    constants: dict[str, str] = field(default_factory=dict)

    def add(self, other: Pack) -> None:
        """Lets another pack go before this one."""
        for name in ("models", "sources", "parameters", "fields", "sinks", "shims"):
            mine: Table = getattr(self, name)
            theirs: Table = getattr(other, name)
            for cls, names in theirs.items():
                target = mine.setdefault(cls, {})
                for method, rows in names.items():
                    target[method] = rows + target.get(method, [])
        for name in ("lifecycles", "rules", "groups", "conditions", "uses", "singletons", "callbacks", "constants"):
            getattr(self, name).update(getattr(other, name))
        self.libraries += other.libraries
        self.modelled += other.modelled
        self.analysed += other.analysed
        self.entrypoints += other.entrypoints
        self.annotations += other.annotations

    def to_json(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Pack:
        """The pack that `to_json` wrote."""
        return cls(**{f.name: value[f.name] for f in fields(cls)})
