"""An APK of a plan: classes in as many dex files as they need, and a manifest."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.synthetic.bodies import Names, code
from benchmarks.synthetic.manifest import manifest
from benchmarks.synthetic.structure import Class, Plan, Role, plan
from tests.analyzer.dex.builder import Class as DexClass
from tests.analyzer.dex.builder import Method, Writer

PACKAGE = "com.example.app"
_MOST = 60_000
"""Methods, fields or strings after which a dex file is full; the format's limit is 65,536."""
_DATE = (1980, 1, 1, 0, 0, 0)
_PUBLIC, _STATIC, _FINAL, _INTERFACE, _ABSTRACT, _CONSTRUCTOR = 1, 8, 0x10, 0x200, 0x400, 0x10000


def write(path: Path, n_methods: int, seed: int = 0) -> Plan:
    """Writes the app of `n_methods` methods with code for this seed, the same bytes each time; returns its plan."""
    made = plan(n_methods, seed)
    rng = Random(f"code {n_methods}/{seed}")
    with zipfile.ZipFile(path, "w") as archive:
        names = [made.classes[cls].name[1:-1].replace("/", ".") for cls in made.activities]
        _add(archive, "AndroidManifest.xml", manifest(PACKAGE, names))
        for number, data in enumerate(_dex_files(made, rng)):
            _add(archive, f"classes{number + 1 if number else ''}.dex", data)
    return made


def _add(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, data, compresslevel=1)


def _dex_files(made: Plan, rng: Random) -> Iterator[bytes]:
    names = Names(made, Writer())
    for cls in made.classes:
        writer = names.writer
        if max(len(writer.methods), len(writer.fields), len(writer.strings)) > _MOST:
            yield _done(writer)
            names = Names(made, Writer())
        _add_class(names, cls, rng)
    yield _done(names.writer)


def _done(writer: Writer) -> bytes:
    writer.sort()
    return writer.build()


def _add_class(names: Names, cls: Class, rng: Random) -> None:
    direct: list[Method] = []
    virtual: list[Method] = []
    for number in cls.methods:
        m = names.plan.methods[number]
        if m.role is Role.ABSTRACT:
            virtual.append(Method(m.name, names.signature(m), _PUBLIC | _ABSTRACT))
            continue
        done = Method(m.name, names.signature(m), _PUBLIC, code(names, number, rng))
        if m.role in (Role.STATIC, Role.FACTORY):
            done.access |= _STATIC
        elif m.role is Role.INITIALISER:
            done.access = _STATIC | _CONSTRUCTOR
        elif m.role is Role.CONSTRUCTOR:
            done.access |= _CONSTRUCTOR
        (virtual if m.role in (Role.INSTANCE, Role.ENTRY) else direct).append(done)
    statics = [(f"s{i}", names.descriptor(kind), _PUBLIC | _STATIC) for i, kind in enumerate(cls.statics)]
    if cls.singleton:
        statics.append(("INSTANCE", cls.name, _PUBLIC | _STATIC | _FINAL))
    up = cls.superclass
    names.writer.add(
        DexClass(
            cls.name,
            superclass=up if isinstance(up, str) else names.descriptor(up),
            access=_PUBLIC | (_INTERFACE * cls.is_interface) | (_ABSTRACT * cls.is_abstract),
            interfaces=[i if isinstance(i, str) else names.descriptor(i) for i in cls.interfaces],
            static_fields=statics,
            instance_fields=[(f"f{i}", names.descriptor(kind), _PUBLIC) for i, kind in enumerate(cls.fields)],
            direct=direct,
            virtual=virtual,
        )
    )
