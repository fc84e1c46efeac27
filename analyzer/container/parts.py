"""What is read of the APKs or bundle modules that make up one app."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from analyzer.container.archive import Archive, Budget
from analyzer.container.axml import Element, read_axml
from analyzer.container.bundle_proto import ProtoResources, read_proto_xml
from analyzer.container.layouts import read_layouts
from analyzer.container.manifest import build_manifest
from analyzer.container.model import Component, DexFile, Kind, Layout, Manifest, Problem
from analyzer.container.resources import NoResources, Resources, ResourceTable
from gpu.errors import LimitReached, UnreadableInput

MANIFEST, TABLE = "AndroidManifest.xml", "resources.arsc"
NUMBERED_DEX = re.compile(r"classes([2-9]|[1-9]\d+)?\.dex")
_MAX_PROBLEMS = 1_000
_MAX_XML = 32_000_000
_MAX_TABLE = 64_000_000
_MODULE_FILE = re.compile(r"([^/]+)/(manifest/|dex/|root/|(?=res/|resources\.pb$))(.+)", re.DOTALL)


@dataclass(slots=True)
class Contents:
    """What one file, or several together, gave."""

    kind: Kind
    dex: list[DexFile] = field(default_factory=list)
    manifest: Manifest | None = None
    layouts: list[Layout] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Part:
    """An APK or a module of a bundle: its files by the names that they have in an APK, and where they stand."""

    archive: Archive
    files: dict[str, str]
    dex_prefix: str = ""
    proto: bool = False
    root: Element | None = None
    problems: list[Problem] = field(default_factory=list)
    xml_budget: Budget = field(init=False)
    """Far above what any real app has; bounds the time that hostile layouts can cost."""

    def __post_init__(self) -> None:
        self.xml_budget = Budget(_MAX_XML, f"{_MAX_XML // 1_000_000} MB of XML in an APK", self.archive.budget)

    @classmethod
    def of_apk(cls, archive: Archive, dex_prefix: str = "") -> Part:
        """An APK, or an archive that holds dex files as one does."""
        return cls(archive, {name: name for name in archive.entries}, dex_prefix)

    @classmethod
    def of_bundle(cls, archive: Archive) -> list[Part]:
        """The modules of an app bundle, base first."""
        modules: dict[str, dict[str, str]] = {}
        for name in archive.entries:
            match = _MODULE_FILE.fullmatch(name)
            if match:
                file = TABLE if match[3] == "resources.pb" else match[3]
                modules.setdefault(match[1], {}).setdefault(file, name)
        return [
            cls(archive, files, f"{module}/dex/", proto=True)
            for module, files in sorted(modules.items(), key=lambda item: (item[0] != "base", item[0]))
            if MANIFEST in files or any(NUMBERED_DEX.fullmatch(file) for file in files)
        ]

    @property
    def is_split(self) -> bool:
        """Whether the manifest says that this belongs to a base."""
        return self.root is not None and bool(self.root.plain("split"))

    def where(self, file: str) -> str:
        """How messages name a file."""
        return f"{self.archive.name}!/{self.files.get(file, file)}"

    def note(self, file: str, what: str, lost: bool = True) -> None:
        """Records a problem with a file; of very many, the first."""
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(Problem(self.where(file), what.removeprefix(f"{self.where(file)}: "), lost))

    def read_xml(self, file: str) -> Element | None:
        """The root element of a file; None where there is none or it is damaged, which is then noted."""
        if file not in self.files:
            return None
        try:
            data = self.archive.read(self.files[file], self.xml_budget)
            if self.proto:
                return read_proto_xml(data, self.where(file))
            root, problems = read_axml(data, self.where(file))
        except (UnreadableInput, LimitReached) as error:
            self.note(file, str(error))
            return None
        self.problems += problems
        return root

    def read_resources(self) -> Resources:
        """The resource table, empty where there is none or it is damaged."""
        if TABLE not in self.files:
            return NoResources()
        try:
            bound = Budget(_MAX_TABLE, f"{_MAX_TABLE // 1_000_000} MB of resource table", self.archive.budget)
            data = self.archive.read(self.files[TABLE], bound)
            if self.proto:
                return ProtoResources(data, self.where(TABLE))
            table = ResourceTable(data, self.where(TABLE))
        except (UnreadableInput, LimitReached) as error:
            self.note(TABLE, str(error))
            return NoResources()
        # The list grows while the table is used.
        self.problems += table.problems
        table.problems = self.problems
        return table

    def read_dex(self) -> list[DexFile]:
        """Dex files in Android's order, then others of the root; those in folders are only told of."""
        numbered: list[tuple[int, str]] = []
        others: list[str] = []
        for file in self.files:
            match = NUMBERED_DEX.fullmatch(file)
            if match:
                numbered.append((int(match[1] or 1), file))
            elif file.endswith(".dex") and "/" in file:
                self.note(file, "a dex that Android does not load by itself; left out", lost=False)
            elif file.endswith(".dex"):
                others.append(file)
        found: list[DexFile] = []
        seen: dict[int, str] = {}
        for file in [file for _, file in sorted(numbered)] + sorted(others):
            offset = self.archive.entries[self.files[file]].offset
            if offset in seen:
                self.note(file, f"is the same bytes as {seen[offset]}; left out", lost=False)
                continue
            seen[offset] = file
            data = self._dex_bytes(file, required=not found)
            if data is not None:
                found.append(DexFile(self.dex_prefix + file, data))
        return found

    def _dex_bytes(self, file: str, required: bool) -> bytes | None:
        try:
            data = self.archive.read(self.files[file])
        except LimitReached as error:
            if required:
                raise
            self.note(file, str(error))
            return None
        except UnreadableInput as error:
            self.note(file, str(error))
            return None
        if data[:4] != b"dex\n":
            self.note(file, f"is no dex (starts with {data[:8].hex(' ')})" if data else "is empty")
            return None
        return data


