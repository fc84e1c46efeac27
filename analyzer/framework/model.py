"""The framework model: classes and methods of Android, Java and AndroidX that apps call but do not contain."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from analyzer.framework.families import all_comparable, family
from analyzer.framework.table import ABSTRACT, FINAL, INTERFACE, Table, decode

DATA_FILE = "framework.bin"


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
        self._methods: dict[str, tuple[FrameworkMethod, ...]] = {}
        self._params: dict[str, dict[str, list[tuple[str, ...]]]] = {}

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
        found = self._methods.get(descriptor)
        if found is None:
            found = self._methods[descriptor] = tuple(self._decode_methods(descriptor))
        return found

    def declares(self, descriptor: str, name: str, params: tuple[str, ...]) -> bool:
        """Whether the class itself declares a method of this name, arity and comparable parameters.

        `params` are dex descriptors ('I', 'Landroid/view/View;', …).
        """
        by_name = self._params.get(descriptor)
        if by_name is None:
            by_name = self._params[descriptor] = {}
            for method in self.methods(descriptor):
                by_name.setdefault(method.name, []).append(method.param_families)
        candidates = by_name.get(name)
        if not candidates:
            return False
        actual = [family(param) for param in params]
        return any(all_comparable(declared, actual) for declared in candidates)

    def _decode(self, descriptor: str, row: int) -> FrameworkClass:
        arrays, types = self._table.arrays, self._table.types
        flags = int(arrays["class_flags"][row])
        superclass = int(arrays["super"][row])
        start, end = (int(at) for at in arrays["interface_off"][row : row + 2])
        methods = dict.fromkeys(method.name for method in self.methods(descriptor))
        return FrameworkClass(
            descriptor=descriptor,
            superclass=types[superclass - 1] if superclass else None,
            interfaces=tuple(types[int(at)] for at in arrays["interfaces"][start:end]),
            is_interface=bool(flags & INTERFACE),
            is_abstract=bool(flags & (ABSTRACT | INTERFACE)),
            is_final=bool(flags & FINAL),
            methods=tuple(methods),
        )

    def _decode_methods(self, descriptor: str) -> Iterator[FrameworkMethod]:
        row = self._index.get(descriptor)
        if row is None:
            return
        arrays, types, names = self._table.arrays, self._table.types, self._table.names
        start, end = (int(at) for at in arrays["method_off"][row : row + 2])
        for at in range(start, end):
            signature = int(arrays["method_signature"][at])
            first, last = (int(edge) for edge in arrays["signature_off"][signature : signature + 2])
            kinds = tuple(types[int(kind)] for kind in arrays["signature_type"][first:last])
            yield FrameworkMethod(
                name=names[int(arrays["method_name"][at])],
                arity=len(kinds) - 1,
                param_families=kinds[1:],
                return_family=kinds[0],
                static=bool(arrays["method_static"][at]),
            )


@cache
def load() -> Framework:
    """The model that is part of the package. Raises UnreadableInput where the file is damaged."""
    return Framework(decode(files("analyzer.framework").joinpath(DATA_FILE).read_bytes(), DATA_FILE))
