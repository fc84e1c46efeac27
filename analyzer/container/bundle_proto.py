"""Protobuf forms of manifests, layouts and resource tables, as app bundles (.aab) hold them.

Field numbers are those of aapt2's Resources.proto; messages are walked without generated code, as we need few fields.
"""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.container.axml import TYPE_REFERENCE, TYPE_STRING, Attribute, Element
from analyzer.container.resources import Resource, Value
from gpu.errors import UnreadableInput

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_TYPE_DECIMAL, _TYPE_HEX, _TYPE_BOOLEAN = 0x10, 0x11, 0x12
_PRIMITIVES = {6: _TYPE_DECIMAL, 7: _TYPE_HEX, 8: _TYPE_BOOLEAN}
_REFERENCE_DEPTH = 20

_Span = tuple[int, int]


class _Message:
    """The fields of messages in one buffer; a message is the span of its bytes."""

    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where = data, where

    def fields(self, span: _Span) -> Iterator[tuple[int, int | _Span]]:
        """Field number and value: a number, or the span of a text or message."""
        at, end = span
        while at < end:
            key, at = self._varint(at, end)
            wire = key & 7
            if wire == _VARINT:
                value, at = self._varint(at, end)
                yield key >> 3, value
                continue
            if wire == _BYTES:
                size, at = self._varint(at, end)
            elif wire in (_FIXED32, _FIXED64):
                size = 4 if wire == _FIXED32 else 8
            else:
                raise UnreadableInput(f"{self.where}: no protobuf message at {at:#x}")
            if at + size > end:
                raise UnreadableInput(f"{self.where}: protobuf message at {at:#x} is cut off")
            if wire == _BYTES:
                yield key >> 3, (at, at + size)
            at += size

    def spans(self, span: _Span, number: int) -> Iterator[_Span]:
        """Texts or messages of a field."""
        return (value for found, value in self.fields(span) if found == number and isinstance(value, tuple))

    def number(self, span: _Span, number: int) -> int:
        """A numeric field; 0 where it is left out."""
        return next((v for found, v in self.fields(span) if found == number and isinstance(v, int)), 0)

    def text(self, span: _Span, number: int) -> str:
        """A text field; "" where it is left out."""
        return next((self.decode(value) for value in self.spans(span, number)), "")

    def decode(self, span: _Span) -> str:
        """The text of a span."""
        return self.data[span[0] : span[1]].decode("utf-8", "replace")

    def _varint(self, at: int, end: int) -> tuple[int, int]:
        result = shift = 0
        while at < end and shift < 70:
            byte = self.data[at]
            at += 1
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result & 0xFFFFFFFFFFFFFFFF, at
            shift += 7
        raise UnreadableInput(f"{self.where}: no number at {at:#x}")

    def value(self, item: _Span) -> Value | None:
        """The value of an Item message, where it is one that we use."""
        for number, inner in self.fields(item):
            if not isinstance(inner, tuple):
                continue
            if number == 1:
                return Value(TYPE_REFERENCE, self.number(inner, 2) & 0xFFFFFFFF, None)
            if number in (2, 3, 4):
                return Value(TYPE_STRING, 0, self.text(inner, 1))
            if number == 5:
                return Value(TYPE_STRING, 0, self.text(inner, 1))
            if number == 7:
                for kind, data in self.fields(inner):
                    if kind in _PRIMITIVES and isinstance(data, int):
                        return Value(_PRIMITIVES[kind], data & 0xFFFFFFFF, None)
        return None


def read_proto_xml(data: bytes, where: str) -> Element:
    """The root element of an XmlNode message; raises UnreadableInput if it is none."""
    message = _Message(data, where)
    root: Element | None = None
    pending: list[tuple[_Span, Element | None]] = [((0, len(data)), None)]
    while pending:
        node, parent = pending.pop()
        for span in message.spans(node, 1):
            element = Element(message.text(span, 3), [_attribute(message, a) for a in message.spans(span, 4)])
            element.text = "".join(message.text(child, 2) for child in message.spans(span, 5))
            if parent is not None:
                parent.children.append(element)
            elif root is None:
                root = element
            pending.extend((child, element) for child in reversed(list(message.spans(span, 5))))
    if root is None:
        raise UnreadableInput(f"{where}: no element in it")
    return root


def _attribute(message: _Message, span: _Span) -> Attribute:
    value = next((message.value(item) for item in message.spans(span, 6)), None)
    raw = message.text(span, 3)
    return Attribute(
        namespace=message.text(span, 1),
        name=message.text(span, 2),
        resource_id=message.number(span, 5) & 0xFFFFFFFF,
        raw=raw if value is None or value.text is None else value.text,
        type=value.type if value else TYPE_STRING,
        data=value.data if value else 0,
    )


class ProtoResources:
    """The resource table of a bundle's module, resources.pb."""

    def __init__(self, data: bytes, where: str) -> None:
        """Reads the whole table; raises UnreadableInput if it is none."""
        message = _Message(data, where)
        self._types: dict[str, dict[int, Resource]] = {}
        self._names: dict[int, str] = {}
        self._resources: dict[int, Resource] = {}
        for package in message.spans((0, len(data)), 2):
            package_id = self._id(message, package)
            for kind in message.spans(package, 3):
                type_id, type_name = self._id(message, kind), message.text(kind, 2)
                for entry in message.spans(kind, 3):
                    resource_id = package_id << 24 | type_id << 16 | self._id(message, entry)
                    self._add(message, type_name, resource_id & 0xFFFFFFFF, entry)

    @staticmethod
    def _id(message: _Message, span: _Span) -> int:
        return next((message.number(inner, 1) for inner in message.spans(span, 1)), 0)

    def _add(self, message: _Message, type_name: str, resource_id: int, entry: _Span) -> None:
        resource = Resource(message.text(entry, 2))
        for configured in message.spans(entry, 6):
            for value in message.spans(configured, 2):
                for item in message.spans(value, 4):
                    found = message.value(item)
                    if found is not None:
                        resource.values[found] = None
        self._types.setdefault(type_name, {})[resource_id] = resource
        self._names[resource_id] = f"{type_name}/{resource.name}"
        self._resources[resource_id] = resource

    def listing(self, type_name: str) -> dict[int, Resource]:
        """The resources of a type ('layout') by resource id, ascending."""
        return dict(sorted(self._types.get(type_name, {}).items()))

    def values(self, resource_id: int) -> list[Value]:
        """Values over all configurations, references followed; [] where unknown or complex."""
        found: dict[Value, None] = {}
        seen: set[int] = set()
        pending = [resource_id]
        for _ in range(_REFERENCE_DEPTH):
            following: list[int] = []
            for wanted in pending:
                if wanted in seen or wanted not in self._resources:
                    continue
                seen.add(wanted)
                for value in self._resources[wanted].values:
                    if value.type == TYPE_REFERENCE:
                        following.append(value.data)
                    else:
                        found[value] = None
            pending = following
        return list(found)

    def name(self, resource_id: int) -> str | None:
        """'type/entry', or None."""
        return self._names.get(resource_id)
