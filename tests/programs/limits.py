"""Limits under which every law must hold: the defaults, the lowest, and some in between."""

from __future__ import annotations

from analyzer.limits import Limits

DEFAULT = Limits()
LOWEST = Limits(
    path_length_app=0, path_length_library=0, heap_context_app=0, export_app=1, export_library=1, objects_per_static=1,
    keys_per_object=1, tokens_per_method=8,
)  # fmt: skip
"""The cut of call targets stays off: it is an assumption, not a folding."""

ALL = {
    "default": DEFAULT,
    "lowest": LOWEST,
    "short paths": Limits(path_length_app=1, path_length_library=0, heap_context_app=0),
    "exports by type": Limits(export_app=8, export_library=4, objects_per_static=2),
    "exports by root": Limits(export_app=1, export_library=1),
    "one key": Limits(keys_per_object=1, path_length_app=2),
    "few tokens": Limits(tokens_per_method=12),
    "no table": Limits(objects_per_static=0, path_length_library=2),
}
