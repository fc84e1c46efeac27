"""Imports run in one direction, and heavy libraries stay behind the rooms that own them (design.md, 3)."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gdroid", "analyzer", "gpu")
STANDARD = sys.stdlib_module_names

MODULES = sorted(path.relative_to(ROOT) for package in PACKAGES for path in (ROOT / package).rglob("*.py"))

GPU_FOR_ANALYZER = ("gpu.problem", "gpu.solution", "gpu.bits", "gpu.shape", "gpu.errors", "gpu.jit")
"""What of `gpu` the analyzer may use: the problem that it fills, the solution that it reads, bit sets, the shape
kernels, errors, and Numba set-up."""

OWNERS = {
    "androguard": ("analyzer/container",),
    "loguru": ("analyzer/container",),
    "click": ("gdroid/cli",),
    "rich": ("gdroid/cli", "gdroid/report"),
    "networkx": ("gdroid", "analyzer"),
    "numba": ("gpu", "analyzer/dex", "gdroid/cli/doctor.py"),
}
"""Which rooms may import a library."""


@cache
def tree(module: Path) -> ast.Module:
    return ast.parse((ROOT / module).read_text("utf-8"), str(module))


@cache
def imports(module: Path) -> tuple[str, ...]:
    """Dotted names that a module imports anywhere in it, `from a import b` as `a.b`."""
    package = (module.parent if module.name == "__init__.py" else module.with_suffix("").parent).parts
    names: set[str] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            source = ".".join(part for part in (base, node.module or "") if part)
            names |= {f"{source}.{alias.name}" for alias in node.names}
    return tuple(sorted(names))


def within(name: str, *prefixes: str) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in prefixes)


def in_room(module: Path, *rooms: str) -> bool:
    text = module.as_posix()
    return any(text.startswith(room + "/") or text in (room, room + ".py") for room in rooms)


def of(package: str) -> list[Path]:
    return [module for module in MODULES if module.parts[0] == package]


def test_the_packages_are_found() -> None:
    assert all(len(of(package)) > 3 for package in PACKAGES)


def test_imports_are_seen_however_they_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/c.py").write_text(
        "import x.y\nfrom . import d\nfrom ..e import f\ndef g():\n  from p.q import r\n"
    )
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    assert imports(Path("a/b/c.py")) == ("a.b.d", "a.e.f", "p.q.r", "x.y")


def offences(package: str, *allowed: str) -> Iterator[str]:
    for module in of(package):
        for name in imports(module):
            if within(name, *PACKAGES) and not within(name, *allowed):
                yield f"{module} imports {name}"


def test_gpu_imports_nothing_of_the_other_packages() -> None:
    assert list(offences("gpu", "gpu")) == []


def test_analyzer_imports_only_the_problem_side_of_gpu() -> None:
    assert list(offences("analyzer", "analyzer", *GPU_FOR_ANALYZER)) == []


def test_gpu_needs_numpy_and_numba_only() -> None:
    found = [
        f"{module} imports {name}"
        for module in of("gpu")
        for name in imports(module)
        if name.partition(".")[0] not in STANDARD and not within(name, "gpu", "numpy", "numba")
    ]
    assert found == []


@pytest.mark.parametrize("library", OWNERS)
def test_a_library_stays_in_its_rooms(library: str) -> None:
    found = [
        f"{module} imports {name}"
        for module in MODULES
        for name in imports(module)
        if within(name, library) and not in_room(module, *OWNERS[library])
    ]
    assert found == []


def test_only_command_lines_print() -> None:
    found = [
        f"{module}:{node.lineno}"
        for module in MODULES
        if not in_room(module, "gdroid/cli") and module.name != "__main__.py"
        for node in ast.walk(tree(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert found == []


def test_every_dependency_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = " ".join((*project["dependencies"], *extras["cuda"], *extras["cluster"])).lower()
    imported = {name.partition(".")[0] for module in MODULES for name in imports(module)}
    distributions = {"yaml": "pyyaml"}
    outside = sorted(name for name in imported if name not in STANDARD and name not in PACKAGES)
    missing = [name for name in outside if distributions.get(name, name) not in declared]
    assert missing == []


def test_the_package_imports_nothing_heavy() -> None:
    code = "import gdroid, gdroid.cli, gdroid.cli.root, sys; print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "numba", "androguard", "networkx", "rich", "yaml", "jsonschema"}
