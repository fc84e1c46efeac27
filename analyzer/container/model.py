"""What an opened app holds: code, manifest, layouts, and what was wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

Kind = Literal["apk", "splits", "dex", "jar", "aab", "xml"]
ComponentKind = Literal["activity", "service", "receiver", "provider", "application", "backup", "instrumentation"]
PathKind = Literal["exact", "prefix", "pattern", "suffix", "advanced"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something odd or damaged. `lost` says that a part of the app could not be read, so an analysis is partial."""

    where: str
    what: str
    lost: bool = True


@dataclass(frozen=True, slots=True)
class DexFile:
    """One dex file as Android would load it; `name` is its place in the input, `split.apk!/classes2.dex` in a set."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class IntentFilter:
    """An intent filter; what `<data>` elements say is pooled per filter, as Android does."""

    actions: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    paths: tuple[tuple[PathKind, str], ...] = ()
    mime_types: tuple[str, ...] = ()
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Component:
    """A class that Android instantiates by name; `name` is fully qualified, as in Java.

    `enabled` and `exported` hold Android's defaults. A value that differs between configurations counts as true.
    An `<activity-alias>` is a component of its own, whose `alias_of` names the activity that runs.
    """

    name: str
    kind: ComponentKind
    exported: bool
    enabled: bool = True
    permission: str | None = None
    filters: tuple[IntentFilter, ...] = ()
    alias_of: str | None = None
    authorities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """What a network security configuration allows outside of debugging.

    `cleartext` None means that it does not say. `user_certificates` says that authorities which the user
    installed are trusted for some host.
    """

    name: str
    cleartext: bool | None = None
    cleartext_domains: tuple[str, ...] = ()
    user_certificates: bool = False
    pinned_domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """AndroidManifest.xml with Android's defaults filled in."""

    package: str
    version_name: str | None
    version_code: int | None
    min_sdk: int
    target_sdk: int
    application_class: str | None
    debuggable: bool
    allow_backup: bool
    permissions: tuple[str, ...]
    components: tuple[Component, ...]
    declared_permissions: tuple[tuple[str, int], ...] = ()
    """`<permission>` elements: name and protectionLevel (0 normal, 1 dangerous, 2 signature, plus flags)."""
    cleartext_traffic: bool | None = None
    """usesCleartextTraffic; None where the manifest does not say."""
    network_config: NetworkConfig | None = None
    """The network security configuration that the manifest names, or None."""
    component_factory: str | None = None
    """android:appComponentFactory, fully qualified: Android makes every component through it."""


@dataclass(frozen=True, slots=True)
class Widget:
    """An element of a layout, menu, navigation graph or preference screen that the analysis may care about.

    `tag` is the class or tag name; `id` the resource id; `fragment` a fully qualified fragment class.
    `password` says that what is typed there is a password.
    """

    tag: str
    id: int | None = None
    on_click: str | None = None
    password: bool = False
    fragment: str | None = None
    input_type: int | None = None


@dataclass(frozen=True, slots=True)
class Layout:
    """One resource, `layout/main`, over all its configurations and what it includes."""

    name: str
    resource_id: int | None
    widgets: tuple[Widget, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A signer's certificate; digests are lower-case hexadecimal."""

    sha256: str
    subject: str
    issuer: str
    scheme: Literal["v1", "v2", "v3"]


@dataclass(frozen=True)
class AppFiles:
    """Everything later stages need of an input; nothing of it is kept on disk."""

    path: Path
    sha256: str
    kind: Kind
    dex: tuple[DexFile, ...]
    manifest: Manifest | None
    layouts: tuple[Layout, ...]
    problems: tuple[Problem, ...]

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """Signers' certificates, read again from `path` when first asked for; raises UnreadableInput if it is gone."""
        from analyzer.container.certificates import read_certificates

        return read_certificates(self.path)
