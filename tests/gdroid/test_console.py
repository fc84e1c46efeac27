"""The console report: what it says, what it never says, and that an app cannot speak through it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdroid.report import console
from gdroid.report.escape import visible
from gdroid.report.model import ComponentRecord, LimitRecord, Location, Phase, ProblemRecord, Report, Step
from gdroid.report.words import method_in_words, position_in_words, type_in_words
from tests.gdroid.samples import DEVICE_ID, LEAK, ON_CREATE, SMS, partial, sample


def test_a_finding_says_what_from_where_to_where_and_why() -> None:
    text = console.render(sample())
    for part in (
        "1 finding: 1 high",
        "HIGH  Device id is sent by SMS",
        "TelephonyManager.getDeviceId()",
        "in org.example.Main.onCreate, Main.java:23",
        "SmsManager.sendTextMessage(String, String, String, PendingIntent, PendingIntent), argument 3",
        "in org.example.Main$Sender.send, Main.java:40",
        "Main.java:24  sender.send(id)",
        "passed as argument 1",
        "CWE-359",
    ):
        assert part in text
    assert text.index("Device id") < text.index("analysis")


def test_only_a_complete_analysis_says_that_there_is_nothing() -> None:
    assert "No leaks found" in console.render(sample(findings=()))
    for report in (partial(), sample(status="failed", findings=()), partial(findings=(LEAK,))):
        text = console.render(report).lower()
        assert "no leaks" not in text
        assert "incomplete" in text or "failed" in text


def test_limits_that_were_hit_are_named_with_place_and_value() -> None:
    text = console.render(partial())
    assert "wall_time_s = 540 at solve" in text
    assert "memory_mb" not in text
    assert "not complete: org.example.Main (partial)" in text
    assert "classes2.dex: bad magic at offset 0" in text


def test_long_paths_and_lists_are_shortened_unless_asked_for() -> None:
    steps = tuple(Step(replace(ON_CREATE, pc=i, line=i), f"statement{i}", "") for i in range(30))
    limit = LimitRecord("export_app", 1000, True, tuple(f"method{i:02}" for i in range(20)))
    report = sample(findings=(replace(LEAK, path=steps),), limits=(limit,))
    short, full = console.render(report), console.render(report, full=True)
    assert "20 steps left out" in short
    assert "statement4" in short and "statement15" not in short and "statement29" in short
    assert "and 12 more" in " ".join(short.split())
    assert all(f"statement{i}" in full for i in range(30))
    assert "method19" in full


def test_many_findings_are_told_by_sink_and_counted_unless_asked_for() -> None:
    """40 sinks, two sources at each of the first 20, one at the others; each finding is told or counted."""
    assert LEAK.source is not None and LEAK.sink is not None
    findings = []
    for i in range(40):
        place = replace(LEAK, severity="high" if i < 20 else "low", sink=replace(LEAK.sink, location=_at(i)))
        findings.append(place)
        if i < 20:
            source = replace(LEAK.source, signature="La/B;->other()Ljava/lang/String;")
            findings.append(replace(place, source=source))
    report = sample(findings=tuple(findings))
    short, full = console.render(report), console.render(report, full=True)
    assert "60 findings: 40 high, 20 low" in short
    assert short.count("1 more finding at this sink") == 20
    assert "10 more findings in 10 places: Device id is sent by SMS, SmsManager.sendTextMessage" in " ".join(
        short.split()
    )
    assert all(f"Main.java:{1000 + i}" in short for i in range(20))
    assert full.count("source") == 60 and "more finding" not in full


def _at(line: int) -> Location:
    return replace(ON_CREATE, line=1000 + line, pc=line)


def test_thousands_of_findings_are_told_in_no_time() -> None:
    findings = tuple(replace(LEAK, sink=replace(LEAK.sink, location=_at(i))) for i in range(3000))  # type: ignore[type-var]
    report = sample(findings=findings)
    start = time.process_time()
    text = console.render(report)
    assert time.process_time() - start < 5 and len(text.splitlines()) < 1000
    assert "2,970 more findings" in text


def test_time_by_phase_is_shown_on_request() -> None:
    assert "0.12 s" not in console.render(sample())
    full = [line.split() for line in console.render(sample(), full=True).splitlines()]
    assert ["phases", "container", "0.12", "s", "50", "MB"] in full
    assert ["solve", "1.00", "s", "120", "MB"] in full


HOSTILE = "\x1b[31mred\x1b]0;title\x07 [bold]x[/bold] \u202eabc\u2066 \u200b\r\n\x9b0m \ud800 \x00 :smile: [link=http://x]y[/]"


def everywhere(text: str) -> Report:
    """A report with the text in every field that an app's author, or the name of a file, can choose."""
    place = replace(ON_CREATE, class_name=text, method=text, descriptor=text, file=text, component=text)
    finding = replace(
        LEAK,
        title=text,
        rule=text,
        cwe=(text,),
        masvs=(text,),
        source=replace(DEVICE_ID, signature=text, location=place),
        sink=replace(SMS, signature=text, argument=text, location=replace(place, line=None)),
        path=(Step(place, text, text), Step(replace(place, line=None), f"L{text};->m()V", text)),
        rests_on=(text,),
    )
    whole = partial()
    return partial(
        app=replace(whole.app, path=text, package=text, version_name=text, dex_files=(text,)),
        findings=(finding,),
        limits=(LimitRecord(text, 1, True, (text,)),),
        phases=(Phase(text, "partial", 1.0, 1.0),),
        components=(ComponentRecord(text, text, True, "partial"),),
        problems=(ProblemRecord(text, text),),
        engine=replace(whole.engine, name=text, device=text),
    )


