"""Type families: what Java types look like after a trip through TypeScript.

A family is a short text: `V` void, `Z` boolean, `N` any number, `S` text (String, CharSequence, char), `?` a reference
of unknown type (Object, a type variable), `L…;` a class by its dex descriptor, `[` and a family an array.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_FAMILY = {"V": "V", "Z": "Z", "C": "S", "Ljava/lang/String;": "S", "Ljava/lang/CharSequence;": "S"}
_FAMILY |= dict.fromkeys("BSIJFD", "N") | {"Ljava/lang/Object;": "?"}

_DESCRIPTOR = re.compile(r"\[*(?:[VZBSCIJFD]|L[^;]+;)")


@lru_cache(maxsize=65536)
def family(descriptor: str) -> str:
    """The family of a dex type descriptor."""
    rank = len(descriptor) - len(descriptor.lstrip("["))
    element = descriptor[rank:]
    return "[" * rank + _FAMILY.get(element, element)


@lru_cache(maxsize=65536)
def comparable(declared: str, actual: str) -> bool:
    """Whether a parameter declared with one family can be the one that an actual method has."""
    if declared == actual or declared == "?":
        return declared == actual or actual not in ("V", "Z", "N")
    if declared[0] == actual[0] == "[":
        rank = min(len(declared) - len(declared.lstrip("[")), len(actual) - len(actual.lstrip("[")))
        return comparable(declared[rank:], actual[rank:])
    return False


def all_comparable(declared: Sequence[str], actual: Sequence[str]) -> bool:
    """Whether two parameter lists agree in length and place by place."""
    return len(declared) == len(actual) and all(map(comparable, declared, actual))


@lru_cache(maxsize=65536)
def parameter_types(descriptor: str) -> tuple[str, ...] | None:
    """The parameter types of a method descriptor such as `(I[J)V`; None where it is none."""
    inside, end, _ = descriptor.removeprefix("(").rpartition(")")
    try:
        return tuple(split_descriptors(inside)) if end and descriptor.startswith("(") else None
    except ValueError:
        return None


def split_descriptors(text: str) -> list[str]:
    """The type descriptors that `text` is made of. Raises ValueError where it is not made of such."""
    found = _DESCRIPTOR.findall(text)
    if "".join(found) != text:
        raise ValueError(f"{text!r} is not a row of type descriptors")
    return found
