"""Which classes are the app's own, and which come from libraries in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from analyzer.container import Manifest
from analyzer.program import Program

SYNTHETIC = "Lgdroid/"
_HOSTS = frozenset({"com", "org", "net", "io", "de", "com/github", "io/github", "com/google", "com/android", "android"})
"""Package prefixes that many owners share: never the app's own as a whole."""


_MOST_OBFUSCATED = 300
"""Classes in packages of one letter, or in none, that may still be taken for the app's own."""


def _is_obfuscated(descriptor: str) -> bool:
    first = descriptor[1:].split("/", 1)
    return len(first) == 1 or len(first[0]) == 1


def package_prefix(manifest: Manifest | None) -> str:
    """Descriptor prefix of the package that a manifest names, such as 'La/b/'; '' without one."""
    return "" if manifest is None else f"L{manifest.package.replace('.', '/')}/"


class Own:
    """Decides by package: the manifest's, the components', and, where packages are obfuscated, single letters.

    Where very many classes have such names, most of them come from libraries, and none counts as the app's own. A known
    library never does. Without a manifest, or when nothing in the dex fits it, everything that is
    no known library is.
    """

    def __init__(self, program: Program, manifest: Manifest | None, libraries: Sequence[str]) -> None:
        """`libraries`: descriptor prefixes such as 'Landroidx/'."""
        self._program = program
        self._libraries = tuple(sorted(libraries))
        self._package = package_prefix(manifest)
        if self._package in self._libraries:
            self._package = ""
        self._prefixes = self._own_prefixes(manifest)
        self._cache: dict[int, bool] = {}
        descriptors = (program.type_name(c.type) for c in program.classes)
        self._guesses = sum(map(_is_obfuscated, descriptors)) <= _MOST_OBFUSCATED
        if manifest is None or not any(self._fits(program.type_name(c.type)) for c in program.classes):
            self._prefixes = ("L",)

    def is_own(self, type_id: int) -> bool:
        """True for the app's own classes and for synthetic ones; an array counts as its elements do."""
        known = self._cache.get(type_id)
        if known is None:
            known = self._cache[type_id] = self._fits(self._program.type_name(type_id).lstrip("["))
        return known

    def is_certain(self, type_id: int) -> bool:
        """True for synthetic classes and those of packages that the manifest names: no guess by obfuscated names."""
        descriptor = self._program.type_name(type_id).lstrip("[")
        return descriptor.startswith(SYNTHETIC) or (
            descriptor.startswith(self._prefixes) and not self.is_known_library(descriptor)
        )

    @property
    def prefixes(self) -> tuple[str, ...]:
        """Descriptor prefixes of the app's own packages, sorted."""
        return self._prefixes

    def is_known_library(self, descriptor: str) -> bool:
        """True when the class belongs to a library of the list, and not to the package that the manifest names."""
        if self._package and descriptor.startswith(self._package):
            return False
        return descriptor.startswith(self._libraries) if self._libraries else False

    def _fits(self, descriptor: str) -> bool:
        if descriptor.startswith(SYNTHETIC):
            return True
        if self.is_known_library(descriptor):
            return False
        if descriptor.startswith(self._prefixes):
            return True
        return self._guesses and _is_obfuscated(descriptor)

    def _own_prefixes(self, manifest: Manifest | None) -> tuple[str, ...]:
        if manifest is None:
            return ("L",)
        names = [manifest.package + ".R", *(c.alias_of or c.name for c in manifest.components)]
        if manifest.application_class:
            names.append(manifest.application_class)
        return tuple(sorted({p for name in names for p in self._prefixes_of(name)}))

    def _prefixes_of(self, class_name: str) -> Iterable[str]:
        parts = class_name.split(".")[:-1]
        if not parts or self.is_known_library("L" + "/".join(parts) + "/"):
            return
        for n in (len(parts), len(parts) - 1):
            prefix = "/".join(parts[:n])
            if n >= min(2, len(parts)) and prefix not in _HOSTS and not self.is_known_library(f"L{prefix}/"):
                yield f"L{prefix}/"
