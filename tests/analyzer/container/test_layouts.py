"""Layouts name the handlers, classes and password fields that code finds by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.container import Layout, Widget, open_app
from analyzer.container.layouts import is_password
from analyzer.limits import Limits


@pytest.fixture(scope="module")
def layouts(sample: Path) -> dict[str, Layout]:
    return {layout.name: layout for layout in open_app(sample / "sample.apk", Limits()).layouts}


def test_all_that_names_something_is_there(layouts: dict[str, Layout]) -> None:
    assert list(layouts) == [
        "layout/aliased", "layout/main", "layout/part", "menu/options", "navigation/graph", "xml/prefs",
    ]  # fmt: skip
    assert all(layout.resource_id and layout.resource_id >> 24 == 0x7F for layout in layouts.values())


def test_handlers_come_from_all_configurations_includes_and_references(layouts: dict[str, Layout]) -> None:
    handlers = [widget.on_click for widget in layouts["layout/main"].widgets if widget.on_click]
    assert handlers == ["onSend", "onIndirect", "onSendLandscape", "onPart"]
    assert [widget.on_click for widget in layouts["menu/options"].widgets] == ["onDelete"]


def test_an_alias_is_its_target_under_another_id(layouts: dict[str, Layout]) -> None:
    aliased, part = layouts["layout/aliased"], layouts["layout/part"]
    assert aliased.widgets == part.widgets and aliased.resource_id != part.resource_id


def test_passwords_are_known_by_input_type_and_attribute(layouts: dict[str, Layout]) -> None:
    fields = [widget for widget in layouts["layout/main"].widgets if widget.tag == "EditText"]
    assert [(w.input_type, w.password, w.id is not None) for w in fields] == [
        (0x1, False, True), (0x81, True, True), (None, True, True), (0x12, True, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("input_type", "password"),
    [(0x81, True), (0x91, True), (0xE1, True), (0x12, True), (0x80081, True),
     (0x1, False), (0x2, False), (0x21, False), (0x11, False), (0x82, False), (0x3, False), (0xA1, False), (0, False)],
)  # fmt: skip
def test_input_types_that_mean_a_password(input_type: int, password: bool) -> None:
    assert is_password(input_type) is password


def test_custom_views_and_fragments_are_named(layouts: dict[str, Layout]) -> None:
    main = layouts["layout/main"].widgets
    assert [w.tag for w in main if w.tag.startswith("org.")] == [
        "org.example.sample.Chart", "org.example.sample.Inner$Gauge",
    ]  # fmt: skip
    assert [w.fragment for w in main if w.fragment] == ["org.example.sample.Details", "org.example.sample.Host"]
    assert [w.fragment for w in layouts["navigation/graph"].widgets] == [
        None, "org.example.sample.First", "org.example.sample.Second",
    ]  # fmt: skip
    assert layouts["xml/prefs"].widgets == (Widget("Preference", fragment="org.example.sample.Settings"),)
