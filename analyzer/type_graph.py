"""The graph of types: supertypes of the app's classes and of the framework model, linked when first asked for.

Which definition of a class counts where both have it: in packages of Android's boot class path the framework's, since
the run-time's class loader asks there first; elsewhere (AndroidX, support libraries, org.apache.http, …) the app's,
since apps carry their own copies. Of a *modelled* library (AndroidX, OkHttp, …) the app's copy says what its classes
are and which methods they have, but its code does not run: the models say what it does, as for the framework.

Hostile input is answered, not refused: an edge that closes a cycle of supertypes is cut (no run-time loads such
classes) and listed in `cut`; a class named where an interface belongs, or the other way round, keeps its edge; and
missing supertypes make a type *incomplete*: it may be anything. Nothing here recurses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from analyzer.framework import Framework
    from analyzer.program import ClassDef, Program

_FINAL, _INTERFACE, _ABSTRACT = 0x10, 0x200, 0x400
_OBJECT = "Ljava/lang/Object;"
_ARRAY_SUPERTYPES = (_OBJECT, "Ljava/lang/Cloneable;", "Ljava/io/Serializable;")
_BOOT = ("Ljava/", "Ljavax/", "Landroid/", "Ldalvik/", "Lorg/json/", "Lorg/w3c/dom/", "Lorg/xml/sax/", "Lorg/xmlpull/")
_NOT_BOOT = ("Landroid/support/", "Landroid/arch/")
_WIDE = 256
"""Types with more supertypes keep them as bits of one integer: chains of thousands must not cost their square."""
_KEPT_SUBTYPES = 1_000_000
"""Entries of subtype sets that are kept; later sets are built again on each question (chains of thousands)."""


class Container(Protocol):
    def __contains__(self, item: object, /) -> bool: ...


class _Bits:
    """A set of type ids as bits, numbered by the rank that a type got when it was linked."""

    __slots__ = ("_bits", "_rank")

    def __init__(self, bits: int, rank: dict[int, int]) -> None:
        self._bits = bits
        self._rank = rank

    def __contains__(self, item: object) -> bool:
        rank = self._rank.get(item, -1)  # type: ignore[call-overload]
        return rank >= 0 and bool(self._bits >> rank & 1)


@dataclass(frozen=True, slots=True)
class Modelled:
    """Classes whose code is not looked at, by prefixes of descriptors such as 'Lokio/'."""

    prefixes: tuple[str, ...] = ()
    analysed: tuple[str, ...] = ()
    """Packages in these whose code is looked at all the same."""

    def holds(self, descriptor: str) -> bool:
        """Whether a class is one of them."""
        return descriptor.startswith(self.prefixes) and not descriptor.startswith(self.analysed)


NOTHING_MODELLED = Modelled()


@dataclass(slots=True)
class Node:
    """What is known of one type. `complete`: every supertype is defined somewhere."""

    superclass: int
    interfaces: tuple[int, ...]
    app: ClassDef | None
    known: bool
    interface: bool
    final: bool
    abstract: bool
    complete: bool
    framework: str | None
    """Descriptor, where the framework's definition counts, or a modelled library's."""
    primitive: bool = False
    copy: ClassDef | None = None
    """The app's copy of a class of a modelled library."""


@dataclass(frozen=True, slots=True)
class Description:
    """What `TypeGraph.may_be` goes by, of one type; of an array the element says the rest."""

    known: bool
    complete: bool
    interface: bool
    final: bool
    primitive: bool
    above_arrays: bool
    """Whether arrays are of this type: Object, Cloneable, Serializable."""
    rank: int
    """Number of dimensions."""
    element: int
    supertypes: tuple[int, ...]
    """Itself and all that it is known to be; () for arrays."""


