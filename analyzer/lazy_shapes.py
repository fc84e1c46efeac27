"""Shapes and summaries of the compiled shape pass by method, made from its arrays when someone asks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, MutableMapping
from typing import TYPE_CHECKING, TypeVar

from analyzer.shape import CallSite, MethodShape
from analyzer.shape_state import MethodState, load
from analyzer.summary import Summary
from gpu.shape import layout as lay

if TYPE_CHECKING:
    from analyzer.compiled_pass import CompiledPass

V = TypeVar("V")


class _Made(MutableMapping[int, V]):
    """Something by method, made from the arrays when it is looked up."""

    def __init__(self, work: CompiledPass) -> None:
        self.work, self.world = work, work.world
        self.states: dict[int, MethodState] = work.states
        self._found: dict[int, tuple[MethodState, V]] = {}

    @abstractmethod
    def make(self, state: MethodState) -> V:
        """What belongs to a state."""

    def forget(self) -> None:
        """Forgets what was made."""
        self._found.clear()

    def __getitem__(self, m: int) -> V:
        state = self.states[m]
        known = self._found.get(m)
        if known is None or known[0] is not state:
            known = self._found[m] = state, self.make(state)
        return known[1]

    def __setitem__(self, m: int, value: V) -> None:
        raise TypeError("what the arrays say is fixed")

    def __delitem__(self, m: int) -> None:
        raise TypeError("what the arrays say is fixed")

    def __contains__(self, m: object) -> bool:
        return m in self.states

    def __iter__(self) -> Iterator[int]:
        return iter(self.states)

    def __len__(self) -> int:
        return len(self.states)


class Shapes(_Made[MethodShape]):
    """Shapes by method."""

    def make(self, state: MethodState) -> MethodShape:
        """The shape of a method as it is known now."""
        load(state.code.shape, self.world, state)
        return state.code.shape

    def code(self, m: int) -> MethodShape:
        """The shape of a method for its code and calls alone."""
        return self.states[m].code.shape

    def guesses(self, m: int) -> Iterator[CallSite]:
        """Calls of a method that apply a library effect that is a guess."""
        state, lib = self.states[m], self.work.ctx.library
        s = state.arrays
        some = (s.rb & ~s.mk[lay.LABELS]).any(axis=1)
        for call in state.code.shape.calls.values():
            if (call.library or call.marked) and not lib.keyed(call.method):
                receives = not call.dispatched or (call.args[0] >= 0 and bool(some[call.args[0]]))
                if receives and lib.effect(call.method, call.static, call.shimmed, not call.library, ()).guess:
                    yield call


class Summaries(_Made[Summary]):
    """Summaries by method."""

    def make(self, state: MethodState) -> Summary:
        """The summary of a method, where it has one."""
        return self.world.summary_of(state.sid)
