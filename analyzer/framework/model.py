"""The framework model: classes and methods of Android, Java and AndroidX that apps call but do not contain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from analyzer.framework.families import all_comparable, family
from analyzer.framework.table import ABSTRACT, FINAL, INTERFACE, Table, decode

DATA_FILE = "framework.bin"
_POLYMORPHIC = ("Ljava/lang/invoke/MethodHandle;", "Ljava/lang/invoke/VarHandle;")
"""Their native methods with one Object[] take whatever a call passes (Java virtual machine specification, 2.9.3)."""


@dataclass(frozen=True, slots=True)
class FrameworkMethod:
    """One declared method; families as in `analyzer.framework.families`."""

    name: str
    arity: int
    param_families: tuple[str, ...]
    return_family: str
    static: bool


@dataclass(frozen=True, slots=True)
class FrameworkClass:
    """One class or interface; `superclass` is None for interfaces and java.lang.Object."""

    descriptor: str
    superclass: str | None
    interfaces: tuple[str, ...]
    is_interface: bool
    is_abstract: bool
    is_final: bool
    methods: tuple[str, ...]
    """Names of the methods declared here, sorted, each once."""


class Framework:
    """Look-ups in a model; classes are decoded when first asked for."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._index = {descriptor: at for at, descriptor in enumerate(table.types[: table.n_classes])}
        self._classes: dict[str, FrameworkClass] = {}
        self._rows: dict[str, dict[str, list[int]]] = {}  # class -> name -> rows of the method columns
        self._signatures: dict[int, tuple[str, ...]] = {}

    def __contains__(self, descriptor: object) -> bool:
        return descriptor in self._index

    def classes(self) -> Iterator[str]:
        """Descriptors of all classes and interfaces, sorted."""
        return iter(self._table.types[: self._table.n_classes])

    def find(self, descriptor: str) -> FrameworkClass | None:
        """The class of that dex descriptor, or None."""
        found = self._classes.get(descriptor)
        if found is None and (row := self._index.get(descriptor)) is not None:
            found = self._classes[descriptor] = self._decode(descriptor, row)
        return found

    def methods(self, descriptor: str) -> tuple[FrameworkMethod, ...]:
        """The methods that the class declares itself, sorted by name and types; empty where it is unknown."""
        found = []
        for name, rows in self._methods_by_name(descriptor).items():
            for row in rows:
                ret, *params = self._signature(row)
                static = bool(self._table.arrays["method_static"][row])
                found.append(FrameworkMethod(name, len(params), tuple(params), ret, static))
        return tuple(found)

    def declares(self, descriptor: str, name: str, params: tuple[str, ...]) -> bool:
        """Whether the class itself declares a method of this name, arity and comparable parameters.

        `params` are dex descriptors ('I', 'Landroid/view/View;', …).
        """
        rows = self._methods_by_name(descriptor).get(name)
        if rows is None:
            return False
        candidates = [self._signature(row)[1:] for row in rows]
        if descriptor in _POLYMORPHIC and ("[?",) in candidates:
            return True
        actual = [family(param) for param in params]
        return any(all_comparable(declared, actual) for declared in candidates)

    def _decode(self, descriptor: str, row: int) -> FrameworkClass:
        arrays, types = self._table.arrays, self._table.types
        flags = int(arrays["class_flags"][row])
        superclass = int(arrays["super"][row])
        start, end = arrays["interface_off"][row : row + 2].tolist()
        return FrameworkClass(
            descriptor=descriptor,
            superclass=types[superclass - 1] if superclass else None,
            interfaces=tuple(types[at] for at in arrays["interfaces"][start:end].tolist()),
            is_interface=bool(flags & INTERFACE),
            is_abstract=bool(flags & (ABSTRACT | INTERFACE)),
            is_final=bool(flags & FINAL),
            methods=tuple(self._methods_by_name(descriptor)),
        )

    def _methods_by_name(self, descriptor: str) -> dict[str, list[int]]:
        found = self._rows.get(descriptor)
        if found is None:
            found = self._rows[descriptor] = {}
            if (row := self._index.get(descriptor)) is not None:
                names = self._table.names
                start, end = self._table.arrays["method_off"][row : row + 2].tolist()
                for at, name in enumerate(self._table.arrays["method_name"][start:end].tolist(), start):
                    found.setdefault(names[name], []).append(at)
        return found

    def _signature(self, row: int) -> tuple[str, ...]:
        """Return family, then parameter families, of a row of the method columns."""
        arrays, types = self._table.arrays, self._table.types
        signature = int(arrays["method_signature"][row])
        found = self._signatures.get(signature)
        if found is None:
            start, end = arrays["signature_off"][signature : signature + 2].tolist()
            found = tuple(types[kind] for kind in arrays["signature_type"][start:end].tolist())
            self._signatures[signature] = found
        return found


@cache
def load() -> Framework:
    """The model that is part of the package. Raises UnreadableInput where the file is damaged."""
    return Framework(decode(files("analyzer.framework").joinpath(DATA_FILE).read_bytes(), DATA_FILE))
