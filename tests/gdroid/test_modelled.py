"""Libraries that models speak for: their code is not looked at, what they do to the app's data and objects is known."""

from __future__ import annotations

from pathlib import Path

import pytest

import gdroid
from gdroid.app import load
from gdroid.options import Options
from gpu.errors import WrongConfiguration
from tests.analyzer.dex.builder import Class, Code, Method, Writer

RETURN = 0x000E
INVOKE_VIRTUAL, INVOKE_DIRECT, INVOKE_STATIC, MOVE_RESULT_OBJECT, NEW_INSTANCE = 0x6E, 0x70, 0x71, 0x0C, 0x22


@pytest.fixture
def jar(tmp_path: Path) -> Path:
    """`Main.main`: hands a `Task` to okio's `Pool.keep`, and `Lib.helper`'s device id through `Pool.echo` to a log."""
    w = Writer()
    bare = Code([RETURN], registers=1, ins=1)
    init = Method("<init>", access=0x10001, code=bare)
    helper = w.method("Lokio/Pool;", "helper")
    log = w.method("Landroid/util/Log;", "d", "(Ljava/lang/String;Ljava/lang/String;)I")
    device = w.method("Landroid/telephony/TelephonyManager;", "getDeviceId", "()Ljava/lang/String;")
    echo = w.method("Lokio/Pool;", "echo", "(Ljava/lang/String;)Ljava/lang/String;")
    keep = w.method("Lokio/Pool;", "keep", "(Lokio/Job;)V")
    make = w.method("Lapp/Task;", "<init>")
    called = w.method("Lapp/Main;", "called")
    main = [
        INVOKE_VIRTUAL | 1 << 12, device, 0x0003,  # p0.getDeviceId()
        MOVE_RESULT_OBJECT,  # v0
        INVOKE_STATIC | 1 << 12, echo, 0x0000,
        MOVE_RESULT_OBJECT,
        INVOKE_STATIC | 2 << 12, log, 0x0000,
        NEW_INSTANCE | 1 << 8, w.type("Lapp/Task;"),
        INVOKE_DIRECT | 1 << 12, make, 0x0001,
        INVOKE_STATIC | 1 << 12, keep, 0x0001,
        RETURN,
    ]  # fmt: skip
    w.add(
        Class(
            "Lapp/Main;",
            direct=[
                Method("called", access=9, code=Code([RETURN], registers=0)),
                Method("main", "(Landroid/telephony/TelephonyManager;)V", 9, Code(main, registers=4, ins=1, outs=2)),
            ],
        )
    )
    run = Code([INVOKE_STATIC, called, 0, RETURN], registers=1, ins=1)
    w.add(Class("Lapp/Task;", "Lokio/Job;", direct=[init], virtual=[Method("run", access=1, code=run)]))
    w.add(Class("Lokio/Job;", access=0x401, direct=[init], virtual=[Method("run", access=0x401)]))
    void = Code([INVOKE_STATIC, helper, 0, RETURN], registers=1, ins=1)
    same = Code([INVOKE_STATIC, helper, 0, 0x0011], registers=1, ins=1)  # return-object v0
    w.add(
        Class(
            "Lokio/Pool;",
            direct=[
                Method("helper", access=9, code=Code([RETURN], registers=0)),
                Method("echo", "(Ljava/lang/String;)Ljava/lang/String;", 9, same),
                Method("keep", "(Lokio/Job;)V", 9, void),
            ],
        )
    )
    path = tmp_path / "classes.dex"
    path.write_bytes(w.build())
    return path


def reached(path: Path, all_code: bool) -> set[str]:
    app = load(path, Options(all_code=all_code))
    p = app.program
    names = (p.method(m) for m in app.graph.methods if m < p.n_dex_methods)
    return {f"{p.type_name(ref.cls)}{ref.name}" for ref in names}


def test_the_code_of_a_modelled_library_is_looked_at_only_on_demand(jar: Path) -> None:
    assert not {name for name in reached(jar, False) if name.startswith("Lokio/Pool;")}
    assert {"Lokio/Pool;helper", "Lokio/Pool;echo", "Lokio/Pool;keep"} <= reached(jar, True)


def test_objects_that_it_is_given_are_called_back(jar: Path) -> None:
    assert {"Lapp/Task;run", "Lapp/Main;called"} <= reached(jar, False)


def test_data_goes_through_it_and_the_report_says_that_models_stand_for_it(jar: Path) -> None:
    for all_code in (False, True):
        report = gdroid.analyze(jar, all_code=all_code)
        assert [(f.source.location.method, f.sink.location.method) for f in report.findings] == [("main", "main")]
        assert report.stats.modelled_classes == (0 if all_code else 2)


def test_who_asks_for_facts_of_it_is_told_how_to_get_them(jar: Path) -> None:
    method = "Lokio/Pool;->helper()V"
    with pytest.raises(WrongConfiguration, match="models stand for; --all-code looks into it"):
        load(jar, Options()).facts_text(method)
    assert "helper" in load(jar, Options(all_code=True)).facts_text(method)
