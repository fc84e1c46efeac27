"""Numba types of the shape pass's arrays."""

from __future__ import annotations

from gpu.jit import prepare

prepare()

from numba import types  # noqa: E402  (after the cache folder is chosen)

from gpu.shape.blocks import block_type  # noqa: E402
from gpu.shape.layout import Code, Contents, Encoding, Flow, Out, State, World  # noqa: E402

I4 = types.Array(types.int32, 1, "C")
I4X2 = types.Array(types.int32, 2, "C")
I8 = types.Array(types.int64, 1, "C")
U8 = types.Array(types.uint64, 1, "C")
U8X2 = types.Array(types.uint64, 2, "C")
INT = types.int64
MAP = I4X2

WORLD = block_type(World)
CODE = block_type(Code)
STATE = block_type(State)
OUT = block_type(Out)
CONTENTS = block_type(Contents)
FLOW = block_type(Flow)
ENCODING = block_type(Encoding)
