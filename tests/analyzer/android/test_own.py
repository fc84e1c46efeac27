"""What counts as the app's own code."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from analyzer.android.modelled import modelled_in
from analyzer.android.own import Own
from analyzer.container.model import Component, Manifest


class Names:
    """A program of class names only."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.classes = [SimpleNamespace(type=i) for i in range(len(names))]

    def type_name(self, t: int) -> str:
        return self.names[t]


def manifest(package: str, *components: str) -> Manifest:
    declared = tuple(Component(name, "activity", exported=False) for name in components)
    return Manifest(package, None, None, 1, 1, None, False, False, (), declared)


@pytest.mark.parametrize(
    ("descriptor", "own"),
    [
        ("Lcom/acme/app/Main;", True),
        ("Lcom/acme/app/ui/View;", True),
        ("Lcom/acme/util/Text;", True),  # the neighbour of the manifest's package
        ("[Lcom/acme/app/Main;", True),
        ("Lde/other/Screen;", True),  # a component lives there
        ("Lcom/example/lib/Tool;", False),
        ("Lokhttp3/Call;", False),
        ("Lcom/acme/known/Thing;", False),  # a known library, though the prefix fits
        ("La/b/c;", True),  # obfuscated
        ("Lab;", True),
        ("Lgdroid/Env;", True),
        ("Ljava/lang/String;", False),
    ],
)
def test_own_code_is_told_by_package(descriptor: str, own: bool) -> None:
    program = cast(Any, Names([descriptor, "Lcom/acme/app/Main;"]))
    found = Own(program, manifest("com.acme.app", "com.acme.app.Main", "de.other.Screen"), ["Lcom/acme/known/"])
    assert found.is_own(0) == own


def test_names_that_look_obfuscated_are_a_guess() -> None:
    program = cast(Any, Names(["La/b/c;", "Lcom/acme/app/Main;"]))
    found = Own(program, manifest("com.acme.app", "com.acme.app.Main"), [])
    assert found.is_own(0) and not found.is_certain(0)
    assert found.is_own(1) and found.is_certain(1)


def test_many_names_that_look_obfuscated_are_mostly_libraries() -> None:
    program = cast(Any, Names([*(f"La/b/c{i};" for i in range(301)), "Lcom/acme/app/Main;"]))
    found = Own(program, manifest("com.acme.app", "com.acme.app.Main"), [])
    assert not found.is_own(0) and found.is_own(301)


def test_without_a_manifest_everything_but_known_libraries_is_own() -> None:
    program = cast(Any, Names(["Lcom/x/Y;", "Landroidx/core/Z;"]))
    found = Own(program, None, ["Landroidx/"])
    assert found.is_own(0) and not found.is_own(1)


def test_a_manifest_that_fits_no_class_counts_as_none() -> None:
    program = cast(Any, Names(["Lcom/x/Y;"]))
    assert Own(program, manifest("org.moved"), []).is_own(0)


def test_the_package_that_the_manifest_names_is_own_though_a_library_has_the_prefix() -> None:
    program = cast(Any, Names(["Lcom/google/samples/app/Main;", "Lcom/google/gson/Gson;"]))
    found = Own(program, manifest("com.google.samples.app", "com.google.samples.app.Main"), ["Lcom/google/"])
    assert found.is_own(0) and not found.is_own(1)


@pytest.mark.parametrize(
    ("package", "classes", "modelled"),
    [
        ("a.b", ["La/b/Main;", "Lokio/Buffer;"], ["Lokio/Buffer;"]),
        ("okio.samples", ["Lokio/samples/Main;", "Lokio/Buffer;"], []),  # the library's own sample
        (None, ["Lokio/Buffer;", "Lokio/Okio;"], []),  # nothing but the library
        (None, ["Lokio/Buffer;", "Lc/Main;"], ["Lokio/Buffer;"]),
        ("a.b", ["La/b/Main;", "Lokio/generated/Made;", "Lokiosk/Main;"], []),
    ],
)
def test_modelled_libraries_are_those_that_an_app_brings_along(
    package: str | None, classes: list[str], modelled: list[str]
) -> None:
    program = cast(Any, Names(classes))
    found = modelled_in(program, manifest(package) if package else None, ["Lokio/"], ["Lokio/generated/"])
    assert [name for name in classes if found.holds(name)] == modelled
