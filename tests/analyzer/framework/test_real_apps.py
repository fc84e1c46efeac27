"""Real apps know the framework better than any list: nearly all that they call on its classes must be in the model."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from analyzer import dex, framework
from analyzer.hierarchy import Hierarchy
from analyzer.program import Program


def program_of(path: Path) -> Program:
    with zipfile.ZipFile(path) as archive:
        names = sorted(name for name in archive.namelist() if name.endswith(".dex"))
        return Program(dex.read([archive.read(name) for name in names], names))


@pytest.mark.parametrize("name", ["app-uiautomator.apk", "settings_apk-debug.apk"])
def test_framework_methods_that_an_app_refers_to_are_in_the_model(suites: Path, name: str) -> None:
    program, model = program_of(suites / "real" / name), framework.load()
    hierarchy = Hierarchy(program, model)
    referred, missing = 0, []
    for method in range(program.n_dex_methods):
        ref = program.method(method)
        if hierarchy.is_app(ref.cls) or program.type_name(ref.cls) not in model:
            continue
        if program.definition(method) is not None:
            continue  # a stub that the dex compiler made for a class that old devices lack
        referred += 1
        params = tuple(map(program.type_name, ref.params))
        if not any(model.declares(above, ref.name, params) for above in hierarchy.class_chain(ref.cls)):
            missing.append(program.signature(method))
    assert referred > 4000
    assert len(missing) < referred / 1000, missing


@pytest.mark.parametrize("name", ["app-uiautomator.apk", "settings_apk-debug.apk"])
def test_the_hierarchy_of_a_real_app_is_whole(suites: Path, name: str) -> None:
    program = program_of(suites / "real" / name)
    hierarchy = Hierarchy(program, framework.load())
    assert hierarchy.cut == []
    unknown = [program.type_name(c.type) for c in program.classes if not hierarchy.is_complete(c.type)]
    assert len(unknown) < 5, unknown
    everything = hierarchy.subtypes(program.type_id("Ljava/lang/Object;"))
    for defined in program.classes:
        for above in hierarchy.supertypes(defined.type):
            assert hierarchy.is_subtype(defined.type, above)
        assert defined.type in everything or not hierarchy.is_app(defined.type)
