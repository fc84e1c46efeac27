"""The code of many methods as arrays of nodes: what value-based type propagation reads, and its call sites."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analyzer.callgraph.graph import Site
from analyzer.callgraph.propagate import TypeFlow
from analyzer.ir import Body, Op

I4 = NDArray[np.int32]
I8 = NDArray[np.int64]
Nodes = NDArray[Any]
"""(n,) int32 nodes; int64 values before `Code.name_values`."""

DEAD = 0
"""A node that nothing flows into or out of: values that hold no objects."""

_GIVE = (Op.NEW, Op.NEW_ARRAY, Op.STRING, Op.CLASS, Op.CAST, Op.AGET, Op.CAUGHT)
"""Operations whose results may be objects, beside those where the field, the type or the operands tell."""


class Code:
    """The operations of some methods, end to end. After `name_values`, dst, a, b and c (of APUT) are nodes."""

    def __init__(self, methods: Sequence[int], bodies: Sequence[Body], firsts: I4) -> None:
        """`firsts`: node of the first parameter of each method."""
        self.methods, self._bodies, self._firsts = methods, bodies, firsts
        sizes = np.array([len(b.op) for b in bodies], np.int64)
        self.op_off = np.concatenate([[0], np.cumsum(sizes)])
        self.owner = np.repeat(np.arange(len(bodies)), sizes)
        self.op = np.concatenate([b.op for b in bodies])
        self.ref = np.concatenate([b.ref for b in bodies])
        self.c = np.concatenate([b.c for b in bodies])
        self._values = np.array([b.n_values for b in bodies], np.int64)
        off = np.concatenate([[0], np.cumsum(self._values)])
        self._value_off = off
        shift = off[self.owner]
        self.dst: Nodes
        self.a: Nodes
        self.b: Nodes
        self.dst, self.a, self.b = (
            _shifted(np.concatenate([getattr(body, name) for body in bodies]), shift) for name in ("dst", "a", "b")
        )
        starts = np.concatenate([b.arg_off[:-1] for b in bodies])
        ends = np.concatenate([b.arg_off[1:] for b in bodies])
        n_args = np.array([len(b.args) for b in bodies], np.int64)
        base = np.concatenate([[0], np.cumsum(n_args)])[self.owner]
        self.arg_start, self.n_args = starts + base, (ends - starts).astype(np.int64)
        self.args: Nodes = _shifted(np.concatenate([b.args for b in bodies]), np.repeat(off[:-1], n_args))
        self.call = np.flatnonzero(self.op == Op.CALL)
        self.ret = firsts[self.owner] - 1
        self._order = np.argsort(self.op, kind="stable")
        self._bounds = np.searchsorted(self.op[self._order], np.arange(len(Op) + 1))

    def ops(self, *kinds: Op) -> I8:
        """Operations of these kinds."""
        found = [self._order[self._bounds[kind] : self._bounds[kind + 1]] for kind in kinds]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def refs(self, *kinds: Op) -> I4:
        """What operations of these kinds refer to."""
        return self.ref[self.ops(*kinds)]

    def by_ref(self, function: Callable[[int], int], *kinds: Op) -> I4:
        """(n_ops,) what a function gives for what the operations of these kinds refer to; 0 elsewhere."""
        result = np.zeros(len(self.op), np.int32)
        chosen = self.ops(*kinds)
        result[chosen] = flat(function, self.ref[chosen])
        return result

    def name_values(self, flow: TypeFlow, fields: I4, calls: I4, references: set[int]) -> None:
        """Gives nodes to parameters and to what may be an object; other values are DEAD.

        `fields`: node of the field of each access; `calls`: which calls may return objects; `references`: types of
        UNKNOWN that are not primitive.
        """
        node = np.full(self._value_off[-1] + 1, DEAD, np.int32)  # the last is what -1 reads
        params = np.array([b.n_params for b in self._bodies], np.int64)
        value, _ = expand(self._value_off[:-1], params)
        named, _ = expand(self._firsts, params)
        node[value] = named
        gets, unknown = self.ops(Op.GET, Op.SGET), self.ops(Op.UNKNOWN)
        giving = [self.ops(*_GIVE), gets[fields[gets] != DEAD], self.call[calls != 0]]
        giving.append(unknown[np.isin(self.ref[unknown], list(references))])
        made = self.dst[np.concatenate(giving)]
        made = self._with_phis(made[made >= 0], node)
        node[made] = flow.nodes(len(made)) + np.arange(len(made), dtype=np.int32)
        stores = self.ops(Op.APUT)
        stored = _shifted(self.c[stores], self._value_off[self.owner[stores]])
        self.dst, self.a, self.b, self.args = (node[v] for v in (self.dst, self.a, self.b, self.args))
        self.c[stores] = node[stored]

    def _with_phis(self, made: I8, node: I4) -> I8:
        """Values that may be objects, and the phis that such values or parameters come into."""
        args, phis = self.phis()
        carries = node != DEAD
        carries[made] = True
        while len(phis):
            new = np.unique(phis[carries[args] & ~carries[phis]])
            if len(new) == 0:
                break
            carries[new] = True
            made = np.concatenate([made, new])
        return made

    def phis(self) -> tuple[Nodes, Nodes]:
        """Edges into phis."""
        phis = self.ops(Op.PHI)
        row, owner = expand(self.arg_start[phis], self.n_args[phis])
        return self.args[row], self.dst[phis][owner]

    def caught_types(self, op: int) -> set[int]:
        """Types of the handlers that lead to a CAUGHT; -1 for anything."""
        method = int(self.owner[op])
        body = self._bodies[method]
        block = int(body.block_off.searchsorted(op - self.op_off[method], side="right")) - 1
        return {int(body.handler_type[handler]) for _, handler in body.caught_by(block)}


class Sites:
    """Call sites by number."""

    def __init__(self) -> None:
        self._methods: list[int] = []
        self._ops: list[int] = []
        self.ref = np.empty(0, np.int32)
        self.dst = np.empty(0, np.int32)
        self.arg_off = np.zeros(1, np.int64)
        self.args = np.empty(0, np.int32)

    def __len__(self) -> int:
        return len(self._methods)

    def add(self, code: Code) -> I4:
        """Adds the calls of code; their numbers."""
        call = code.call
        first = len(self._methods)
        owner = code.owner[call]
        self._methods += np.array(code.methods, np.int64)[owner].tolist()
        self._ops += (call - code.op_off[owner]).tolist()
        self.ref = np.concatenate([self.ref, code.ref[call]])
        self.dst = np.concatenate([self.dst, code.dst[call]])
        row, _ = expand(code.arg_start[call], code.n_args[call])
        self.args = np.concatenate([self.args, code.args[row]])
        self.arg_off = np.concatenate([self.arg_off, self.arg_off[-1] + np.cumsum(code.n_args[call])])
        return np.arange(first, len(self._methods), dtype=np.int32)

    def method(self, site: int) -> int:
        """The method that a site is in."""
        return self._methods[site]

    def place(self, site: int) -> Site:
        """Method and operation of a site."""
        return self._methods[site], self._ops[site]

    def of(self, site: int) -> tuple[list[int], int, int]:
        """(nodes of the arguments, node of the result, called method) of a site."""
        arguments: list[int] = self.args[self.arg_off[site] : self.arg_off[site + 1]].tolist()
        return arguments, int(self.dst[site]), int(self.ref[site])

    def n_args(self, sites: I4) -> I8:
        """Number of arguments of each site."""
        return self.arg_off[sites + 1] - self.arg_off[sites]

    def receivers(self, sites: I4) -> I4:
        """Node of the first argument of each site."""
        some = self.n_args(sites) > 0
        found = np.full(len(sites), DEAD, np.int32)
        found[some] = self.args[self.arg_off[sites[some]]]
        return found

    def sorted(self) -> list[tuple[Site, int]]:
        """All sites by place, with their numbers."""
        return sorted(zip(zip(self._methods, self._ops, strict=True), range(len(self._methods)), strict=True))


def flat(function: Callable[[int], int], items: I4) -> I4:
    """(n,) what a function gives for each item; it is asked once per distinct one."""
    distinct, places = np.unique(items, return_inverse=True)
    return np.array([function(item) for item in distinct.tolist()], np.int32)[places]


def expand(starts: I4 | I8, counts: I8) -> tuple[I8, I8]:
    """All of starts .. starts + counts, and the owner of each."""
    owner = np.repeat(np.arange(len(starts)), counts)
    bounds = np.cumsum(counts) - counts
    return np.arange(len(owner)) - bounds[owner] + np.asarray(starts, np.int64)[owner], owner


def _shifted(values: I4, shift: I8) -> I8:
    """Value ids of methods laid end to end; -1 stays."""
    return np.where(values >= 0, values + shift, -1)
