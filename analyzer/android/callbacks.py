"""Callbacks: methods of app classes that the framework may call by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from analyzer.framework import Framework, load
from analyzer.hierarchy import Hierarchy
from analyzer.program import Program

ACC_PUBLIC, ACC_PROTECTED, ACC_STATIC, ACC_ABSTRACT, ACC_INTERFACE = 0x1, 0x4, 0x8, 0x400, 0x200

ONLY_CALLED = frozenset(
    {
        ("toString", "()Ljava/lang/String;"),
        ("hashCode", "()I"),
        ("equals", "(Ljava/lang/Object;)Z"),
        ("clone", "()Ljava/lang/Object;"),
        ("finalize", "()V"),
    }
)
"""Methods of java.lang.Object count through calls only: every class overrides them, and no callback needs them."""
ONLY_CALLED_NAMES = frozenset({"compareTo"})
"""The same for interfaces with type parameters, where descriptors differ."""


class Callbacks:
    """Finds, per class, what the framework can call on an object of exactly that class. Results are cached."""

    def __init__(
        self,
        program: Program,
        hierarchy: Hierarchy,
        more: Mapping[str, Sequence[str]] | None = None,
        framework: Framework | None = None,
    ) -> None:
        """`more`: descriptors of types that are called back though they are not the framework's -> names of the
        methods (empty: all that the type declares)."""
        self._program = program
        self._more = dict(more or {})
        self._hierarchy = hierarchy
        self._framework = load() if framework is None else framework
        self._of: dict[int, tuple[int, ...]] = {}

    def of(self, exact: int) -> tuple[int, ...]:
        """Methods with code that an object of this class runs when the framework calls it, most specific class first.

        These override or implement a method of a framework class or interface, or could do so for a supertype that
        is nowhere defined.
        """
        known = self._of.get(exact)
        if known is None:
            known = self._of[exact] = tuple(self._find(exact))
        return known

    def by_interface(self, exact: int) -> tuple[int, ...]:
        """Those of `of` that a framework interface declares: listeners, as opposed to overridden framework classes."""
        h = self._hierarchy
        return tuple(m for m in self.of(exact) if any(h.is_interface(t) for t in h.overrides_framework(m)))

    def _find(self, exact: int) -> Iterable[int]:
        h, program = self._hierarchy, self._program
        outside = [t for t in h.supertypes(exact) if not h.is_app(t)]
        known = [t for t in h.supertypes(exact) if program.type_name(t) in self._more]
        if not known and all(program.type_name(t) == "Ljava/lang/Object;" for t in outside):
            return
        unknown = any(not h.is_known(t) for t in outside)
        seen: set[tuple[str, str]] = set()
        for cls in self._app_chain(exact):
            definition = program.class_of(cls)
            for m in definition.methods if definition else ():
                d = program.definition(m)
                if d is None or d.direct or d.access & (ACC_STATIC | ACC_ABSTRACT):
                    continue
                name = program.method(m).name
                key = (name, program.descriptor(m))
                if key in seen or key in ONLY_CALLED or name in ONLY_CALLED_NAMES:
                    continue
                seen.add(key)
                if program.has_code(m) and (
                    h.overrides_framework(m)
                    or self._joined(m, exact, cls)
                    or any(self._is_known(m, t) for t in known)
                    or (unknown and d.access & (ACC_PUBLIC | ACC_PROTECTED) and not self._overrides_app(m, cls))
                ):
                    yield m

    def _app_chain(self, exact: int) -> Iterable[int]:
        h = self._hierarchy
        cls = exact
        while cls >= 0 and h.is_app(cls):
            yield cls
            cls = h.superclass(cls)

    def _joined(self, m: int, exact: int, cls: int) -> bool:
        """A subclass may say that a method which it inherits implements a framework interface."""
        if exact == cls:
            return False
        h, name, descriptor = self._hierarchy, self._program.method(m).name, self._program.descriptor(m)
        return any(h.is_interface(t) and h.declares(t, name, descriptor) for t in h.supertypes(exact))

    def _is_known(self, m: int, t: int) -> bool:
        """The knowledge says that this method of a supertype is called back."""
        p = self._program
        ref, owner = p.method(m), p.type_name(t)
        names = self._more[owner]
        if names:
            return ref.name in names
        definition = p.class_of(t)
        declared = definition.methods if definition is not None else ()
        return any(p.method(d).name == ref.name and p.descriptor(d) == p.descriptor(m) for d in declared) or (
            self._framework.declares(owner, ref.name, tuple(p.type_name(x) for x in ref.params))
        )

    def _overrides_app(self, m: int, cls: int) -> bool:
        h, ref = self._hierarchy, self._program.method(m)
        descriptor = self._program.descriptor(m)
        return any(h.is_app(t) and h.resolve(t, ref.name, descriptor) >= 0 for t in h.supertypes(cls)[1:])
