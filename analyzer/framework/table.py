"""The stored form of the framework model: string tables and index arrays, deflated in one file.

magic, then a zlib stream of little-endian data:
u4 counts (8,): classes, other types, names, interfaces, methods, signatures, signature types, bytes of text
text        class descriptors (sorted), other types (sorted), method names (sorted), UTF-8, joined by newlines
u2 super            (classes,)      type index + 1, 0 for none; the classes are the first types
u1 class_flags      (classes,)      INTERFACE | ABSTRACT | FINAL
u4 interface_off    (classes + 1,)  CSR into interfaces
u2 interfaces                       type index
u4 method_off       (classes + 1,)  CSR into methods
u4 method_name      (methods,)      u4 method_signature (methods,)    u1 method_static (methods,)
u4 signature_off    (signatures + 1,) CSR into signature types
u2 signature_type                   type index; the return type first
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gpu.errors import UnreadableInput

MAGIC = b"GDFRAME1"
INTERFACE, ABSTRACT, FINAL = 1, 2, 4
_SECTIONS = (
    ("super", "<u2"),
    ("class_flags", "u1"),
    ("interface_off", "<u4"),
    ("interfaces", "<u2"),
    ("method_off", "<u4"),
    ("method_name", "<u4"),
    ("method_signature", "<u4"),
    ("method_static", "u1"),
    ("signature_off", "<u4"),
    ("signature_type", "<u2"),
)


@dataclass(slots=True)
class ClassRecord:
    """One class as the generator hands it over; types are descriptors, parameters families."""

    superclass: str | None
    interfaces: list[str]
    flags: int
    methods: set[tuple[str, tuple[str, ...], bool]] = field(default_factory=set)
    """(name, (return family, parameter families…), static)"""


@dataclass(frozen=True, slots=True)
class Table:
    """The decoded arrays; see the module's docstring for shapes and types."""

    types: list[str]
    n_classes: int
    names: list[str]
    arrays: Mapping[str, NDArray[np.unsignedinteger]]


def encode(classes: Mapping[str, ClassRecord]) -> bytes:
    """The bytes of a model; the same model gives the same bytes."""
    descriptors = sorted(classes)
    referred = {kind for record in classes.values() for _, kinds, _ in record.methods for kind in kinds}
    for record in classes.values():
        referred.update(record.interfaces)
        if record.superclass is not None:
            referred.add(record.superclass)
    types = descriptors + sorted(referred - set(descriptors))
    names = sorted({name for record in classes.values() for name, _, _ in record.methods})
    signatures = sorted({kinds for record in classes.values() for _, kinds, _ in record.methods})
    type_index = {kind: at for at, kind in enumerate(types)}
    name_index = {name: at for at, name in enumerate(names)}
    signature_index = {kinds: at for at, kinds in enumerate(signatures)}
    if len(types) >= 0xFFFF:
        raise ValueError(f"{len(types)} types do not fit 16 bits")

    records = [classes[descriptor] for descriptor in descriptors]
    methods = [sorted(record.methods) for record in records]
    columns: dict[str, Sequence[int]] = {
        "super": [0 if r.superclass is None else type_index[r.superclass] + 1 for r in records],
        "class_flags": [record.flags for record in records],
        "interface_off": _offsets([len(record.interfaces) for record in records]),
        "interfaces": [type_index[kind] for record in records for kind in record.interfaces],
        "method_off": _offsets([len(rows) for rows in methods]),
        "method_name": [name_index[name] for rows in methods for name, _, _ in rows],
        "method_signature": [signature_index[kinds] for rows in methods for _, kinds, _ in rows],
        "method_static": [int(static) for rows in methods for _, _, static in rows],
        "signature_off": _offsets([len(kinds) for kinds in signatures]),
        "signature_type": [type_index[kind] for kinds in signatures for kind in kinds],
    }
    text = "\n".join([*types, *names]).encode()
    counts = [
        len(descriptors),
        len(types) - len(descriptors),
        len(names),
        len(columns["interfaces"]),
        len(columns["method_name"]),
        len(signatures),
        len(columns["signature_type"]),
        len(text),
    ]
    body = [np.array(counts, "<u4").tobytes(), text]
    body += [np.array(columns[name], dtype).tobytes() for name, dtype in _SECTIONS]
    return MAGIC + zlib.compress(b"".join(body), 9)


def decode(data: bytes, file: str) -> Table:
    """The table in `data`. Raises UnreadableInput naming `file` where it is not one."""
    if not data.startswith(MAGIC):
        raise UnreadableInput(f"{file}: not a framework model, or one of another version")
    try:
        body = zlib.decompress(data[len(MAGIC) :])
        classes, others, n_names, interfaces, methods, signatures, kinds, n_text = map(
            int, np.frombuffer(body, "<u4", 8)
        )
        of_classes = [classes, classes, classes + 1, interfaces, classes + 1]
        lengths = [*of_classes, methods, methods, methods, signatures + 1, kinds]
        at = 32 + n_text
        text = body[32:at].decode().split("\n")
        arrays: dict[str, NDArray[np.unsignedinteger]] = {}
        for (name, dtype), length in zip(_SECTIONS, lengths, strict=True):
            arrays[name] = np.frombuffer(body, dtype, length, at)
            at += arrays[name].nbytes
    except (zlib.error, ValueError) as error:
        raise UnreadableInput(f"{file}: damaged framework model: {error}") from error
    if at != len(body) or len(text) != classes + others + n_names:
        raise UnreadableInput(f"{file}: damaged framework model: {len(body)} bytes, {at} expected")
    return Table(text[: classes + others], classes, text[classes + others :], arrays)


def _offsets(lengths: Sequence[int]) -> list[int]:
    offsets = [0]
    for length in lengths:
        offsets.append(offsets[-1] + length)
    return offsets
