"""The compiled shape pass against the readable one: the same tokens in the same rows, method by method."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import compiled_pass
from analyzer.hierarchy import Hierarchy
from analyzer.shape import Context, MethodShape
from analyzer.shape_pass import ShapePass
from analyzer.tokens import BEYOND, CELL, FORMAL, OBJECT, SINK, TABLE_CELL, TAINT, Fields, Key
from gdroid.app import App
from gdroid.options import Options
from gpu.bits import bits_of
from tests.programs.generate import generate
from tests.programs.language import compile_program
from tests.programs.solving import call_graph, framework_model, knowledge

APPS = sorted((Path(__file__).parent.parent.parent / "apks").glob("*.apk"))


class Names:
    """Tokens and rows in words that do not depend on the order in which things were numbered."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def site(self, i: int) -> object:
        if i < 0:
            return i
        s = self.ctx.sites[i]
        return (s.method, s.op, s.kind, s.type) if s.method >= 0 else self.ctx.library.app_wide_name(i)

    def field(self, f: int) -> object:
        return self.ctx.fields.name(f) if f >= Fields.FIRST_PSEUDO else f

    def token(self, key: Key) -> object:
        if key[0] == OBJECT:
            return OBJECT, self.site(key[1]), self.site(key[2])
        if key[0] == BEYOND:
            return BEYOND, self.site(key[1])
        if key[0] == FORMAL:
            return FORMAL, key[1], tuple(map(self.field, key[2]))
        if key[0] == TAINT:
            return TAINT, self.ctx.library.sources[key[1]], self.site(key[2])
        return key

    def row(self, key: Key) -> object:
        if key[0] == SINK:
            return SINK, self.ctx.library.sinks[key[1]], self.site(key[2]), key[3]
        if key[0] in (CELL, TABLE_CELL):
            return key[0], self.token(key[1]), self.field(key[2])
        return key

    def rows(self, shape: MethodShape) -> dict[object, frozenset[object]]:
        """What each row holds, empty ones left out."""
        found = {}
        for i, row in enumerate(shape.rows):
            if row:
                name = self.row(shape.row_keys[i]) if shape.row_keys[i] else i
                found[name] = frozenset(self.token(shape.keys[t]) for t in bits_of(row))
        return found


def differences(readable: Context, compiled: Context) -> Iterator[str]:
    one, two = Names(readable), Names(compiled)
    if set(readable.shapes) != set(compiled.shapes):
        yield f"methods: {set(readable.shapes) ^ set(compiled.shapes)}"
    for m in sorted(readable.shapes):
        a, b = one.rows(readable.shapes[m]), two.rows(compiled.shapes[m])
        for row in a.keys() | b.keys():
            if a.get(row) != b.get(row):
                yield f"{readable.program.signature(m)} {row}: {a.get(row)} and {b.get(row)}"
        if m == readable.graph.root:
            continue
        s, t = readable.summaries[m], compiled.summaries[m]
        if {one.row(r) for r in s.rows} != {two.row(r) for r in t.rows} or s.entries != t.entries:
            yield f"{readable.program.signature(m)} summary"
        if [(_owner(one, o), one.field(f)) for o, f in _sorted(one, s.must)] != [
            (_owner(two, o), two.field(f)) for o, f in _sorted(two, t.must)
        ]:
            yield f"{readable.program.signature(m)} must"


def _owner(names: Names, owner: Key) -> object:
    return names.token(owner) if owner else ()


def _sorted(names: Names, must: Iterable[tuple[Key, int]]) -> list[tuple[Key, int]]:
    return sorted(must, key=lambda pair: repr((_owner(names, pair[0]), names.field(pair[1]))))


def of_app(path: Path, pass_: Any, monkeypatch: pytest.MonkeyPatch) -> Context:
    with monkeypatch.context() as patch:
        patch.setattr(compiled_pass, "CompiledPass", pass_)
        return App(path, Options()).context


def shapes(text: str) -> Context:
    """The shapes of a small program, not encoded."""
    program = compile_program(text)
    hierarchy = Hierarchy(program, framework_model())
    graph = call_graph(program, hierarchy, program.method_find("LMain;", "main", "()V"))
    app = App(Path("app.apk"), Options())
    app.__dict__.update(program=program, hierarchy=hierarchy, graph=graph, knowledge=knowledge())
    return app.context


@pytest.mark.parametrize("path", APPS, ids=lambda path: path.stem)
def test_apps(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readable = of_app(path, ShapePass, monkeypatch)
    compiled = of_app(path, compiled_pass.CompiledPass, monkeypatch)
    assert list(differences(readable, compiled))[:3] == []


@pytest.mark.parametrize("seed", range(12))
def test_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = generate(random.Random(seed))
    with monkeypatch.context() as patch:
        patch.setattr(compiled_pass, "CompiledPass", ShapePass)
        readable = shapes(text)
    assert list(differences(readable, shapes(text)))[:3] == []
