"""Every bound of an analysis with its default and its meaning, in one record."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one analysis (semantics.md, 7). Every field is echoed in the report."""

    path_length_app: int = 3
    """K: longest access path of a formal, in fields, in the app's own classes."""
    path_length_library: int = 1
    """K in library classes."""
    heap_context_app: int = 1
    """1: objects that a call returns are named (call site, site) where the caller is the app's own; 0: by site."""
    export_app: int = 1000
    """Entries that a summary of the app's own classes may export before it is coarsened."""
    export_library: int = 100
    """Entries that a summary of library classes may export before it is coarsened."""
    objects_per_static: int = 10
    """Objects kept apart in a library static, or in a cell of an object that one reaches; more become one unknown."""
    targets_per_call: int = 20
    """Library call sites with more targets are treated as unmodelled calls."""
    keys_per_object: int = 16
    """Constant keys or indices kept apart per object; more become *any*."""
    tokens_per_method: int = 1024
    """Columns of one method; a safety net."""
    wall_time_s: float = 540.0
    """Seconds of wall time for one app; what is not done by then is reported as partial."""
    memory_mb: int = 16_000
    """Resident memory of the process, in MB."""
    input_mb: int = 2_048
    """Bytes of dex and other entries inflated from one input, in MB."""
    witness_steps: int = 100
    """Longest witness path of a finding, in steps."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 0:
                raise ValueError(f"limit {field.name} is negative")
