"""Options of `gdroid analyze` that stand in a file: `gdroid.toml`, or `[tool.gdroid]` of `pyproject.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from analyzer.limits import Limits
from gpu.errors import WrongConfiguration

FORMATS = ("console", "json", "sarif", "html")
GATES = ("low", "medium", "high", "never")
ENGINES = ("auto", "cuda", "cpu", "reference", "cuda:plain", "cuda:mat", "cuda:grp", "cuda:mer")


@dataclass(frozen=True, slots=True)
class Config:
    """What the file says; None where it says nothing."""

    format: str | None = None
    engine: str | None = None
    fail_on: str | None = None
    rules: tuple[Path, ...] = ()
    all_code: bool | None = None
    timeout: float | None = None
    """Seconds."""
    memory: int | None = None
    """MB."""
    limits: Mapping[str, int | float] | None = None
    """Fields of `Limits` by name."""


def read(folder: Path) -> Config:
    """The configuration of a folder: of its `gdroid.toml`, else of its `pyproject.toml`, else an empty one.

    Raises `WrongConfiguration` naming the file and the key when a value is not what the key takes.
    """
    own = folder / "gdroid.toml"
    if own.is_file():
        return _parsed(own, _loaded(own))
    shared = folder / "pyproject.toml"
    if shared.is_file():
        table = _loaded(shared).get("tool", {}).get("gdroid")
        if table is not None:
            return _parsed(shared, table)
    return Config()


def _loaded(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise WrongConfiguration(f"{path}: {error}") from error


def _parsed(path: Path, table: Any) -> Config:
    if not isinstance(table, dict):
        raise WrongConfiguration(f"{path}: gdroid: expected a table")
    values: dict[str, Any] = {}
    for key, value in table.items():
        match key:
            case "format":
                values["format"] = _one_of(path, key, value, FORMATS)
            case "engine":
                values["engine"] = _one_of(path, key, value, ENGINES)
            case "fail-on":
                values["fail_on"] = _one_of(path, key, value, GATES)
            case "rules":
                values["rules"] = _paths(path, key, value)
            case "all-code":
                values["all_code"] = _flag(path, key, value)
            case "timeout":
                values["timeout"] = float(_number(path, key, value, whole=False))
            case "memory":
                values["memory"] = _number(path, key, value, whole=True)
            case "limits":
                values["limits"] = _limits(path, value)
            case _:
                known = "format, engine, fail-on, rules, all-code, timeout, memory, limits"
                raise WrongConfiguration(f"{path}: {key}: unknown key; expected one of {known}")
    return Config(**values)


def _one_of(path: Path, key: str, value: Any, choices: tuple[str, ...]) -> str:
    if value not in choices:
        raise WrongConfiguration(f"{path}: {key}: expected one of {', '.join(choices)}")
    return str(value)


def _paths(path: Path, key: str, value: Any) -> tuple[Path, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise WrongConfiguration(f"{path}: {key}: expected a list of paths")
    return tuple(path.parent / item for item in value)


def _flag(path: Path, key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise WrongConfiguration(f"{path}: {key}: expected true or false")
    return value


def _number(path: Path, key: str, value: Any, *, whole: bool) -> int | float:
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not value > 0:
        raise WrongConfiguration(f"{path}: {key}: expected a positive {'whole number' if whole else 'number'}")
    return value


def _limits(path: Path, table: Any) -> Mapping[str, int | float]:
    if not isinstance(table, dict):
        raise WrongConfiguration(f"{path}: limits: expected a table")
    defaults = Limits()
    known = {field.name: getattr(defaults, field.name) for field in fields(Limits)}
    for key, value in table.items():
        if key not in known:
            raise WrongConfiguration(f"{path}: limits.{key}: unknown limit; expected one of {', '.join(known)}")
        if value != 0 or isinstance(value, bool):  # zero switches some bounds to their strictest
            _number(path, f"limits.{key}", value, whole=isinstance(known[key], int))
    return table
