"""Generates the framework model from the npm package `@nativescript/types-android`.

    npm pack @nativescript/types-android@9.1.1
    python -m analyzer.framework.generate nativescript-types-android-9.1.1.tgz

The same package gives the same bytes. All API levels are joined: methods and interfaces of every level stay, the
superclass is that of the newest. Facts that the package lacks come from the supplements beside this file.
"""

from __future__ import annotations

import argparse
import re
import sys
import tarfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from analyzer.framework.declarations import DeclaredClass, bare, parse, split_top
from analyzer.framework.families import family
from analyzer.framework.model import DATA_FILE
from analyzer.framework.supplement import add_supplement
from analyzer.framework.table import ABSTRACT, INTERFACE, ClassRecord, encode
from gpu.errors import GdroidError, UnreadableInput

SUPPLEMENTS = ("packages.txt", "supplement.txt")
_OBJECT = "Ljava/lang/Object;"
_DECLARATIONS = re.compile(r"(?:^|/)(android-platform|androidx)-[\d-]+(?:-merged)?\.d\.ts$")
_PRIMITIVES = {"number": "N", "string": "S", "boolean": "Z", "void": "V"}


def dex_name(dotted: str, declared: set[str]) -> str:
    """The dex descriptor of a dotted class name; a part nests in the one before where that one is a class.

    An outer class that is not declared itself (it is not public) is known by its capital letter.
    """
    parts = dotted.split(".")
    text, prefix, inside = parts[0], parts[0], False
    for part in parts[1:]:
        inside = inside or prefix in declared or prefix.rpartition(".")[2][:1].isupper()
        text += ("$" if inside else "/") + part
        prefix += "." + part
    return f"L{text};"


def type_family(text: str, declared: set[str]) -> str:
    """The family of a TypeScript type."""
    for part in split_top(text, "|"):
        if part not in ("null", "undefined"):
            text = part
            break
    if text.startswith("androidNative.Array<") and text.endswith(">"):
        return "[" + type_family(text[len("androidNative.Array<") : -1].strip(), declared)
    if text in _PRIMITIVES:
        return _PRIMITIVES[text]
    name = bare(text)
    # What has no dot is `any` or a type variable.
    return family(dex_name(name, declared)) if "." in name else "?"


def join(layers: Iterable[Sequence[DeclaredClass]]) -> dict[str, ClassRecord]:
    """One record per class from declarations ordered from the oldest to the newest."""
    layers = [list(layer) for layer in layers]
    declared = {item.name for layer in layers for item in layer}
    classes: dict[str, ClassRecord] = {}
    for layer in layers:
        for item in layer:
            descriptor = dex_name(item.name, declared)
            superclass = dex_name(item.superclass, declared) if item.superclass else _OBJECT
            if item.interface or descriptor == _OBJECT:
                superclass = ""
            record = classes.setdefault(descriptor, ClassRecord(None, [], 0))
            record.superclass = superclass or None
            record.flags = INTERFACE * item.interface | ABSTRACT * item.abstract
            for name in item.interfaces:
                if (interface := dex_name(name, declared)) not in record.interfaces:
                    record.interfaces.append(interface)
            for method in item.methods:
                if item.interface and method.name == "<init>":
                    continue
                kinds = [type_family(kind, declared) for kind in (method.ret or "void", *method.params)]
                record.methods.add((method.name, tuple(kinds), method.static))
    for descriptor, record in classes.items():
        _repair(descriptor, record, classes)
    return classes


def _repair(descriptor: str, record: ClassRecord, classes: dict[str, ClassRecord]) -> None:
    """Undoes what the declarations do to superclasses: a generic interface stands after `extends`, Enum is left out."""
    parent = classes.get(record.superclass or "")
    if record.superclass is not None and parent is not None and parent.flags & INTERFACE:
        if record.superclass not in record.interfaces:
            record.interfaces.insert(0, record.superclass)
        record.superclass = _OBJECT
    of_enum = {("values", ("[" + descriptor,), True), ("valueOf", (descriptor, "S"), True)}
    if record.superclass == _OBJECT and of_enum <= record.methods:
        record.superclass = "Ljava/lang/Enum;"


def read_package(path: Path) -> list[tuple[str, str]]:
    """(name, text) of the package's declaration files, oldest API level first."""
    found: list[tuple[str, str]] = []
    if path.is_dir():
        found = [(str(file.relative_to(path)), file.read_text()) for file in path.rglob("*.d.ts")]
    else:
        with tarfile.open(path) as archive:
            for entry in archive.getmembers():
                if entry.isfile() and (content := archive.extractfile(entry)) is not None:
                    found.append((entry.name, content.read().decode() if entry.name.endswith(".d.ts") else ""))
    found = [(name, text) for name, text in found if _DECLARATIONS.search(name)]
    if not found:
        raise UnreadableInput(f"{path}: no android-platform-*.d.ts or androidx-*.d.ts inside")
    # The merged file holds what the older levels had, so the plain file of the newest level comes after it.
    return sorted(found, key=lambda item: ("merged" not in item[0], item[0]))


def generate(files: Iterable[tuple[str, str]], supplements: Iterable[tuple[str, str]] = ()) -> bytes:
    """The bytes of a model from declaration files, oldest first, and supplements; each is (name, text)."""
    classes = join(parse(text, name) for name, text in files)
    for name, text in supplements:
        add_supplement(text, name, classes)
    return encode(classes)


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the model; returns the exit code."""
    here = Path(__file__).parent
    parser = argparse.ArgumentParser(prog="python -m analyzer.framework.generate", description=__doc__.split("\n")[0])
    parser.add_argument("package", type=Path, help="the npm package, as .tgz or unpacked")
    parser.add_argument("--output", type=Path, default=here / DATA_FILE, help="file to write (default: %(default)s)")
    options = parser.parse_args(arguments)
    try:
        data = generate(read_package(options.package), [(name, (here / name).read_text()) for name in SUPPLEMENTS])
    except (GdroidError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    options.output.write_bytes(data)
    sys.stderr.write(f"{options.output}: {len(data)} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
