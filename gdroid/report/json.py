"""The JSON report: writing it, and reading one back."""

from __future__ import annotations

import json
from dataclasses import Field, fields, is_dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from gdroid.report.model import Report

_DIGITS = {"seconds": 3, "peak_mb": 1}
"""Decimals that a measured number is rounded to."""


def dumps(report: Report, *, indent: int | None = 2) -> str:
    """The report as JSON text, ending in a newline: pure ASCII, keys in the order of the schema, lists sorted."""
    separators = (",", ":") if indent is None else None
    return json.dumps(to_dict(report), indent=indent, separators=separators, allow_nan=False) + "\n"


def to_dict(record: Any) -> Any:
    """A record of `gdroid.report.model` as dicts, lists, strings and numbers."""
    if is_dataclass(record):
        return {key(f): _value(f, getattr(record, f.name)) for f in fields(record)}
    if isinstance(record, tuple):
        return [to_dict(item) for item in record]
    return record


def key(record_field: Field[Any]) -> str:
    """The name of a record's field in JSON."""
    return str(record_field.metadata.get("key", record_field.name))


def _value(record_field: Field[Any], value: Any) -> Any:
    digits = _DIGITS.get(record_field.name)
    return to_dict(value) if digits is None else round(float(value), digits)


@cache
def schema() -> dict[str, Any]:
    """The JSON Schema of the report."""
    text = files("gdroid.report").joinpath("schema/gdroid-report-1.schema.json").read_text("utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
