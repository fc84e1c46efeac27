"""Signatures and positions, which are exact in the report, said the way a reader of Java would."""

from __future__ import annotations

import re

_PRIMITIVES = {
    "V": "void",
    "Z": "boolean",
    "B": "byte",
    "S": "short",
    "C": "char",
    "I": "int",
    "J": "long",
    "F": "float",
    "D": "double",
}
_TYPE = re.compile(r"\[*(?:[VZBSCIJFD]|L[^;]*;)")
_SIGNATURE = re.compile(r"(?P<cls>\[*(?:[ZBSCIJFD]|L[^;]*;))->(?P<name>[^(]+)\((?P<params>.*)\)(?P<ret>.*)", re.DOTALL)


def type_in_words(descriptor: str) -> str:
    """`[Ljava/lang/String;` as `String[]`: no package; unchanged if it is no type."""
    if not _TYPE.fullmatch(descriptor):
        return descriptor
    base = descriptor.lstrip("[")
    name = _PRIMITIVES.get(base) or base[1:-1].rsplit("/", 1)[-1].replace("$", ".")
    return name + "[]" * (len(descriptor) - len(base))


def method_in_words(signature: str) -> str:
    """`Landroid/telephony/TelephonyManager;->getDeviceId()Ljava/lang/String;` as `TelephonyManager.getDeviceId()`."""
    match = _SIGNATURE.fullmatch(signature)
    if match is None:
        return signature
    params = _TYPE.findall(match["params"])
    if "".join(params) != match["params"]:
        return signature
    return f"{type_in_words(match['cls'])}.{match['name']}({', '.join(map(type_in_words, params))})"


def position_in_words(position: str) -> str:
    """`arg0` as `argument 1`, `arg1.$value` as `argument 2 ($value)`, `this` as `receiver`."""
    base, _, fields = position.partition(".")
    index = base.removeprefix("arg")
    if base != index and index.isdecimal():
        base = f"argument {int(index) + 1}"
    elif base == "this":
        base = "receiver"
    elif base == "ret":
        base = "result"
    return f"{base} ({fields})" if fields else base


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 finding`, `2 findings`, `12,603 methods`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
