"""Opening an input: what it is, decided by content, and everything of it that later stages need."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path

from analyzer.container.archive import Archive, Budget, Buffer
from analyzer.container.axml import Element, looks_like_axml, read_axml
from analyzer.container.layouts import read_layouts
from analyzer.container.manifest import build_manifest
from analyzer.container.model import AppFiles, Component, DexFile, Kind, Layout, Manifest, Problem
from analyzer.container.oat import embedded_dex
from analyzer.container.resources import NoResources, Resources, ResourceTable
from analyzer.limits import Limits
from gpu.errors import GdroidError, LimitReached, UnreadableInput, UnsupportedFeature

MANIFEST, TABLE = "AndroidManifest.xml", "resources.arsc"
_NUMBERED = re.compile(r"classes([2-9]|[1-9]\d+)?\.dex")
_BUNDLE_DEX = re.compile(r"([^/]+)/dex/(classes([2-9]|[1-9]\d+)?\.dex)")
_MAPPED_OVER = 256_000_000


@dataclass(slots=True)
class _Contents:
    """What one file, or several together, gave."""

    kind: Kind
    dex: list[DexFile] = field(default_factory=list)
    manifest: Manifest | None = None
    layouts: list[Layout] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def note(self, where: str, what: str, lost: bool = True) -> None:
        self.problems.append(Problem(where, what, lost))


def open_app(path: Path, limits: Limits) -> AppFiles:
    """Opens an app: .apk, set of splits (archive or folder), .aab, .dex, .odex, or an archive with dex inside.

    Its kind is decided by content. Damage beside readable dex is told in `problems`; without any dex it is an error.
    Raises UnreadableInput, LimitReached (more than limits.input_mb) or UnsupportedFeature, each of one line.
    """
    budget = Budget.of_mb(limits.input_mb)
    try:
        if path.is_dir():
            contents, digest = _open_folder(path, budget)
        else:
            data = _read_file(path)
            contents, digest = _open_bytes(data, path.name, budget), hashlib.sha256(data).hexdigest()
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror or error}") from error
    except GdroidError as error:
        raise type(error)(f"{path.parent}/{error}" if str(path.parent) != "." else str(error)) from error
    return AppFiles(
        path=path,
        sha256=digest,
        kind=contents.kind,
        dex=tuple(contents.dex),
        manifest=contents.manifest,
        layouts=tuple(contents.layouts),
        problems=tuple(dict.fromkeys(contents.problems)),
    )


def _read_file(path: Path) -> Buffer:
    with path.open("rb") as file:
        size = path.stat().st_size
        if size > _MAPPED_OVER:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
        return file.read()


def _open_bytes(data: Buffer, name: str, budget: Budget) -> _Contents:
    start = bytes(data[:16])
    if not start:
        raise UnreadableInput(f"{name}: the file is empty")
    if start[:4] == b"dex\n":
        return _open_dex(data, name, budget)
    if start[:4] in (b"\x7fELF", b"vdex", b"dey\n"):
        return _open_oat(data, name, budget)
    if start[:4] == b"cdex":
        raise UnsupportedFeature(f"{name}: compact dex is not supported; use the dex or APK that it was made from")
    if data.find(b"PK\5\6") >= 0 or start[:4] == b"PK\3\4":
        return _open_archive(Archive.open(data, name, budget), nested=False)
    if looks_like_axml(start + bytes(data[16:1024])):
        raise UnreadableInput(f"{name}: no dex in it, only {_describe_xml(bytes(data), name)}")
    raise UnreadableInput(f"{name}: neither APK, archive, dex, OAT nor binary XML (starts with {start[:8].hex(' ')})")


def _describe_xml(data: bytes, name: str) -> str:
    try:
        root, _ = read_axml(data, name)
    except UnreadableInput:
        return "damaged binary XML"
    if root.tag != "manifest":
        return f"binary XML with root <{root.tag}>"
    manifest, _ = build_manifest(root, NoResources())
    return f"the manifest of {manifest.package or 'an app without a name'} ({len(manifest.components)} components)"


def _open_dex(data: Buffer, name: str, budget: Budget) -> _Contents:
    if data.find(b"PK\5\6") >= 0:
        archive = Archive(data, name, budget)
        with suppress(UnreadableInput):  # where bytes of a dex just look like an end record
            archive = Archive.open(data, name, budget)
        if MANIFEST in archive.entries:
            contents = _open_archive(archive, nested=False)
            contents.note(name, "starts as a dex and ends as an APK (CVE-2017-13156); read as an APK", lost=False)
            return contents
    budget.spend(len(data), name)
    return _Contents("dex", [DexFile(name, bytes(data))])


def _open_oat(data: Buffer, name: str, budget: Budget) -> _Contents:
    contents = _Contents("dex")
    for at, dex in embedded_dex(data):
        budget.spend(len(dex), name)
        contents.dex.append(DexFile(f"{name}@{at:#x}", dex))
    if not contents.dex:
        raise UnreadableInput(f"{name}: no dex in it; it stands in the .vdex or APK that belongs to it")
    contents.note(name, "dex taken from a compiled file; its instructions may be optimised", lost=False)
    return contents


def _open_archive(archive: Archive, nested: bool) -> _Contents:
    names = archive.entries
    if MANIFEST in names or any(_NUMBERED.fullmatch(name) for name in names):
        return _open_apk(archive)
    if nested:
        raise UnreadableInput(f"{archive.name}: neither a manifest nor a dex in it")
    if "BundleConfig.pb" in names or any(_BUNDLE_DEX.fullmatch(name) for name in names):
        return _open_bundle(archive)
    splits = [name for name in names if name.lower().endswith(".apk")]
    if splits:
        return _open_split_archive(archive, splits)
    if any(name.endswith(".dex") for name in names):
        return _open_apk(archive)
    classes = sum(name.endswith(".class") for name in names)
    what = f"{classes} .class files, which Android does not run" if classes else f"{len(names)} entries"
    raise UnreadableInput(f"{archive.name}: no dex in it, only {what}")


def _open_apk(archive: Archive) -> _Contents:
    contents = _Contents("apk" if MANIFEST in archive.entries else "jar")
    _take_dex(archive, contents)
    resources = _read_resources(archive, contents)
    if MANIFEST in archive.entries:
        contents.manifest = _read_manifest(archive, resources, contents)
    package = contents.manifest.package if contents.manifest else ""
    contents.layouts = list(
        read_layouts(package, archive.entries, resources, lambda path: _read_xml(archive, path, contents))
    )
    contents.problems[:0] = archive.problems
    _require_dex(archive.name, contents)
    return contents


def _require_dex(name: str, contents: _Contents) -> None:
    if contents.dex:
        return
    lost = [problem for problem in contents.problems if problem.lost and problem.where.endswith(".dex")]
    if lost:
        raise UnreadableInput(f"{lost[0].where}: {lost[0].what}")
    manifest = contents.manifest
    package = f", only a manifest and resources ({manifest.package})" if manifest and manifest.package else ""
    raise UnreadableInput(f"{name}: no dex in it{package}")


def _take_dex(archive: Archive, contents: _Contents) -> None:
    """Dex files in Android's order, then others of the root; those in folders are only told of."""
    numbered: list[tuple[int, str]] = []
    others: list[str] = []
    for name in archive.entries:
        match = _NUMBERED.fullmatch(name)
        if match:
            numbered.append((int(match[1] or 1), name))
        elif name.endswith(".dex") and "/" in name:
            contents.note(f"{archive.name}!/{name}", "a dex that Android does not load by itself; left out", lost=False)
        elif name.endswith(".dex"):
            others.append(name)
    seen: dict[int, str] = {}
    for name in [name for _, name in sorted(numbered)] + sorted(others):
        offset = archive.entries[name].offset
        if offset in seen:
            contents.note(f"{archive.name}!/{name}", f"is the same bytes as {seen[offset]}; left out", lost=False)
            continue
        seen[offset] = name
        _take_one_dex(archive, name, contents)


