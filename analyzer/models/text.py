"""The small languages inside the YAML: places, flows, method keys, class names. Text in, records out."""

from __future__ import annotations

import re
from typing import NamedTuple

from analyzer.models.types import Access, Flow, LibraryModel

_BASE = re.compile(r"(this|ret|arg\d+|static:[a-z_]+|[a-z]\w*)(?:\[(arg\d+)\])?\Z")
_FIELD = re.compile(r"\$elem(\[(arg\d+|\*|-?\d+)\])?\Z|#any\Z|\$?[A-Za-z_][\w$]*\Z|\*\Z")
_CLASS = re.compile(r"[\w*$]+(?:[./-][\w*$]+)*\Z")
DESCRIPTOR = re.compile(r"\((?:\[*(?:[ZBSCIJFD]|L[^;()\[.]+;))*\)(?:V|\[*(?:[ZBSCIJFD]|L[^;()\[.]+;))?\Z")
_TYPE = re.compile(r"\[*(?:[ZBSCIJFD]|L[^;()\[.]+;)")
_SIGNATURE = re.compile(r"(\[*L[^;]+;)->([^(]+)(\(.*)\Z")
_VALUES = frozenset("ZBSCIJFD")
_PRIMITIVES = {
    "void": "V",
    "boolean": "Z",
    "byte": "B",
    "short": "S",
    "char": "C",
    "int": "I",
    "long": "J",
    "float": "F",
    "double": "D",
}


def class_descriptor(text: str) -> str:
    """'a.b.C$D' or 'La/b/C$D;' (either may hold '*') as a descriptor; ValueError when it is neither."""
    inner = text[1:-1] if text.startswith("L") and text.endswith(";") else text
    if not _CLASS.match(inner):
        raise ValueError(f"a class name such as a.b.C or La/b/C;, found {text!r}")
    return f"L{inner.replace('.', '/')};"


def class_name(descriptor: str) -> str:
    """'La/B;' as 'a.B'."""
    return descriptor[1:-1].replace("/", ".")


def java_type(text: str) -> str:
    """'int', 'java.lang.String[]' … as in Java source, as a descriptor."""
    dimensions = text.count("[]")
    name = text.replace("[]", "").strip()
    return "[" * dimensions + (_PRIMITIVES.get(name) or class_descriptor(name))


def parameters(descriptor: str) -> tuple[str, ...]:
    """Type descriptors of the parameters of a method descriptor (the return type may be missing)."""
    return tuple(_TYPE.findall(descriptor[1 : descriptor.index(")")]))


def access(text: str) -> Access:
    """'arg0.$elem[arg1].name' as an `Access`; ValueError says what was expected."""
    base, *names = text.strip().split(".")
    match = _BASE.match(base)
    if match is None:
        raise ValueError(f"a place such as ret, this, arg0 or static:name, found {text!r}")
    if match[2] and not match[1].startswith("static:"):
        raise ValueError(f"a key only behind static:name, found {text!r}")
    for position, name in enumerate(names):
        if not _FIELD.match(name) or (name == "*" and position < len(names) - 1):
            raise ValueError(f"fields such as $elem, $elem[arg0], $value, name or a last *, found {name!r} in {text!r}")
    return Access(match[1], tuple(names), match[2])


def places(text: str) -> tuple[Access, ...]:
    """Places separated by commas or blanks."""
    return tuple(access(part) for part in text.replace(",", " ").split())


def flows(text: str) -> list[Flow]:
    """'arg0 -> this.$elem', 'arg0, arg0.$value ~> ret': each place on the left to each on the right."""
    for arrow in ("~>", "->"):
        left, found, right = text.partition(arrow)
        if found:
            result = [Flow(s, t, arrow == "~>") for s in places(left) for t in places(right)]
            for one in result:
                if ("$elem[*]" in one.source.fields) != ("$elem[*]" in one.target.fields):
                    raise ValueError(f"$elem[*] on both sides of a flow or on none, found {text.strip()!r}")
                if "*" in one.target.fields:
                    raise ValueError(f"a target without *, found {text.strip()!r}")
            if result:
                return result
    raise ValueError(f"a flow such as 'arg0 -> this.$elem' or 'arg0 ~> ret', found {text.strip()!r}")


