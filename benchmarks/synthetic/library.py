"""Library methods that synthetic code calls, with how often; sources and sinks are rare, and rarer in libraries."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from random import Random

from tests.analyzer.dex.builder import split

OBJECT, STRING, LIST = "Ljava/lang/Object;", "Ljava/lang/String;", "Ljava/util/ArrayList;"
BUILDER, THREAD, EXCEPTION = "Ljava/lang/StringBuilder;", "Ljava/lang/Thread;", "Ljava/lang/Exception;"
VIEW, PHONE = "Landroid/view/View;", "Landroid/telephony/TelephonyManager;"

_VIRTUAL, _STATIC = 0x6E, 0x71
_KINDS = {STRING: "S", OBJECT: "O", LIST: "L", "I": "I", "Z": "I", "V": "V"}


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A method to call; types are those of `bodies.Body.value`, other classes count as Object."""

    op: int
    owner: str
    name: str
    descriptor: str
    receiver: str
    params: tuple[str, ...]
    returns: str


def _call(receiver: str, owner: str, name: str, descriptor: str) -> LibraryCall:
    params, returns = split(descriptor)
    kinds = tuple(_KINDS.get(kind, "N") for kind in params)
    op = _VIRTUAL if receiver else _STATIC
    return LibraryCall(op, owner, name, descriptor, receiver, kinds, _KINDS.get(returns, "O"))


_USUAL = (
    *((9, _call("S", STRING, "length", "()I")), (5, _call("S", STRING, "substring", f"(I){STRING}"))),
    *((8, _call("S", STRING, "equals", f"({OBJECT})Z")), (3, _call("S", STRING, "trim", f"(){STRING}"))),
    *((3, _call("S", STRING, "indexOf", f"({STRING})I")), (6, _call("", STRING, "valueOf", f"({OBJECT}){STRING}"))),
    *((6, _call("O", OBJECT, "hashCode", "()I")), (6, _call("O", OBJECT, "toString", f"(){STRING}"))),
    *((5, _call("L", LIST, "size", "()I")), (5, _call("L", LIST, "get", f"(I){OBJECT}"))),
    *((5, _call("L", LIST, "add", f"({OBJECT})Z")), (4, _call("", "Ljava/lang/Math;", "max", "(II)I"))),
    (4, _call("", "Ljava/lang/Integer;", "parseInt", f"({STRING})I")),
    (5, _call("", "Ljava/lang/Integer;", "valueOf", "(I)Ljava/lang/Integer;")),
    (3, _call("", "Landroid/net/Uri;", "parse", f"({STRING})Landroid/net/Uri;")),
    (3, _call("", "Landroid/graphics/Color;", "parseColor", f"({STRING})I")),
    (4, _call("", "Landroid/os/SystemProperties;", "get", f"({STRING}){STRING}")),
    (3, _call("", "Ljava/util/Objects;", "requireNonNull", f"({OBJECT}){OBJECT}")),
)
_CALLS = [call for _, call in _USUAL]
_WEIGHTS = list(accumulate(weight for weight, _ in _USUAL))
_SINKS = (_call("", "Landroid/util/Log;", "d", f"({STRING}{STRING})I"),)
_SOURCES = (_call("T", PHONE, "getDeviceId", f"(){STRING}"), _call("T", PHONE, "getLine1Number", f"(){STRING}"))
_RARE = {True: (0.04, 0.1), False: (0.0002, 0.004)}
"""Shares of sources and of sinks among library calls: in the app's own code, in libraries."""


def pick(rng: Random, own: bool) -> LibraryCall:
    """A library method to call from the app's own code, or from a library."""
    sources, sinks = _RARE[own]
    share = rng.random()
    if share < sources:
        return rng.choice(_SOURCES)
    if share < sources + sinks:
        return rng.choice(_SINKS)
    return rng.choices(_CALLS, cum_weights=_WEIGHTS)[0]
