"""Opening an input: what it is, decided by content, and everything of it that later stages need."""

from __future__ import annotations

import hashlib
import re
import stat
from contextlib import suppress
from mmap import ACCESS_READ, mmap
from pathlib import Path

from analyzer.container.archive import Archive, Budget, Buffer
from analyzer.container.axml import looks_like_axml, read_axml
from analyzer.container.manifest import build_manifest
from analyzer.container.model import AppFiles, DexFile, Problem
from analyzer.container.oat import embedded_dex, holds_compact_dex
from analyzer.container.parts import MANIFEST, NUMBERED_DEX, Contents, Part, read_parts
from analyzer.container.resources import NoResources
from analyzer.limits import Limits
from gpu.errors import GdroidError, UnreadableInput, UnsupportedFeature

_END_RECORD = b"PK\5\6"
_MAPPED_OVER = 256_000_000
_BUNDLE_DEX = re.compile(r"[^/]+/dex/classes([2-9]|[1-9]\d+)?\.dex")
_VARIANT = re.compile(r"(.+?)(?:_(\d+))?\.apk", re.DOTALL)


def open_app(path: Path, limits: Limits) -> AppFiles:
    """Opens an app: .apk, set of splits (archive or folder), .aab, .dex, .odex, or an archive with dex inside.

    Its kind is decided by content. Damage beside readable dex is told in `problems`; without any dex it is an error.
    `sha256` is the file's; of a folder, that of its APKs' digests in the order of their names.
    Raises UnreadableInput, LimitReached (more than limits.input_mb) or UnsupportedFeature, each of one line.
    """
    budget = Budget.of_mb(limits.input_mb)
    name = path.name or str(path)
    try:
        if path.is_dir():
            contents, digest = _open_folder(path, name, budget)
        else:
            data = _read_file(path)
            contents, digest = _open_bytes(data, name, budget), hashlib.sha256(data).hexdigest()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise UnreadableInput(_one_line(f"{path}: {reason or error}")) from error
    except GdroidError as error:
        raise type(error)(_one_line(f"{path.parent}/{error}" if path.parent != Path() else str(error))) from error
    return AppFiles(
        path=path,
        sha256=digest,
        kind=contents.kind,
        dex=tuple(contents.dex),
        manifest=contents.manifest,
        layouts=tuple(contents.layouts),
        problems=tuple(
            dict.fromkeys(Problem(_one_line(p.where), _one_line(p.what), p.lost) for p in contents.problems)
        ),
    )


def _one_line(message: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in message)


def _read_file(path: Path) -> Buffer:
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableInput(f"{path.name}: neither a file nor a folder")
    with path.open("rb") as file:
        if status.st_size > _MAPPED_OVER:
            return mmap(file.fileno(), 0, access=ACCESS_READ)
        return file.read()


def _open_bytes(data: Buffer, name: str, budget: Budget) -> Contents:
    start = bytes(data[:1024])
    if not start:
        raise UnreadableInput(f"{name}: the file is empty")
    if start.startswith(b"dex\n"):
        return _open_dex(data, name, budget)
    if start.startswith((b"\x7fELF", b"vdex", b"dey\n")):
        return _open_oat(data, name, budget)
    if start.startswith(b"cdex"):
        raise UnsupportedFeature(f"{name}: compact dex is not supported; use the dex or APK that it was made from")
    if start.startswith(b"PK\3\4") or data.rfind(_END_RECORD) >= 0:
        return _open_archive(Archive.open(data, name, budget))
    if looks_like_axml(start):
        raise UnreadableInput(f"{name}: no dex in it, only {_describe_xml(bytes(data), name)}")
    if not start[:64].strip(b"\0"):
        raise UnreadableInput(f"{name}: neither APK, archive, dex, OAT nor binary XML (zeros where a header should be)")
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


def _open_dex(data: Buffer, name: str, budget: Budget) -> Contents:
    if data.rfind(_END_RECORD) >= 0:
        archive = Archive(data, name, budget)
        with suppress(UnreadableInput):  # where bytes of a dex just look like an end record
            archive = Archive.open(data, name, budget)
        if MANIFEST in archive.entries:
            contents = _open_archive(archive)
            what = "starts as a dex and ends as an APK (CVE-2017-13156); read as an APK"
            contents.problems.append(Problem(name, what, lost=False))
            return contents
    budget.spend(len(data), name)
    return Contents("dex", [DexFile(name, bytes(data))])


