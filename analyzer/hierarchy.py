"""Subtypes, overrides and dispatch over the app's classes and the framework model.

The type graph beneath (`analyzer.type_graph`) says whose definition of a class counts and what becomes of cycles and
missing supertypes. Method look-up follows the Java virtual machine specification, 5.4.3.3 and 5.4.6, as ART does:
the class chain first, then maximally specific interface methods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.framework.families import parameter_types
from analyzer.type_graph import NOTHING_MODELLED, Modelled, TypeGraph

if TYPE_CHECKING:
    from analyzer.framework import Framework
    from analyzer.program import ClassDef, Program

_PUBLIC, _PRIVATE, _PROTECTED, _STATIC = 0x1, 0x2, 0x4, 0x8


class _Call(NamedTuple):
    """A method reference and the definition that it resolves to."""

    cls: int
    name: str
    descriptor: str
    root: int  # method id, -1 outside the app
    access: int


class Hierarchy(TypeGraph):
    """What objects of a type may be and which methods run on them; ids are those of `program`. Memoised."""

    def __init__(self, program: Program, framework: Framework, modelled: Modelled = NOTHING_MODELLED) -> None:
        self._may_be: dict[int, dict[int, bool]] = {}
        self._may_be_exactly: dict[int, dict[int, bool]] = {}
        self._own: dict[int, dict[tuple[str, str], int]] = {}
        self._virtual: dict[int, dict[tuple[str, str], int]] = {}
        self._resolved: dict[tuple[int, str, str], int] = {}
        self._calls: dict[int, _Call] = {}
        self._dispatched: dict[int, dict[int, int]] = {}  # method -> receiver -> definition
        self._overrides: dict[int, tuple[int, ...]] = {}
        self._fields: dict[int, int] = {}
        self._copies: dict[int, frozenset[tuple[str, str]]] = {}
        super().__init__(program, framework, modelled)

    def is_subtype(self, a: int, b: int) -> bool:
        """Whether every `a` is a `b`, as far as is known: an unknown type is a subtype of itself and Object only."""
        if a == b:
            return True
        up = self._up.get(a)
        if up is None:
            if self._shape(a)[0]:
                return self._array_is_subtype(a, b)
            up = self._ancestors(a)
        return b in up

    def may_be(self, exact: bool, t: int, target: int) -> bool:
        """Whether an object known to be a `t` (exactly, or a subtype of it) can be a `target`.

        A non-final class may have a subclass that implements any interface. True where something is unknown.
        """
        memo = self._may_be_exactly if exact else self._may_be
        of_type = memo.get(t)
        if of_type is None:
            of_type = memo[t] = {}
        found = of_type.get(target)
        if found is None:
            found = of_type[target] = self._can_be(exact, t, target)
        return found

    def resolve_field(self, f: int) -> int:
        """The field id of the definition that a field reference means, or `f` itself."""
        found = self._fields.get(f)
        if found is None:
            found = self._fields[f] = self._find_field(f)
        return found

    def resolve(self, t: int, name: str, descriptor: str) -> int:
        """The app's definition that a method reference means: superclasses, then superinterfaces; or -1.

        Of interfaces the maximally specific default method is taken, or else an abstract one. -1 also where a class
        of the framework comes first in the chain.
        """
        self._add_new()
        key = (t, name, descriptor)
        found = self._resolved.get(key)
        if found is None:
            found = self._resolved[key] = self._find_method(t, name, descriptor)
        return found

    def dispatch(self, receiver: int, method: int) -> int:
        """The definition with code that a virtual call of `method` runs on an object of exactly that type, or -1.

        -1 where the framework's code runs, where the object cannot be a receiver of the call, and where the run-time
        would throw (abstract or conflicting definitions).
        """
        of_method = self._dispatched.get(method)
        if of_method is None:
            self._add_new()
            of_method = self._dispatched[method] = {}
        found = of_method.get(receiver)
        if found is None:
            found = of_method[receiver] = self._find_target(receiver, method)
        return found

    def overrides_framework(self, method: int) -> tuple[int, ...]:
        """The framework types among the supertypes of its class that declare a method which this definition overrides.

        Matched by name, arity and comparable parameter types; most specific first.
        """
        found = self._overrides.get(method)
        if found is None:
            found = self._overrides[method] = tuple(self._overridden(method))
        return found

    def declares(self, t: int, name: str, descriptor: str) -> bool:
        """Whether a type of the framework or of a modelled library declares a method that can be overridden."""
        node = self._node(t)
        if node.framework is None:
            return False
        if node.copy is not None and (name, descriptor) in self._copied(t, node.copy):
            return True
        params = parameter_types(descriptor)  # None: a descriptor that no framework method can have
        return params is not None and self._framework.declares(node.framework, name, params)

    # ---------------------------------------------------------------- types

    def _forget(self) -> None:
        memos: tuple[dict[Any, Any], ...] = (
            *(self._may_be, self._may_be_exactly, self._own, self._virtual, self._resolved),
            *(self._calls, self._dispatched, self._overrides, self._fields, self._copies),
        )
        for memo in memos:
            memo.clear()
        super()._forget()

    def _array_is_subtype(self, a: int, b: int) -> bool:
        rank, element = self._shape(a)
        other_rank, other = self._shape(b)
        if rank == other_rank:
            return self.is_subtype(element, other)
        return rank > other_rank and other in self._array_supertypes

    def _can_be(self, exact: bool, t: int, target: int) -> bool:
        node, goal = self._node(t), self._node(target)
        if t == target or node.primitive or goal.primitive:
            return t == target
        if target == self._object:
            return True
        if self._shape(t)[0] or self._shape(target)[0]:
            return self._array_can_be(exact, t, target)
        if not (node.known and goal.known) or self.is_subtype(t, target) or not node.complete:
            return True
        if exact:
            return False
        if self.is_subtype(target, t) or not goal.complete:
            return True
        if node.interface:
            return not goal.final
        return goal.interface and not node.final

    def _array_can_be(self, exact: bool, t: int, target: int) -> bool:
        rank, element = self._shape(t)
        goal_rank, goal = self._shape(target)
        if rank == goal_rank:
            return self.may_be(exact, element, goal)
        if rank > goal_rank:
            return goal in self._array_supertypes
        return not exact and element in self._array_supertypes

    # ---------------------------------------------------------------- members

    def _methods(self, t: int) -> dict[tuple[str, str], int]:
        """(name, descriptor) -> method id of what the app's definition of the type declares."""
        found = self._own.get(t)
        if found is None:
            program = self._program
            defined = program.class_of(t) if self._node(t).app is not None else None
            methods = () if defined is None else defined.methods
            found = {(program.method(m).name, program.descriptor(m)): m for m in methods}
            if defined is None or defined.dex >= 0:  # synthetic classes get methods one by one
                self._own[t] = found
        return found

    def _virtual_methods(self, t: int) -> dict[tuple[str, str], int]:
        """Of `_methods` those that a virtual call can run."""
        found = self._virtual.get(t)
        if found is None:
            own = self._methods(t)
            found = {key: m for key, m in own.items() if not self._access(m) & (_PRIVATE | _STATIC)}
            if t in self._own:
                self._virtual[t] = found
        return found

    def _access(self, method: int) -> int:
        definition = self._program.definition(method)
        return 0 if definition is None else definition.access

    def _copied(self, t: int, copy: ClassDef) -> frozenset[tuple[str, str]]:
        """(name, descriptor) of what a class of a modelled library lets others override."""
        found = self._copies.get(t)
        if found is None:
            p = self._program
            visible = (m for m in copy.methods if not self._access(m) & (_PRIVATE | _STATIC))
            found = self._copies[t] = frozenset((p.method(m).name, p.descriptor(m)) for m in visible)
        return found

    def _find_method(self, t: int, name: str, descriptor: str) -> int:
        if self._shape(t)[0]:
            return -1  # methods of arrays are Object's
        if name.startswith("<"):
            return self._methods(t).get((name, descriptor), -1)
        c = t
        while c >= 0:
            node = self._node(c)
            if node.app is not None and (found := self._methods(c).get((name, descriptor))) is not None:
                return found
            if self.declares(c, name, descriptor):
                return -1
            c = node.superclass
        defaults, others = self._specific(t, name, descriptor)
        return defaults[0] if len(defaults) == 1 else next(iter(others + defaults), -1)

    def _specific(self, t: int, name: str, descriptor: str) -> tuple[list[int], list[int]]:
        """Maximally specific methods of the app's superinterfaces: those with code, those without."""
        candidates: dict[int, int] = {}
        for s in self.supertypes(t):
            node = self._node(s)
            if not node.interface:
                continue
            found = self._virtual_methods(s).get((name, descriptor))
            if found is not None:
                candidates[s] = found
            elif self.declares(s, name, descriptor):
                candidates[s] = -1
        best = [
            method
            for s, method in candidates.items()
            if method >= 0 and not any(other != s and self.is_subtype(other, s) for other in candidates)
        ]
        return [m for m in best if self._program.has_code(m)], [m for m in best if not self._program.has_code(m)]

    def _call(self, method: int) -> _Call:
        """What all dispatches of a method reference share."""
        found = self._calls.get(method)
        if found is None:
            reference, descriptor = self._program.method(method), self._program.descriptor(method)
            root = self.resolve(reference.cls, reference.name, descriptor)
            access = self._access(root) if root >= 0 else _PUBLIC
            found = self._calls[method] = _Call(reference.cls, reference.name, descriptor, root, access)
        return found

    def _find_target(self, receiver: int, method: int) -> int:
        call, program = self._call(method), self._program
        name, descriptor = call.name, call.descriptor
        if self._shape(receiver)[0] or name.startswith("<") or not self.may_be(True, receiver, call.cls):
            return -1
        if call.access & _STATIC:
            return -1
        if call.access & _PRIVATE:
            return call.root if program.has_code(call.root) else -1
        if not call.access & (_PUBLIC | _PROTECTED):
            return self._package_target(receiver, call.root, name, descriptor)
        c, key = receiver, (name, descriptor)
        while c >= 0:
            node = self._node(c)
            if node.app is not None:
                found = self._virtual_methods(c).get(key)
                if found is not None:
                    return found if program.has_code(found) else -1
            elif self.declares(c, name, descriptor):
                return -1
            c = node.superclass
        defaults, _ = self._specific(receiver, name, descriptor)
        return defaults[0] if len(defaults) == 1 else -1

    def _package_target(self, receiver: int, root: int, name: str, descriptor: str) -> int:
        """Dispatch of a package-private method: only methods of its package, or that override such, replace it."""
        top = self._program.method(root).cls
        chain = [receiver]
        while chain[-1] not in (-1, top):
            chain.append(self._node(chain[-1]).superclass)
        if chain.pop() < 0:
            return -1
        package = self._package(top)
        chosen, open_ = root, False
        for c in reversed(chain):
            found = self._virtual_methods(c).get((name, descriptor))
            if found is not None and (open_ or self._package(c) == package):
                chosen = found
                open_ = open_ or bool(self._access(found) & (_PUBLIC | _PROTECTED))
        return chosen if self._program.has_code(chosen) else -1

    def _package(self, t: int) -> str:
        return self._program.type_name(t).rpartition("/")[0]

    def _overridden(self, method: int) -> Iterator[int]:
        reference, definition = self._program.method(method), self._program.definition(method)
        if definition is None or definition.access & (_PRIVATE | _STATIC) or reference.name.startswith("<"):
            return
        descriptor = self._program.descriptor(method)
        for s in self.supertypes(reference.cls):
            if self.declares(s, reference.name, descriptor):
                yield s

    def _find_field(self, f: int) -> int:
        reference = self._program.field(f)
        pending = [reference.cls]
        seen = set()
        while pending:
            c = pending.pop()
            if c < 0 or c in seen:
                continue
            seen.add(c)
            node = self._node(c)
            defined = node.app or node.copy
            for field, _ in () if defined is None else defined.fields:
                candidate = self._program.field(field)
                if candidate.name == reference.name and candidate.type == reference.type:
                    return field
            # the order of the specification: superinterfaces, each with its own, before the superclass
            pending += [node.superclass, *reversed(node.interfaces)]
        return f
