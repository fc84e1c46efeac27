"""Constant texts are evaluated where all parts are constants."""

from __future__ import annotations

import pytest

from analyzer.ir import Op
from analyzer.strings import folded
from analyzer.texts import Texts
from tests.programs.solving import solve

CLASSES = """
extern class Str = "Ljava/lang/String;" { Str(); String concat(String o); String substring(int a); String trim();
  String toLowerCase(); String replace(Object a, Object b); static String valueOf(Object o); }
extern class Builder = "Ljava/lang/StringBuilder;" { Builder(); Builder append(String s); String toString(); }
extern class Class = "Ljava/lang/Class;" { static Class forName(String n); String getName(); }
extern class Uri = "Landroid/net/Uri;" { static Uri parse(String s); String toString(); }
extern class Lib = "Lunknown/Lib;" { static Str text(); }
"""


@pytest.mark.parametrize(
    ("made", "texts"),
    [
        ('Object o = "a";', ("a",)),
        ('Object o = "a"; if (*) { o = "b"; }', ("a", "b")),
        ('Str s = (Str) (Object) "xab"; Object o = s.substring(1);', ("ab",)),
        ('Str s = (Str) (Object) " Ab "; Str t = (Str) (Object) s.trim(); Object o = t.toLowerCase();', ("ab",)),
        ('Str s = (Str) (Object) "a"; Object o = s.concat("b");', ("ab",)),
        ('Builder b = new Builder(); b.append("a"); b.append("b"); Object o = b.toString();', ("ab",)),
        ('Builder b = new Builder(); b.append("a"); if (*) { b.append("b"); } Object o = b.toString();', None),
        ("Builder b = new Builder(); b.append((String) (Object) Lib.text()); Object o = b.toString();", None),
        ('Object o = Class.forName("a.B");', ("a.B",)),
        ('Uri u = Uri.parse("content://x"); Object o = u.toString();', ("content://x",)),
        ("Object o = Lib.text();", None),
        ("Object o = null;", ()),
    ],
)
def test_what_a_text_can_be(made: str, texts: tuple[str, ...] | None) -> None:
    found = solve(f"{CLASSES} class Main {{ static void main() {{ {made} sink(o); }} }}")
    main = found.method("Main.main")
    body, shape = found.program.body(main), found.ctx.shapes[main]
    calls = [
        i for i, op in enumerate(body.op) if op == Op.CALL and found.program.method(int(body.ref[i])).name == "sink"
    ]
    value = int(body.args[body.arg_off[calls[-1]]])
    assert Texts(found.ctx).of(shape, shape.rows[value]) == texts


def test_constants_of_a_method_include_what_operations_make_of_them() -> None:
    found = solve(
        f'{CLASSES} class Main {{ static void main() {{ Str s = (Str) (Object) "xget"; sink(s.substring(1)); }} }}'
    )
    body = found.program.body(found.method("Main.main"))
    assert folded(body, found.program) == ("xget", "get")
