"""Numbers shared by the kernels and the code around them: columns of work tables, reasons for damage."""

from __future__ import annotations

BASE, END, TABLES = range(3)
"""Columns of the table of dex files; from TABLES on three per kind of id: count, absolute offset, first row."""

CLASSES = 7
"""Kind number of class definitions, behind the kinds of ids in `opcodes.KINDS`."""

LIMITS = TABLES + 3 * (CLASSES + 1)
"""Further columns: the counts of the kinds of ids once more, in a row, then a number that nothing exceeds."""

DEX_COLUMNS = LIMITS + CLASSES + 1

N_INSNS, N_ARGS, N_LIT64, N_SWITCH, N_PAYLOADS, N_TRIES, N_HANDLERS = range(7)
"""Columns of the counts of a code item: rows that it needs in each table."""

N_COUNTS = 7

FRAME, INS, OUTS, EXTENT = range(4)
"""Columns of the header of a code item: registers, words of arguments in and out, length in 16-bit units."""

DAMAGED, NESTED = 1, 2
"""Status of a class."""

STATUS = (
    "ok",
    "code item lies outside the file or is not aligned",
    "no instructions",
    "cut off",
    "more code, cases or handlers than a file of this size can hold",
    "unassigned opcode",
    "register or argument count out of range",
    "index out of range",
    "branch to something that is not an instruction",
    "damaged switch or array payload",
    "damaged try or handler table",
)
"""What `Dex.code_status` means."""

ACCEPTED, BAD_HEADER, NO_CODE, CUT_OFF, TOO_LARGE, BAD_OPCODE, BAD_REGISTER = range(7)
BAD_INDEX, BAD_BRANCH, BAD_PAYLOAD, BAD_TRIES = range(7, 11)
