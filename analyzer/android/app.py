"""The app's environment method: everything that Android runs, in any order, again and again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from analyzer.android.code import Code
from analyzer.android.kit import Kit
from analyzer.android.names import ENV, ESCAPED, descriptor_of, dotted
from analyzer.container import AppFiles
from analyzer.hierarchy import Hierarchy
from analyzer.ir import CallKind
from analyzer.program import Program


def layout_classes(program: Program, hierarchy: Hierarchy, files: AppFiles) -> list[int]:
    """App classes of which layouts name objects: views, fragments, providers of actions. Sorted by name."""
    names = {
        name for layout in files.layouts for w in layout.widgets for name in (w.tag, w.fragment) if name and "." in name
    }
    found = [program.type_find(descriptor_of(name)) for name in sorted(names)]
    return [cls for cls in found if cls >= 0 and hierarchy.is_app(cls) and not hierarchy.is_abstract(cls)]


def maker(kit: Kit, cls: int) -> int:
    """A method that makes an object of the class with any of its constructors and hands it to the framework."""
    code = Code(kit.program, ())
    choices = [(code.label(), c) for c in kit.constructors(cls)] or [(code.label(), -1)]
    end = code.label()
    code.choose([label for label, _ in choices])
    for label, constructor in choices:
        code.place(label)
        code.sput(kit.static(ESCAPED), kit.make(code, cls, constructor))
        code.jump(end)
    code.place(end)
    code.ret()
    return kit.add(ENV, f"make:{dotted(kit.program.type_name(cls))}", "()V", code)


def callbacks_of_class(kit: Kit, cls: int, methods: Sequence[int], number: int = 0) -> int:
    """A method that runs callbacks of one class, in any order, on an object that the framework has."""
    code = Code(kit.program, ())
    me = kit.escaped(code, cls)
    _loop(code, [partial(kit.call_on, code, me, m) for m in methods])
    return kit.add(ENV, f"callbacks{number or ''}:{dotted(kit.program.type_name(cls))}", "()V", code)


def unknown_callers(kit: Kit, cls: int, methods: Sequence[int]) -> int:
    """For code without a manifest: a method that makes objects of the class and calls its methods in any order."""
    code = Code(kit.program, ())
    arms: list[Callable[[], object]] = []
    if not kit.hierarchy.is_abstract(cls):
        for constructor in kit.constructors(cls):
            arms.append(partial(_hand_out_new, kit, code, cls, constructor))
    for m in methods:
        if kit.program.is_static(m):
            arms.append(partial(_call_on_nothing, kit, code, m))
        else:
            arms.append(partial(_call_on_escaped, kit, code, cls, m))
    _loop(code, arms)
    return kit.add(ENV, f"methods:{dotted(kit.program.type_name(cls))}", "()V", code)


def root(
    kit: Kit,
    initialisers: Iterable[int],
    environments: Iterable[int],
    own_callbacks: Mapping[int, Sequence[int]],
    number: int = 0,
) -> int:
    """The app's environment. `own_callbacks`: class -> methods that run on objects of `$escaped` of that class."""
    code = Code(kit.program, ())
    arms: list[Callable[[], object]] = []
    for m in initialisers:
        arms.append(partial(code.call, CallKind.STATIC, m, []))
    for m in environments:
        arms.append(partial(_call_on_nothing, kit, code, m))
    for cls in sorted(own_callbacks):
        for m in own_callbacks[cls]:
            arms.append(partial(_call_on_escaped, kit, code, cls, m))
    _loop(code, arms)
    return kit.add(ENV, f"app{number or ''}", "()V", code)


def _hand_out_new(kit: Kit, code: Code, cls: int, constructor: int) -> None:
    code.sput(kit.static(ESCAPED), kit.make(code, cls, constructor))


def _call_on_nothing(kit: Kit, code: Code, method: int) -> None:
    kit.call_on(code, code.null(), method)


def _call_on_escaped(kit: Kit, code: Code, cls: int, method: int) -> None:
    kit.call_on(code, kit.escaped(code, cls), method)


def _loop(code: Code, arms: Sequence[Callable[[], object]]) -> None:
    """while (unknown) { all arms }; return.

    The arms run in any order, each again and again or never. As none of them clears anything here (`any_order` of the
    shape pass), one after the other in one loop gives the same facts at its head as a choice between them does, and a
    loop of few blocks costs an engine that keeps a heap per block far less.
    """
    head, body, end = code.label(), code.label(), code.label()
    code.jump(head)
    code.place(head)
    code.choose([end, body])
    code.place(body)
    for arm in arms:
        arm()
    code.jump(head)
    code.place(end)
    code.ret()
