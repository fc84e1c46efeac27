"""The app as ids: types, fields, methods, classes and their code.

Ids of the dex come first; names of synthetic code and of the framework are interned behind them. Ids are never
reused or reordered, so an id can be kept anywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from analyzer import cfg, lift
from analyzer.bodies import Batch, Bodies
from analyzer.dex import Dex
from analyzer.ir import Body, CallKind, Op
from analyzer.kernels import layout
from analyzer.names import ClassDef, FieldRef, Mentions, MethodDef, MethodRef, Scan, split_descriptor
from gpu.errors import UnreadableInput

__all__ = ["ClassDef", "FieldRef", "Mentions", "MethodDef", "MethodRef", "Program", "Scan", "split_descriptor"]

ACC_STATIC = 0x8
ACC_INTERFACE = 0x200
ACC_ABSTRACT = 0x400


@dataclass(slots=True)
class _Classes:
    """Definitions, in order: those of the dex (shadowed ones left out), then synthetic ones."""

    items: list[ClassDef] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)  # type id -> position


class Program:
    """An app's dex files as ids, with room for names that the dex does not have."""

    def __init__(self, dex: Dex) -> None:
        self.dex = dex
        self.n_dex_types = len(dex.type_descriptor)
        self.n_dex_fields = len(dex.field_class)
        self.n_dex_methods = len(dex.method_class)
        self._type_names: list[str | None] = [None] * self.n_dex_types
        self._type_ids: dict[str, int] = {}
        self._fields: list[FieldRef | None] = [None] * self.n_dex_fields
        self._methods: list[MethodRef | None] = [None] * self.n_dex_methods
        self._method_keys: dict[int, dict[tuple[str, str], int]] = {}  # type -> (name, descriptor) -> method
        self._field_keys: dict[int, dict[tuple[str, int], int]] = {}  # type -> (name, type) -> field
        self._protos: dict[int, tuple[tuple[int, ...], int]] = {}
        self._descriptors: dict[int, str] = {}
        self._synthetic: dict[int, MethodDef] = {}
        self._bodies: dict[int, Body] = {}
        self._placed: dict[int, tuple[Batch, int]] = {}  # dex method -> batch and place in it
        self._polymorphic = self._name_polymorphic_calls()

    def _name_polymorphic_calls(self) -> dict[int, int]:
        """invoke-polymorphic instruction -> id of its method with the descriptor that the call site gives it."""
        dex = self.dex
        found = {}
        for row in np.flatnonzero(lift.CALL_KIND[dex.op] == CallKind.POLYMORPHIC).tolist():
            ref = self.method(int(dex.x[row]))
            params, ret = self.proto(int(dex.c[row]) | int(dex.b[row]) << 16)
            descriptor = f"({''.join(map(self.type_name, params))}){self.type_name(ret)}"
            found[row] = self.method_id(self.type_name(ref.cls), ref.name, descriptor)
        return found

    # ------------------------------------------------------------------ names

    def string(self, index: int) -> str:
        """The text of a string id."""
        return self.dex.strings[index]

    @cached_property
    def _type_of_string(self) -> NDArray[np.int32]:
        """(n_strings,) type id of the descriptor, -1 where it is none."""
        found = np.full(len(self.dex.strings), -1, np.int32)
        found[self.dex.type_descriptor[::-1]] = np.arange(self.n_dex_types, dtype=np.int32)[::-1]
        return found

    def type_find(self, descriptor: str) -> int:
        """The id of a type, -1 if there is none."""
        known = self._type_ids.get(descriptor)
        if known is None:
            string = self.dex.strings.find(descriptor)
            if string < 0:
                return -1
            known = int(self._type_of_string[string])
            if known >= 0:
                self._type_ids[descriptor] = known
        return known

    def type_id(self, descriptor: str) -> int:
        """The id of a type; a new one for a new name."""
        known = self.type_find(descriptor)
        if known < 0:
            known = self._type_ids[descriptor] = len(self._type_names)
            self._type_names.append(descriptor)
        return known

    def type_name(self, type_id: int) -> str:
        """The descriptor of a type, such as `Landroid/app/Activity;`."""
        name = self._type_names[type_id]
        if name is None:
            name = self._type_names[type_id] = self.dex.strings[int(self.dex.type_descriptor[type_id])]
        return name

    @property
    def n_types(self) -> int:
        """Number of type ids so far."""
        return len(self._type_names)

    @property
    def n_methods(self) -> int:
        """Number of method ids so far."""
        return len(self._methods)

    @property
    def n_fields(self) -> int:
        """Number of field ids so far."""
        return len(self._fields)

    # ---------------------------------------------------------------- methods

    def proto(self, proto_id: int) -> tuple[tuple[int, ...], int]:
        """(parameter types, return type) of a proto id of the dex."""
        known = self._protos.get(proto_id)
        if known is None:
            dex = self.dex
            low, high = int(dex.proto_params_off[proto_id]), int(dex.proto_params_off[proto_id + 1])
            known = (tuple(dex.proto_params[low:high].tolist()), int(dex.proto_return[proto_id]))
            self._protos[proto_id] = known
        return known

    def method(self, method: int) -> MethodRef:
        """What a method id names."""
        known = self._methods[method]
        if known is None:
            dex = self.dex
            params, ret = self.proto(int(dex.method_proto[method]))
            name = dex.strings[int(dex.method_name[method])]
            known = self._methods[method] = MethodRef(int(dex.method_class[method]), name, params, ret)
        return known

    def descriptor(self, method: int) -> str:
        """Parameter and return types, such as `(I)V`."""
        known = self._descriptors.get(method)
        if known is None:
            ref = self.method(method)
            known = f"({''.join(map(self.type_name, ref.params))}){self.type_name(ref.ret)}"
            self._descriptors[method] = known
        return known

    def signature(self, method: int) -> str:
        """The smali name of a method, such as `La/B;->f(I)V`."""
        ref = self.method(method)
        return f"{self.type_name(ref.cls)}->{ref.name}{self.descriptor(method)}"

    def method_find(self, class_descriptor: str, name: str, descriptor: str) -> int:
        """The id of a method, -1 if there is none."""
        owner = self.type_find(class_descriptor)
        return -1 if owner < 0 else self._methods_of(owner).get((name, descriptor), -1)

    def method_id(self, class_descriptor: str, name: str, descriptor: str) -> int:
        """The id of a method; a new one for a new name."""
        keys = self._methods_of(self.type_id(class_descriptor))
        known = keys.get((name, descriptor), -1)
        if known < 0:
            params, ret = split_descriptor(descriptor)
            known = keys[name, descriptor] = len(self._methods)
            types = tuple(self.type_id(p) for p in params)
            self._methods.append(MethodRef(self.type_id(class_descriptor), name, types, self.type_id(ret)))
        return known

    def methods_named_in(self, type_id: int) -> tuple[int, ...]:
        """All method ids whose class is this type, defined or only referred to, ascending."""
        return tuple(sorted(self._methods_of(type_id).values()))

    def _methods_of(self, owner: int) -> dict[tuple[str, str], int]:
        keys = self._method_keys.get(owner)
        if keys is None:
            keys = self._method_keys[owner] = {}
            for method in _rows_of(self._by_method_class, owner):
                keys.setdefault((self.method(method).name, self.descriptor(method)), method)
        return keys

    @cached_property
    def _by_method_class(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return _group(self.dex.method_class, self.n_dex_types)

    # ----------------------------------------------------------------- fields

    def field(self, field_id: int) -> FieldRef:
        """What a field id names."""
        known = self._fields[field_id]
        if known is None:
            dex = self.dex
            name = dex.strings[int(dex.field_name[field_id])]
            known = FieldRef(int(dex.field_class[field_id]), name, int(dex.field_type[field_id]))
            self._fields[field_id] = known
        return known

    def field_signature(self, field_id: int) -> str:
        """The smali name of a field, such as `La/B;->f:I`."""
        ref = self.field(field_id)
        return f"{self.type_name(ref.cls)}->{ref.name}:{self.type_name(ref.type)}"

    def field_find(self, class_descriptor: str, name: str, type_descriptor: str) -> int:
        """The id of a field, -1 if there is none."""
        owner, kind = self.type_find(class_descriptor), self.type_find(type_descriptor)
        return -1 if owner < 0 or kind < 0 else self._fields_of(owner).get((name, kind), -1)

    def field_id(self, class_descriptor: str, name: str, type_descriptor: str) -> int:
        """The id of a field; a new one for a new name."""
        owner, kind = self.type_id(class_descriptor), self.type_id(type_descriptor)
        keys = self._fields_of(owner)
        known = keys.get((name, kind), -1)
        if known < 0:
            known = keys[name, kind] = len(self._fields)
            self._fields.append(FieldRef(owner, name, kind))
        return known

    def _fields_of(self, owner: int) -> dict[tuple[str, int], int]:
        keys = self._field_keys.get(owner)
        if keys is None:
            keys = self._field_keys[owner] = {}
            for number in _rows_of(self._by_field_class, owner):
                ref = self.field(number)
                keys.setdefault((ref.name, ref.type), number)
        return keys

    @cached_property
    def _by_field_class(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return _group(self.dex.field_class, self.n_dex_types)

    # ------------------------------------------------------------ definitions

    @property
    def classes(self) -> Sequence[ClassDef]:
        """All definitions: those of the dex in order, the first of each name only, then synthetic ones."""
        return self._classes.items

    def class_of(self, type_id: int) -> ClassDef | None:
        """The definition of a type, if the app has one."""
        position = self._classes.index.get(type_id)
        return None if position is None else self._classes.items[position]

    @cached_property
    def _classes(self) -> _Classes:
        dex = self.dex
        found = _Classes()
        method_rows = _bounds(dex.em_class, len(dex.class_type))
        field_rows = _bounds(dex.ef_class, len(dex.class_type))
        em_method, ef_field, ef_access = dex.em_method.tolist(), dex.ef_field.tolist(), dex.ef_access.tolist()
        kinds, values, static = dex.ef_value_kind.tolist(), dex.ef_value.tolist(), dex.ef_static.tolist()
        interfaces, off = dex.class_interfaces.tolist(), dex.class_interfaces_off.tolist()
        columns = (dex.class_type, dex.class_super, dex.class_access, dex.class_source, dex.class_dex)
        shadowed = dex.class_shadowed.tolist()
        for row, (kind, parent, access, source, file) in enumerate(zip(*(c.tolist() for c in columns), strict=True)):
            if shadowed[row] or kind in found.index:
                continue
            fields = range(field_rows[row], field_rows[row + 1])
            found.index[kind] = len(found.items)
            found.items.append(
                ClassDef(
                    kind,
                    parent,
                    tuple(interfaces[off[row] : off[row + 1]]),
                    access,
                    dex.strings[source] if source >= 0 else None,
                    file,
                    tuple(dict.fromkeys(em_method[method_rows[row] : method_rows[row + 1]])),
                    tuple((ef_field[k], ef_access[k]) for k in fields),
                    {ef_field[k]: (kinds[k], values[k]) for k in fields if static[k] and kinds[k] != 0xFF},
                )
            )
        return found

    @cached_property
    def _definition_row(self) -> NDArray[np.int32]:
        """(n_dex_methods,) row of the encoded method that defines it (the first), or -1."""
        dex = self.dex
        row = np.full(self.n_dex_methods, -1, np.int32)
        usable = np.flatnonzero(~dex.class_shadowed[dex.em_class])[::-1]
        row[dex.em_method[usable]] = usable
        return row

    def definition(self, method: int) -> MethodDef | None:
        """The definition of exactly this method id (no look-up in supertypes)."""
        if method in self._synthetic:
            return self._synthetic[method]
        row = int(self._definition_row[method]) if method < self.n_dex_methods else -1
        if row < 0:
            return None
        dex = self.dex
        owner = int(dex.class_type[dex.em_class[row]])
        return MethodDef(method, owner, int(dex.em_access[row]), int(dex.em_code[row]), bool(dex.em_direct[row]))

    def has_code(self, method: int) -> bool:
        """Whether `body` can be asked for."""
        return method in self._bodies or self._code_of(method) >= 0

    def _code_of(self, method: int) -> int:
        if method >= self.n_dex_methods or method in self._synthetic:
            return -1
        row = int(self._definition_row[method])
        return int(self.dex.em_code[row]) if row >= 0 else -1

    @cached_property
    def _called_static(self) -> frozenset[int]:
        """Methods that an invoke-static names."""
        return frozenset(np.unique(self.dex.x[np.isin(self.dex.op, (0x71, 0x77))]).tolist())

    def is_static(self, method: int) -> bool:
        """Whether a method takes no receiver; by its calls where the app does not define it."""
        definition = self.definition(method)
        return bool(definition.access & ACC_STATIC) if definition else method in self._called_static

    def methods_with_code(self) -> Iterator[int]:
        """Ids of all dex methods that have a code item, ascending."""
        row = self._definition_row
        defined = np.flatnonzero(row >= 0)
        yield from defined[self.dex.em_code[row[defined]] >= 0].tolist()

    # -------------------------------------------------------------- synthetic

    def add_class(
        self, descriptor: str, super_descriptor: str = "Ljava/lang/Object;", interfaces: Sequence[str] = ()
    ) -> int:
        """Defines a synthetic class; returns its type id."""
        kind = self.type_id(descriptor)
        if kind in self._classes.index:
            raise ValueError(f"{descriptor} is defined already")
        parents = tuple(self.type_id(i) for i in interfaces)
        self._classes.index[kind] = len(self._classes.items)
        self._classes.items.append(ClassDef(kind, self.type_id(super_descriptor), parents, 1, None, -1, (), (), {}))
        return kind

    def add_method(self, class_descriptor: str, name: str, descriptor: str, access: int, body: Body | None) -> int:
        """Defines a synthetic method, or gives a new body to one; returns its id."""
        method = self.method_id(class_descriptor, name, descriptor)
        if method not in self._synthetic and self.definition(method):
            raise ValueError(f"{self.signature(method)} is defined already")
        kind = self.method(method).cls
        direct = bool(access & ACC_STATIC) or name.startswith("<")
        self._synthetic[method] = MethodDef(method, kind, access, -1, direct)
        self._bodies.pop(method, None)
        if body is not None:
            self._bodies[method] = body
        position = self._classes.index.get(kind)
        if position is not None:
            old = self._classes.items[position]
            if method not in old.methods:
                self._classes.items[position] = ClassDef(
                    old.type, old.super, old.interfaces, old.access, old.source_file, old.dex,
                    (*old.methods, method), old.fields, old.static_values,
                )  # fmt: skip
        return method

    # ------------------------------------------------------------------- code

    @cached_property
    def table(self) -> lift.Table:
        """Three-address rows of all code items, made when first asked for."""
        table = lift.table(self.dex, lift.call_prototypes(self.dex))
        for row, method in self._polymorphic.items():
            table.rows[row, lift.REF] = method
        return table

    @cached_property
    def _maker(self) -> Bodies:
        return Bodies(self.table)

    def prepare(self, methods: Iterable[int]) -> None:
        """Builds the bodies of methods in one go, so that `body` only looks them up; not those of damaged code."""
        codes: dict[int, int] = {}
        for method in methods:
            code = -1 if method in self._placed else self._code_of(method)
            if code >= 0 and not self.table.problem(code):
                codes[method] = code
        if codes:
            parameters = [self._parameter_registers(method, code) for method, code in codes.items()]
            off = np.cumsum([0, *map(len, parameters)], dtype=np.int32)
            flat = np.array([register for given in parameters for register in given], np.int32)
            batch = self._maker.build(np.array(list(codes.values()), np.int32), flat, off)
            for k, method in enumerate(codes):
                self._placed[method] = (batch, k)

    def body(self, method: int) -> Body:
        """SSA code of a method, built when first asked for.

        Raises UnreadableInput where its code item is damaged, ValueError where it has no code.
        """
        known = self._bodies.get(method)
        if known is None:
            if method not in self._placed:
                self.prepare((method,))
            if method not in self._placed:
                code = self._code_of(method)
                if code < 0:
                    raise ValueError(f"{self.signature(method)} has no code")
                raise UnreadableInput(f"{self.signature(method)}: code item {code}: {self.table.problem(code)}")
            batch, k = self._placed[method]
            if batch.status[k] != layout.DONE:
                rows = self.table.code(self._code_of(method))
                blocks = len(cfg.build(rows, self.table).bounds)
                why = f"{rows.n_registers} registers in {blocks} blocks are too many"
                raise UnreadableInput(f"{self.signature(method)}: {why}")
            known = self._bodies[method] = batch.body(k)
        return known

    def forget(self, method: int) -> None:
        """Drops the body of a dex method; it is built again when asked for."""
        if method not in self._synthetic:
            self._bodies.pop(method, None)
            self._placed.pop(method, None)

    def _parameter_registers(self, method: int, code: int) -> list[int]:
        register = int(self.dex.code_registers[code]) - int(self.dex.code_ins[code])
        found = []
        if not self.is_static(method):
            found.append(register)
            register += 1
        for kind in self.method(method).params:
            found.append(register)
            register += 2 if kind in self._wide else 1
        return found

    @cached_property
    def _wide(self) -> frozenset[int]:
        return frozenset(t for t in (self.type_find("J"), self.type_find("D")) if t >= 0)

    @cached_property
    def _mentions(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Instructions that `scan` looks at, and their bounds per code item."""
        rows = np.flatnonzero(_SCANNED[self.dex.op])
        return rows, np.searchsorted(rows, self.dex.insn_off)

    def scan(self, method: int) -> Scan:
        """Calls, allocations, static fields and class constants of a method; empty without (intact) code."""
        found = Scan([], [], [], [], [])
        if method in self._synthetic:
            return _scan_body(self._bodies[method]) if method in self._bodies else found
        code = self._code_of(method)
        if code < 0:
            return found
        every, bounds = self._mentions
        rows = every[bounds[code] : bounds[code + 1]]
        for row, op, ref in zip(rows.tolist(), self.dex.op[rows].tolist(), self.dex.x[rows].tolist(), strict=True):
            kind = _KINDS[op]
            if kind >= 0:
                found.calls.append((kind, self._polymorphic.get(row, ref) if self._polymorphic else ref))
            elif op == 0x22:
                found.news.append(ref)
            elif op == 0x1C:
                found.const_classes.append(ref)
            elif op < 0x67:
                found.reads.append(ref)
            else:
                found.writes.append(ref)
        return found

    def mentions(self, methods: Sequence[int]) -> Mentions:
        """What `scan` finds in the dex methods among these, together; each thing once, ascending."""
        dex = self.dex
        every, bounds = self._mentions
        pairs = [(m, code) for m in methods if (code := self._code_of(m)) >= 0]
        codes = np.array([code for _, code in pairs], np.int64)
        counts = bounds[codes + 1] - bounds[codes]
        rows = every[np.repeat(bounds[codes] - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())]
        op, ref = dex.op[rows], dex.x[rows].astype(np.int64)
        kind = lift.CALL_KIND[op].astype(np.int64)
        if self._polymorphic:
            for k in np.flatnonzero(kind == CallKind.POLYMORPHIC).tolist():
                ref[k] = self._polymorphic[int(rows[k])]
        caller = np.repeat(np.array([self.method(m).cls for m, _ in pairs], np.int64), counts)

        def distinct(high: NDArray[np.int64], chosen: NDArray[np.bool_]) -> list[tuple[int, int]]:
            keys = np.unique(high[chosen] << 32 | ref[chosen])
            return list(zip((keys >> 32).tolist(), (keys & 0xFFFFFFFF).tolist(), strict=True))

        def refs(chosen: NDArray[np.bool_]) -> list[int]:
            found: list[int] = np.unique(ref[chosen]).tolist()
            return found

        is_super = kind == CallKind.SUPER
        return Mentions(
            distinct(kind, (kind >= 0) & ~is_super),
            distinct(caller, is_super),
            refs(op == 0x22),
            refs(op == 0x1C),
            refs((op >= 0x60) & (op <= 0x6D)),
        )

    def line(self, method: int, pc: int) -> int | None:
        """Source line of a program counter, where the dex tells."""
        code = self._code_of(method)
        return self.dex.line(code, pc) if code >= 0 and pc >= 0 else None


_KINDS: list[int] = lift.CALL_KIND.tolist()
_SCANNED = lift.CALL_KIND >= 0
_SCANNED[[0x1C, 0x22, *range(0x60, 0x6E)]] = True


def _scan_body(body: Body) -> Scan:
    def refs(op: Op) -> list[int]:
        found: list[int] = body.ref[body.op == op].tolist()
        return found

    kinds: list[int] = body.c[body.op == Op.CALL].tolist()
    calls = list(zip(kinds, refs(Op.CALL), strict=True))
    return Scan(calls, refs(Op.NEW), refs(Op.SGET), refs(Op.SPUT), refs(Op.CLASS))


def _group(owner: NDArray[np.int32], n_owners: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Rows sorted by owner, and the bounds of each owner's."""
    rows = np.argsort(owner, kind="stable").astype(np.int32)
    return rows, np.searchsorted(owner[rows], np.arange(n_owners + 1))


def _rows_of(groups: tuple[NDArray[np.int32], NDArray[np.int64]], owner: int) -> list[int]:
    rows, bounds = groups
    if owner + 1 >= len(bounds):
        return []
    found: list[int] = rows[bounds[owner] : bounds[owner + 1]].tolist()
    return found


def _bounds(owner: NDArray[np.int32], n_owners: int) -> list[int]:
    """First row of each owner in an ascending column, and the end."""
    found: list[int] = np.searchsorted(owner, np.arange(n_owners + 1)).tolist()
    return found
