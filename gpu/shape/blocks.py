"""Blocks: arrays that belong together, handed to kernels as one pointer to a table of their addresses.

A kernel reads `block.name` as an array that is not counted by Numba's memory manager: whoever calls the kernel keeps
the block alive. Passing thirty arrays one by one would cost more in compile time than all the rest.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from gpu.jit import prepare

prepare()

from numba import types  # noqa: E402
from numba.core import cgutils  # noqa: E402
from numba.core.datamodel import models  # noqa: E402
from numba.core.extending import NativeValue, register_model, typeof_impl, unbox  # noqa: E402
from numba.core.imputils import lower_getattr_generic  # noqa: E402
from numba.core.typing.templates import AttributeTemplate  # noqa: E402
from numba.extending import infer_getattr  # noqa: E402
from numba.np.arrayobj import make_array, populate_array  # noqa: E402
from numba.np.numpy_support import from_dtype  # noqa: E402

ir = cgutils.ir

Fields = tuple[tuple[str, type, int], ...]


class Block:
    """Arrays by name. `FIELDS` says of each: name, dtype, number of dimensions. All are C-contiguous."""

    FIELDS: ClassVar[Fields] = ()

    def __init__(self, *arrays: Any, **named: Any) -> None:
        given: dict[str, Any] = dict(zip((name for name, _, _ in self.FIELDS), arrays, strict=False))
        self._arrays = {**given, **named}
        self._table = np.zeros((len(self.FIELDS), 3), np.int64)
        for i, (name, dtype, ndim) in enumerate(self.FIELDS):
            array = self._arrays[name]
            if array.dtype != dtype or array.ndim != ndim or not array.flags.c_contiguous:
                raise TypeError(f"{name}: expected {np.dtype(dtype)} in {ndim} dimensions")
            setattr(self, name, array)
            self._table[i, 0] = array.ctypes.data
            self._table[i, 1 : 1 + ndim] = array.shape
        self.address = int(self._table.ctypes.data)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def replace(self, **changes: Any) -> Any:
        """The block with some arrays exchanged."""
        return type(self)(**{**self._arrays, **changes})


class BlockType(types.Type):  # type: ignore[misc]
    """Numba's type of a block."""

    def __init__(self, name: str, fields: Fields) -> None:
        self.fields = tuple((field, types.Array(from_dtype(np.dtype(dtype)), n, "C")) for field, dtype, n in fields)
        super().__init__(name=f"Block({name})")


@register_model(BlockType)
class _BlockModel(models.OpaqueModel):  # type: ignore[misc]
    pass


@infer_getattr
class _BlockAttribute(AttributeTemplate):  # type: ignore[misc]
    key = BlockType

    def generic_resolve(self, block: Any, name: str) -> Any:
        return dict(block.fields).get(name)


@lower_getattr_generic(BlockType)  # type: ignore[untyped-decorator]
def _get(context: Any, builder: Any, block: Any, value: Any, name: str) -> Any:
    """An array of a block, from its row in the table."""
    index = [field for field, _ in block.fields].index(name)
    kind = block.fields[index][1]
    word = ir.IntType(64)
    table = builder.bitcast(value, word.as_pointer())
    entries = [builder.load(builder.gep(table, [ir.Constant(word, 3 * index + k)])) for k in range(1 + kind.ndim)]
    array = make_array(kind)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
    shape = entries[1:]
    strides = [ir.Constant(word, size)]
    for n in reversed(shape[1:]):
        strides.insert(0, builder.mul(n, strides[0]))
    populate_array(
        array,
        data=builder.inttoptr(entries[0], context.get_data_type(kind.dtype).as_pointer()),
        shape=cgutils.pack_array(builder, shape),
        strides=cgutils.pack_array(builder, strides),
        itemsize=ir.Constant(word, size),
        meminfo=None,
    )
    return array._getvalue()


@unbox(BlockType)  # type: ignore[untyped-decorator]
def _unbox(kind: Any, obj: Any, c: Any) -> Any:
    address = c.pyapi.object_getattr_string(obj, "address")
    number = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    pointer = c.builder.inttoptr(number, c.context.get_value_type(kind))
    return NativeValue(pointer, is_error=cgutils.is_not_null(c.builder, c.pyapi.err_occurred()))


def block_type(cls: type[Block]) -> BlockType:
    """Numba's type of a class of blocks."""
    made = BlockType(cls.__name__, cls.FIELDS)
    typeof_impl.register(cls)(lambda value, context: made)
    return made
