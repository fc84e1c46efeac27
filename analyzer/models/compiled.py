"""The default rule files: YAML in `data/`, and one JSON compiled from them, valid while the YAML's hash is its own.

`python -m analyzer.models` writes the JSON anew; a test fails when it is stale. A stale or missing one only
costs time: the YAML is read then.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from analyzer.models import schema
from analyzer.models.pack import Pack

DATA = Path(__file__).parent / "data"
COMPILED = DATA / "compiled.json"
FORMAT = "5"


def files() -> tuple[Path, ...]:
    """The default rule files, in the order in which they are read."""
    return tuple(sorted(DATA.glob("**/*.yaml")))


def digest() -> str:
    """Hash of the names and contents of the default rule files."""
    state = hashlib.sha256(FORMAT.encode())
    for path in files():
        content = path.read_bytes()
        state.update(f"{path.relative_to(DATA).as_posix()}\0{len(content)}\0".encode())
        state.update(content)
    return state.hexdigest()


def from_yaml() -> Pack:
    """The default pack, straight from the YAML."""
    pack = Pack()
    for path in files():
        name = f"analyzer/models/data/{path.relative_to(DATA).as_posix()}"
        pack.add(schema.read(path.read_text(encoding="utf-8"), name))
    return pack


def load() -> Pack:
    """The default pack, by way of the JSON when that is fresh."""
    try:
        value = json.loads(COMPILED.read_bytes())
    except (OSError, ValueError):
        return from_yaml()
    if not isinstance(value, dict) or value.get("digest") != digest():
        return from_yaml()
    return Pack.from_json(value)


def write() -> None:
    """Compiles the YAML."""
    value = {"digest": digest(), **from_yaml().to_json()}
    COMPILED.write_text(json.dumps(value, separators=(",", ":"), sort_keys=False) + "\n", encoding="utf-8")
