"""Reads TypeScript declarations of Java API, as NativeScript's generator writes them, into plain records.

The files are regular: one declaration per line, a class or a package as a braced block. An interface shows as a
class whose constructor takes `implementation`; a nested class stands in a module named after its outer class.
Types are TypeScript's; `type_family` says what is left of a Java type (see `analyzer.framework.families`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from gpu.errors import UnreadableInput

_COMMENT_OR_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/', re.DOTALL)
_MODULE = re.compile(r"^(?:declare|export) module ([\w$]+) \{$")
_CLASS = re.compile(
    r"^export (?P<abstract>abstract )?class (?P<name>[\w$]+)\s*(?:<[^{]*?>)?\s*"
    r"(?:extends (?P<super>[^{]+?))?\s*(?:\bimplements (?P<interfaces>[^{]+?))?\s*\{$"
)
_METHOD = re.compile(
    r"^(?:(?:public|protected|private) )?(?P<static>static )?(?P<name>[\w$]+)(?:<[^(]*>)?"
    r"\((?P<params>.*)\)(?:: (?P<ret>.+?))?;$"
)
_FIELD = re.compile(r"^(?:(?:public|protected|private) )(?:static )?[\w$]+: .*;$")
_IMPLEMENTATION = re.compile(r"^(?:public )?constructor\(implementation: \{$")
_IGNORED = re.compile(
    r"^(?://|import |export import |export type |declare module androidNative|declare (?:function|var) )"
    r'|^"?<clinit>"?\('
)
_OWN_NAME = re.compile(r"^public static class: java\.lang\.Class<(?P<name>[\w$.]+)")
_NAME = re.compile(r"^[A-Za-z_$][\w$]*$")


@dataclass(slots=True)
class DeclaredMethod:
    """One method as declared: TypeScript types, `ret` None for a constructor."""

    name: str
    params: tuple[str, ...]
    ret: str | None
    static: bool


@dataclass(slots=True)
class DeclaredClass:
    """One class or interface as declared; names are dotted, as in the file."""

    name: str
    superclass: str | None
    interfaces: tuple[str, ...]
    abstract: bool
    interface: bool = False
    methods: list[DeclaredMethod] = field(default_factory=list)


def split_top(text: str, separator: str = ",") -> list[str]:
    """`text` split at `separator` outside brackets, parts stripped; an empty text gives no part."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        if char in "<([{":
            depth += 1
        elif char in ">)]}":
            depth -= 1
        elif char == separator and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    if last or parts:
        parts.append(last)
    return parts


def bare(name: str) -> str:
    """A class name without type arguments, `| null` and the alias of the `android` module."""
    for part in split_top(name, "|"):
        if part not in ("null", "undefined"):
            name = part
            break
    name = name.split("<", 1)[0].strip()
    return "android." + name[len("globalAndroid.") :] if name.startswith("globalAndroid.") else name


def _parameters(text: str) -> tuple[str, ...]:
    types = []
    for part in split_top(text):
        name, colon, kind = part.partition(":")
        if not colon or not _NAME.match(name.strip().removeprefix("...").removesuffix("?")):
            raise ValueError(f"parameter {part!r}")
        types.append(kind.strip())
    return tuple(types)


def parse(text: str, file: str) -> list[DeclaredClass]:
    """Every class of one declaration file, in file order; a class may come twice, its members are then to be merged.

    Raises UnreadableInput with file and line where a line is not understood.
    """
    classes: list[DeclaredClass] = []
    blocks: list[tuple[str, DeclaredClass | None]] = []  # open braces: module name, or class; "" inside implementation
    # Comments keep their line breaks, so that line numbers in messages stay right.
    text = _COMMENT_OR_STRING.sub(
        lambda match: match.group() if match.group()[0] == '"' else "\n" * match.group().count("\n"), text
    )
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if not line or _IGNORED.match(line):
            continue
        current = blocks[-1][1] if blocks else None
        if line in ("}", "});"):
            if not blocks:
                raise UnreadableInput(f"{file}:{number}: closing brace without a block")
            blocks.pop()
        elif module := _MODULE.match(line):
            blocks.append((module.group(1), None))
        elif head := _CLASS.match(line):
            packages = [name for name, _ in blocks]
            declared = DeclaredClass(
                name=".".join([*packages, head.group("name")]),
                superclass=bare(head.group("super")) if head.group("super") else None,
                interfaces=tuple(bare(part) for part in split_top(head.group("interfaces") or "")),
                abstract=head.group("abstract") is not None,
            )
            classes.append(declared)
            blocks.append((head.group("name"), declared))
        elif _IMPLEMENTATION.match(line):
            if current is None:
                raise UnreadableInput(f"{file}:{number}: a constructor outside a class")
            current.interface = True
            blocks.append(("", None))
        elif method := _METHOD.match(line):
            if blocks and blocks[-1] == ("", None):
                continue  # the members of `implementation` come again as methods of the class
            if current is None:
                raise UnreadableInput(f"{file}:{number}: a method outside a class: {line[:80]}")
            try:
                params = _parameters(method.group("params"))
            except ValueError as error:
                raise UnreadableInput(f"{file}:{number}: {error} not understood") from error
            name = method.group("name")
            ret = None if name == "constructor" else method.group("ret") or "void"
            current.methods.append(
                DeclaredMethod("<init>" if ret is None else name, params, ret, method.group("static") is not None)
            )
        elif current is not None and (own := _OWN_NAME.match(line)):
            # Where a name would be ambiguous the class has one made of its true name without dots, and an alias.
            if bare(own["name"]).replace(".", "") == current.name.rpartition(".")[2]:
                current.name = bare(own["name"])
        elif not _FIELD.match(line):
            raise UnreadableInput(f"{file}:{number}: not understood: {line[:80]}")
    if blocks:
        raise UnreadableInput(f"{file}: {len(blocks)} blocks are not closed at the end")
    return classes