def printable(text: str) -> bool:
    return all(char == "\n" or char.isprintable() for char in text)


def test_an_app_cannot_steer_the_terminal() -> None:
    text = console.render(everywhere(HOSTILE), full=True)
    assert printable(text)
    assert "\\x1b[31mred" in text
    assert "[bold]x[/bold]" in text and ":smile:" in text and "[link=http://x]y[/]" in text
    plain = console.render(everywhere("x"), full=True)
    coloured = console.render(everywhere(HOSTILE), colour=True, full=True)
    styles = console.render(everywhere("x"), colour=True, full=True)
    assert "\x1b[31mred" not in coloured and "\x1b]" not in coloured
    assert len(plain.splitlines()) <= len(text.splitlines())
    assert "\x1b[" in styles, "colour is there when it is asked for"


@given(st.text(max_size=40))
def test_no_text_steers_the_terminal(text: str) -> None:
    assert printable(visible(text))
    assert printable(console.render(everywhere(text)))


def test_visible_text_is_cut_and_says_so() -> None:
    assert visible("a" * 1000, longest=100).startswith("a" * 66 + "…900 more…")
    assert visible("é[/]") == "é[/]"
    assert visible("e" + "\u0301" * 5) == "e\u0301\u0301\\u0301\\u0301\\u0301"


@pytest.mark.parametrize("width", [60, 80, 200])
def test_lines_fit_the_terminal(width: int) -> None:
    text = console.render(everywhere("a.long.name.of.a.class" * 8), width=width)
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize(
    ("signature", "words"),
    [
        ("Landroid/telephony/TelephonyManager;->getDeviceId()Ljava/lang/String;", "TelephonyManager.getDeviceId()"),
        ("La/B$C;-><init>(I[[JLjava/lang/String;)V", "B.C.<init>(int, long[][], String)"),
        ("[I->clone()Ljava/lang/Object;", "int[].clone()"),
        ("La/B;->f(Q)V", "La/B;->f(Q)V"),
        ("", ""),
    ],
)
def test_signatures_read_as_in_java(signature: str, words: str) -> None:
    assert method_in_words(signature) == words


@pytest.mark.parametrize(
    ("position", "words"),
    [
        ("arg0", "argument 1"),
        ("arg1.$value", "argument 2 ($value)"),
        ("this", "receiver"),
        ("ret", "result"),
        ("args", "args"),
        ("", ""),
    ],
)
def test_positions_count_as_people_do(position: str, words: str) -> None:
    assert position_in_words(position) == words


def test_types_read_as_in_java() -> None:
    values: dict[str, Any] = {"[Ljava/lang/String;": "String[]", "Z": "boolean", "LFoo;": "Foo", "junk": "junk"}
    assert {key: type_in_words(key) for key in values} == values
