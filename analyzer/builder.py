"""Bodies of synthetic methods: environments and shims. The pc of an operation is its index, so that sites differ.

A builder appends operations to the current block. `label`, `place`, `goto` and `any_of` make control flow whose
branches anyone may take; code behind a jump or a return is dropped until the next `place`.
"""

from __future__ import annotations

from collections.abc import Sequence, Sized

import numpy as np

from analyzer import cfg
from analyzer.ir import I4, Body, CallKind, Op

_THROWS = np.zeros(len(Op), np.bool_)
_THROWS[[Op.STRING, Op.CLASS, Op.NEW, Op.NEW_ARRAY, Op.CAST, Op.CALL, Op.THROW]] = True
_THROWS[[Op.GET, Op.PUT, Op.SGET, Op.SPUT, Op.AGET, Op.APUT]] = True


class BodyBuilder:
    """Builds one body; values 0 .. n_params-1 are the parameters."""

    def __init__(self, n_params: int) -> None:
        self.n_params = n_params
        self._n_values = n_params
        self._ops: list[tuple[Op, int, int, int, int, int]] = []  # op, dst, a, b, c, ref
        self._args: dict[int, list[int]] = {}
        self._constant: dict[int, int] = {}
        self._blocks: list[list[int]] = [[]]
        self._successors: list[list[int]] = [[]]  # labels
        self._placed: dict[int, int] = {}  # label -> block
        self._n_labels = 0
        self._open = True

    # ------------------------------------------------------------- operations

    def const(self, number: int) -> int:
        """A number; 0 is also null."""
        value = self._define(Op.CONST)
        self._constant[value] = number
        return value

    def string(self, string: int) -> int:
        """The text of a string id."""
        return self._define(Op.STRING, ref=string)

    def class_object(self, type_id: int) -> int:
        """The Class object of a type."""
        return self._define(Op.CLASS, ref=type_id)

    def new(self, type_id: int) -> int:
        """A new object; its constructor is a call of its own."""
        return self._define(Op.NEW, ref=type_id)

    def new_array(self, type_id: int, length: int) -> int:
        """A new array of an array type, its length a value."""
        return self._define(Op.NEW_ARRAY, a=length, ref=type_id)

    def unknown(self, type_id: int) -> int:
        """A value of a type from outside."""
        return self._define(Op.UNKNOWN, ref=type_id)

    def cast(self, value: int, type_id: int) -> int:
        """The value as an object of a type."""
        return self._define(Op.CAST, a=value, ref=type_id)

    def get(self, base: int, field: int) -> int:
        """An instance field."""
        return self._define(Op.GET, a=base, ref=field)

    def put(self, base: int, field: int, value: int) -> None:
        """Stores to an instance field."""
        self._emit(Op.PUT, a=base, b=value, ref=field)

    def sget(self, field: int) -> int:
        """A static field."""
        return self._define(Op.SGET, ref=field)

    def sput(self, field: int, value: int) -> None:
        """Stores to a static field."""
        self._emit(Op.SPUT, a=value, ref=field)

    def aget(self, array: int, index: int) -> int:
        """An element of an array."""
        return self._define(Op.AGET, a=array, b=index)

    def aput(self, array: int, index: int, value: int) -> None:
        """Stores to an element of an array."""
        self._emit(Op.APUT, a=array, b=index, c=value)

    def data(self, a: int, b: int = -1) -> int:
        """A number computed from one or two values."""
        return self._define(Op.DATA, a=a, b=b)

    def call(self, kind: CallKind, method: int, args: Sequence[int], returns: bool) -> int:
        """A call, the receiver first in `args`; its result, or -1."""
        value = self._define(Op.CALL, c=int(kind), ref=method) if returns else -1
        if not returns:
            self._emit(Op.CALL, c=int(kind), ref=method)
        self._args[len(self._ops) - 1] = list(args)
        return value

    def phi(self, values: Sequence[int] = ()) -> int:
        """The union of values. Stands at the head of the current block, before any other operation."""
        if any(self._ops[op][0] != Op.PHI for op in self._blocks[-1]):
            raise ValueError("a phi stands at the head of its block")
        value = self._define(Op.PHI)
        self._args[len(self._ops) - 1] = list(values)
        return value

    def add_to_phi(self, phi: int, value: int) -> None:
        """One more value that comes into a phi: what a loop computes."""
        for op, (kind, dst, *_) in enumerate(self._ops):
            if dst == phi and kind == Op.PHI:
                self._args[op].append(value)
                return
        raise ValueError(f"value {phi} is no phi")

    # ----------------------------------------------------------- control flow

    def label(self) -> int:
        """A new label, to be placed once."""
        self._n_labels += 1
        return self._n_labels - 1

    def place(self, label: int) -> None:
        """Begins a block here; code before it falls through."""
        if label in self._placed:
            raise ValueError(f"label {label} is placed twice")
        if self._open:
            self._successors[-1].append(label)
        self._placed[label] = len(self._blocks)
        self._begin()

    def goto(self, label: int) -> None:
        """Continues at a label."""
        self._end(Op.GOTO, [label])

    def any_of(self, labels: Sequence[int]) -> None:
        """Continues at any of the labels."""
        distinct = list(dict.fromkeys(labels))
        self._end(Op.IF if len(distinct) > 1 else Op.GOTO, distinct)

    def ret(self, value: int = -1) -> None:
        """Returns, with a value or without."""
        self._end(Op.RETURN, [], value)

    def throw(self, value: int) -> None:
        """Throws an exception."""
        self._end(Op.THROW, [], value)

    # ------------------------------------------------------------------ build

    def build(self) -> Body:
        """The body. A last block that is still open returns; what cannot be reached is dropped."""
        if self._open:
            self.ret()
        missing = {label for labels in self._successors for label in labels} - self._placed.keys()
        if missing:
            raise ValueError(f"labels {sorted(missing)} are not placed")
        successors = [[self._placed[label] for label in labels] for labels in self._successors]
        blocks = self._blocks
        order = cfg.reverse_post_order(0, successors.__getitem__, len(blocks))
        position = {block: k for k, block in enumerate(order)}
        ops = [op for block in order for op in blocks[block]]
        number = {value: value for value in range(self.n_params)} | {-1: -1}
        for op in ops:
            if self._ops[op][1] >= 0:
                number[self._ops[op][1]] = len(number) - 1
        used = {v for op in ops for v in (*self._ops[op][2:4], *self._uses(op))}
        if not used <= number.keys():
            raise ValueError(f"values {sorted(used - number.keys())} are used but not defined")
        constant = {number[v]: c for v, c in self._constant.items() if v in number}
        rows = []
        args = []
        for op in ops:
            kind, dst, a, b, c, ref = self._ops[op]
            rows.append((kind, number[dst], number[a], number[b], number[c] if kind == Op.APUT else c, ref))
            given = self._args.get(op, [])
            if kind == Op.PHI:  # what is computed in dropped code does not come in
                args.append(sorted({number[v] for v in given if number.get(v, -1) >= 0}))
            else:
                args.append([number[v] for v in given])
        columns = np.array(rows, np.int32).reshape(-1, 6).T
        edges = [[position[s] for s in successors[block]] for block in order]
        n_values = len(number) - 1
        return Body(
            n_params=self.n_params,
            n_values=n_values,
            op=columns[0].astype(np.uint8),
            pc=np.arange(len(ops), dtype=np.int32),
            dst=columns[1].copy(),
            a=columns[2].copy(),
            b=columns[3].copy(),
            c=columns[4].copy(),
            ref=columns[5].copy(),
            arg_off=_offsets(args),
            args=np.array([v for values in args for v in values], np.int32),
            throws=_THROWS[columns[0]],
            block_off=_offsets([blocks[block] for block in order]),
            succ_off=_offsets(edges),
            succ=np.array([s for targets in edges for s in targets], np.int32),
            block_range=np.full(len(order), -1, np.int32),
            range_off=np.zeros(1, np.int32),
            handler_type=np.empty(0, np.int32),
            handler_block=np.empty(0, np.int32),
            in_cycle=np.array(cfg.in_cycle(edges), np.bool_),
            constant=constant,
            value_reg=np.full(n_values, -1, np.int32),
        )

    def _uses(self, op: int) -> list[int]:
        """Values beside a and b that an operation cannot do without."""
        kind = self._ops[op][0]
        if kind == Op.APUT:
            return [self._ops[op][4]]
        return [] if kind == Op.PHI else self._args.get(op, [])

    def _begin(self) -> None:
        self._blocks.append([])
        self._successors.append([])
        self._open = True

    def _end(self, op: Op, labels: list[int], a: int = -1) -> None:
        self._emit(op, a=a)
        if self._open:
            self._successors[-1].extend(labels)
        self._open = False

    def _define(self, op: Op, a: int = -1, b: int = -1, c: int = -1, ref: int = -1) -> int:
        value = self._n_values
        self._n_values += 1
        self._emit(op, value, a, b, c, ref)
        return value

    def _emit(self, op: Op, dst: int = -1, a: int = -1, b: int = -1, c: int = -1, ref: int = -1) -> None:
        self._ops.append((op, dst, a, b, c, ref))
        if self._open:
            self._blocks[-1].append(len(self._ops) - 1)


def _offsets(lists: Sequence[Sized]) -> I4:
    """CSR offsets of lists laid end to end."""
    result = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(item) for item in lists], out=result[1:])
    return result
