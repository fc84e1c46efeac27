"""What the generator reads out of TypeScript declarations."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.framework.declarations import parse, split_top
from analyzer.framework.generate import dex_name, generate, main, type_family
from analyzer.framework.model import Framework
from analyzer.framework.table import decode
from gpu.errors import UnreadableInput, WrongConfiguration

OLD = """
import globalAndroid = android;
/// <reference path="android-declarations.d.ts"/>
declare module java {
    export module lang {
        export class Object {
            public static class: java.lang.Class<java.lang.Object>;
            public constructor();
            public toString(): string;
        }
    }
}
declare module a {
    export module b {
        export class Listener extends java.lang.Object {
            public static class: java.lang.Class<a.b.Listener>;
            /**
             * Constructs a new instance of the a.b.Listener interface with the provided implementation.
             */
            public constructor(implementation: {
                onEvent(param0: a.b.Widget, param1: number): boolean;
                "<clinit>"(): void;
            });
            public constructor();
            public static MIME: "text/*";
            public onEvent(param0: a.b.Widget, param1: number): boolean;
        }
        export abstract class Widget extends a.b.Old implements a.b.Listener, java.lang.Iterable<any>  {
            public static class: java.lang.Class<a.b.Widget>;
            public constructor(text: string | null, handlers: androidNative.Array<androidNative.Array<number>>);
            /** @since 30 */
            public static make<T>(param0: any /* any*/, map: java.util.Map<string, T>): a.b.Widget.Kind | null;
            public gone();
        }
        export module Widget {
            export class Kind extends java.lang.Object {
                public static class: java.lang.Class<a.b.Widget.Kind>;
                public static values(): androidNative.Array<a.b.Widget.Kind>;
                public static valueOf(name: string): a.b.Widget.Kind;
            }
            export class abWidgetDelegate extends java.lang.Object {
                public static class: java.lang.Class<a.b.Widget.Delegate>;
                public constructor();
            }
            export type Delegate = abWidgetDelegate
        }
        export class Box<T>  extends a.b.Listener {
            public static class: java.lang.Class<any>;
            public take(param0: T, param1: globalAndroid.os.Bundle): androidNative.Array<T>;
        }
    }
}