def read_parts(name: str, parts: list[Part], kind: Kind) -> Contents:
    """One app: the dex files of all parts, the base's first, and the manifest of the base with all components.

    Raises UnreadableInput if there is no dex at all, or if the parts belong to several apps.
    """
    for part in parts:
        part.root = part.read_xml(MANIFEST)
    parts = sorted(_one_app(name, parts), key=lambda part: part.is_split)
    contents = Contents(kind)
    manifests: list[Manifest] = []
    for part in parts:
        resources = part.read_resources()
        package = manifests[0].package if manifests else ""
        if part.root is not None:
            manifest, notes = build_manifest(part.root, resources, part.read_xml)
            manifests.append(manifest)
            package = package or manifest.package
            for note in notes:
                part.note(MANIFEST, note, lost=False)
        elif MANIFEST not in part.files and TABLE in part.files:
            part.note(MANIFEST, "is missing")
        contents.dex += part.read_dex()
        layouts, complete = read_layouts(package, part.files, resources, part.read_xml)
        contents.layouts += layouts
        if not complete:
            part.note(TABLE, "too many layouts; the rest is left out")
    contents.manifest = _merged(manifests)
    for archive in {id(part.archive): part.archive for part in parts}.values():
        contents.problems += archive.problems
    for part in parts:
        contents.problems += part.problems
    _require_dex(name, contents)
    return contents


def _one_app(name: str, parts: list[Part]) -> list[Part]:
    bases = [part for part in parts if part.root is not None and not part.is_split]
    packages = sorted({part.root.plain("package") or "" for part in bases if part.root is not None})
    if len(packages) > 1:
        raise UnreadableInput(f"{name}: several apps in it ({', '.join(packages)}), not the splits of one")
    for part in bases[1:]:
        if not part.proto:
            bases[0].problems.append(Problem(part.archive.name, "a second base APK; left out", lost=False))
            parts = [kept for kept in parts if kept is not part]
    return parts


def _merged(manifests: list[Manifest]) -> Manifest | None:
    if len(manifests) < 2:
        return manifests[0] if manifests else None
    components: dict[tuple[str, str], Component] = {}
    permissions: dict[str, None] = {}
    for manifest in manifests:
        for component in manifest.components:
            components.setdefault((component.name, component.kind), component)
        permissions.update(dict.fromkeys(manifest.permissions))
    return replace(manifests[0], components=tuple(components.values()), permissions=tuple(permissions))


def _require_dex(name: str, contents: Contents) -> None:
    if contents.dex:
        return
    for problem in contents.problems:
        if problem.lost and problem.where.endswith(".dex"):
            raise UnreadableInput(f"{problem.where}: {problem.what}")
    manifest = contents.manifest
    what = f", only the manifest of {manifest.package or 'an app without a name'}" if manifest else ""
    raise UnreadableInput(f"{name}: no dex in it{what}")
