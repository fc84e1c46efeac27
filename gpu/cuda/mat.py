"""Rung `mat`, matrix-based data structure: the facts of a node are a bit matrix of fixed size, union is OR.

`gpu.cuda.rounds` is written for this: slots and heap rows × instances at an address that the number of the node gives,
so nothing is allocated, searched or compared.
"""