//a.b.Box:1
"""

NEW = """
declare module a {
    export module b {
        export class Widget extends a.b.New {
            public added(param0: java.lang.Object): void;
        }
    }
}
"""


@pytest.fixture(scope="module")
def model() -> Framework:
    return Framework(decode(generate([("old.d.ts", OLD), ("new.d.ts", NEW)]), "test"))


def test_an_interface_is_told_by_the_constructor_that_takes_an_implementation(model: Framework) -> None:
    listener = model.find("La/b/Listener;")
    assert listener is not None
    assert listener.is_interface
    assert listener.superclass is None
    assert listener.methods == ("onEvent",)
    (method,) = model.methods("La/b/Listener;")
    assert (method.arity, method.param_families, method.return_family) == (2, ("La/b/Widget;", "N"), "Z")


def test_levels_are_joined_and_the_newest_superclass_wins(model: Framework) -> None:
    widget = model.find("La/b/Widget;")
    assert widget is not None
    assert widget.superclass == "La/b/New;"
    assert widget.interfaces == ("La/b/Listener;", "Ljava/lang/Iterable;")
    assert widget.methods == ("<init>", "added", "gone", "make")
    assert not widget.is_abstract


def test_types_become_families(model: Framework) -> None:
    found = {method.name: method for method in model.methods("La/b/Widget;")}
    assert found["<init>"].param_families == ("S", "[[N")
    assert found["make"].static
    assert found["make"].param_families == ("?", "Ljava/util/Map;")
    assert found["make"].return_family == "La/b/Widget$Kind;"
    assert found["gone"].return_family == "V"
    assert found["added"].param_families == ("?",)


def test_nested_classes_enums_and_aliased_names_are_named_as_in_a_dex(model: Framework) -> None:
    kind, delegate = model.find("La/b/Widget$Kind;"), model.find("La/b/Widget$Delegate;")
    assert kind is not None
    assert kind.superclass == "Ljava/lang/Enum;"
    assert delegate is not None
    assert list(model.classes()) == [
        "La/b/Box;",
        "La/b/Listener;",
        "La/b/Widget$Delegate;",
        "La/b/Widget$Kind;",
        "La/b/Widget;",
        "Ljava/lang/Object;",
    ]


def test_an_interface_after_extends_is_no_superclass(model: Framework) -> None:
    box = model.find("La/b/Box;")
    assert box is not None
    assert (box.superclass, box.interfaces) == ("Ljava/lang/Object;", ("La/b/Listener;",))
    (method,) = model.methods("La/b/Box;")
    assert method.param_families == ("?", "Landroid/os/Bundle;")
    assert method.return_family == "[?"


def test_the_same_input_gives_the_same_bytes() -> None:
    files = [("old.d.ts", OLD), ("new.d.ts", NEW)]
    assert generate(files) == generate(list(files))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("declare module a {\n\twhat is this\n}", "f:2"),
        ("}\n", "f:1"),
        ("public f(): void;", "f:1"),
        ("declare module a {\n\texport class B extends java.lang.Object {\n\t\tpublic f(param): void;\n\t}\n}", "f:3"),
        ("declare module a {\n", "not closed"),
        ("/* a\n b */ declare module a {\n\tpublic f(): void;\n}", "f:3"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_line(text: str, line: str) -> None:
    with pytest.raises(UnreadableInput, match=line):
        parse(text, "f")


def test_commas_inside_brackets_do_not_split() -> None:
    assert split_top("a: Map<string, any>, b: number") == ["a: Map<string, any>", "b: number"]
    assert split_top("") == []


def test_an_outer_class_that_is_not_declared_is_known_by_its_capital() -> None:
    assert dex_name("a.b.Hidden.Inner.Deep", set()) == "La/b/Hidden$Inner$Deep;"
    assert dex_name("a.lower.inner", {"a.lower"}) == "La/lower$inner;"
    assert type_family("a.b.C | null", set()) == "La/b/C;"


def test_supplements_add_to_classes_and_define_new_ones() -> None:
    text = """# facts
class a/b/Box : java/io/Closeable
final class a/N < a/b/Box
    static f(I[La/b/Box;)J
interface a/I : a/J a/K
"""
    model = Framework(decode(generate([("old.d.ts", OLD)], [("s.txt", text)]), "test"))
    box, new, interface = (model.find(name) for name in ("La/b/Box;", "La/N;", "La/I;"))
    assert box is not None and box.interfaces == ("La/b/Listener;", "Ljava/io/Closeable;")
    assert new is not None and new.is_final and new.superclass == "La/b/Box;"
    assert model.methods("La/N;")[0].param_families == ("N", "[La/b/Box;")
    assert interface is not None and interface.is_interface and interface.interfaces == ("La/J;", "La/K;")


@pytest.mark.parametrize("text", ["    f()V", "class", "class a/B\n    f(Q)V", "class a/B\nsomething"])
def test_a_wrong_line_of_a_supplement_is_named(text: str) -> None:
    with pytest.raises(WrongConfiguration, match=f"s.txt:{text.count(chr(10)) + 1}:"):
        generate([("old.d.ts", OLD)], [("s.txt", text)])


def test_a_folder_without_declarations_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path), "--output", str(tmp_path / "out")]) == 1
    assert "android-platform" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_command_writes_a_model_from_a_package(tmp_path: Path) -> None:
    package = tmp_path / "package" / "lib"
    package.mkdir(parents=True)
    (package / "android-platform-21-37-merged.d.ts").write_text(OLD)
    (package / "android-platform-37.d.ts").write_text(NEW)
    (package / "other.d.ts").write_text("not read")
    assert main([str(tmp_path / "package"), "--output", str(tmp_path / "out")]) == 0
    model = Framework(decode((tmp_path / "out").read_bytes(), "out"))
    found = model.find("La/b/Widget;")
    assert found is not None and found.superclass == "La/b/New;"
    assert model.find("Lkotlin/jvm/functions/Function0;") is not None
