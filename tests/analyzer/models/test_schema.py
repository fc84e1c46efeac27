"""A wrong rule file is answered with file, line and what was expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.models import Knowledge, schema
from gpu.errors import WrongConfiguration

WRONG = [
    ("surces: []", 1, "one of the sections"),
    ("sources:\n  - class: a.B\n    methods: {f: ret}", 2, "a 'kind' in a source"),
    ("sources:\n  - class: a.B\n    kind: x\n    methods:\n      f: somewhere else.", 5, "fields such as"),
    ("sources:\n  - class: a.B\n    kind: x\n    methods:\n      f(X): ret", 5, "a method such as"),
    ("sources:\n  - kind: x\n    methods: {f: ret}", 2, "'class' beside 'methods'"),
    ("sources:\n  - kind: x\n    at: ret\n    method: a.B.f", 4, "a full signature"),
    ("sources:\n  - kind: x\n    at: ret\n    klass: a.B", 4, "one of method, class"),
    ("sinks:\n  - class: a.B\n    kind: x\n    reach: perhaps\n    methods: {f: arg0}", 4, "true or false"),
    ("propagations:\n  - class: a.B\n    methods:\n      f: arg0 to ret", 4, "a flow such as"),
    ("propagations:\n  - class: a.B\n    methods:\n      f: arg0 -> ret.*", 4, "a target without"),
    ("propagations:\n  - class: a.B\n    methods:\n      f: arg0.$elem[*] -> ret", 4, "on both sides"),
    ("propagations:\n  - class: a.B\n    methods:\n      f: none\n      f: fresh", 5, "each key once"),
    ("propagations:\n  - class: a B\n    methods: {f: none}", 2, "a class name"),
    ("propagations:\n  class: a.B", 2, "a list of entries"),
    ("shims:\n  - class: a.B\n    methods:\n      f:\n        later: [this]", 5, "'steps' in a shim"),
    (
        "shims:\n  - class: a.B\n    methods:\n      f:\n        steps:\n          - {call: La/B;->g()V, on: r}",
        6,
        "the name of an earlier step",
    ),
    ("rules:\n  - id: r\n    title: t\n    sources: [a]\n    sinks: [b]\n    severity: awful", 6, "one of low, medium"),
    (
        "lifecycles:\n  x:\n    bases: a.B\n    create: []\n    start: s\n    states:\n      t: {}",
        5,
        "one of the states t",
    ),
    (
        "lifecycles:\n  x:\n    bases: a.B\n    create: []\n    start: s\n    states:\n      s:\n        next: {u: []}",
        8,
        "one of the states s",
    ),
    ("sources: [", 1, "expected YAML"),
]


@pytest.mark.parametrize(("content", "line", "expected"), WRONG, ids=[expected for _, _, expected in WRONG])
def test_errors_name_file_line_and_expectation(content: str, line: int, expected: str) -> None:
    with pytest.raises(WrongConfiguration) as caught:
        schema.read(content, "mine.yaml")
    message = str(caught.value)
    assert message.startswith("mine.yaml:")
    assert expected in message
    if expected != "expected YAML":
        assert message.startswith(f"mine.yaml:{line}: expected "), message


def test_unknown_kinds_in_rules_and_unknown_conditions_are_errors(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("\nrules:\n  - {id: r, title: t, sources: [nothing], sinks: [sms], severity: low}\n")
    with pytest.raises(WrongConfiguration, match=r"mine.yaml:3: expected one of .* among the sources of rule r"):
        Knowledge.load([path])
    path.write_text("sinks:\n  - {class: a.B, kind: sms, when: raining, methods: {f: arg0}}\n")
    with pytest.raises(WrongConfiguration, match=r"mine\.yaml:2: expected one of the conditions .*raining"):
        Knowledge.load([path])


def test_an_empty_file_is_fine() -> None:
    assert schema.read("", "empty.yaml").models == {}


@given(st.text(alphabet="abL;/()->~.$[]*: \n-{}#'\"", max_size=200))
def test_any_text_is_read_or_refused_with_a_line(content: str) -> None:
    try:
        schema.read("propagations:\n  - class: a.B\n    methods:\n      f: " + content, "x.yaml")
    except WrongConfiguration as error:
        assert str(error).startswith("x.yaml:")
