"""Dex columns from a few lines of smali-like text, so that the rooms behind the reader are tested without it.

One operand per word. Registers are `v1` or `p0` (always one word), labels `:name`, switch cases `5=:name`, and
`.catch TYPE|all :start :end :handler` stands anywhere. Every instruction is two units long.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from analyzer.dex import Dex, opcodes
from analyzer.program import Program, split_descriptor

WIDTH = 2


class Strings(list[str]):
    """Stands in for the reader's string table."""

    def find(self, text: str) -> int:
        return self.index(text) if text in self else -1


@dataclass
class Columns:
    """Collects methods; `program()` makes the app."""

    strings: Strings = field(default_factory=Strings)
    types: list[int] = field(default_factory=list)
    protos: list[tuple[tuple[int, ...], int]] = field(default_factory=list)
    fields: list[tuple[int, int, int]] = field(default_factory=list)
    methods: list[tuple[int, int, int]] = field(default_factory=list)
    classes: list[int] = field(default_factory=list)
    supers: dict[int, int] = field(default_factory=dict)
    encoded: list[tuple[int, int, int, int]] = field(default_factory=list)
    codes: list[tuple[int, int]] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    arguments: list[list[int]] = field(default_factory=list)
    insn_off: list[int] = field(default_factory=lambda: [0])
    lit64: list[int] = field(default_factory=list)
    switch: list[tuple[int, int]] = field(default_factory=list)
    tries: list[list[tuple[int, int, list[tuple[int, int]]]]] = field(default_factory=list)

    def string(self, text: str) -> int:
        return _intern(self.strings, text)

    def type(self, descriptor: str) -> int:
        return _intern(self.types, self.string(descriptor))

    def proto(self, descriptor: str) -> int:
        params, ret = split_descriptor(descriptor)
        return _intern(self.protos, (tuple(self.type(p) for p in params), self.type(ret)))

    def field(self, signature: str) -> int:
        owner, _, rest = signature.partition("->")
        name, _, kind = rest.partition(":")
        return _intern(self.fields, (self.type(owner), self.type(kind), self.string(name)))

    def method(self, signature: str) -> int:
        owner, _, rest = signature.partition("->")
        at = rest.index("(")
        return _intern(self.methods, (self.type(owner), self.string(rest[:at]), self.proto(rest[at:])))

    def cls(self, descriptor: str, parent: str = "Ljava/lang/Object;") -> int:
        self.supers[self.type(descriptor)] = self.type(parent)
        return _intern(self.classes, self.type(descriptor))

    def add(self, signature: str, registers: int, text: str, static: bool = True) -> int:
        """Defines a method; `registers` counts locals and parameters. Returns its id."""
        method = self.method(signature)
        params, _ = split_descriptor(signature[signature.index("(") :])
        ins = sum(2 if p in "JD" else 1 for p in params) + (not static)
        owner = self.cls(signature.partition("->")[0])
        self.encoded.append((owner, method, 8 if static else 1, len(self.codes)))
        self.codes.append((registers, ins))
        self._assemble(text, registers - ins)
        self.insn_off.append(len(self.rows))
        return method

    def _assemble(self, text: str, first_parameter: int) -> None:
        lines = [shlex.split(line.partition("#")[0], posix=False) for line in text.splitlines()]
        labels: dict[str, int] = {}
        at = 0
        for words in lines:
            if len(words) == 1 and words[0].startswith(":"):
                labels[words[0]] = at * WIDTH
            elif words and not words[0].startswith("."):
                at += 1
        catches: dict[tuple[int, int], list[tuple[int, int]]] = {}
        at = 0
        for words in lines:
            if not words or words[0].startswith(":"):
                continue
            if words[0] == ".catch":
                kind = -1 if words[1] == "all" else self.type(words[1])
                span = (labels[words[2]], labels[words[3]])
                catches.setdefault(span, []).append((kind, labels[words[4]]))
            else:
                self._instruction(words, at * WIDTH, labels, first_parameter)
                at += 1
        self.tries.append([(start, end, handlers) for (start, end), handlers in sorted(catches.items())])

    def _instruction(self, words: list[str], pc: int, labels: dict[str, int], first_parameter: int) -> None:
        op = opcodes.OPCODES[words[0]]
        meaning = int(opcodes.MEANING[op])
        registers: list[int] = []
        x, b, c, first_case = 0, 0, 0, len(self.switch)
        for word in words[1:]:
            if word[0] in "vp" and word[1:].isdigit():
                registers.append(int(word[1:]) + (first_parameter if word[0] == "p" else 0))
            elif word[0] == ":":
                x = labels[word]
            elif "=:" in word:
                key, _, label = word.partition("=")
                self.switch.append((int(key), labels[label]))
            elif meaning == opcodes.STRING:
                x = self.string(word.strip('"'))
            elif meaning == opcodes.TYPE:
                x = self.type(word)
            elif meaning == opcodes.FIELD:
                x = self.field(word)
            elif word.startswith("("):
                c = self.proto(word)
            elif meaning == opcodes.METHOD:
                x = self.method(word)
            elif meaning == opcodes.LIT64:
                self.lit64.append(int(word, 0))
                x = len(self.lit64) - 1
            else:
                x = int(word, 0)
        if len(self.switch) > first_case:
            x, b, c = first_case, len(self.switch) - first_case, 0
        listed = opcodes.FORMATS[opcodes.FORMAT[op]] in ("35c", "3rc", "45cc", "4rcc")
        if listed:
            self.rows.append((op, pc, len(registers), b, c, x))
        elif b:
            self.rows.append((op, pc, registers[0], b, c, x))
        else:
            self.rows.append((op, pc, *(*registers, 0, 0, 0)[:3], x))
        self.arguments.append(registers if listed else [])

    def program(self) -> Program:
        """The app."""
        return Program(self.dex())

    def dex(self) -> Dex:
        """The columns, as the reader would give them."""
        rows = np.array(self.rows, np.int64).reshape(-1, 6).T
        encoded = sorted((self.classes.index(self.classes[o]), m, access, code) for o, m, access, code in self.encoded)
        em = np.array(encoded, np.int32).reshape(-1, 4).T
        tries = [t for code in self.tries for t in code]
        handlers = [h for _, _, hs in tries for h in hs]
        n = len(self.classes)
        empty = np.empty(0, np.int32)
        columns: dict[str, Any] = {
            "strings": self.strings,
            "type_descriptor": np.array(self.types, np.int32),
            "proto_return": np.array([r for _, r in self.protos], np.int32),
            "proto_params_off": _offsets([p for p, _ in self.protos]),
            "proto_params": np.array([t for p, _ in self.protos for t in p], np.int32),
            "class_type": np.array(self.classes, np.int32),
            "class_super": np.array([self.supers[t] for t in self.classes], np.int32),
            "class_access": np.ones(n, np.uint32),
            "class_interfaces_off": np.zeros(n + 1, np.int32),
            "class_interfaces": empty,
            "class_source": np.full(n, -1, np.int32),
            "class_dex": np.zeros(n, np.int32),
            "class_shadowed": np.zeros(n, np.bool_),
            "em_class": em[0],
            "em_method": em[1],
            "em_access": em[2].astype(np.uint32),
            "em_code": em[3],
            "em_direct": (em[2] & 8).astype(np.bool_),
            "ef_class": empty,
            "ef_field": empty,
            "ef_access": empty.astype(np.uint32),
            "ef_static": np.empty(0, np.bool_),
            "ef_value_kind": np.empty(0, np.uint8),
            "ef_value": np.empty(0, np.int64),
            "code_registers": np.array([r for r, _ in self.codes], np.uint16),
            "code_ins": np.array([i for _, i in self.codes], np.uint16),
            "code_status": np.zeros(len(self.codes), np.uint8),
            "insn_off": np.array(self.insn_off, np.int64),
            "op": rows[0].astype(np.uint8),
            "pc": rows[1].astype(np.int32),
            "a": rows[2].astype(np.uint16),
            "b": rows[3].astype(np.uint16),
            "c": rows[4].astype(np.uint16),
            "x": rows[5].astype(np.int32),
            "arg_off": _offsets(self.arguments).astype(np.int64),
            "args": np.array([r for given in self.arguments for r in given], np.uint16),
            "lit64": np.array(self.lit64, np.int64),
            "switch_key": np.array([k for k, _ in self.switch], np.int32),
            "switch_target": np.array([t for _, t in self.switch], np.int32),
            "try_off": _offsets(self.tries).astype(np.int64),
            "try_start": np.array([s for s, _, _ in tries], np.int32),
            "try_end": np.array([e for _, e, _ in tries], np.int32),
            "try_handler_off": _offsets([h for _, _, h in tries]).astype(np.int64),
            "handler_type": np.array([t for t, _ in handlers], np.int32),
            "handler_pc": np.array([p for _, p in handlers], np.int32),
            "call_site_proto": empty,
        }
        for name, items in (("field", self.fields), ("method", self.methods)):
            table = np.array(items, np.int32).reshape(-1, 3).T
            parts = ("class", "type", "name") if name == "field" else ("class", "name", "proto")
            columns |= {f"{name}_{part}": table[k] for k, part in enumerate(parts)}
        return cast(Dex, SimpleNamespace(**columns))


def _intern(items: list[Any], item: Any) -> int:
    if item not in items:
        items.append(item)
    return items.index(item)


def _offsets(lists: list[Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
    return np.concatenate([[0], np.cumsum([len(item) for item in lists])]).astype(np.int32)