def model(text: str, identity: str) -> LibraryModel:
    """'fresh; new ret.$elem a.b.C; arg0 -> ret.$value; arg1 ~> ret': the effects of a library method.

    Words: 'none', 'fresh', 'sanitizer', 'escapes', 'begins', 'new PLACE CLASS', flows.
    """
    result: list[Flow] = []
    creates: list[tuple[Access, str]] = []
    fresh = sanitizer = escapes = begins = False
    for part in (p.strip() for p in text.split(";") if p.strip()):
        if part == "fresh":
            fresh = True
        elif part == "sanitizer":
            sanitizer = True
        elif part == "escapes":
            escapes = True
        elif part == "begins":
            begins = True
        elif part.startswith("new "):
            words = part.split()
            if len(words) != 3:
                raise ValueError(f"'new PLACE CLASS', found {part!r}")
            creates.append((access(words[1]), class_descriptor(words[2])))
        elif part != "none":
            result += flows(part)
    return LibraryModel(identity, tuple(result), fresh, tuple(creates), sanitizer, escapes, begins)


def fitted(place: Access, types: tuple[str, ...], result: str) -> Access | None:
    """The place as it is for a method of these parameters and result; None where the method has no such place.

    Elements of a place whose type is an array become '#any'.
    """
    if place.argument >= len(types) or (place.base == "ret" and result == "V"):
        return None
    declared = types[place.argument] if place.argument >= 0 else result if place.base == "ret" else ""
    if place.fields and declared.startswith("["):
        if place.fields[0].startswith("$elem"):
            return Access(place.base, ("#any", *place.fields[1:]), place.key)
    elif place.fields and declared in _VALUES:
        return None if len(place.fields) > 1 else Access(place.base)
    return place


def fitted_flow(flow: Flow, types: tuple[str, ...], result: str) -> list[Flow]:
    """The flow for one method: places fitted; data of a bare reference comes with that of its '$value'."""
    source, target = fitted(flow.source, types, result), fitted(flow.target, types, result)
    if source is None or target is None:
        return []
    found = [Flow(source, target, flow.data)]
    declared = types[source.argument] if source.argument >= 0 else "L"
    if flow.data and not source.fields and source.base != "ret" and declared[0] == "L":
        found.append(Flow(Access(source.base, ("$value",), source.key), target, True))
    return found


class MethodKey(NamedTuple):
    """What a method key matches: a name ('*' any, '/…/' a regular expression), and '', '/arity' or '(descriptor'."""

    name: str
    shape: str


def method_keys(text: str) -> tuple[MethodKey, ...]:
    """'add/2, put(Ljava/lang/Object;), /get.*Extra/': names with an arity, parameters or a whole descriptor."""
    keys = []
    for part in (p.strip() for p in text.split(",")):
        if part.startswith("/"):
            if len(part) < 3 or not part.endswith("/"):
                raise ValueError(f"a regular expression between slashes, found {part!r}")
            re.compile(part[1:-1])
            keys.append(MethodKey(part, ""))
            continue
        match = re.match(r"(<init>|<clinit>|[^\s(/<>;.]+)((?:/\d+)?|\(.*)\Z", part)
        if match is None or (match[2].startswith("(") and not DESCRIPTOR.match(match[2])):
            raise ValueError(f"a method such as name, name/2 or name(ILjava/lang/String;), found {part!r}")
        keys.append(MethodKey(match[1], match[2]))
    return tuple(keys)


def signature(text: str) -> tuple[str, str, str]:
    """'La/B;->f(I)V' as (class descriptor, name, descriptor)."""
    match = _SIGNATURE.match(text.strip())
    if match is None or not DESCRIPTOR.match(match[3]) or match[3].endswith(")"):
        raise ValueError(f"a full signature such as La/B;->f(I)V, found {text!r}")
    return match[1], match[2], match[3]


def matches(shape: str, descriptor: str) -> bool:
    """Whether a method key's shape fits a method descriptor."""
    if not shape:
        return True
    if shape[0] == "/":
        return len(parameters(descriptor)) == int(shape[1:])
    return descriptor == shape or (shape[-1] == ")" and descriptor.startswith(shape))


def specificity(name: str, shape: str) -> int:
    """Orders keys that match the same method: exact descriptor, parameters, arity, name, expression."""
    exact = 0 if name == "*" else 1 if name[0] == "/" else 2
    return exact * 4 + (0 if not shape else 1 if shape[0] == "/" else 2 if shape[-1] == ")" else 3)
