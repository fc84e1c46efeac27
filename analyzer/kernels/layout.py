"""Numbers shared by the kernels and the code around them: operations, columns of tables and of work space."""

from __future__ import annotations

import functools

from gpu import jit

kernel = functools.partial(jit.kernel, _nrt=False)
"""Kernels here allocate nothing. Without this Numba counts references of arrays, atomically, at every call."""

helper = kernel(helper=True)
"""What kernels call. Without a signature, so that a process that finds the kernels compiled does not load it; so give
it int64 and no literals where the type of an argument could differ: each combination is compiled by itself.
"""

CONST, STRING, CLASS, NEW, NEW_ARRAY, CAST, DATA, NODATA, CAUGHT, PHI, GET, PUT, SGET = range(13)
SPUT, AGET, APUT, CALL, RETURN, THROW, IF, SWITCH, GOTO, MONITOR, FILL, UNKNOWN, NOP = range(13, 26)
"""Operations: the numbers of `analyzer.ir.Op`."""

MOVE, FILLED, RESULT = 32, 33, 34
"""Operations of rows only. MOVE: register dst takes the value of register a. FILLED: filled-new-array, becomes
NEW_ARRAY and APUTs. RESULT: move-result before folding; none is left in a finished table."""

R_OP, R_PC, R_DST, R_A, R_B, R_C, R_REF, R_THROWS = range(8)
"""Columns of a row of three-address code over registers."""

T_BEGIN, T_END, T_FIRST, T_LAST = range(4)
"""Columns of a try range: instructions, relative to the method's first, and rows of handlers."""

LITERAL_POOL = 0x18
"""This opcode and the next have a literal that is an index into the pool of 64-bit numbers."""

# Work space, one method at a time. Blocks are raw (in the order of the code) or final (in reverse post-order).

I_NUMBER, I_DECIDED = range(2)
"""Per instruction: raw block that it begins, or -1; instruction at which a decided branch continues, or -1."""
N_INSN = 2

B_FIRST, B_END, B_RANGE, B_CATCH, B_SUCC, B_POS, B_STAMP, B_LEFT, B_STACK, B_POST = range(10)
"""Per raw block: first and end instruction; try range; try range if it has an exceptional edge; first edge; place in
the final order; scratch; children not visited yet; stack of the walk; its post-order."""
N_RAW = 10

Y_TARGETS, Y_NEW, Y_ZERO = range(3)
"""Per try range: first distinct handler block; final number or -1; leads to block 0."""
N_TRY = 3

G_FIRST, G_END, G_RANGE, G_CATCH, G_SUCC, G_PRED, G_INTO, G_HANDLER, G_THROWN, G_OPS, G_STAMP, G_LOW = range(12)
"""Per final block: as above; first edge out and in; first range that leads here; first handler that does; first row of
what is visible at throws; first operation; scratch; scratch."""
G_STACK, G_LEFT, G_BLOCKS, G_PENDING, G_PHIS, G_EDGE = range(12, 18)
"""Stacks; blocks of ranges; whether phis wait for a later block; first phi; the edge that is taken, ALL or NO_EDGE."""
N_FINAL = 18

ALL, NO_EDGE = -1, -2

E_RAW, E_SUCC, E_PRED = range(3)
"""Per edge: raw successor, final successor, final predecessor."""
N_EDGE = 3

H_RAW, H_BLOCK, H_TARGET, H_INTO, H_TYPE = range(5)
"""Per handler: distinct raw targets of try ranges; final block of each handler; distinct final targets of final ranges;
ranges that lead to a block; caught type."""
N_HANDLER = 5

Z_HANDLERS, Z_TARGETS, Z_BLOCKS, Z_TRY = range(4)
"""Per final range: first handler, first distinct target, first block; try range."""
N_RANGE = 4

S_LIST, S_WANTED, S_STAMP, S_ONLY, S_PHI, S_LAST, S_BLOCK, S_AT, S_TIMES = range(9)
"""Per register. The registers that a join looks at, as a list and as marks; while it does: block that defines it; the
one value that comes in, NONE or MANY; its phi; value noted last. While a block is renamed: block that defined it last,
and the instruction. Number of definitions."""
N_REGISTER = 9

LIVE, DEFINED, EARLY = 1, 2, 4
"""Per block and register: live at its head; defined in it; defined in it before its first throw."""

V_REGISTER, V_FOLDABLE, V_KNOWN, V_PHI, V_NUMBER, V_STATE = range(6)
"""Per value: register; may turn out a constant; is one; its phi or -1; final number; state in a propagation."""
N_VALUE = 6

F_VALUE, F_IN, F_HEAD, F_TAIL, F_INSTEAD, F_LIVE, F_STACK = range(7)
"""Per phi: value; first incoming value; phis that it comes into, a list of pairs; what it is replaced by, or NONE;
whether it is used (or waits); stack."""
N_PHI = 7

P_PHI, P_VALUE, P_NEXT, P_IN, P_OF = range(5)
"""Per pair of a phi (first a register) and a value that comes in: both; next in a list; sorted by phi: values, phis."""
N_PAIR = 5

W_REGISTER, W_VALUE = range(2)
"""Per value that a register defined in a block may have at a throw: both. A first row per definition has NONE."""
N_VISIBLE = 2

O_OP, O_PC, O_DST, O_A, O_B, O_C, O_REF, O_THROWS, O_ARG = range(9)
"""Per operation: its columns (op -1: was dropped); first argument of a CALL, everywhere the number of those before."""
N_OP = 9

M_OPS, M_USES, M_VALUES, M_PHIS, M_PAIRS, M_VISIBLE, M_BRANCHES = range(7)
"""How much of a method there is so far; whether branches may turn out to be decided."""
N_TOTAL = 7

NONE, MANY = -2, -3
"""No value yet; several."""

# What comes out.

C_PC, C_DST, C_A, C_B, C_C, C_REF = range(6)
"""Columns of operations, beside op and throws."""
N_COLUMNS = 6

K_OPS, K_ARGS, K_BLOCKS, K_SUCCS, K_RANGES, K_HANDLERS, K_VALUES, K_CONSTANTS = range(8)
"""Tables of bodies; CSR offsets of a method in one stand behind those of all methods before, one row more each."""
N_TABLES = 8

DONE, FULL, TOO_LARGE, CRAMPED = range(4)
"""What became of a method: it has a body; the output is full; too many registers for its blocks; too little work
space for its phis."""

HEAD, TAIL, EVENTS, ROWS = range(4)
"""State of a flow of types: ends of the ring of nodes that wait; number of events."""
