"""Layouts, menus, navigation graphs and preference screens: the classes and handlers that Android finds by name."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from analyzer.container.axml import REFERENCES, Attribute, Element
from analyzer.container.manifest import qualified
from analyzer.container.model import Layout, Widget
from analyzer.container.resources import Resource, Resources

_TYPES = ("layout", "menu", "navigation", "xml")
_FRAGMENT_TAGS = {"fragment", "androidx.fragment.app.FragmentContainerView"}
_NOT_DESTINATIONS = {"action", "activity", "argument", "deepLink", "include", "navigation"}
_INCLUDING_TAGS = {"include", "ViewStub"}
_TEXT, _NUMBER, _CLASS_MASK, _VARIATION_MASK = 0x1, 0x2, 0xF, 0xFF0
_TEXT_PASSWORDS, _NUMBER_PASSWORD = {0x80, 0x90, 0xE0}, 0x10
_PREFERENCE_ROOTS = ("PreferenceScreen", "preference-headers")
_MAX_WORK = 1_000_000

ReadXml = Callable[[str], Element | None]
"""The root element of a file of the app, or None where there is none or it is damaged (then it was noted)."""


@dataclass(slots=True)
class _File:
    """What one file holds."""

    widgets: dict[Widget, None] = field(default_factory=dict)
    includes: dict[int, None] = field(default_factory=dict)


_Named = tuple[str, int | None, list[_File]]


def is_password(input_type: int) -> bool:
    """Whether android:inputType means a password: hidden or visible, text, web or number."""
    variation = input_type & _VARIATION_MASK
    if input_type & _CLASS_MASK == _TEXT:
        return variation in _TEXT_PASSWORDS
    return input_type & _CLASS_MASK == _NUMBER and variation == _NUMBER_PASSWORD


def read_layouts(
    package: str, files: Iterable[str], resources: Resources, read: ReadXml
) -> tuple[tuple[Layout, ...], bool]:
    """Every layout-like resource of the app that names something, ordered by name; and whether all fitted.

    Files are found by the resource table (release builds rename them to `res/aB.xml`) and by their folder
    (the table may be missing). `files` are the names of all files of the app.
    """
    reader = _Reader(package, resources, read)
    present = set(files)
    done: set[str] = set()
    by_id: dict[int, _Named] = {}
    by_name: dict[str, _Named] = {}
    for kind in _TYPES:
        for resource_id, resource in resources.listing(kind).items():
            paths = dict.fromkeys(path for path in _paths(resource, resources) if path in present)
            done.update(paths)
            by_id[resource_id] = (f"{kind}/{resource.name}", resource_id, [reader.file(path, kind) for path in paths])
    for path in sorted(present - done):
        folder = _folder_kind(path)
        if folder:
            name = f"{folder}/{path.split('/')[-1].removesuffix('.xml')}"
            by_name.setdefault(name, (name, None, []))[2].append(reader.file(path, folder))
    layouts: list[Layout] = []
    left = _MAX_WORK
    for name, identity, own in [*by_id.values(), *by_name.values()]:
        widgets, work = _with_included(own, by_id, left)
        left -= work
        if left < 0:
            break
        if widgets:
            layouts.append(Layout(name, identity, tuple(widgets)))
    return tuple(sorted(layouts, key=lambda layout: (layout.name, layout.resource_id or 0))), left >= 0


def _with_included(own: list[_File], by_id: dict[int, _Named], most: int) -> tuple[dict[Widget, None], int]:
    """Widgets of a layout's files and of all that they include; and the work done, which stops above `most`."""
    widgets: dict[Widget, None] = {}
    seen: set[int] = set()
    work = 0
    pending = deque(own)
    while pending and work <= most:
        file = pending.popleft()
        widgets.update(file.widgets)
        work += 1 + len(file.widgets) + len(file.includes)
        for included in file.includes:
            if included not in seen and included in by_id:
                seen.add(included)
                pending.extend(by_id[included][2])
    return widgets, work


def _paths(resource: Resource, resources: Resources) -> Iterator[str]:
    for value in resource.values:
        if value.type in REFERENCES:
            yield from (target.text for target in resources.values(value.data) if target.text)
        elif value.text:
            yield value.text


def _folder_kind(path: str) -> str | None:
    if not path.startswith("res/") or not path.endswith(".xml") or path.count("/") != 2:
        return None
    kind = path.split("/")[1].split("-")[0]
    return kind if kind in _TYPES else None


class _Reader:
    def __init__(self, package: str, resources: Resources, read: ReadXml) -> None:
        self.package, self.resources, self.read = package, resources, read
        self.files: dict[str, _File] = {}

    def file(self, path: str, kind: str) -> _File:
        """What a file holds; each is read once, however many resources share it."""
        held = self.files.get(path)
        if held is None:
            held = self.files[path] = _File()
            root = self.read(path)
            if root is not None and (kind != "xml" or root.tag.split(".")[-1].startswith(_PREFERENCE_ROOTS)):
                self._take(root, kind, held)
        return held

    def _take(self, root: Element, kind: str, held: _File) -> None:
        for element in root.walk():
            widget = self._widget(element, kind)
            if widget:
                held.widgets[widget] = None
            if element.tag in _INCLUDING_TAGS:
                layout = element.get("layout")
                if layout is not None and layout.reference is not None:
                    held.includes[layout.reference] = None

    def _widget(self, element: Element, kind: str) -> Widget | None:
        tag, named = element.tag, element.plain("class")
        fragment = self._text(element.get("fragment"))
        destination = kind == "navigation" and tag not in _NOT_DESTINATIONS
        if tag in _FRAGMENT_TAGS or destination:
            fragment = self._text(element.get("name")) or named or fragment
        elif tag == "view" and named:
            tag = named
        identity = element.get("id")
        input_type = self._number(element.get("inputType"))
        hidden = self._number(element.get("password"))
        widget = Widget(
            tag=tag,
            id=(identity.reference or identity.number) if identity else None,
            on_click=self._text(element.get("onClick")) or None,
            password=bool(hidden) or (input_type is not None and is_password(input_type)),
            fragment=qualified(self.package, fragment) if fragment else None,
            input_type=input_type,
        )
        telling = widget.id is not None or widget.on_click or widget.password or widget.fragment or "." in tag
        return widget if telling else None

    def _text(self, attribute: Attribute | None) -> str | None:
        if attribute is None:
            return None
        if attribute.reference is not None:
            return next((v.text for v in self.resources.values(attribute.reference) if v.text is not None), None)
        return attribute.text

    def _number(self, attribute: Attribute | None) -> int | None:
        if attribute is None:
            return None
        if attribute.reference is not None:
            return next((v.data for v in self.resources.values(attribute.reference) if v.text is None), None)
        return attribute.number
