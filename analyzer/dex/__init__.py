"""Dex files to columns: `read` gives every id table, class, instruction and handler of an app as arrays.

Formats 035 to 041, containers included. Import is cheap; Numba is loaded by the first `read`.
"""

from analyzer.dex import opcodes
from analyzer.dex.header import Problem
from analyzer.dex.layout import STATUS
from analyzer.dex.reader import read
from analyzer.dex.strings import StringTable
from analyzer.dex.tables import Dex

__all__ = ["STATUS", "Dex", "Problem", "StringTable", "opcodes", "read"]
