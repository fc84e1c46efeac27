"""The report as a record, and its JSON form."""

from __future__ import annotations

import random
from dataclasses import fields, is_dataclass, replace
from typing import Any, get_type_hints

import jsonschema
import pytest

from gdroid.report import json, model
from gdroid.report.model import ComponentRecord, LimitRecord, ProblemRecord, Report, Sink, Step
from tests.gdroid.samples import DEVICE_ID, LEAK, ON_CREATE, SMS, partial, sample

CHECKER = jsonschema.Draft202012Validator(json.schema())


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.schema())


@pytest.mark.parametrize("report", [sample(), partial(), sample(findings=(), components=(), phases=(), limits=())])
def test_reports_meet_the_schema(report: Report) -> None:
    CHECKER.validate(json.to_dict(report))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda report: report.pop("status"),
        lambda report: report.update(schema="gdroid-report/2"),
        lambda report: report.update(status="done"),
        lambda report: report["findings"][0].update(severity="critical"),
        lambda report: report["findings"][0].update(source=None),
        lambda report: report["findings"][0]["sink"]["location"].pop("pc"),
        lambda report: report["stats"].update(facts=-1),
        lambda report: report["app"].update(sha256="abc"),
    ],
)
def test_the_schema_refuses_what_the_format_does_not_allow(spoil: Any) -> None:
    document = json.to_dict(sample())
    spoil(document)
    assert not CHECKER.is_valid(document)


def test_only_leaks_and_injections_need_both_ends() -> None:
    document = json.to_dict(sample(findings=(replace(LEAK, kind="config", source=None, sink=None, path=()),)))
    CHECKER.validate(document)


def test_record_fields_and_schema_agree_in_name_and_order() -> None:
    definitions = json.schema()["$defs"]

    def compare(record: Any, node: dict[str, Any]) -> None:
        node = definitions[node["$ref"].rsplit("/", 1)[-1]] if "$ref" in node else node
        names = [json.key(field) for field in fields(record)]
        assert names == list(node["properties"]) == node["required"]
        hints = get_type_hints(record)
        for field in fields(record):
            inner = node["properties"][json.key(field)]
            inner = inner.get("items", inner)
            parts = [hints[field.name], *getattr(hints[field.name], "__args__", ())]
            for part in parts:
                if isinstance(part, type) and is_dataclass(part):
                    compare(part, inner)

    compare(Report, json.schema())


def test_lists_are_sorted_however_they_came() -> None:
    components = [ComponentRecord(f"c{i}", "service", bool(i % 2), "complete") for i in range(6)]
    limits = [LimitRecord(f"limit{i}", i, True, ("z", "a")) for i in range(4)]
    problems = [ProblemRecord("classes.dex", f"damaged {i}") for i in range(4)]
    findings = [replace(LEAK, rule=f"r{i % 2}", sink=replace(SMS, location=replace(ON_CREATE, pc=i))) for i in range(6)]
    texts = set()
    for seed in range(5):
        for items in (components, limits, problems, findings):
            random.Random(seed).shuffle(items)  # type: ignore[arg-type]
        report = sample(
            components=tuple(components), limits=tuple(limits), problems=tuple(problems), findings=tuple(findings)
        )
        assert report.limits[0].where == ("a", "z")
        texts.add(json.dumps(report))
    assert len(texts) == 1


def test_graver_findings_come_first() -> None:
    findings = tuple(replace(LEAK, severity=level) for level in model.LEVELS)
    assert [f.severity for f in sample(findings=findings).findings] == ["high", "medium", "low"]


def test_an_id_survives_code_that_moves() -> None:
    moved_source = replace(DEVICE_ID, location=replace(DEVICE_ID.location, pc=99, line=99))
    moved_sink = replace(SMS, location=replace(SMS.location, pc=77, line=None))
    moved = replace(LEAK, source=moved_source, sink=moved_sink, title="New words", severity="low", path=())
    assert sample(findings=(moved,)).findings[0].id == sample().findings[0].id


@pytest.mark.parametrize(
    "other",
    [
        replace(LEAK, rule="other"),
        replace(LEAK, sink=replace(SMS, argument="arg0")),
        replace(LEAK, sink=replace(SMS, location=replace(SMS.location, method="other"))),
        replace(LEAK, source=replace(DEVICE_ID, signature="La;->b()V")),
        replace(LEAK, sink=replace(SMS, location=replace(SMS.location, pc=5))),
    ],
)
def test_different_findings_have_different_ids(other: model.Finding) -> None:
    assert len({finding.id for finding in sample(findings=(LEAK, other)).findings}) == 2


def test_a_given_id_is_kept() -> None:
    assert sample(findings=(replace(LEAK, id="mine"),)).findings[0].id == "mine"


def test_text_of_an_app_is_plain_ascii_in_json() -> None:
    step = Step(ON_CREATE, 'x = "\ud800\x1b\u202e\u00e9"', "")
    report = sample(findings=(replace(LEAK, path=(step,)),))
    text = json.dumps(report)
    assert text.isascii()
    assert "\x1b" not in text


def test_measured_numbers_are_rounded() -> None:
    first = json.to_dict(sample())["phases"][0]
    assert (first["seconds"], first["peak_mb"]) == (0.123, 50.0)


def test_sink_argument_is_part_of_the_record() -> None:
    assert [field.name for field in fields(Sink)] == ["signature", "argument", "location"]