def _open_oat(data: Buffer, name: str, budget: Budget) -> Contents:
    contents = Contents("dex")
    for at, dex in embedded_dex(data):
        budget.spend(len(dex), name)
        contents.dex.append(DexFile(f"{name}@{at:#x}", dex))
    if not contents.dex and holds_compact_dex(data):
        raise UnsupportedFeature(f"{name}: compact dex is not supported; use the APK that it was made from")
    if not contents.dex:
        raise UnreadableInput(f"{name}: no dex in it; if this is a compiled app, open its APK or .vdex file")
    what = "dex taken from a compiled file; its instructions may be optimised"
    contents.problems.append(Problem(name, what, lost=False))
    return contents


def _open_archive(archive: Archive) -> Contents:
    names = archive.entries
    if MANIFEST in names:
        return read_parts(archive.name, [Part.of_apk(archive)], "apk")
    if any(NUMBERED_DEX.fullmatch(name) for name in names):
        return read_parts(archive.name, [Part.of_apk(archive)], "jar")
    if "BundleConfig.pb" in names or any(_BUNDLE_DEX.fullmatch(name) for name in names):
        return read_parts(archive.name, Part.of_bundle(archive), "aab")
    splits = [name for name in names if name.lower().endswith(".apk")]
    if splits:
        return _open_splits(archive, splits)
    if any(name.endswith(".dex") for name in names):
        return read_parts(archive.name, [Part.of_apk(archive)], "jar")
    classes = sum(name.endswith(".class") for name in names)
    what = f"{classes:,} .class files, which Android does not run" if classes else f"{len(names):,} other entries"
    raise UnreadableInput(f"{archive.name}: no dex in it, only {what}")


def _open_splits(archive: Archive, names: list[str]) -> Contents:
    parts: list[Part] = []
    damaged: list[UnreadableInput] = []
    for name in choose_splits(names):
        try:
            inner = Archive.open(archive.read(name), f"{archive.name}!/{name}", archive.budget)
        except UnreadableInput as error:
            damaged.append(error)
            continue
        parts.append(Part.of_apk(inner, f"{name}!/"))
    if not parts:
        raise damaged[0]
    contents = read_parts(archive.name, parts, "splits")
    contents.problems[:0] = [*archive.problems, *(Problem(archive.name, str(error)) for error in damaged)]
    return contents


def _open_folder(path: Path, name: str, budget: Budget) -> tuple[Contents, str]:
    parts: list[Part] = []
    digest = hashlib.sha256()
    for file in sorted(path.iterdir()):
        if not file.is_file():
            continue
        with file.open("rb") as opened:
            if opened.read(4) != b"PK\3\4":
                continue
        data = _read_file(file)
        archive = Archive.open(data, f"{name}/{file.name}", budget)
        if MANIFEST in archive.entries:
            digest.update(hashlib.sha256(data).digest())
            parts.append(Part.of_apk(archive, f"{file.name}!/"))
    if not parts:
        raise UnreadableInput(f"{name}: a folder without an APK in it")
    return read_parts(name, parts, "splits"), digest.hexdigest()


def choose_splits(names: list[str]) -> list[str]:
    """The APKs of a set that are one installation, sorted.

    bundletool writes `splits/` for current devices, `standalones/` for old ones and `universal.apk` for all, and
    variants of a split for ranges of Android versions as `base-master_2.apk`, of which the last is the newest.
    """
    universal = [name for name in names if name.rsplit("/", 1)[-1] == "universal.apk"]
    splits = [name for name in names if name.startswith("splits/")]
    standalones = [name for name in names if name.startswith("standalones/")]
    if not splits:
        return universal[:1] or sorted(standalones)[:1] or sorted(names)
    newest: dict[str, tuple[int, str]] = {}
    for name in splits:
        match = _VARIANT.fullmatch(name)
        stem, variant = (match[1], int(match[2] or 1)) if match else (name, 1)
        newest[stem] = max(newest.get(stem, (0, "")), (variant, name))
    return sorted(name for _, name in newest.values())
