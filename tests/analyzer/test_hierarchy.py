"""Subtypes, overrides and dispatch: what the run-time would answer, also for programs that no compiler writes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzer import framework
from analyzer.framework.families import parameter_types
from analyzer.hierarchy import Hierarchy
from analyzer.program import ClassDef, FieldRef, MethodDef, MethodRef
from analyzer.type_graph import Modelled

PUBLIC, PRIVATE, STATIC, FINAL, INTERFACE, ABSTRACT = 0x1, 0x2, 0x8, 0x10, 0x200, 0x400
OBJECT = "Ljava/lang/Object;"


class App:
    """A program made of class headers: what `Hierarchy` reads of `analyzer.program.Program`."""

    def __init__(self) -> None:
        self.classes: list[ClassDef] = []
        self._names: list[str] = []
        self._ids: dict[str, int] = {}
        self._index: dict[int, int] = {}
        self._methods: list[MethodRef] = []
        self._method_ids: dict[tuple[int, str, str], int] = {}
        self._definitions: dict[int, MethodDef] = {}
        self._fields: list[FieldRef] = []

    def cls(
        self,
        name: str,
        up: str | None = OBJECT,
        *interfaces: str,
        access: int = PUBLIC,
        methods: Sequence[tuple[str, int]] = (),
        fields: Sequence[str] = (),
    ) -> int:
        """Defines a class; a method is ('run()V', access), abstract ones without code, a field 'name:type'."""
        kind = self.type_id(name)
        found = []
        for text, flags in methods:
            method = self.ref(name, text)
            self._definitions[method] = MethodDef(
                method, kind, flags, -1 if flags & ABSTRACT else 0, bool(flags & (PRIVATE | STATIC))
            )
            found.append(method)
        self._index[kind] = len(self.classes)
        own = tuple((self.field_id(name, text), PUBLIC) for text in fields)
        parents = tuple(map(self.type_id, interfaces))
        parent = -1 if up is None else self.type_id(up)
        self.classes.append(ClassDef(kind, parent, parents, access, None, 0, tuple(found), own, {}))
        return kind

    def interface(self, name: str, *interfaces: str, methods: Sequence[tuple[str, int]] = ()) -> int:
        return self.cls(name, OBJECT, *interfaces, access=PUBLIC | INTERFACE | ABSTRACT, methods=methods)

    def ref(self, name: str, text: str) -> int:
        short, _, rest = text.partition("(")
        key = (self.type_id(name), short, "(" + rest)
        if key not in self._method_ids:
            params, ret = parameter_types(key[2]), rest.rpartition(")")[2]
            assert params is not None
            self._method_ids[key] = len(self._methods)
            self._methods.append(MethodRef(key[0], short, tuple(map(self.type_id, params)), self.type_id(ret)))
        return self._method_ids[key]

    def field_id(self, name: str, text: str) -> int:
        short, _, kind = text.partition(":")
        self._fields.append(FieldRef(self.type_id(name), short, self.type_id(kind)))
        return len(self._fields) - 1

    def type_id(self, descriptor: str) -> int:
        if descriptor not in self._ids:
            self._ids[descriptor] = len(self._names)
            self._names.append(descriptor)
        return self._ids[descriptor]

    def type_name(self, t: int) -> str:
        return self._names[t]

    def class_of(self, t: int) -> ClassDef | None:
        return self.classes[self._index[t]] if t in self._index else None

    def method(self, m: int) -> MethodRef:
        return self._methods[m]

    def descriptor(self, m: int) -> str:
        ref = self._methods[m]
        return f"({''.join(map(self.type_name, ref.params))}){self.type_name(ref.ret)}"

    def definition(self, m: int) -> MethodDef | None:
        return self._definitions.get(m)

    def has_code(self, m: int) -> bool:
        return m in self._definitions and self._definitions[m].code >= 0

    def field(self, f: int) -> FieldRef:
        return self._fields[f]

    def hierarchy(self, *modelled: str, analysed: tuple[str, ...] = ()) -> Hierarchy:
        program: Any = self
        return Hierarchy(program, framework.load(), Modelled(modelled, analysed))


@pytest.fixture
def app() -> App:
    return App()


def test_superclasses_and_interfaces_reach_into_the_framework(app: App) -> None:
    a = app.cls("La/Main;", "Landroid/app/Activity;", "Landroid/view/View$OnClickListener;")
    h = app.hierarchy()
    for above in ("Landroid/content/Context;", "Landroid/view/View$OnClickListener;", OBJECT, "La/Main;"):
        assert h.is_subtype(a, app.type_id(above))
    assert not h.is_subtype(a, app.type_id("Landroid/app/Service;"))
    assert not h.is_subtype(app.type_id("Landroid/app/Activity;"), a)
    assert h.superclass(a) == app.type_id("Landroid/app/Activity;")
    assert h.is_app(a)
    assert not h.is_app(app.type_id("Landroid/app/Activity;"))
    assert h.is_known(app.type_id("Landroid/app/Activity;"))
    assert not h.is_known(app.type_id("Lno/Where;"))


def test_supertypes_come_before_what_they_extend_and_object_comes_last(app: App) -> None:
    app.interface("La/I;")
    app.interface("La/J;", "La/I;")
    app.cls("La/Base;", OBJECT, "La/I;")
    t = app.cls("La/T;", "La/Base;", "La/J;")
    h = app.hierarchy()
    assert h.class_chain(t) == ["La/T;", "La/Base;", "La/J;", "La/I;", OBJECT]
    for a, b in itertools.combinations(h.supertypes(t), 2):
        assert not h.is_subtype(b, a)


def test_interfaces_are_objects_and_primitive_values_are_not(app: App) -> None:
    i = app.interface("La/I;")
    h = app.hierarchy()
    assert h.is_subtype(i, app.type_id(OBJECT))
    assert h.superclass(i) == -1
    assert not h.is_subtype(app.type_id("I"), app.type_id(OBJECT))
    assert h.supertypes(app.type_id("I")) == (app.type_id("I"),)


def test_unknown_types_are_objects_and_may_be_anything(app: App) -> None:
    a = app.cls("La/A;")
    unknown = app.type_id("Lno/Where;")
    h = app.hierarchy()
    assert h.is_subtype(unknown, app.type_id(OBJECT))
    assert not h.is_subtype(unknown, a)
    assert not h.is_subtype(a, unknown)
    assert h.may_be(True, unknown, a)
    assert h.may_be(True, a, unknown)


def test_a_missing_superclass_may_bring_any_type(app: App) -> None:
    t = app.cls("La/T;", "Lno/Where;")
    other = app.cls("La/Other;")
    i = app.interface("La/I;")
    h = app.hierarchy()
    assert h.may_be(True, t, i)
    assert h.may_be(True, t, other)
    assert not h.may_be(True, other, t)
    assert h.may_be(False, other, t)  # the missing class may extend Other
    assert not h.is_subtype(t, i)


@pytest.mark.parametrize(
    ("a", "b", "yes"),
    [
        ("[I", OBJECT, True),
        ("[I", "Ljava/lang/Cloneable;", True),
        ("[I", "Ljava/io/Serializable;", True),
        ("[I", "Ljava/lang/Comparable;", False),
        ("[I", "[J", False),
        ("[I", "[Ljava/lang/Object;", False),
        ("[La/B;", "[La/A;", True),
        ("[La/A;", "[La/B;", False),
        ("[[La/B;", "[Ljava/lang/Object;", True),
        ("[[La/B;", "[[La/A;", True),
        ("[[I", "[Ljava/lang/Cloneable;", True),
        ("[[I", "[La/A;", False),
        ("[La/A;", "[[La/A;", False),
        ("[Lno/Where;", "[Ljava/lang/Object;", True),
    ],
)
def test_arrays_are_covariant(app: App, a: str, b: str, yes: bool) -> None:
    app.cls("La/A;")
    app.cls("La/B;", "La/A;")
    h = app.hierarchy()
    assert h.is_subtype(app.type_id(a), app.type_id(b)) is yes
    assert h.may_be(True, app.type_id(a), app.type_id(b)) is yes or "no" in a


def test_arrays_of_endless_dimensions_are_answered(app: App) -> None:
    deep, deeper = app.type_id("[" * 3000 + "I"), app.type_id("[" * 3001 + "I")
    h = app.hierarchy()
    assert h.is_subtype(deeper, app.type_id("[" * 2999 + OBJECT))
    assert not h.is_subtype(deep, deeper)


def test_an_object_may_be_an_interface_that_a_subclass_could_implement(app: App) -> None:
    i = app.interface("La/I;")
    j = app.interface("La/J;", "La/I;")
    open_ = app.cls("La/Open;")
    sealed = app.cls("La/Sealed;", access=PUBLIC | FINAL)
    both = app.cls("La/Both;", "La/Open;", "La/J;")
    h = app.hierarchy()
    assert h.may_be(False, open_, i)
    assert not h.may_be(True, open_, i)
    assert not h.may_be(False, sealed, i)
    assert h.may_be(True, both, i)
    assert h.may_be(False, open_, both)
    assert not h.may_be(True, open_, both)
    assert not h.may_be(False, both, sealed)
    assert h.may_be(False, i, j)
    assert h.may_be(False, i, open_)
    assert not h.may_be(False, i, sealed)
    assert not h.may_be(False, app.type_id("Ljava/lang/String;"), i)
    assert h.may_be(True, app.type_id("Ljava/lang/String;"), app.type_id("Ljava/lang/CharSequence;"))


def test_an_object_or_cloneable_may_be_an_array(app: App) -> None:
    ints = app.type_id("[I")
    h = app.hierarchy()
    assert h.may_be(False, app.type_id(OBJECT), ints)
    assert h.may_be(False, app.type_id("Ljava/lang/Cloneable;"), ints)
    assert not h.may_be(True, app.type_id(OBJECT), ints)
    assert not h.may_be(False, app.type_id("Landroid/app/Activity;"), ints)
    assert h.may_be(False, app.type_id("[Ljava/lang/Object;"), app.type_id("[[I"))
    assert not h.may_be(False, app.type_id("[Landroid/app/Activity;"), app.type_id("[[I"))


def test_subtypes_are_the_apps_own_also_through_framework_types(app: App) -> None:
    a = app.cls("La/A;", "Landroid/app/Activity;")
    b = app.cls("La/B;", "La/A;")
    r = app.cls("La/R;", OBJECT, "Ljava/lang/Runnable;")
    i = app.interface("La/I;")
    lost = app.cls("La/Lost;", "Lno/Where;")
    h = app.hierarchy()
    assert h.subtypes(a) == {a, b}
    assert h.subtypes(app.type_id("Landroid/content/Context;")) == {a, b, app.type_id("Landroid/content/Context;")}
    assert h.subtypes(app.type_id("Ljava/lang/Runnable;")) == {r, app.type_id("Ljava/lang/Runnable;")}
    assert h.subtypes(app.type_id(OBJECT)) == {a, b, r, i, lost, app.type_id(OBJECT)}
    late = app.cls("La/Late;", "La/A;")
    assert h.subtypes(a) == {a, b, late}


def test_a_class_defined_after_questions_about_it_is_seen(app: App) -> None:
    i = app.interface("La/I;")
    late = app.type_id("La/Late;")
    h = app.hierarchy()
    assert not h.is_subtype(late, i)
    assert not h.is_known(late)
    app.cls("La/Late;", OBJECT, "La/I;")
    assert h.subtypes(i) == {i, late}
    assert h.is_subtype(late, i)


# ------------------------------------------------------------------ hostile hierarchies


def test_a_cycle_is_cut_and_reported(app: App) -> None:
    a = app.cls("La/A;", "La/C;")
    b = app.cls("La/B;", "La/A;")
    c = app.cls("La/C;", "La/B;", "La/I;")
    app.interface("La/I;", "La/I;")
    h = app.hierarchy()
    assert len(h.cut) == 2
    assert h.is_subtype(a, c) + h.is_subtype(b, a) + h.is_subtype(c, b) == 2
    for t in (a, b, c):
        assert h.supertypes(t)[-1] == app.type_id(OBJECT)
        assert h.resolve(t, "f", "()V") == -1


def test_a_class_that_extends_an_interface_is_its_subtype(app: App) -> None:
    i = app.interface("La/I;", methods=[("f()V", PUBLIC)])
    a = app.cls("La/A;", "La/I;")
    b = app.cls("La/B;", OBJECT, "La/A;")
    h = app.hierarchy()
    assert h.is_subtype(b, i)
    assert h.dispatch(a, app.ref("La/I;", "f()V")) == app.ref("La/I;", "f()V")


@pytest.mark.parametrize("kind", ["class", "interface"])
def test_chains_of_thousands_are_answered_fast(app: App, kind: str) -> None:
    n = 4000
    chain = [app.cls("La/C0;", methods=[("f()V", PUBLIC)])]
    for k in range(1, n):
        if kind == "class":
            chain.append(app.cls(f"La/C{k};", f"La/C{k - 1};"))
        else:
            chain.append(app.cls(f"La/C{k};", OBJECT, f"La/C{k - 1};", access=PUBLIC | INTERFACE))
    start = time.process_time()
    h = app.hierarchy()
    for k in range(n):
        assert h.is_subtype(chain[k], chain[0])
        assert h.is_subtype(chain[k], chain[k // 2])
        assert not h.is_subtype(chain[k // 2], chain[-1])
    assert len(h.supertypes(chain[-1])) == n + 1
    assert len(h.subtypes(chain[0])) == n
    if kind == "class":
        assert h.dispatch(chain[-1], app.ref("La/C0;", "f()V")) == app.ref("La/C0;", "f()V")
    assert time.process_time() - start < 5


def test_boot_classes_are_the_frameworks_and_library_copies_are_the_apps(app: App) -> None:
    boot = app.cls("Landroid/app/Activity;", OBJECT, methods=[("finish()V", PUBLIC)])
    copy = app.cls("Landroidx/fragment/app/Fragment;", OBJECT, methods=[("onStart()V", PUBLIC)])
    hidden = app.cls("Landroid/hidden/Copy;", OBJECT)
    main = app.cls("La/Main;", "Landroid/app/Activity;")
    h = app.hierarchy()
    assert not h.is_app(boot)
    assert h.is_subtype(boot, app.type_id("Landroid/content/Context;"))
    assert h.dispatch(main, app.ref("Landroid/app/Activity;", "finish()V")) == -1
    assert h.is_app(copy)
    assert h.interfaces(copy) == ()
    assert h.dispatch(copy, app.ref("Landroidx/fragment/app/Fragment;", "onStart()V")) >= 0
    assert h.is_app(hidden)


# ------------------------------------------------------------------ look-up and dispatch


def test_dispatch_takes_the_nearest_definition_above_the_receiver(app: App) -> None:
    app.cls("La/A;", methods=[("f()V", PUBLIC), ("g()V", PUBLIC | ABSTRACT)])
    b = app.cls("La/B;", "La/A;", methods=[("f()V", PUBLIC), ("g()V", PUBLIC)])
    c = app.cls("La/C;", "La/B;")
    stranger = app.cls("La/Stranger;", methods=[("f()V", PUBLIC)])
    h = app.hierarchy()
    assert h.dispatch(c, app.ref("La/A;", "f()V")) == app.ref("La/B;", "f()V")
    assert h.dispatch(c, app.ref("La/C;", "g()V")) == app.ref("La/B;", "g()V")
    assert h.dispatch(app.type_id("La/A;"), app.ref("La/A;", "g()V")) == -1
    assert h.dispatch(stranger, app.ref("La/A;", "f()V")) == -1
    assert h.dispatch(b, app.ref("La/A;", "absent()V")) == -1
    assert h.resolve(c, "f", "()V") == app.ref("La/B;", "f()V")
    assert h.resolve(c, "absent", "()V") == -1


def test_private_methods_are_not_overridden_and_do_not_override(app: App) -> None:
    app.cls("La/A;", methods=[("f()V", PRIVATE), ("g()V", PUBLIC)])
    b = app.cls("La/B;", "La/A;", methods=[("f()V", PUBLIC), ("g()V", PRIVATE)])
    h = app.hierarchy()
    assert h.dispatch(b, app.ref("La/A;", "f()V")) == app.ref("La/A;", "f()V")
    assert h.dispatch(b, app.ref("La/A;", "g()V")) == app.ref("La/A;", "g()V")


def test_package_private_methods_are_overridden_in_their_package_only(app: App) -> None:
    app.cls("La/A;", methods=[("f()V", 0)])
    elsewhere = app.cls("Lb/B;", "La/A;", methods=[("f()V", PUBLIC)])
    back = app.cls("La/C;", "Lb/B;", methods=[("f()V", PUBLIC)])
    after = app.cls("Lb/D;", "La/C;", methods=[("f()V", PUBLIC)])
    h = app.hierarchy()
    call = app.ref("La/A;", "f()V")
    assert h.dispatch(elsewhere, call) == call
    assert h.dispatch(back, call) == app.ref("La/C;", "f()V")
    assert h.dispatch(after, call) == app.ref("Lb/D;", "f()V")


def test_default_methods_run_where_no_class_defines_the_method(app: App) -> None:
    app.interface("La/I;", methods=[("f()V", PUBLIC)])
    app.interface("La/J;", "La/I;", methods=[("f()V", PUBLIC)])
    app.interface("La/Other;", methods=[("f()V", PUBLIC)])
    t = app.cls("La/T;", OBJECT, "La/I;", "La/J;")
    own = app.cls("La/Own;", "La/T;", methods=[("f()V", PUBLIC)])
    torn = app.cls("La/Torn;", "La/T;", "La/Other;")
    h = app.hierarchy()
    call = app.ref("La/I;", "f()V")
    assert h.dispatch(t, call) == app.ref("La/J;", "f()V")
    assert h.dispatch(own, call) == app.ref("La/Own;", "f()V")
    assert h.dispatch(torn, call) == -1
    assert h.resolve(t, "f", "()V") == app.ref("La/J;", "f()V")


def test_an_abstract_method_nearer_than_a_default_hides_it(app: App) -> None:
    app.interface("La/I;", methods=[("f()V", PUBLIC)])
    app.interface("La/J;", "La/I;", methods=[("f()V", PUBLIC | ABSTRACT)])
    t = app.cls("La/T;", OBJECT, "La/J;")
    h = app.hierarchy()
    assert h.dispatch(t, app.ref("La/I;", "f()V")) == -1
    assert h.resolve(t, "f", "()V") == app.ref("La/J;", "f()V")


def test_the_frameworks_code_runs_before_a_default_method(app: App) -> None:
    app.interface("La/I;", methods=[("finish()V", PUBLIC)])
    t = app.cls("La/T;", "Landroid/app/Activity;", "La/I;")
    h = app.hierarchy()
    assert h.dispatch(t, app.ref("La/I;", "finish()V")) == -1
    assert h.resolve(t, "finish", "()V") == -1


def test_calls_on_framework_types_reach_the_apps_overrides(app: App) -> None:
    t = app.cls(
        "La/T;", OBJECT, "Ljava/lang/Runnable;", methods=[("run()V", PUBLIC), ("toString()Ljava/lang/String;", 1)]
    )
    h = app.hierarchy()
    assert h.dispatch(t, app.ref("Ljava/lang/Runnable;", "run()V")) == app.ref("La/T;", "run()V")
    text = "toString()Ljava/lang/String;"
    assert h.dispatch(t, app.ref(OBJECT, text)) == app.ref("La/T;", text)
    assert h.dispatch(app.type_id("[I"), app.ref(OBJECT, text)) == -1


def test_overrides_of_framework_methods_are_found_through_own_supertypes(app: App) -> None:
    app.interface("La/Listener;", "Landroid/view/View$OnClickListener;")
    methods = [
        ("onCreate(Landroid/os/Bundle;)V", PUBLIC),
        ("onClick(Landroid/view/View;)V", PUBLIC),
        ("onClick(Ljava/lang/String;)V", PUBLIC),
        ("onPause()V", PRIVATE),
        ("mine()V", PUBLIC),
    ]
    app.cls("La/Main;", "Landroid/app/Activity;", "La/Listener;", methods=methods)
    h = app.hierarchy()

    def overridden(text: str) -> list[str]:
        return [app.type_name(t) for t in h.overrides_framework(app.ref("La/Main;", text))]

    assert overridden(methods[0][0]) == ["Landroid/app/Activity;"]
    assert overridden(methods[1][0]) == ["Landroid/view/View$OnClickListener;"]
    for text, _ in methods[2:]:
        assert overridden(text) == []


def test_generic_framework_methods_are_overridden_with_any_reference(app: App) -> None:
    text = "compare(La/T;La/T;)I"
    app.cls("La/T;", OBJECT, "Ljava/util/Comparator;", methods=[(text, PUBLIC), ("compare(II)I", PUBLIC)])
    h = app.hierarchy()
    assert h.overrides_framework(app.ref("La/T;", text)) == (app.type_id("Ljava/util/Comparator;"),)
    assert h.overrides_framework(app.ref("La/T;", "compare(II)I")) == ()


def test_fields_resolve_to_interfaces_before_superclasses(app: App) -> None:
    app.cls("La/I;", OBJECT, access=PUBLIC | INTERFACE, fields=["x:I"])
    app.cls("La/A;", OBJECT, fields=["x:I", "y:I"])
    app.cls("La/B;", "La/A;", "La/I;")
    x, y, z = app.field_id("La/B;", "x:I"), app.field_id("La/B;", "y:I"), app.field_id("La/B;", "z:I")
    wide = app.field_id("La/B;", "y:J")
    h = app.hierarchy()
    assert app.type_name(app.field(h.resolve_field(x)).cls) == "La/I;"
    assert app.type_name(app.field(h.resolve_field(y)).cls) == "La/A;"
    assert h.resolve_field(z) == z
    assert h.resolve_field(wide) == wide


def test_odd_descriptors_do_not_stop_the_look_up(app: App) -> None:
    t = app.cls("La/T;", "Landroid/app/Activity;")
    h = app.hierarchy()
    for descriptor in ("", "(", "()", "(Q)V", "(La/B)V", ")V("):
        assert h.resolve(t, "finish", descriptor) == -1


def test_ids_may_be_numbers_of_numpy(app: App) -> None:
    a = app.cls("La/A;", methods=[("f()V", PUBLIC)])
    b = app.cls("La/B;", "La/A;")
    stranger = app.cls("La/Stranger;")
    h = app.hierarchy()
    assert h.may_be(True, np.int32(b), np.int32(a))
    assert not h.may_be(True, np.int32(stranger), np.int32(a))
    assert h.may_be(True, b, a)
    assert h.dispatch(np.int32(b), np.int32(app.ref("La/A;", "f()V"))) == app.ref("La/A;", "f()V")


@st.composite
def class_graphs(draw: st.DrawFn) -> list[tuple[bool, int, list[int], bool]]:
    """Per class: is it an interface, its superclass, its interfaces, does it declare f()V. Any graph, cycles too."""
    n = draw(st.integers(1, 9))
    node = st.integers(0, n)  # n: a type that nobody defines
    one = st.tuples(st.booleans(), st.integers(-1, n), st.lists(node, max_size=3), st.booleans())
    return draw(st.lists(one, min_size=n, max_size=n))


@settings(max_examples=100, deadline=None)
@given(class_graphs())
def test_any_class_graph_is_answered_consistently(graph: list[tuple[bool, int, list[int], bool]]) -> None:
    app = App()
    names = [f"La/C{k};" for k in range(len(graph) + 1)]
    for k, (interface, up, above, declares) in enumerate(graph):
        app.cls(
            names[k],
            OBJECT if up < 0 else names[up],
            *(names[i] for i in above),
            access=PUBLIC | (INTERFACE | ABSTRACT if interface else 0),
            methods=[("f()V", PUBLIC)] if declares else [],
        )
    h = app.hierarchy()
    ids = [app.type_id(name) for name in names]
    edges = {(k, i) for k, (_, up, above, _) in enumerate(graph) for i in [*above, *([up] if up >= 0 else [])]}
    edges -= {(ids.index(t), ids.index(s)) for t, s in h.cut}
    reach = {(k, k) for k in range(len(names))}
    for _ in names:
        reach |= {(a, c) for a, b in reach for x, c in edges if x == b}
    # No run-time makes an object of a class that extends an interface or implements a class.
    kinds = [interface for interface, *_ in graph]
    odd = {k for k, (_, up, above, _) in enumerate(graph) if any(not (*kinds, True)[i] for i in above)}
    odd |= {k for k, (_, up, _, _) in enumerate(graph) if 0 <= up < len(graph) and kinds[up]}
    loadable = [s for s in range(len(names)) if not any((s, k) in reach for k in odd)]
    for a, b in itertools.product(range(len(names)), repeat=2):
        assert h.is_subtype(ids[a], ids[b]) == ((a, b) in reach)
        assert (ids[a] in h.subtypes(ids[b])) == ((a, b) in reach)
        assert a == b or not ((a, b) in reach and (b, a) in reach)
        if (a, b) in reach:
            assert h.may_be(True, ids[a], ids[b])
        if any((s, a) in reach and (s, b) in reach for s in loadable):
            assert h.may_be(False, ids[a], ids[b])
        target = h.dispatch(ids[a], app.ref(names[b], "f()V"))
        assert target == -1 or (a, ids.index(app.method(target).cls)) in reach
    for k, t in enumerate(ids):
        order = h.supertypes(t)
        assert set(order) == {ids[b] for a, b in reach if a == k} | {app.type_id(OBJECT)}
        assert len(order) == len(set(order))
        for at, s in enumerate(order):
            assert not any(h.is_subtype(later, s) for later in order[at + 1 :])


def test_a_class_of_a_modelled_library_is_what_its_copy_says_but_its_code_does_not_run(app: App) -> None:
    methods = [("hook(I)V", PUBLIC), ("secret()V", PRIVATE)]
    base = app.cls("Llib/Base;", "Landroid/app/Activity;", methods=methods, fields=["state:I"])
    t = app.cls("La/T;", "Llib/Base;", methods=[("hook(I)V", PUBLIC), ("other()V", PUBLIC), ("secret()V", PUBLIC)])
    inherited = app.field_id("La/T;", "state:I")
    h = app.hierarchy("Llib/")
    assert not h.is_app(base) and h.is_known(base) and h.is_complete(t)
    assert h.class_chain(t)[:3] == ["La/T;", "Llib/Base;", "Landroid/app/Activity;"]
    assert h.resolve_field(inherited) == app.classes[0].fields[0][0]
    # calls: of the library's own method nothing of the app runs, of one that the app overrides the app's
    assert h.resolve(base, "hook", "(I)V") == -1
    assert h.dispatch(base, app.ref("Llib/Base;", "hook(I)V")) == -1
    hook = app.ref("La/T;", "hook(I)V")
    assert h.dispatch(t, app.ref("Llib/Base;", "hook(I)V")) == hook
    # callbacks: what overrides a method that the library can see
    assert h.overrides_framework(hook) == (base,)
    assert h.overrides_framework(app.ref("La/T;", "other()V")) == ()
    assert h.overrides_framework(app.ref("La/T;", "secret()V")) == ()


def test_packages_of_a_modelled_library_can_be_left_to_their_code(app: App) -> None:
    plain = app.cls("Llib/Plain;", methods=[("m()V", PUBLIC)])
    made = app.cls("Llib/generated/Made;", methods=[("m()V", PUBLIC)])
    h = app.hierarchy("Llib/", analysed=("Llib/generated/",))
    assert not h.is_app(plain) and h.is_app(made)
    assert h.dispatch(made, app.ref("Llib/generated/Made;", "m()V")) == app.ref("Llib/generated/Made;", "m()V")
