"""Loops over whole apps, compiled by Numba. Import of one of these modules, but `layout`, compiles (or loads) it.

`bodies`: SSA code of many methods at once (`graphs`, `liveness`, `renaming`, `settling` and `folding` are its steps).
The readable definitions that these follow are kept as oracles in the tests.

Rules that keep these safe, as array bounds are not checked here: input was validated by the reader and by
`analyzer.lift`; work space is sized by the caller from counts of the input; what cannot be foretold (phis, output) is
compared with the room that there is.
"""
