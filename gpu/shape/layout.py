"""The arrays of the shape pass: what their rows and columns mean. All are flat, C-contiguous and grow at their end.

Tokens and sites have one number in the whole app (*gid*), tokens also a number in each method. Fields are numbered
densely: a dex field f is 2 f, pseudo-field number p is 2 p + 1. A *filter* says what may enter a row: -1 everything,
-2 labels and formals, -3 objects that may be called back, -100 and below the routes of the root, else a type.
A *through* is a set of fields that a region is reached through, a row of bits over the fields in use.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gpu.shape.blocks import Block

# Token kinds, as in analyzer.tokens.
OBJECT, FORMAL, DEEP, TAINT, BY_TYPE, UNKNOWN, BEYOND, LIBRARY_BY_TYPE, FRESH, SOURCE = range(10)
FOLDED, ANYWHERE, FORGOTTEN = -1, -2, -3
# Row kinds, as in analyzer.tokens; VALUE for SSA values.
RETURN, THROWN, RANGE, STATIC, PSEUDO, SINK, TABLE, TABLE_CELL, CELL, RETURN_DATA, CELL_DATA, PARAMETER = range(12)
VALUE = -1
HERE = -2
"""Site of a sink row in a library summary: the call at hand."""

# Filters.
DATA_ONLY, ESCAPES, ROUTES = -2, -3, -100

# tok: one row per token.
T_KIND = 0
T_A = 1  # site, root, source, type
T_B = 2  # context, parent (a gid; FORMAL: -1 for a root), own, site
T_C = 3  # FORMAL: last field
T_TYPE = 4  # known type, -1 unknown; of a parameter: see State.params
T_FLAGS = 5
T_DEPTH = 6  # FORMAL: length of the path
T_BASE = 7  # OBJECT: the token of its site without context; else itself
T_MEMBER = 8  # member of the table that it stands for, or -1
T_COLUMNS = 9

# Token flags.
IS_LABEL, IS_DATA, EXACT, OUTSIDE, PATH_OWN, OWN_PATH, TEXT, ESCAPING, OWN_MADE, WEAK_PATH, MANY, FORGOT = (
    1 << i for i in range(12)
)

# site: one row per site.
S_METHOD, S_OP, S_PC, S_KIND, S_TYPE, S_TEXT, S_FLAGS = range(7)
S_COLUMNS = 7
NEW, STRING, CLASS, LIBRARY, EXCEPTION, CALL_SITE, PARAMETER_SITE = range(7)
SITE_OWN_MADE, SITE_ESCAPING, SITE_MEMBER, SITE_OWN_METHOD = 1, 2, 4, 8

# fld: one row per field.
F_CLASS, F_TYPE, F_FILTER, F_WILD, F_FLAGS, F_BIT, F_THROUGH = range(7)
F_COLUMNS = 7
PSEUDO_FIELD, OWN_FIELD, PRIVATE_FIELD, WEAK_FIELD, DATA_FIELD, ENV_FIELD = (1 << i for i in range(6))

# Flags of a through (thf).
TH_OWN, TH_PRIVATE, TH_STAR, TH_OUTER, TH_ANY_GROUP, TH_ELEM_GROUP, TH_LIBRARY = (1 << i for i in range(7))

# Maps: rows (kind, a, b, c, value, used); the last row holds the number of entries.
K_TOKEN, K_SITE, K_TYPE, K_DISPATCH, K_EFFECT, K_PLACE, K_THROUGH, K_UNION = range(8)
# Kinds of entries of a method's own map.
(
    M_TOKEN, M_ROW, M_CELL, M_READ, M_BELOW, M_REGION, M_STAMP, M_MASK, M_PLACE, M_SHARED, M_ORIGIN, M_NOTHING,
) = range(20, 32)  # fmt: skip

# Places of the table (K_PLACE: kind, a, b): what they hold is a list of gids, or of fields.
P_STATIC, P_CELL, P_REACHED, P_RELATED = range(4)

# hdr: numbers of the whole app.
(
    N_TOKENS, N_SITES, N_THROUGHS, N_COLS, N_ROWS, N_LISTS, N_BITS, N_SUMMARIES, N_MISSES, N_CONTRIBUTIONS,
    FIELD_STAR, FIELD_OUTER, FIELD_BELOW, FIELD_BELOW_OWN, FIELD_ANY, FIELD_ELEM, FIELD_VALUE, FIELD_ESCAPED,
    TOKEN_UNKNOWN, TOKEN_FOLDED, TOKEN_ANY_MEMBER, TOKEN_FORGOTTEN, MAX_KEYS, MAX_TOKENS, TYPE_OBJECT,
) = range(25)  # fmt: skip
H_SIZE = 32

# typ: one row per type; the supertypes of a type are a sorted list.
TY_FLAGS, TY_SUPERTYPES, TY_RANK, TY_ELEMENT = range(4)
TY_COLUMNS = 4
TY_DESCRIBED, TY_KNOWN, TY_COMPLETE, TY_INTERFACE, TY_FINAL, TY_PRIMITIVE, TY_ABOVE_ARRAYS = (1 << i for i in range(7))

# mth: one row per method of the program.
MT_CLASS, MT_PARAMS, MT_N_PARAMS, MT_OWN, MT_SUMMARY = range(5)
MT_COLUMNS = 5

# prm: primitives of a method.
P_KIND, P_OP, P_DST, P_SRC, P_FIELD, P_FILTER, P_KEY, P_VALUE = range(8)
P_COLUMNS = 8
GEN, OR, LOAD, STORE, CALL, TABLE_GET = range(6)

# cal: calls of a method.
(
    C_SITE, C_METHOD, C_DISPATCHED, C_ARGS, C_N_ARGS, C_DST, C_TARGETS, C_N_TARGETS, C_LIBRARY, C_SHIMMED, C_MARKED,
    C_THROWN, C_N_THROWN, C_IN_CYCLE, C_EFFECT, C_SHIM, C_RETURN, C_OP, C_PC, C_TEXTS,
) = range(20)  # fmt: skip
C_COLUMNS = 20

# Summaries (smm), their columns (smc) and rows (smr).
SM_COLS, SM_N_COLS, SM_ROWS, SM_N_ROWS, SM_BITS, SM_WORDS, SM_ENTRIES, SM_MUST, SM_N_MUST, SM_PATHS, SM_REGION = range(
    11
)
SM_COLUMNS = 11
SC_KIND, SC_TOKEN, SC_PARENT, SC_FIELD, SC_THROUGH, SC_REGION, SC_N_REGION, SC_ALIAS, SC_N_ALIAS, SC_UNIQUE = range(10)
SC_COLUMNS = 10
CONSTANT, ROOT, CHILD, REGION = range(4)
SR_KIND, SR_A, SR_B, SR_C, SR_OWNER = range(5)
SR_COLUMNS = 5

# hd: numbers of one method.
(
    R_COUNT, T_COUNT, CLOCK, HEAP_STAMP, CHANGED, STATUS, M_COUNT, E_COUNT, FOLD, MERGE_KEYS, PATH_LENGTH, CONTEXT,
    IS_ROOT, CAP, METHOD, N_VALUES, N_PARAMS, RECURSIVE, PLAN_COUNT, CONSTRUCTOR, UNSEEN, MISSED, ANY_MISSED,
    CACHED,
) = range(24)  # fmt: skip
HD_SIZE = 24

# Status of a kernel: what must be made larger, or which bound was hit.
(
    FINE, GROW_ROWS, GROW_WORDS, GROW_TOKENS, GROW_MAP, GROW_ENTRIES, GROW_MASKS, GROW_SIGMA, GROW_WORLD, MISSING,
    OVER_TOKENS, OVER_KEYS, OVER_EXPORT, GROW_PLAN, STOPPED, GROW_CACHE, GROW_ENCODED, AGAIN,
) = range(18)  # fmt: skip

# ri: rows of a method.
R_KIND, R_A, R_B, R_C, R_FILTER, R_ENTRY, R_NEXT, R_STAMP = range(8)
R_COLUMNS = 8
# tk: tokens of a method.
TK_GID, TK_CELLS, TK_COUNT, TK_KEYED, TK_TARGET, TK_ORIGINS, TK_UNIQUE, TK_STAMP = range(8)
TK_COLUMNS = 8

# Rows of mk that are always there.
LABELS, DATA = 0, 1
# Rows of the scratch tmp.
X_VALUE, X_READ, X_FRONTIER, X_BITS, X_ONE, X_OWNERS, X_LIBRARY, X_ANYWHERE, X_MASK = range(9)
X_ROWS = 9


class World(Block):
    """What all methods share."""

    FIELDS = (
        ("hdr", np.int64, 1),  # int64[H_SIZE]
        ("tok", np.int32, 2),  # int32[:, T_COLUMNS]
        ("site", np.int32, 2),  # int32[:, S_COLUMNS]
        ("fld", np.int32, 2),  # int32[:, F_COLUMNS]
        ("known", np.int32, 2),  # map: everything interned or answered, by kind
        ("thr", np.uint64, 2),  # uint64[:, words] fields of each through, as bits
        ("thf", np.int32, 1),  # int32[:] flags of each through
        ("lists", np.int32, 1),  # int32[:] lists: length, then items
        ("miss", np.int32, 1),  # int32[:] questions that only the caller can answer: (kind, n, n numbers)
        ("typ", np.int32, 2),  # int32[:, TY_COLUMNS]
        ("mth", np.int32, 2),  # int32[:, MT_COLUMNS]
        ("par", np.int32, 1),  # int32[:] filters of parameters, receiver first
        ("smm", np.int32, 2),  # int32[:, SM_COLUMNS]
        ("smc", np.int32, 2),  # int32[:, SC_COLUMNS]
        ("smr", np.int32, 2),  # int32[:, SR_COLUMNS]
        ("sml", np.int32, 1),  # int32[:] lists of summaries
        ("smb", np.uint64, 1),  # uint64[:] bits of summaries
    )


class Code(Block):
    """What a method does; fixed."""

    FIELDS = (
        ("prm", np.int32, 2),  # int32[:, P_COLUMNS]
        ("cal", np.int32, 2),  # int32[:, C_COLUMNS]
        ("lst", np.int32, 1),  # int32[:] arguments, targets, rows of thrown exceptions, keys of constant arguments
        ("cyc", np.uint8, 1),  # uint8[:] whether an operation lies on a cycle
    )


class State(Block):
    """What is known of a method so far."""

    FIELDS = (
        ("hd", np.int64, 1),  # int64[HD_SIZE]
        ("rb", np.uint64, 2),  # uint64[rows, words] facts
        ("ri", np.int32, 2),  # int32[rows, R_COLUMNS]
        ("tk", np.int32, 2),  # int32[tokens, TK_COLUMNS]
        ("mp", np.int32, 2),  # map: tokens, rows, cells by name, and what was seen
        ("eb", np.uint64, 2),  # uint64[entries, words] what rows held on entry
        ("sb", np.uint64, 2),  # uint64[entries, words] of that, what was stored again
        ("mk", np.uint64, 2),  # uint64[masks, words]
        ("mi", np.int32, 2),  # int32[masks, 2] (filter, tokens looked at)
        ("params", np.int32, 1),  # int32[:] declared types of parameters
        ("done", np.int64, 1),  # int64[primitives] clock at the last evaluation
        ("used", np.int32, 1),  # int32[:] summaries used at the last evaluation, per target of each call
        ("sg", np.uint64, 2),  # uint64[columns, words] scratch: substitution
        ("tmp", np.uint64, 2),  # uint64[X_ROWS, words] scratch
        ("rc", np.uint64, 2),  # uint64[reads, words] what a read of a token found; row 0 is none
        ("rs", np.int64, 1),  # int64[reads] clock when it was found
    )


class Out(Block):
    """Scratch of an export."""

    FIELDS = (
        ("num", np.int64, 1),  # int64[4] numbers of columns and rows
        ("plan", np.int32, 2),  # int32[:, 2] (row, token that is not exported or -1)
        ("map", np.int32, 2),  # map: columns by token, rows by name
        ("col", np.int32, 2),  # int32[:, 3] (token, wanted, number after sorting)
        ("row", np.int32, 2),  # int32[:, SR_COLUMNS]
        ("bits", np.uint64, 2),  # uint64[rows, words] over unsorted columns
        ("order", np.int32, 1),  # int32[:] columns, sorted
        ("sorted", np.int32, 1),  # int32[:] rows, sorted
        ("must", np.int32, 1),  # int32[:] pairs (token or -1, field)
        ("slots", np.int32, 1),  # int32[:] rows of the map that are in use
    )


O_COLS, O_ROWS, O_SLOTS = range(3)


class Contents(Block):
    """What methods put into the table of library statics."""

    FIELDS = (
        ("num", np.int64, 1),  # int64[2] how many places and tokens there are
        ("place", np.int32, 2),  # int32[places, 3] (member or -1, static or field, whether it holds more than before)
        ("held", np.uint64, 2),  # uint64[places, words] tokens, by number
        ("gid", np.int32, 1),  # int32[tokens] token of a number
        ("number", np.int32, 1),  # int32[gids] number of a token, or -1
        ("map", np.int32, 2),  # map: places by name
    )


C_PLACES, C_TOKENS = range(2)


class Flow(Block):
    """The control flow of a method, and what its primitives clear."""

    FIELDS = (
        ("returns", np.uint8, 1),  # uint8[operations]
        ("throws", np.uint8, 1),  # uint8[operations]
        ("ops", np.int32, 1),  # int32[blocks + 1] operations of each block
        ("range", np.int32, 1),  # int32[blocks] try range that covers the block, or -1
        ("succ_off", np.int32, 1),  # int32[blocks + 1]
        ("succ", np.int32, 1),
        ("range_off", np.int32, 1),  # int32[ranges + 1]
        ("handler", np.int32, 1),  # int32[:] block
        ("clear_off", np.int32, 1),  # int32[primitives + 1]
        ("clear", np.int32, 1),  # int32[:] rows that a primitive clears
    )


class Encoding(Block):
    """The encoded problem as it grows, and scratch for one method. `X_off` of the problem are the ends here."""

    FIELDS = (
        ("cnt", np.int64, 1),  # int64[E_SIZE] how much of each is in use
        ("per", np.int32, 2),  # int32[methods, PER_COLUMNS]
        ("col", np.int32, 2),  # int32[:, 2] (flag, export column or -1)
        ("row", np.int32, 2),  # int32[:, 4] (kind, mask, row in the state, its kind there)
        ("mask_end", np.int32, 1),
        ("mask", np.int32, 1),  # int32[:] column
        ("link_end", np.int32, 1),
        ("link", np.int32, 2),  # int32[:, 2] (column, row)
        ("entry", np.int32, 2),  # int32[:, 2] (row, column)
        ("block", np.int32, 2),  # int32[:, 2] ends of (successors, operations)
        ("succ", np.int32, 1),
        ("op", np.int32, 2),  # int32[:, OP_COLUMNS]
        ("clear", np.int32, 1),
        ("call_end", np.int32, 1),  # int32[:] end of applications
        ("app", np.int32, 2),  # int32[:, 3] (summary, end of bindings, end of writes)
        ("bind", np.int32, 2),  # int32[:, 3] (at, link, mask)
        ("write", np.int32, 2),  # int32[:, 3] (row, link, mask)
        ("export", np.int32, 2),  # int32[:, 4] (row, export row, column not exported or -1, mask)
        ("place", np.int32, 2),  # int32[:, 2] per operation: (block or -1, operations of the block before it)
        ("constant", np.int32, 1),  # int32[:] constant summaries
        ("known", np.int32, 2),  # map: masks and links of a method by content
        ("number", np.int32, 1),  # int32[methods of the program] number of its summary, or -1
        ("constant_of", np.int32, 1),  # int32[summaries] number among the constant ones, or -1
        # Scratch.
        ("map", np.int32, 1),  # int32[rows of the state] row, or -1
        ("first", np.int32, 1),  # int32[operations] first primitive of an operation, or -1
        ("next", np.int32, 1),  # int32[primitives] next primitive of the same operation, or -1
        ("node", np.int32, 2),  # int32[:, NODE_COLUMNS] blocks before they are numbered
        ("edge", np.int32, 2),  # int32[:, 2] (node, next edge of the same node or -1)
        ("draft", np.int32, 2),  # int32[:, OP_COLUMNS] operations by node
        ("stack", np.int32, 2),  # int32[nodes, 2] (node, edge to go on with)
        ("order", np.int32, 1),  # int32[nodes]
        ("applied", np.int32, 2),  # int32[:, 2] (target or -1, summary) of the call at hand
    )


# cnt
(
    E_COLS, E_ROWS, E_MASKS, E_MASK_COLS, E_LINKS, E_PAIRS, E_ENTRIES, E_BLOCKS, E_SUCCS, E_OPS, E_CLEARS, E_CALLS,
    E_APPS, E_BINDS, E_WRITES, E_EXPORTS, E_PLACES, E_CONSTANTS, E_NODES, E_EDGES, E_DRAFTS, E_APPLIED, E_SERIAL,
    E_NUMBER,
) = range(24)  # fmt: skip
E_SIZE = 24
PER_COLS, PER_ROWS, PER_ENTRIES, PER_BLOCKS, PER_EXIT, PER_EXPORTS, PER_PLACES = range(7)
PER_COLUMNS = 7
OP_KIND, OP_DST, OP_SRC, OP_LINK, OP_MASK, OP_ORIGIN, OP_EXTRA, OP_CLEAR = range(8)
"""OP_EXTRA: it is an effect at an exceptional edge. OP_CLEAR: in drafts the primitive, else the end of rows."""
OP_COLUMNS = 8
NODE_FIRST, NODE_END, NODE_EDGE, NODE_LAST, NODE_NUMBER = range(5)
NODE_COLUMNS = 5


def new_map(entries: int) -> np.ndarray[Any, np.dtype[np.int32]]:
    """An empty map with room for a number of entries."""
    size = 16
    while size < 2 * entries:
        size *= 2
    return np.zeros((size + 1, 6), np.int32)
