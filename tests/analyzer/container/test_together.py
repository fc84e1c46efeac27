"""Several apps as one system."""

from __future__ import annotations

from pathlib import Path

from analyzer.container import AppFiles, Component, DexFile, Manifest, Problem
from analyzer.container.together import together


def app(name: str, application: str | None = None) -> AppFiles:
    manifest = Manifest(
        f"com.{name}", "1", 1, 19, 19, application, False, False, (f"permission.{name}",),
        (Component(f"com.{name}.Main", "activity", True),),
    )  # fmt: skip
    dex = (DexFile("classes.dex", name.encode()),)
    return AppFiles(Path(f"{name}.apk"), name * 8, "apk", dex, manifest, (), (Problem("res", "odd", lost=False),))


def test_one_app_is_itself() -> None:
    one = app("one")
    assert together([one]) is one


def test_code_components_and_problems_of_all_are_there_and_say_where_they_are_from() -> None:
    both = together([app("one"), app("two", application="com.two.App")])
    assert [(f.name, f.data) for f in both.dex] == [("one.apk!/classes.dex", b"one"), ("two.apk!/classes.dex", b"two")]
    assert both.manifest is not None and both.manifest.package == "com.one"
    assert [(c.name, c.kind) for c in both.manifest.components] == [
        ("com.one.Main", "activity"),
        ("com.two.Main", "activity"),
        ("com.two.App", "application"),
    ]
    assert both.manifest.permissions == ("permission.one", "permission.two")
    assert [p.where for p in both.problems] == ["one.apk: res", "two.apk: res"]


def test_the_digest_does_not_depend_on_the_order_of_the_apps() -> None:
    apps = [app("one"), app("two")]
    assert together(apps).sha256 == together(apps[::-1]).sha256 != apps[0].sha256
