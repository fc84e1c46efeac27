"""What runs without a caller: tests that a runner makes by reflection."""

from __future__ import annotations

from pathlib import Path

from analyzer.container import AppFiles, Component, DexFile, Manifest
from tests.analyzer.callgraph.apps import App, analyze
from tests.analyzer.dex.builder import Class, Code, Method, Writer

BARE = Code([0x000E], registers=1, ins=1)
STATIC = Code([0x000E], registers=0)
CASE = "Ljunit/framework/TestCase;"


def call(method: int) -> Code:
    """invoke-static of a method of the dex; return-void."""
    return Code([0x0071, method, 0, 0x000E], registers=1, ins=1)


def sample(instrumentation: bool = True) -> App:
    """An app of tests: each calls a method of its own name in `Who`."""
    writer = Writer()
    names = ("testThree", "setUp", "helper", "four", "before", "once", "inherited", "never", "onStart")
    calls = {name: call(writer.method("Lapp/Who;", name)) for name in names}
    init = Method("<init>", access=0x10001, code=BARE)

    def methods(*wanted: str, descriptor: str = "()V") -> list[Method]:
        return [Method(name, descriptor, 1, calls[name]) for name in wanted]

    writer.add(Class("Lapp/Who;", direct=[Method(name, code=STATIC) for name in names]))
    writer.add(Class(CASE, access=0x401, direct=[init], virtual=[Method("setUp", access=1, code=BARE)]))
    writer.add(Class("Lapp/Three;", CASE, direct=[init], virtual=methods("testThree", "setUp", "helper")))
    writer.add(
        Class(
            "Lapp/Base;",
            access=0x401,
            direct=[init],
            virtual=methods("inherited"),
            annotations={"inherited": ["Lorg/junit/Test;"]},
        )
    )
    annotations = {"four": ["Lorg/junit/Test;"], "before": ["Lorg/junit/Before;"], "once": ["Lorg/junit/BeforeClass;"]}
    once = Method("once", access=9, code=Code([0x0071, writer.method("Lapp/Who;", "once"), 0, 0x000E], registers=0))
    writer.add(
        Class(
            "Lapp/Four;",
            "Lapp/Base;",
            direct=[init, once],
            virtual=methods("four", "before", "never"),
            annotations=annotations,
        )
    )
    writer.add(Class("Lapp/Runner;", "Landroid/app/Instrumentation;", direct=[init], virtual=methods("onStart")))
    writer.add(Class("Lapp/Main;", "Landroid/app/Activity;", direct=[init]))
    components = [Component("app.Main", "activity", True)]
    components += [Component("app.Runner", "instrumentation", False)] * instrumentation
    manifest = Manifest("app", None, None, 19, 19, None, False, False, (), tuple(components))
    return analyze(AppFiles(Path("x.apk"), "", "apk", (DexFile("classes.dex", writer.build()),), manifest, (), ()))


def test_tests_run_and_what_surrounds_them() -> None:
    reached = sample().reached
    assert {"Who.testThree", "Who.setUp", "Who.four", "Who.before", "Who.once", "Who.inherited"} <= reached
    assert {"Three.<init>", "Four.<init>"} <= reached


def test_other_methods_of_tests_do_not_run_by_themselves() -> None:
    reached = sample().reached
    assert not {"Who.helper", "Who.never", "Base.<init>"} & reached


def test_the_instrumentation_of_the_manifest_runs() -> None:
    assert "Who.onStart" in sample().reached
    assert "Who.onStart" not in sample(instrumentation=False).reached
    assert "Who.four" in sample(instrumentation=False).reached