def _take_one_dex(archive: Archive, name: str, contents: _Contents) -> None:
    try:
        data = archive.read(name)
    except LimitReached as error:
        if not contents.dex:
            raise
        contents.note(f"{archive.name}!/{name}", str(error))
        return
    except UnreadableInput as error:
        contents.note(f"{archive.name}!/{name}", str(error).removeprefix(f"{archive.name}!/{name}: "))
        return
    if data[:4] != b"dex\n":
        contents.note(f"{archive.name}!/{name}", f"is no dex (starts with {data[:8].hex(' ')}); left out")
        return
    contents.dex.append(DexFile(name, data))


def _read_xml(archive: Archive, path: str, contents: _Contents) -> Element | None:
    where = f"{archive.name}!/{path}"
    try:
        root, notes = read_axml(archive.read(path), where)
    except (UnreadableInput, LimitReached) as error:
        contents.note(where, str(error).removeprefix(f"{where}: "))
        return None
    for note in notes:
        contents.note(where, note)
    return root


def _read_resources(archive: Archive, contents: _Contents) -> Resources:
    if TABLE not in archive.entries:
        return NoResources()
    where = f"{archive.name}!/{TABLE}"
    try:
        table = ResourceTable(archive.read(TABLE), where)
    except (UnreadableInput, LimitReached) as error:
        contents.note(where, str(error).removeprefix(f"{where}: "))
        return NoResources()
    for note in table.notes:
        contents.note(where, note)
    return table