class TypeGraph:
    """Types of `program` with their supertypes; see the module's docstring. Answers are memoised.

    Classes that are added to the program later (environments) are seen; redefining a type is not.
    """

    def __init__(self, program: Program, framework: Framework, modelled: Modelled = NOTHING_MODELLED) -> None:
        self._program = program
        self._framework = framework
        self._modelled = modelled
        self._object = program.type_id(_OBJECT)
        self._array_supertypes = tuple(map(program.type_id, _ARRAY_SUPERTYPES))
        self._nodes: dict[int, Node] = {}
        self._rank: dict[int, int] = {}  # position in an order of linked types with supertypes first
        self._shapes: dict[int, tuple[int, int]] = {}  # type -> (dimensions, innermost element)
        self._up: dict[int, Container] = {}
        self._bits: dict[int, int] = {}  # supertypes as bits by rank, for wide types only
        self._supertypes: dict[int, tuple[int, ...]] = {}
        self._active: dict[int, bool] = {}
        self._chains: dict[int, list[str]] = {}
        self._children: dict[int, list[int]] = {}
        self._subtypes: dict[int, frozenset[int]] = {}
        self._kept = 0
        self._seen = 0
        self.cut: list[tuple[int, int]] = []
        """(type, supertype) edges left out because they close a cycle."""
        self._node(self._object)
        self._add_new()

    def superclass(self, t: int) -> int:
        """The direct superclass, -1 for Object, interfaces and unknown types; arrays have Object."""
        if self._shape(t)[0]:
            return self._object
        return self._node(t).superclass

    def interfaces(self, t: int) -> tuple[int, ...]:
        """The direct superinterfaces, in declared order."""
        return self._array_supertypes[1:] if self._shape(t)[0] else self._node(t).interfaces

    def is_interface(self, t: int) -> bool:
        """Whether it is known to be an interface."""
        return self._node(t).interface

    def is_final(self, t: int) -> bool:
        """Whether nothing can extend it, as far as is known; arrays are as final as their elements."""
        return self._node(self._shape(t)[1]).final

    def is_abstract(self, t: int) -> bool:
        """Whether it is an interface or an abstract class."""
        return self._node(t).abstract

    def is_app(self, t: int) -> bool:
        """Whether the app's code counts: it is in the dex, not the run-time's, and of no modelled library."""
        return self._node(t).app is not None

    def is_modelled(self, t: int) -> bool:
        """Whether it is a class of a modelled library that the app has a copy of."""
        return self._node(t).copy is not None

    def is_known(self, t: int) -> bool:
        """Whether the app or the framework defines it; arrays are known when their elements are."""
        return self._node(self._shape(t)[1]).known

    def is_complete(self, t: int) -> bool:
        """Whether it and all its supertypes are known."""
        return self._node(self._shape(t)[1]).complete

    def supertypes(self, t: int) -> tuple[int, ...]:
        """Itself and all supertypes: breadth first, but never one before a subtype of it; Object comes last."""
        found = self._supertypes.get(t)
        if found is None:
            found = tuple(self._ordered(t))
            if len(found) <= _WIDE:
                self._supertypes[t] = found
        return found

    def class_chain(self, t: int) -> list[str]:
        """Descriptors of `supertypes(t)`, for look-ups in models."""
        found = self._chains.get(t)
        if found is None:
            found = [self._program.type_name(s) for s in self.supertypes(t)]
            if len(found) <= _WIDE:
                self._chains[t] = found
        return found

    def is_active(self, t: int) -> bool:
        """Whether a class of the app is a kind of something that Android runs or calls: a view, a task, a listener.

        Not so what may only be written to a parcel.
        """
        found = self._active.get(t)
        if found is None:
            names = self.class_chain(t)[1:]
            found = self._active[t] = self.is_app(t) and any(
                n.startswith("Landroid") and n != "Landroid/os/Parcelable;" for n in names
            )
        return found

    def subtypes(self, t: int) -> frozenset[int]:
        """The type itself and every subtype that the app defines. Large for Object: ask it seldom."""
        self._add_new()
        found = self._subtypes.get(t)
        if found is None:
            self._node(t)
            reached = {t}
            if t == self._object:  # also above interfaces and unknown superclasses, which have no edge to it
                reached.update(self._nodes)
            stack = [t]
            while stack:
                for child in self._children.get(stack.pop(), ()):
                    if child not in reached:
                        reached.add(child)
                        stack.append(child)
            found = frozenset(s for s in reached if s == t or self._nodes[s].app is not None)
            if self._kept + len(found) <= _KEPT_SUBTYPES:
                self._kept += len(found)
                self._subtypes[t] = found
        return found

    def describe(self, t: int) -> Description:
        """All that tells what an object of the type may be."""
        rank, element = self._shape(t)
        node = self._node(t)
        above = t in self._array_supertypes
        up: tuple[int, ...] = () if rank else self.supertypes(t)
        return Description(
            node.known, node.complete, node.interface, node.final, node.primitive, above, rank, element, up
        )

    # ---------------------------------------------------------------- linking

    def _add_new(self) -> None:
        """Links the classes that came to the program since the last look."""
        classes = self._program.classes
        if len(classes) == self._seen:
            return
        new = classes[self._seen :]
        self._seen = len(classes)
        late = [defined.type for defined in new if defined.type in self._nodes]
        if any(not self._nodes[t].known for t in late):
            self._forget()
        self._subtypes.clear()
        self._kept = 0
        for defined in new:
            self._node(defined.type)

    def _forget(self) -> None:
        """A type that was thought unknown is defined now: every answer may be stale."""
        self._seen = len(self._program.classes)
        for structure in (self._nodes, self._rank, self._up, self._bits, self._children):
            structure.clear()
        for answers in (self._supertypes, self._chains, self._active, self._subtypes):
            answers.clear()
        self.cut.clear()
        self._node(self._object)
        for defined in self._program.classes:
            self._node(defined.type)

    def _node(self, t: int) -> Node:
        return self._nodes.get(t) or self._link(t)

    def _read(self, t: int) -> Node:
        """The type as defined, before cycles are cut."""
        name = self._program.type_name(t)
        library = self._framework.find(name)
        defined = self._program.class_of(t)
        if library is not None and (defined is None or (name.startswith(_BOOT) and not name.startswith(_NOT_BOOT))):
            up = -1 if library.superclass is None else self._program.type_id(library.superclass)
            above = tuple(map(self._program.type_id, library.interfaces))
            kind = (library.is_interface, library.is_final, library.is_abstract)
            return Node(up, above, None, True, *kind, True, name)
        if defined is not None:
            access = defined.access
            interface = bool(access & _INTERFACE)
            up = defined.super
            if interface and up == self._object:
                up = -1
            kind = (interface, bool(access & _FINAL), bool(access & (_INTERFACE | _ABSTRACT)))
            above = tuple(dict.fromkeys(defined.interfaces))
            if self._modelled.holds(name):
                return Node(up, above, None, True, *kind, True, name, copy=defined)
            return Node(up, above, defined, True, *kind, True, None)
        primitive = len(name) == 1
        return Node(-1, (), None, primitive, False, primitive, False, primitive, None, primitive)

    def _link(self, start: int) -> Node:
        """Reads a type and everything above it, cuts cycles, and ranks types so that supertypes come first."""
        nodes, open_ = self._nodes, {start}
        nodes[start] = self._read(start)
        stack = [(start, iter(self._above(start)))]
        while stack:
            t, above = stack[-1]
            s = next(above, -1)
            if s < 0:
                stack.pop()
                open_.discard(t)
                node = nodes[t]
                node.complete = node.known and all(nodes[up].complete for up in self._above(t))
                self._rank[t] = len(self._rank)
                for up in self._above(t):
                    self._children.setdefault(up, []).append(t)
            elif s in open_:
                self.cut.append((t, s))
                node = nodes[t]
                if node.superclass == s:
                    node.superclass = -1
                node.interfaces = tuple(i for i in node.interfaces if i != s)
            elif s not in nodes:
                nodes[s] = self._read(s)
                open_.add(s)
                stack.append((s, iter(self._above(s))))
        return nodes[start]

    def _above(self, t: int) -> tuple[int, ...]:
        """Direct supertypes of a linked type that is no array; the superclass first."""
        node = self._nodes[t]
        return node.interfaces if node.superclass < 0 else (node.superclass, *node.interfaces)

    def _ordered(self, t: int) -> Iterator[int]:
        """`supertypes(t)`: a topological order that prefers what a breadth-first walk finds first."""
        if self._shape(t)[0]:
            yield from (t, *self._array_supertypes[1:], self._object)
            return
        self._node(t)
        reached = {t: 0}  # type -> number of edges into it from reached types
        queue = [t]
        for s in queue:
            for up in self._above(s):
                if up not in reached:
                    queue.append(up)
                    reached[up] = 0
                reached[up] += 1
        ready = [t]
        for s in ready:
            if s != self._object:
                yield s
            for up in self._above(s):
                reached[up] -= 1
                if reached[up] == 0:
                    ready.append(up)
        if not self._nodes[t].primitive:
            yield self._object

    def _ancestors(self, t: int) -> Container:
        """All supertypes of a type that is no array, kept; wide ones as bits, built from those of the types above."""
        node = self._node(t)
        narrow: set[int] = {t}
        queue = [t]
        for s in queue:
            for up in self._above(s):
                if up not in narrow:
                    narrow.add(up)
                    queue.append(up)
            if len(queue) > _WIDE:
                return self._wide(t)
        if not node.primitive:
            narrow.add(self._object)
        found = self._up[t] = frozenset(narrow)
        return found

    def _wide(self, t: int) -> Container:
        """As `_ancestors`, for types with very many supertypes."""
        bits = self._bits
        stack = [t]
        while stack:
            s = stack[-1]
            missing = [up for up in self._above(s) if up not in bits]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            own = 1 << self._rank[s]
            for up in self._above(s):
                own |= bits[up]
            bits[s] = own
        found = self._up[t] = _Bits(bits[t] | 1 << self._rank[self._object], self._rank)
        return found

    def _shape(self, t: int) -> tuple[int, int]:
        """(dimensions, innermost element type); (0, `t`) for what is no array."""
        found = self._shapes.get(t)
        if found is None:
            name = self._program.type_name(t)
            element = name.lstrip("[")
            rank = len(name) - len(element)
            found = self._shapes[t] = (rank, self._program.type_id(element) if rank else t)
        return found
