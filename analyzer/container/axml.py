"""Binary XML, read the way Android reads it (ResXMLTree, ResourceTypes.cpp).

Our own reader: Androguard's rejects or skips what Android accepts (node headers that are not 16 bytes, attributes
that do not start at byte 20, unterminated strings), walks garbage byte by byte, and has no bounds. Tests hold the
two against each other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from analyzer.container.model import Problem
from analyzer.container.string_pool import StringPool
from gpu.errors import UnreadableInput

ANDROID = "http://schemas.android.com/apk/res/android"

TYPE_REFERENCE, TYPE_STRING, TYPE_DYNAMIC_REFERENCE, TYPE_FIRST_INT, TYPE_LAST_INT = 0x01, 0x03, 0x07, 0x10, 0x1F
REFERENCES = (TYPE_REFERENCE, TYPE_DYNAMIC_REFERENCE)

_STRING_POOL, _RESOURCE_MAP, _FIRST_NODE, _LAST_NODE = 0x0001, 0x0180, 0x0100, 0x017F
_START_ELEMENT, _END_ELEMENT, _TEXT = 0x0102, 0x0103, 0x0104
_MAX_PROBLEMS = 20
_CHUNK = struct.Struct("<HHI")
_ELEMENT = struct.Struct("<IIHHH")
_ATTRIBUTE = struct.Struct("<IIIHBBI")

ATTRIBUTE_IDS = {
    "allowBackup": 0x01010280,
    "appComponentFactory": 0x0101057A,
    "authorities": 0x01010018,
    "backupAgent": 0x0101027F,
    "debuggable": 0x0101000F,
    "enabled": 0x0101000E,
    "exported": 0x01010010,
    "fragment": 0x010102E3,
    "host": 0x01010028,
    "id": 0x010100D0,
    "inputType": 0x01010220,
    "layout": 0x010100F2,
    "mimeType": 0x01010026,
    "minSdkVersion": 0x0101020C,
    "name": 0x01010003,
    "networkSecurityConfig": 0x01010527,
    "onClick": 0x0101026F,
    "password": 0x0101015C,
    "path": 0x0101002A,
    "pathAdvancedPattern": 0x01010620,
    "pathPattern": 0x0101002C,
    "pathPrefix": 0x0101002B,
    "pathSuffix": 0x0101061E,
    "permission": 0x01010006,
    "port": 0x01010029,
    "priority": 0x0101001C,
    "protectionLevel": 0x01010009,
    "readPermission": 0x01010007,
    "scheme": 0x01010027,
    "targetActivity": 0x01010202,
    "targetSdkVersion": 0x01010270,
    "usesCleartextTraffic": 0x010104EC,
    "versionCode": 0x0101021B,
    "versionName": 0x0101021C,
    "writePermission": 0x01010008,
}
"""Android finds its attributes by these resource ids; names are only for people, and packers scramble them."""


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: its name, resource id (0: none), raw text if it has any, and typed value (Res_value)."""

    namespace: str
    name: str
    resource_id: int
    raw: str | None
    type: int
    data: int

    @property
    def text(self) -> str | None:
        """The value where it is a string."""
        return self.raw

    @property
    def reference(self) -> int | None:
        """The resource id where the value is a reference to one."""
        return self.data if self.type in REFERENCES and self.data else None

    @property
    def number(self) -> int | None:
        """The value as a number (booleans are 0 and non-zero), from a string too."""
        if TYPE_FIRST_INT <= self.type <= TYPE_LAST_INT:
            return self.data
        text = (self.raw or "").strip().lower()
        if text in ("true", "false"):
            return int(text == "true")
        try:
            return int(text, 0)
        except ValueError:
            return None