def _read_manifest(archive: Archive, resources: Resources, contents: _Contents) -> Manifest | None:
    root = _read_xml(archive, MANIFEST, contents)
    if root is None:
        return None
    manifest, notes = build_manifest(root, resources)
    for note in notes:
        contents.note(f"{archive.name}!/{MANIFEST}", note, lost=False)
    return manifest


def _open_split_archive(archive: Archive, splits: list[str]) -> _Contents:
    parts = []
    problems = list(archive.problems)
    for name in choose_splits(splits):
        try:
            inner = Archive.open(archive.read(name), name, archive.budget)
        except UnreadableInput as error:
            problems.append(Problem(f"{archive.name}!/{name}", str(error)))
            continue
        parts.append((name, inner))
    contents = _merge(archive.name, parts)
    contents.problems[:0] = problems
    return contents


def _open_folder(path: Path, budget: Budget) -> tuple[_Contents, str]:
    files = sorted(p for p in path.iterdir() if p.is_file())
    parts = []
    digest = hashlib.sha256()
    for file in files:
        with file.open("rb") as opened:
            if opened.read(4) != b"PK\3\4":
                continue
        data = _read_file(file)
        archive = Archive.open(data, file.name, budget)
        if MANIFEST in archive.entries:
            digest.update(hashlib.sha256(data).digest())
            parts.append((file.name, archive))
    if not parts:
        raise UnreadableInput(f"{path.name}: no APK in this folder")
    return _merge(path.name, parts), digest.hexdigest()


def choose_splits(names: list[str]) -> list[str]:
    """The APKs of a set that are one installation: base first, and not both a universal APK and its splits.

    bundletool writes `splits/` for modern devices, `standalones/` for old ones and `universal.apk` for all.
    """
    in_splits = [name for name in names if name.startswith("splits/")]
    standalone = [name for name in names if name.startswith("standalones/")]
    if in_splits:
        chosen = in_splits
    elif "universal.apk" in names:
        chosen = ["universal.apk"]
    elif standalone:
        chosen = sorted(standalone)[:1]
    else:
        chosen = list(names)
    return sorted(chosen, key=lambda name: (not _is_base(name), name))


def _is_base(name: str) -> bool:
    return name.rsplit("/", 1)[-1].startswith(("base", "universal"))


def _merge(name: str, parts: list[tuple[str, Archive]]) -> _Contents:
    """One app of several APKs: the dex of all, the manifest of the base with the components of all."""
    merged = _Contents("splits")
    manifests: list[tuple[bool, str, Manifest]] = []
    for part, archive in parts:
        contents = _Contents("splits")
        _take_dex(archive, contents)
        resources = _read_resources(archive, contents)
        root = _read_xml(archive, MANIFEST, contents) if MANIFEST in archive.entries else None
        package = ""
        if root is not None:
            manifest, notes = build_manifest(root, resources)
            package = manifest.package
            manifests.append((bool(root.plain("split")), part, manifest))
            for note in notes:
                contents.note(f"{part}!/{MANIFEST}", note, lost=False)

        def read(path: str, archive: Archive = archive, contents: _Contents = contents) -> Element | None:
            return _read_xml(archive, path, contents)

        merged.layouts += read_layouts(package, archive.entries, resources, read)
        merged.dex += [DexFile(f"{part}!/{dex.name}", dex.data) for dex in contents.dex]
        merged.problems += archive.problems + contents.problems
    packages = sorted({manifest.package for split, _, manifest in manifests if not split})
    if len(packages) > 1:
        raise UnreadableInput(f"{name}: several apps in it ({', '.join(packages)}), not the splits of one")
    merged.manifest = _merged_manifest([m for _, _, m in sorted(manifests, key=lambda item: item[0])])
    _require_dex(name, merged)
    return merged


def _merged_manifest(manifests: list[Manifest]) -> Manifest | None:
    if not manifests:
        return None
    components: dict[tuple[str, str], Component] = {}
    permissions: dict[str, None] = {}
    for manifest in manifests:
        for component in manifest.components:
            components.setdefault((component.name, component.kind), component)
        permissions.update(dict.fromkeys(manifest.permissions))
    return replace(manifests[0], components=tuple(components.values()), permissions=tuple(permissions))


def _open_bundle(archive: Archive) -> _Contents:
    contents = _Contents("aab")
    found = [(m[1] != "base", m[1], int(m[3] or 1), m[0]) for n in archive.entries if (m := _BUNDLE_DEX.fullmatch(n))]
    for _, _, _, name in sorted(found):
        _take_one_dex(archive, name, contents)
    if "base/manifest/AndroidManifest.xml" in archive.entries:
        contents.note(f"{archive.name}!/base/manifest/{MANIFEST}", "manifests of bundles are not read yet")
    contents.problems[:0] = archive.problems
    _require_dex(archive.name, contents)
    return contents
