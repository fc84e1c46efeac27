"""Layouts, menus, navigation graphs and preference screens: the classes and handlers that Android finds by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from analyzer.container.axml import Attribute, Element
from analyzer.container.manifest import qualified
from analyzer.container.model import Layout, Widget
from analyzer.container.resources import Resources

_TYPES = ("layout", "menu", "navigation", "xml")
_FRAGMENT_TAGS = {"fragment", "dialog", "androidx.fragment.app.FragmentContainerView"}
_INCLUDING_TAGS = {"include", "ViewStub"}
_TEXT, _NUMBER, _CLASS_MASK, _VARIATION_MASK = 0x1, 0x2, 0xF, 0xFF0
_TEXT_PASSWORDS, _NUMBER_PASSWORD = {0x80, 0x90, 0xE0}, 0x10
_PREFERENCE_ROOTS = ("PreferenceScreen", "preference-headers")

ReadXml = Callable[[str], Element | None]
"""The root element of a file of the app, or None where there is none or it is damaged (then it was noted)."""


@dataclass(slots=True)
class _Resource:
    name: str
    resource_id: int | None
    widgets: dict[Widget, None] = field(default_factory=dict)
    includes: list[str | int] = field(default_factory=list)


def is_password(input_type: int) -> bool:
    """Whether android:inputType means a password: hidden or visible, text, web or number."""
    variation = input_type & _VARIATION_MASK
    if input_type & _CLASS_MASK == _TEXT:
        return variation in _TEXT_PASSWORDS
    return input_type & _CLASS_MASK == _NUMBER and variation == _NUMBER_PASSWORD


def read_layouts(package: str, files: Iterable[str], resources: Resources, read: ReadXml) -> tuple[Layout, ...]:
    """Every layout-like resource of the app, ordered by name.

    Files are found by the resource table (release builds rename them to `res/aB.xml`) and by their folder
    (the table may be missing). `files` are the names of all files of the app.
    """
    builder = _Builder(package, resources)
    present = set(files)
    done: set[str] = set()
    for kind in _TYPES:
        for resource_id, entry in resources.ids(kind).items():
            resource = _Resource(f"{kind}/{entry}", resource_id)
            paths = dict.fromkeys(value.text for value in resources.values(resource_id) if value.text)
            for path in paths:
                if path in present:
                    done.add(path)
                    builder.add(resource, read(path))
            builder.finish(resource)
    for path in sorted(present - done):
        folder = _kind_of(path)
        if folder:
            resource = _Resource(f"{folder}/{PurePosixPath(path).stem}", None)
            builder.add(resource, read(path))
            builder.finish(resource)
    return builder.layouts()


def _kind_of(path: str) -> str | None:
    parts = PurePosixPath(path).parts
    if len(parts) != 3 or parts[0] != "res" or not path.endswith(".xml"):
        return None
    kind = parts[1].split("-")[0]
    return kind if kind in _TYPES else None


class _Builder:
    def __init__(self, package: str, resources: Resources) -> None:
        self.package, self.resources = package, resources
        self.found: dict[str | int, _Resource] = {}

    def add(self, resource: _Resource, root: Element | None) -> None:
        if root is None:
            return
        if resource.name.startswith("xml/") and not root.tag.split(".")[-1].startswith(_PREFERENCE_ROOTS):
            return
        for element in root.walk():
            widget = self._widget(element)
            if widget:
                resource.widgets[widget] = None
            if element.tag in _INCLUDING_TAGS:
                layout = self._layout_attribute(element)
                if layout is not None:
                    resource.includes.append(layout)

    def finish(self, resource: _Resource) -> None:
        if not resource.widgets and not resource.includes:
            return
        key: str | int = resource.name if resource.resource_id is None else resource.resource_id
        known = self.found.get(key)
        if known is None:
            self.found[key] = resource
        else:
            known.widgets.update(resource.widgets)
            known.includes.extend(resource.includes)

    def layouts(self) -> tuple[Layout, ...]:
        layouts = [
            Layout(resource.name, resource.resource_id, tuple(self._with_included(resource)))
            for resource in self.found.values()
        ]
        return tuple(sorted(layouts, key=lambda layout: (layout.name, layout.resource_id or 0)))

    def _with_included(self, resource: _Resource) -> Iterator[Widget]:
        seen: dict[int, None] = {id(resource): None}
        widgets: dict[Widget, None] = {}
        pending = [resource]
        while pending:
            current = pending.pop()
            widgets.update(current.widgets)
            for key in current.includes:
                included = self.found.get(key)
                if included is not None and id(included) not in seen:
                    seen[id(included)] = None
                    pending.append(included)
        return iter(widgets)

    def _widget(self, element: Element) -> Widget | None:
        tag = element.tag
        named = element.plain("class")
        fragment = None
        if tag in _FRAGMENT_TAGS:
            fragment = self._text(element.get("name")) or named
        elif tag == "view" and named:
            tag = named
        if fragment is None:
            fragment = self._text(element.get("fragment"))
        identity = element.get("id")
        number = element.get("inputType")
        input_type = self._number(number)
        hidden = self._number(element.get("password"))
        on_click = self._text(element.get("onClick"))
        widget = Widget(
            tag=tag,
            id=(identity.reference or identity.number) if identity else None,
            on_click=on_click or None,
            password=bool(hidden) or (input_type is not None and is_password(input_type)),
            fragment=qualified(self.package, fragment) if fragment else None,
            input_type=input_type,
        )
        telling = widget.id is not None or widget.on_click or widget.password or widget.fragment or "." in tag
        return widget if telling else None

    def _layout_attribute(self, element: Element) -> str | int | None:
        attribute = element.get("layout")
        if attribute is None:
            return None
        if attribute.reference is not None:
            # Without a table, files are known by name only, and ids cannot be matched to them.
            return attribute.reference
        return attribute.text.removeprefix("@") if attribute.text else None

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
