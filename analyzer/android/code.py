"""Writes the code of synthetic methods: what environments need, over `analyzer.builder`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from analyzer.builder import BodyBuilder
from analyzer.ir import Body, CallKind
from analyzer.program import Program

Value = int
Label = int


class Code:
    """The code of one static synthetic method."""

    def __init__(self, program: Program, parameters: Sequence[int]) -> None:
        """`parameters`: their type ids."""
        self._program = program
        self._builder = BodyBuilder(len(parameters))
        self.parameters: list[Value] = list(range(len(parameters)))
        b = self._builder
        self.new, self.unknown, self.cast, self.get, self.put = b.new, b.unknown, b.cast, b.get, b.put
        self.sget, self.sput, self.aget, self.aput = b.sget, b.sput, b.aget, b.aput
        self.data, self.phi = b.data, b.phi
        self.label, self.place, self.jump, self.add_to_phi = b.label, b.place, b.goto, b.add_to_phi

    def null(self) -> Value:
        """Nothing: carries no token."""
        return self._builder.const(0)

    def call(self, kind: CallKind, method: int, args: Sequence[Value]) -> Value | None:
        """A call, the receiver first; its result, or None for void methods."""
        returns = self._program.type_name(self._program.method(method).ret) != "V"
        result = self._builder.call(kind, method, args, returns)
        return result if returns else None

    def fit(self, value: Value, declared: int) -> Value:
        """The value as an argument of a declared type."""
        return self.cast(value, declared) if self._program.type_name(declared)[0] in "L[" else self.data(value)

    def choose(self, labels: Sequence[Label]) -> None:
        """Goes on at any of the labels."""
        self._builder.any_of(labels)

    def maybe(self, body: Callable[[], Value | None], otherwise: Value) -> Value:
        """Runs the code that `body` writes, or does not: the value that it gives, or the other one."""
        taken, join = self.label(), self.label()
        self.choose([taken, join])
        self.place(taken)
        value = body()
        self.jump(join)
        self.place(join)
        return self.phi([otherwise] if value is None or value == otherwise else [otherwise, value])

    def ret(self, value: Value | None = None) -> None:
        """Returns."""
        self._builder.ret(-1 if value is None else value)

    def body(self) -> Body:
        """The finished code."""
        return self._builder.build()
