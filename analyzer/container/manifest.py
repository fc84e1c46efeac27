"""AndroidManifest.xml: what Android's package parser makes of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from analyzer.container.axml import Attribute, Element
from analyzer.container.model import Component, ComponentKind, IntentFilter, Manifest, NetworkConfig, PathKind
from analyzer.container.network import build_network_config
from analyzer.container.resources import Resources

_KINDS: dict[str, ComponentKind] = {
    "activity": "activity",
    "activity-alias": "activity",
    "service": "service",
    "receiver": "receiver",
    "provider": "provider",
}
_PATHS: dict[str, PathKind] = {
    "path": "exact",
    "pathPrefix": "prefix",
    "pathPattern": "pattern",
    "pathSuffix": "suffix",
    "pathAdvancedPattern": "advanced",
}
_PERMISSION_TAGS = ("uses-permission", "uses-permission-sdk-23", "uses-permission-sdk-m")
_JELLY_BEAN_MR1 = 17
_CUR_DEVELOPMENT = 10_000


def build_manifest(
    root: Element, resources: Resources, read: Callable[[str], Element | None] = lambda path: None
) -> tuple[Manifest, list[str]]:
    """The manifest that `root` says, with Android's defaults, and what in it Android would not accept.

    `read` gives the root element of another file of the app, or None.
    """
    return _Builder(root, resources, read).build()


def qualified(package: str, name: str) -> str:
    """The class that a manifest name means: `.X` and `X` are in the package, `a.X` is itself."""
    if name.startswith("."):
        return package + name
    return name if "." in name or not package else f"{package}.{name}"


class _Builder:
    def __init__(self, root: Element, resources: Resources, read: Callable[[str], Element | None]) -> None:
        self.root, self.resources, self.read = root, resources, read
        self.package = (root.plain("package") or "").split("\0")[0]
        self.notes: list[str] = []
        self.min_sdk, self.target_sdk = self._sdk()

    def build(self) -> tuple[Manifest, list[str]]:
        root = self.root
        if root.tag != "manifest":
            self.notes.append(f"root element is <{root.tag}>, not <manifest>")
        if not self.package:
            self.notes.append("no package name")
        applications = list(root.named("application"))
        if len(applications) > 1:
            self.notes.append(f"{len(applications)} <application> elements; the first is used")
        application = applications[0] if applications else Element("application", [])
        application_class = self._class(application, "name")
        config = application.get("networkSecurityConfig")
        cleartext = application.get("usesCleartextTraffic")
        manifest = Manifest(
            package=self.package,
            version_name=self._text(root.get("versionName")),
            version_code=self._number(root.get("versionCode")),
            min_sdk=self.min_sdk,
            target_sdk=self.target_sdk,
            application_class=application_class,
            debuggable=self._flag(application.get("debuggable"), False),
            allow_backup=self._flag(application.get("allowBackup"), True),
            permissions=_unique(self._text(e.get("name")) for e in root.named(*_PERMISSION_TAGS)),
            components=tuple(self._components(application)),
            declared_permissions=tuple(
                (name, self._number(element.get("protectionLevel")) or 0)
                for element in root.named("permission")
                if (name := self._text(element.get("name")))
            ),
            cleartext_traffic=self._flag(cleartext, False) if cleartext else None,
            network_config=self._network(config.reference) if config and config.reference else None,
            component_factory=self._class(application, "appComponentFactory"),
        )
        return manifest, self.notes

    def _components(self, application: Element) -> Iterator[Component]:
        enabled = self._flag(application.get("enabled"), True)
        default_permission = self._text(application.get("permission"))
        for attribute, kind in (("name", "application"), ("backupAgent", "backup")):
            name = self._class(application, attribute)
            if name:
                yield Component(name, "application" if kind == "application" else "backup", False, enabled)
        seen: set[tuple[str, ComponentKind]] = set()
        for element in application.named(*_KINDS):
            kind = _KINDS[element.tag]
            name = self._class(element, "name")
            if not name:
                self.notes.append(f"<{element.tag}> without a name")
                continue
            if (name, kind) in seen:
                self.notes.append(f"<{element.tag}> {name} stands there twice")
            seen.add((name, kind))
            yield self._component(element, name, kind, enabled, default_permission)
        for element in self.root.named("instrumentation"):
            name = self._class(element, "name")
            if name:
                yield Component(name, "instrumentation", False)

    def _component(
        self, element: Element, name: str, kind: ComponentKind, enabled: bool, default_permission: str | None
    ) -> Component:
        filters = tuple(self._filter(e) for e in element.named("intent-filter"))
        # From API 31 on, a filter without android:exported is no longer installed; where the app runs, it is exported.
        default = self.target_sdk < _JELLY_BEAN_MR1 if kind == "provider" else bool(filters)
        permission = self._text(element.get("permission"))
        if kind == "provider":
            read, write = self._text(element.get("readPermission")), self._text(element.get("writePermission"))
            # One open side leaves a provider open, whatever protects the other.
            permission = permission or (read if read and write else None)
        alias_of = self._class(element, "targetActivity") if element.tag == "activity-alias" else None
        authorities = self._text(element.get("authorities")) or "" if kind == "provider" else ""
        return Component(
            name=name,
            kind=kind,
            exported=self._flag(element.get("exported"), default),
            enabled=enabled and self._flag(element.get("enabled"), True),
            permission=permission or default_permission,
            filters=filters,
            alias_of=alias_of,
            authorities=tuple(part.strip() for part in authorities.split(";") if part.strip()),
        )

    def _filter(self, element: Element) -> IntentFilter:
        data = list(element.named("data"))
        return IntentFilter(
            actions=_unique(self._text(e.get("name")) for e in element.named("action")),
            categories=_unique(self._text(e.get("name")) for e in element.named("category")),
            schemes=_unique(text for e in data for text in self._texts(e.get("scheme"))),
            hosts=_unique(text for e in data for text in self._texts(e.get("host"))),
            ports=_unique(text for e in data for text in self._texts(e.get("port"))),
            paths=tuple(
                dict.fromkeys(
                    (kind, text)
                    for e in data
                    for attribute, kind in _PATHS.items()
                    for text in self._texts(e.get(attribute))
                )
            ),
            mime_types=_unique(text for e in data for text in self._texts(e.get("mimeType"))),
            priority=_signed(self._number(element.get("priority")) or 0),
        )

    def _sdk(self) -> tuple[int, int]:
        element = next(self.root.named("uses-sdk"), None)
        if element is None:
            return 1, 1
        lowest = self._api(element.get("minSdkVersion"), 1)
        return lowest, self._api(element.get("targetSdkVersion"), lowest)

    def _api(self, attribute: Attribute | None, default: int) -> int:
        if attribute is None:
            return default
        number = self._number(attribute)
        # A letter names a preview release, which counts as newer than every number.
        return number if number is not None else _CUR_DEVELOPMENT if attribute.text else default

    def _network(self, reference: int) -> NetworkConfig | None:
        name = self.resources.name(reference) or f"{reference:#010x}"
        paths = [value.text for value in self.resources.values(reference) if value.text]
        root = self.read(paths[0]) if paths else None
        return build_network_config(name, root) if root else NetworkConfig(name)

    def _class(self, element: Element, name: str) -> str | None:
        text = self._text(element.get(name))
        return qualified(self.package, text) if text else None

    def _text(self, attribute: Attribute | None) -> str | None:
        return next(iter(self._texts(attribute)), None)

    def _texts(self, attribute: Attribute | None) -> list[str]:
        """The text of an attribute; several where it differs between configurations."""
        if attribute is None:
            return []
        if attribute.reference is not None:
            texts = [value.text for value in self.resources.values(attribute.reference) if value.text is not None]
        elif attribute.text is not None:
            texts = [attribute.text]
        else:
            texts = [] if attribute.number is None else [str(_signed(attribute.number))]
        # What follows a NUL is a packer's bait for other readers.
        return [text.split("\0")[0].strip() for text in texts]

    def _number(self, attribute: Attribute | None) -> int | None:
        if attribute is None:
            return None
        if attribute.reference is not None:
            values = self.resources.values(attribute.reference)
            return max((value.data for value in values if value.text is None), default=None)
        return attribute.number

    def _flag(self, attribute: Attribute | None, default: bool) -> bool:
        number = self._number(attribute)
        return default if number is None else number != 0


def _signed(number: int) -> int:
    return number - (1 << 32) if 1 << 31 <= number < 1 << 32 else number


def _unique(texts: Iterator[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for text in texts if text is not None))
