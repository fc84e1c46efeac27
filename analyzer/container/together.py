"""Several apps as the one system that they form: all code, all components, intents between them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from analyzer.container.model import AppFiles, Component, DexFile, Manifest, Problem


def together(apps: Sequence[AppFiles]) -> AppFiles:
    """The files of all apps, the first one's name and versions.

    Of classes of one name the first counts, as in an app that has them twice. `sha256` is that of all digests, sorted.
    """
    if len(apps) == 1:
        return apps[0]
    first = apps[0]
    digest = hashlib.sha256("\n".join(sorted(a.sha256 for a in apps)).encode()).hexdigest()
    return replace(
        first,
        sha256=digest,
        dex=tuple(DexFile(f"{a.path.name}!/{f.name}", f.data) for a in apps for f in a.dex),
        manifest=_manifest([a.manifest for a in apps if a.manifest is not None]),
        layouts=tuple(layout for a in apps for layout in a.layouts),
        problems=tuple(Problem(f"{a.path.name}: {p.where}", p.what, p.lost) for a in apps for p in a.problems),
    )


def _manifest(manifests: Sequence[Manifest]) -> Manifest | None:
    if not manifests:
        return None
    components = [c for m in manifests for c in (*m.components, *_application(m))]
    return replace(
        manifests[0],
        application_class=None,
        components=tuple(dict.fromkeys(components)),
        permissions=tuple(dict.fromkeys(p for m in manifests for p in m.permissions)),
    )


def _application(manifest: Manifest) -> Sequence[Component]:
    """The application's class as a component, as there is more than one now."""
    if not manifest.application_class or any(c.kind == "application" for c in manifest.components):
        return ()
    return (Component(manifest.application_class, "application", exported=False),)
