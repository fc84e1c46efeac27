"""What a `when` of a source or sink asks beyond the method's name, decided from the facts at the call.

All questions are about objects: which the receiver or an argument may be, over all callers, and what their fields
hold there. Where that cannot be known the answer is yes, with these exceptions:

- `password_widget`: a widget whose id the layouts say not to be a password field is none; a widget that the app makes
  itself is none; one that cannot be told (a view that a callback was given, an id that is computed, no layout has it)
  is one when some layout has a password field.
- `implicit_intent`: an intent is explicit when it was given a component on some path: a class, or a constant name of
  one of the app's classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property

from analyzer.concrete import Concrete
from analyzer.container import AppFiles
from analyzer.idfg import Idfg
from analyzer.ir import CallKind, Op
from analyzer.models import Condition, Knowledge
from analyzer.texts import Texts
from analyzer.tokens import BY_TYPE, FORMAL, LIBRARY_BY_TYPE, OBJECT, TAINT, Key, Site
from gpu.bits import bits_of

Thing = tuple[int, int, Key]
"""(method, IR operation just before which it is looked at, token in that method's words)."""

_MOST_DEPTH = 40
_MOST_STEPS = 200
"""Formals that one question follows up to callers; beyond, the object counts as unknown."""
_APPENDING = frozenset({"withAppendedPath", "withAppendedId", "normalizeScheme", "buildUpon", "build"})
"""Methods that keep the address of their first argument, or receiver, up to its authority."""


class Conditions:
    """Decides conditions for one solved app."""

    def __init__(self, idfg: Idfg, files: AppFiles, knowledge: Knowledge) -> None:
        self.idfg, self.files, self.knowledge = idfg, files, knowledge
        self.ctx, self.program = idfg.ctx, idfg.ctx.program
        self.concrete, self.texts = Concrete(idfg, _MOST_STEPS), Texts(idfg.ctx)
        self._known: dict[tuple[str, int, int], bool] = {}
        self._states: dict[tuple[int, int], list[int]] = {}
        self._deciders: dict[str, Callable[[Condition, int, int], bool]] = {
            "password_widget": self._password_widget,
            "private_content": self._private_content,
            "android_id": self._android_id,
            "exported": self._exported,
            "implicit_intent": self._implicit_intent,
            "outside_stream": self._outside_stream,
        }

    def holds(self, name: str, method: int, op: int) -> bool:
        """Whether the condition may hold at a call; `op` is -1 for the parameters of the callback `method`."""
        condition, decide = self.knowledge.conditions.get(name), self._deciders.get(name)
        if condition is None or decide is None or (op < 0 and name != "exported"):
            return True
        asked = name, method, op
        if asked not in self._known:
            self._known[asked] = decide(condition, method, op)
        return self._known[asked]

    # -- the conditions ----------------------------------------------------------------------------------------

    def _implicit_intent(self, condition: Condition, method: int, op: int) -> bool:
        things = list(self._argument(condition, method, op))
        return not things or not all(self._is_explicit(thing, 0) for thing in things)

    def _is_explicit(self, thing: Thing, depth: int) -> bool:
        """Whether an intent, or each of an array's, was given a component that may be one of the app's."""
        if depth > _MOST_DEPTH:
            return False
        named = [t for t in self._field(thing, "$component") if t[2][0] in (OBJECT, BY_TYPE, LIBRARY_BY_TYPE)]
        if named:
            return any(self._names_own_class(t) for t in named)
        inside = [t for t in self._field(thing, "#any") if t[2][0] == OBJECT]
        if inside:
            return all(self._is_explicit(t, depth + 1) for t in inside)
        above = self._callers(thing)
        return bool(above) and all(self._is_explicit(t, depth + 1) for t in above)

    def _names_own_class(self, thing: Thing) -> bool:
        """Whether what an intent was given as its component may be a class of the app, as far as that is known."""
        method, _, key = thing
        type_id = self._type(thing)
        if type_id >= 0 and self.program.type_name(type_id) == "Ljava/lang/Class;":
            return True
        shape = self.ctx.shapes[method]
        texts = self.texts.of_token(shape, shape.index[key]) if key in shape.index else None
        return any(self.program.type_find(f"L{t.replace('.', '/')};") >= 0 for t in texts or ())

    def _outside_stream(self, condition: Condition, method: int, op: int) -> bool:
        things = list(self._argument(condition, method, op))
        return not things or not all(self._in_memory(thing, condition, 0) for thing in things)

    def _in_memory(self, thing: Thing, condition: Condition, depth: int) -> bool:
        """Whether a stream is of one of the types, or wraps only such streams."""
        chain = self._chain(thing)
        if any(t in chain for t in condition.types):
            return True
        wrapped = [t for f in condition.follow for t in self._field(thing, f) if t[2][0] == OBJECT]
        if wrapped:
            return depth < _MOST_DEPTH and all(self._in_memory(t, condition, depth + 1) for t in wrapped)
        above = self._callers(thing)
        return depth < _MOST_DEPTH and bool(above) and all(self._in_memory(t, condition, depth + 1) for t in above)

    def _password_widget(self, condition: Condition, method: int, op: int) -> bool:
        if not any(self._widgets.values()):
            return False
        things = self._argument(condition, method, op)
        things.sort(key=lambda thing: thing[2][0] == FORMAL)  # what is told at once first
        for thing in self._objects(things):
            site = self._site(thing)
            if site is None or site.kind != "new":
                names = self.ctx.library.app_wide_name(thing[2][1]) if site is not None else None
                key = names[1] if names is not None else None
                number = int(key) if key is not None and key.lstrip("-").isdigit() else None
                if self._widgets.get(number, True):
                    return True
        return False

    @cached_property
    def _widgets(self) -> dict[int | None, bool]:
        """Id of a widget -> whether it is a password field in some layout."""
        found: dict[int | None, bool] = {}
        for layout in self.files.layouts:
            for widget in layout.widgets:
                found[widget.id] = found.get(widget.id, False) or widget.password
        unknown = found.pop(None, False)
        return {**found, -1: unknown}

    def _private_content(self, condition: Condition, method: int, op: int) -> bool:
        manifest = self.files.manifest
        own = {a for c in manifest.components for a in c.authorities} if manifest is not None else set()
        if not own:
            return True
        things = list(self._objects(self._argument(condition, method, op)))
        return not things or any(not self._is_address_of(t, own, 0) for t in things)

    def _is_address_of(self, thing: Thing, own: set[str], depth: int) -> bool:
        texts = self._addresses(thing, depth)
        return bool(texts) and all(t.removeprefix("content://").partition("/")[0] in own for t in texts)

    def _addresses(self, thing: Thing, depth: int) -> list[str]:
        """Texts that an address is known to begin with; none when it is not known."""
        site = self._site(thing)
        if site is None or site.method < 0 or depth > _MOST_DEPTH:
            return []
        if site.kind == "string":
            return [self.program.string(site.text)]
        body = self.program.body(site.method)
        ref = int(body.ref[site.op])
        if int(body.op[site.op]) == Op.SGET:
            field = self.program.field(ref)
            text = self.knowledge.constant(self.program.type_name(field.cls), field.name)
            return [] if text is None else [text]
        if int(body.op[site.op]) != Op.CALL or self.program.method(ref).name not in (*_APPENDING, "parse"):
            return []
        things = list(self._objects(self._at(site.method, site.op, 0)))
        found = [self._addresses(t, depth + 1) for t in things]
        return [t for texts in found for t in texts] if found and all(found) else []

    def _android_id(self, condition: Condition, method: int, op: int) -> bool:
        texts = [self._text(t) for t in self._objects(self._argument(condition, method, op))]
        return not texts or any(t is None or t == "android_id" for t in texts)

    def _exported(self, condition: Condition, method: int, op: int) -> bool:
        manifest = self.files.manifest
        if manifest is None:
            return True
        types = {self.program.method(method).cls}
        if op >= 0:
            found = {self._type(t) for t in self._objects(self._argument(condition, method, op))}
            types = found if found and -1 not in found else types
        subtypes = {s for t in types for s in (*self.ctx.hierarchy.subtypes(t), t)}
        names = {self.program.type_name(t)[1:-1].replace("/", ".") for t in subtypes}
        components = [c for c in manifest.components if (c.alias_of or c.name) in names]
        return not components or any(c.exported for c in components)

    # -- objects -----------------------------------------------------------------------------------------------

    def _argument(self, condition: Condition, method: int, op: int) -> list[Thing]:
        """Objects that the condition speaks of, in the words of the method."""
        at = condition.at
        body = self.program.body(method)
        if at is None or int(body.op[op]) != Op.CALL:
            return []
        shift = 0 if int(body.c[op]) in (CallKind.STATIC, CallKind.CUSTOM) else 1
        return self._at(method, op, 0 if at.base == "this" else at.argument + shift)

    def _at(self, method: int, op: int, position: int) -> list[Thing]:
        """Tokens of an argument, the receiver first, labels aside."""
        body = self.program.body(method)
        args = body.args[body.arg_off[op] : body.arg_off[op + 1]].tolist()
        if position >= len(args) or args[position] < 0:
            return []
        layout = self.idfg.layout(method)
        bits = self.idfg.solution.rows[layout.number][args[position]]
        return [(method, op, layout.columns[c]) for c in bits_of(bits) if layout.columns[c][0] != TAINT]

    def _objects(self, things: Iterable[Thing]) -> Iterator[Thing]:
        """The same over all callers: no formals are left, but what is unknown is."""
        for method, op, key in things:
            if key[0] == FORMAL:
                for where, found in sorted(self.concrete.tokens(method, key), key=str):
                    if found[0] != TAINT:
                        yield where, -1, found
            else:
                yield method, op, key

    def _callers(self, thing: Thing) -> list[Thing]:
        """What callers put in place of a formal, at their calls."""
        method, _, key = thing
        if key[0] != FORMAL:
            return []
        found = []
        for binding in self.concrete.bindings(method):
            found += [
                (binding.caller, binding.call.op, k) for k in sorted(binding.sigma(key), key=str) if k[0] != TAINT
            ]
        return found

    def _field(self, thing: Thing, name: str) -> list[Thing]:
        """What a field of an object holds there, as far as the method itself says; what callers say is not followed."""
        method, op, key = thing
        layout = self.idfg.layout(method)
        fields = self.ctx.fields
        present = self.concrete.cells(layout).get(key, {})
        wanted = fields.pseudo(name)
        if op < 0:
            return []
        if (method, op) not in self._states:
            solver = self.idfg.replay.method(layout.number)
            rows = self.idfg.state(method, op)[1]
            self._states[method, op] = rows[solver.first_heap : solver.first_heap + solver.n_heap]
        heap = self._states[method, op]
        bits = 0
        for f in fields.related(wanted, present):
            bits |= heap[present[f]]
        return [(method, op, layout.columns[c]) for c in bits_of(bits) if layout.columns[c][0] != TAINT]

    def _site(self, thing: Thing) -> Site | None:
        return self.ctx.sites[thing[2][1]] if thing[2][0] == OBJECT else None

    def _text(self, thing: Thing) -> str | None:
        site = self._site(thing)
        return self.program.string(site.text) if site is not None and site.kind == "string" else None

    def _type(self, thing: Thing) -> int:
        site = self._site(thing)
        if site is not None:
            return site.type
        return int(thing[2][1]) if thing[2][0] in (BY_TYPE, LIBRARY_BY_TYPE) else -1

    def _chain(self, thing: Thing) -> list[str]:
        """Descriptors of the supertypes of an object's type."""
        type_id = self._type(thing)
        return self.ctx.hierarchy.class_chain(type_id) if type_id >= 0 else []
