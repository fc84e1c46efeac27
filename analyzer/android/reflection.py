"""Objects and calls by name: class constants, `Class.forName`, `Method.invoke`, as far as constants tell.

A library that is given `Worker.class` will make a Worker; so will `Class.forName("a.b.C")`, where the name stands as a
constant in the same method. `Method.invoke` may call each method of the app's own classes whose name stands as a
constant in the same method (or, if there is none, in the same class), and methods of the framework where their class's
name stands there too. Names that are computed are not found.
"""

from __future__ import annotations

import re
from functools import partial

from analyzer.android.code import Code, Value
from analyzer.android.kit import Kit
from analyzer.android.names import SHIM, descriptor_of, dotted
from analyzer.android.own import Own
from analyzer.callgraph.graph import Site
from analyzer.framework import load
from analyzer.hierarchy import Hierarchy
from analyzer.ir import CallKind
from analyzer.program import Program
from analyzer.strings import folded
from gpu.errors import GdroidError

_LOADERS = frozenset({("Ljava/lang/Class;", "forName"), ("Ljava/lang/ClassLoader;", "loadClass")})
_INVOKE = ("Ljava/lang/reflect/Method;", "invoke")
_CLASS_NAME = re.compile(r"[a-z]\w*(\.\w+)+(\$\w+)*")
_FAMILIES = {"N": "I", "S": "Ljava/lang/String;", "?": "Ljava/lang/Object;"}
_MOST = 20
"""Methods of one name; more say nothing."""


class Reflection:
    """Answers what a constant can mean; one per app."""

    def __init__(
        self,
        program: Program,
        hierarchy: Hierarchy,
        own: Own,
        entered: frozenset[int],
        manifest_bases: frozenset[str],
    ) -> None:
        """`entered` classes have environments; objects of `manifest_bases` are made for what the manifest declares."""
        self._program, self._hierarchy, self._own = program, hierarchy, own
        self._entered, self._bases = entered, manifest_bases
        self._framework = load()
        self._strings: dict[int, tuple[str, ...]] = {}
        self._named: dict[str, list[int]] | None = None

    def is_made(self, cls: int) -> bool:
        """Whether a library that gets this class constant will make an object of it."""
        h, p = self._hierarchy, self._program
        if not h.is_app(cls) or h.is_abstract(cls) or cls in self._entered:
            return False
        bases = [p.type_name(t) for t in h.supertypes(cls)[1:] if not h.is_interface(t)]
        if not self._bases.isdisjoint(bases):
            return False
        return any(self._is_base(t) for t in h.supertypes(cls)[1:])

    def nameable(self) -> list[int]:
        """App classes whose name stands somewhere as a string: those that may be made by name, and more."""
        p, strings = self._program, self._program.dex.strings
        return [c.type for c in p.classes if c.dex >= 0 and strings.find(dotted(p.type_name(c.type))) >= 0]

    def matters(self, library_method: int) -> bool:
        """Whether a call of the method may load a class or invoke a method by its name."""
        p = self._program
        ref = p.method(library_method)
        chain = self._hierarchy.class_chain(ref.cls)
        return any((c, ref.name) in _LOADERS for c in chain) or (p.type_name(ref.cls), ref.name) == _INVOKE

    def loaded(self, site: Site, library_method: int) -> list[int]:
        """App classes that a call of `Class.forName` and the like may load, sorted."""
        p = self._program
        ref = p.method(library_method)
        chain = self._hierarchy.class_chain(ref.cls)
        if not any((c, ref.name) in _LOADERS for c in chain):
            return []
        found = {p.type_find(descriptor_of(text)) for text in self._texts(site[0]) if text}
        h = self._hierarchy
        return sorted(t for t in found if t >= 0 and h.is_app(t) and not h.is_abstract(t))

    def invoked(self, kit: Kit, site: Site, library_method: int) -> int:
        """A shim for `Method.invoke`, or -1."""
        p = self._program
        ref = p.method(library_method)
        if (p.type_name(ref.cls), ref.name) != _INVOKE or len(ref.params) != 2:
            return -1
        targets = self._targets(site[0]) + self._framework_targets(site[0])
        if not targets:
            return -1
        code = Code(p, (ref.cls, *ref.params))
        _, receiver, array = code.parameters
        result: Value = code.unknown(ref.ret)
        for target in targets:
            result = code.maybe(partial(self._call, code, target, receiver, array), result)
        code.ret(result)
        descriptor = f"({''.join(map(p.type_name, (ref.cls, *ref.params)))}){p.type_name(ref.ret)}"
        return kit.add(SHIM, f"invoke@{p.signature(site[0])}:{site[1]}", descriptor, code)

    def _call(self, code: Code, target: int, receiver: Value, array: Value) -> Value | None:
        p = self._program
        ref = p.method(target)
        anywhere = code.unknown(p.type_id("I"))
        args = [code.fit(code.aget(array, anywhere), t) for t in ref.params]
        if p.is_static(target):
            return code.call(CallKind.STATIC, target, args)
        kind = CallKind.INTERFACE if self._hierarchy.is_interface(ref.cls) else CallKind.VIRTUAL
        definition = p.definition(target)
        if definition is not None and definition.direct:
            kind = CallKind.DIRECT
        return code.call(kind, target, [code.cast(receiver, ref.cls), *args])

    def _targets(self, method: int) -> list[int]:
        p = self._program
        if self._named is None:
            self._named = {}
            for c in p.classes:
                if c.dex >= 0 and self._own.is_certain(c.type):
                    for m in c.methods:
                        if p.has_code(m) and not p.method(m).name.startswith("<"):
                            self._named.setdefault(p.method(m).name, []).append(m)
        texts = set(self._texts(method))
        if not texts & self._named.keys():
            owner = p.class_of(p.method(method).cls)
            texts = {t for m in (owner.methods if owner is not None else ()) for t in self._texts(m)}
        found = [self._named[t] for t in sorted(texts) if t in self._named]
        return sorted({m for methods in found if len(methods) <= _MOST for m in methods})[:_MOST]

    def _framework_targets(self, method: int) -> list[int]:
        """Methods of framework classes, where class and method stand as constants beside each other."""
        p, texts = self._program, self._texts(method)
        found = []
        for cls in sorted(descriptor_of(t) for t in texts if _CLASS_NAME.fullmatch(t)):
            chain = self._hierarchy.class_chain(p.type_id(cls)) if cls in self._framework else []
            for owner in chain:
                for m in self._framework.methods(owner):
                    if m.name in texts and not m.static:
                        params = "".join(map(_descriptor, m.param_families))
                        found.append(p.method_id(cls, m.name, f"({params}){_descriptor(m.return_family)}"))
        return sorted(set(found))[:_MOST]

    def _texts(self, method: int) -> tuple[str, ...]:
        """String constants of a method."""
        if method not in self._strings:
            p = self._program
            try:
                body = p.body(method) if p.has_code(method) else None
            except GdroidError:
                body = None
            self._strings[method] = folded(body, p) if body is not None else ()
        return self._strings[method]

    def _is_base(self, t: int) -> bool:
        """A class, or an interface, of the framework or of a known library that apps extend."""
        name = self._program.type_name(t)
        if name.startswith(("Ljava/", "Lkotlin/")):
            return False
        return not self._hierarchy.is_app(t) or self._own.is_known_library(name)


def _descriptor(family: str) -> str:
    """A dex type of a family of the framework model."""
    element = family.lstrip("[")
    return "[" * (len(family) - len(element)) + _FAMILIES.get(element, element)
