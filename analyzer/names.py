"""Records of a program: what names things, and what defines them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MethodRef:
    """What names a method."""

    cls: int  # type id
    name: str
    params: tuple[int, ...]  # type ids, without the receiver
    ret: int  # type id


@dataclass(frozen=True, slots=True)
class FieldRef:
    """What names a field."""

    cls: int  # type id
    name: str
    type: int  # type id


@dataclass(frozen=True, slots=True)
class ClassDef:
    """A class that the app (or synthetic code) defines."""

    type: int
    super: int  # type id, -1 none
    interfaces: tuple[int, ...]
    access: int
    source_file: str | None
    dex: int  # index of its dex file, -1 synthetic
    methods: tuple[int, ...]
    fields: tuple[tuple[int, int], ...]  # (field id, access)
    static_values: Mapping[int, tuple[int, int]]  # field id -> (dex VALUE_* kind, number or global id)


@dataclass(frozen=True, slots=True)
class MethodDef:
    """A method that the app (or synthetic code) defines."""

    method: int
    cls: int  # type id
    access: int
    code: int  # code index, -1: abstract, native or synthetic
    direct: bool


@dataclass(frozen=True, slots=True)
class Scan:
    """What a method mentions, in the order of its instructions, read without building its body."""

    calls: list[tuple[int, int]]  # (CallKind, method id; call site id for CUSTOM)
    news: list[int]  # type ids of new-instance
    reads: list[int]  # field ids of static reads
    writes: list[int]  # field ids of static writes
    const_classes: list[int]  # type ids


@dataclass(frozen=True, slots=True)
class Mentions:
    """What some methods mention, each thing once, read without building bodies."""

    calls: list[tuple[int, int]]
    """(CallKind, method id; call site id for CUSTOM), beside those of invoke-super."""
    supers: list[tuple[int, int]]
    """(class of the caller, method id) of invoke-super."""
    news: list[int]
    const_classes: list[int]
    statics: list[int]
    """Field ids that are read or written."""


def split_descriptor(descriptor: str) -> tuple[list[str], str]:
    """Parameter and return descriptors of a method descriptor such as `([ILa/B;)V`."""
    inside, _, ret = descriptor.removeprefix("(").partition(")")
    if not descriptor.startswith("(") or not ret:
        raise ValueError(f"{descriptor!r} is no method descriptor")
    params = []
    at = 0
    while at < len(inside):
        end = at
        while end < len(inside) and inside[end] == "[":
            end += 1
        end = inside.find(";", end) + 1 if inside[end : end + 1] == "L" else end + 1
        if end <= at or end > len(inside):
            raise ValueError(f"{descriptor!r} is no method descriptor")
        params.append(inside[at:end])
        at = end
    return params, ret
