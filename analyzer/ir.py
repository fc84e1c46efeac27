"""The intermediate representation: SSA three-address code of one method, as arrays.

A `Body` is made by `analyzer.ssa` from dex code or by `BodyBuilder` for synthetic methods (environments, shims).
Copies are propagated, constant branches pruned, unreachable blocks dropped, `move-result` folded into its call and
`filled-new-array` lowered to NEW_ARRAY and APUTs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

I4 = NDArray[np.int32]


class Op(IntEnum):
    """IR operations. Operands are SSA values; -1 is none."""

    CONST = 0  # dst; a number or null: carries no token; see Body.constant
    STRING = 1  # dst; ref = string id
    CLASS = 2  # dst; ref = type id
    NEW = 3  # dst; ref = type id
    NEW_ARRAY = 4  # dst; a = length; ref = type id
    CAST = 5  # dst; a; ref = type id
    DATA = 6  # dst; a, b (or -1): arithmetic, conversions, comparisons; ref = dex opcode; c = literal of a /lit form
    NODATA = 7  # dst; carries no token: instance-of (a; ref = type id), array-length (a), method handle or type ()
    CAUGHT = 8  # dst; ref = first handler in Body.handler_* that leads here, see Body.caught_by; first op of its block
    PHI = 9  # dst; args = the distinct values that come in, ascending (what is undefined on some path is left out)
    GET = 10  # dst; a = base; ref = field id
    PUT = 11  # a = base; b = value; ref = field id
    SGET = 12  # dst; ref = field id
    SPUT = 13  # a = value; ref = field id
    AGET = 14  # dst; a = array; b = index
    APUT = 15  # a = array; b = index; c = value
    CALL = 16  # dst or -1; args, receiver first, a wide one once; ref = method id (CUSTOM: call site id); c = CallKind
    RETURN = 17  # a or -1
    THROW = 18  # a
    IF = 19  # a, b (b -1: compared with zero; a -1: any successor); ref = dex opcode or -1; ends a block
    SWITCH = 20  # a; ref, c = first row and number of rows in the dex's switch table; ends a block
    GOTO = 21  # ends a block
    MONITOR = 22  # a; ref = dex opcode
    FILL = 23  # a = array: fill-array-data, primitives only
    UNKNOWN = 24  # dst; ref = type id: a value of that type from outside (synthetic code only)
    NOP = 25


class CallKind(IntEnum):
    """How a CALL finds its target. The method of a POLYMORPHIC one has the descriptor of the call site."""

    VIRTUAL = 0
    SUPER = 1
    DIRECT = 2
    STATIC = 3
    INTERFACE = 4
    POLYMORPHIC = 5
    CUSTOM = 6


@dataclass(frozen=True, slots=True)
class Body:
    """SSA code of one method.

    Values 0 .. n_params-1 are the parameters, `this` first (a wide parameter is one value). Blocks are in reverse
    post-order, block 0 is the entry and has no predecessor. A block may be empty, and one that falls through to its
    only successor ends with no jump. CAUGHT and PHI come first in a block, PHIs take effect together. An exceptional
    edge leaves from the state before each operation of a block that `throws`; it leads to all handlers of the block's
    range, and a PHI there has the values that a register may have at any of these places. An operand that no path
    defines is -1, also in `args`; no code that Android accepts has one.
    """

    n_params: int
    n_values: int
    op: NDArray[np.uint8]  # (n_ops,)
    pc: I4  # (n_ops,) 16-bit units; -1 for PHI of synthetic joins
    dst: I4  # (n_ops,)
    a: I4  # (n_ops,)
    b: I4  # (n_ops,)
    c: I4  # (n_ops,)
    ref: I4  # (n_ops,)
    arg_off: I4  # (n_ops + 1,) CSR
    args: I4
    throws: NDArray[np.bool_]  # (n_ops,) may throw
    block_off: I4  # (n_blocks + 1,) CSR into ops
    succ_off: I4  # (n_blocks + 1,) CSR, normal edges only
    succ: I4  # fall-through first; without duplicates
    block_range: I4  # (n_blocks,) try range that covers the block, or -1 (blocks are split at range bounds)
    range_off: I4  # (n_ranges + 1,) CSR into handlers
    handler_type: I4  # (n_handlers,) type id, -1 catches all; in the order in which they are tried
    handler_block: I4  # (n_handlers,) block
    in_cycle: NDArray[np.bool_]  # (n_blocks,) lies on a CFG cycle (exceptional edges count)
    constant: dict[int, int]  # SSA value -> integer, where it is a known constant (0 also for null)
    value_reg: I4  # (n_values,) dex register that the value was defined in, -1 unknown

    @property
    def n_blocks(self) -> int:
        """Number of basic blocks."""
        return len(self.block_off) - 1

    def caught_by(self, block: int) -> list[tuple[int, int]]:
        """All (range, handler) that lead to a block, ascending: what its CAUGHT stands for."""
        found = np.flatnonzero(self.handler_block == block)
        ranges = np.searchsorted(self.range_off, found, side="right") - 1
        return list(zip(ranges.tolist(), found.tolist(), strict=True))

    def handlers_of(self, block: int) -> list[int]:
        """Handler blocks of a block's exceptional edges, without duplicates; empty where nothing throws."""
        covering = int(self.block_range[block])
        if covering < 0 or not self.throws[self.block_off[block] : self.block_off[block + 1]].any():
            return []
        handlers = self.handler_block[self.range_off[covering] : self.range_off[covering + 1]]
        return list(dict.fromkeys(handlers.tolist()))