@dataclass(slots=True)
class Element:
    """An element with its attributes, child elements in document order, and the text directly inside it."""

    tag: str
    attributes: list[Attribute]
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def get(self, name: str) -> Attribute | None:
        """Android's attribute `name`: the first with its resource id, else the first without one of that name."""
        wanted = ATTRIBUTE_IDS.get(name)
        if wanted is not None:
            for attribute in self.attributes:
                if attribute.resource_id == wanted:
                    return attribute
        for attribute in self.attributes:
            if attribute.name == name and (wanted is None or not attribute.resource_id):
                return attribute
        return None

    def plain(self, name: str) -> str | None:
        """Text of the attribute `name` that is in no namespace (`package`, `class`)."""
        for attribute in self.attributes:
            if attribute.name == name and attribute.namespace != ANDROID:
                return attribute.text
        return None

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in document order."""
        pending = [self]
        while pending:
            element = pending.pop()
            yield element
            pending.extend(reversed(element.children))

    def named(self, *tags: str) -> Iterator[Element]:
        """Child elements with one of these tags."""
        return (child for child in self.children if child.tag in tags)


def looks_like_axml(data: bytes) -> bool:
    """Whether this is binary XML: a string pool, resource map or node follows a header of plausible size."""
    if len(data) < 16:
        return False
    _, header_size, _ = _CHUNK.unpack_from(data)
    if not 8 <= header_size <= len(data) - 8:
        return False
    kind, inner, _ = _CHUNK.unpack_from(data, header_size)
    return data[:2] in (b"\x03\x00", b"\x00\x00") and kind in (_STRING_POOL, _RESOURCE_MAP) and inner >= 8


def read_axml(data: bytes, where: str) -> tuple[Element, list[Problem]]:
    """The root element, and what was wrong; raises UnreadableInput, naming `where`, if there is no element.

    Elements that were still open when the nodes stopped are kept.
    """
    if len(data) < 16:
        raise UnreadableInput(f"{where}: {len(data)} bytes are no binary XML")
    if data.lstrip()[:1] == b"<":
        raise UnreadableInput(f"{where}: is text XML; Android reads binary XML only")
    reader = _Reader(data, where)
    reader.run()
    if reader.root is None:
        raise UnreadableInput(
            f"{where}: no element in it" + (f" ({reader.problems[0].what})" if reader.problems else "")
        )
    return reader.root, reader.problems


class _Reader:
    def __init__(self, data: bytes, where: str) -> None:
        self.data, self.where = data, where
        self.problems: list[Problem] = []
        self.root: Element | None = None
        self.open: list[Element] = []
        self.pool = StringPool(data, 0, 0)
        self.ids: tuple[int, ...] = ()

    def run(self) -> None:
        data = self.data
        _, header_size, declared = _CHUNK.unpack_from(data)
        if not 8 <= header_size < len(data):
            self._problem(f"header of {header_size} bytes", lost=False)
            header_size = 8
        end = len(data)
        if header_size < declared < end:
            end = declared
        elif declared != end:
            self._problem(f"declares {declared:,} bytes and has {end:,}", lost=False)
        at, seen_pool = header_size, False
        while at + 8 <= end:
            kind, header, size = _CHUNK.unpack_from(data, at)
            if header < 8 or size < header or at + size > end:
                if not self._is_last_tag(kind, at, end):
                    self._problem(f"damaged chunk of type {kind:#x} at {at:#x}")
                if header < 8 or size < header or at + header > end:
                    break
                size = end - at
            if kind == _STRING_POOL and not seen_pool:
                self.pool, seen_pool = StringPool(data, at, at + size), True
            elif kind == _RESOURCE_MAP:
                count = (size - header) // 4
                self.ids = struct.unpack_from(f"<{count}I", data, at + header)
            elif kind == _START_ELEMENT:
                self._start(at + header, at + size)
            elif kind == _END_ELEMENT and self.open:
                self.open.pop()
            elif kind == _TEXT and self.open and at + header + 4 <= end:
                self.open[-1].text += self.pool[struct.unpack_from("<I", data, at + header)[0]] or ""
            at += size
        if self.open:
            self._problem(f"stops inside <{self.open[-1].tag}>")

    def _problem(self, what: str, lost: bool = True) -> None:
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(self.where, what, lost))

    def _is_last_tag(self, kind: int, at: int, end: int) -> bool:
        # Packers cut the size of the last node, which closes what is open anyway.
        return _FIRST_NODE <= kind <= _LAST_NODE and end - at <= 24 and len(self.open) <= 1

    def _start(self, at: int, end: int) -> None:
        if at + 20 > end:
            self._problem(f"element at {at:#x} is cut off")
            return
        _, name, attribute_start, stride, count = _ELEMENT.unpack_from(self.data, at)
        stride = max(stride, _ATTRIBUTE.size)
        first = at + attribute_start
        fitting = max(0, (end - first - _ATTRIBUTE.size) // stride + 1)
        if count > fitting:
            self._problem(f"{count - fitting} attributes at {first:#x} are cut off")
        element = Element(
            self.pool[name] or "", [self._attribute(first + stride * i) for i in range(min(count, fitting))]
        )
        if self.open:
            self.open[-1].children.append(element)
        elif self.root is None:
            self.root = element
        else:
            self._problem(f"second root element <{element.tag}>", lost=False)
            self.root.children.append(element)
        self.open.append(element)

    def _attribute(self, at: int) -> Attribute:
        namespace, name, raw, _, _, kind, data = _ATTRIBUTE.unpack_from(self.data, at)
        pool = self.pool
        text = pool[data] if kind == TYPE_STRING else pool[raw]
        resource_id = self.ids[name] if name < len(self.ids) else 0
        return Attribute(pool[namespace] or "", pool[name] or "", resource_id, text, kind, data)
