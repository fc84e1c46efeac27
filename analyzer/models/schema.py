"""Rule files: YAML text to a `Pack`. Says file, line and what was expected where a file is wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from analyzer.models import text
from analyzer.models.lifecycle_schema import lifecycle
from analyzer.models.nodes import Place, compose
from analyzer.models.pack import Pack, Row, Table

SEVERITIES = ("low", "medium", "high")
RULE_KINDS = ("leak", "injection")
_METHOD = ("method", "class", "name", "descriptor", "subclasses")

Payload = Callable[[Place], Row]


def read(content: str, file: str) -> Pack:
    """The pack of one YAML file. Raises WrongConfiguration."""
    pack = Pack()
    root = compose(content, file)
    if root is None:
        return pack
    for key, value in root.items("a mapping of sections"):
        section = _SECTIONS.get(key.text())
        if section is None:
            key.fail(f"one of the sections {', '.join(_SECTIONS)}, found {key.text()!r}")
        section(value, pack)
    return pack


# Method tables


def _put(table: Table, classes: list[str], key: text.MethodKey, subclasses: bool, payload: Row) -> None:
    for cls in classes:
        table.setdefault(cls, {}).setdefault(key.name, []).append([key.shape, subclasses, *payload])


def _classes(place: Place) -> list[str]:
    return [p.parse(text.class_descriptor, "a class name") for p in place.list_or_one()]


def _subclasses(entry: dict[str, Place]) -> bool:
    return entry["subclasses"].boolean() if "subclasses" in entry else True


def _single(place: Place, entry: dict[str, Place]) -> Iterator[tuple[list[str], text.MethodKey]]:
    """The methods that `method:`, or `class:` with `name:` and `descriptor:`, name."""
    if "method" in entry:
        for p in entry["method"].list_or_one():
            cls, name, descriptor = p.parse(text.signature, "a full signature")
            yield [cls], text.MethodKey(name, descriptor)
    elif "class" in entry and "name" in entry:
        classes = _classes(entry["class"])
        for p in entry["name"].list_or_one():
            for key in p.parse(text.method_keys, "a method name"):
                if "descriptor" in entry:
                    key = text.MethodKey(key.name, entry["descriptor"].text())
                    if not text.DESCRIPTOR.match(key.shape):
                        entry["descriptor"].fail(f"a descriptor such as (I)V, found {key.shape!r}")
                yield classes, key
    else:
        place.fail("'method', or 'class' with 'methods' or 'name'")


def _tables(section: Place, keys: tuple[str, ...], handle: Callable[[Place, dict[str, Place]], None]) -> None:
    for place in section.list("a list of entries"):
        handle(place, place.record("an entry", (*_METHOD, *keys)))


def _methods(place: Place, entry: dict[str, Place], table: Table, block: str, one: str, payload: Payload) -> None:
    """Fills a table from a block of keys (`methods:`) or from a single method with its value at `one:`."""
    if block in entry:
        if "class" not in entry:
            place.fail(f"'class' beside '{block}'")
        classes = _classes(entry["class"])
        for key, value in entry[block].items("methods and what they do"):
            row = payload(value)
            for method in key.parse(text.method_keys, "a method"):
                _put(table, classes, method, _subclasses(entry), row)
    else:
        if one not in entry:
            place.fail(f"'{one}' or '{block}'")
        row = payload(entry[one])
        for classes, method in _single(place, entry):
            _put(table, classes, method, _subclasses(entry), row)


def _propagations(section: Place, pack: Pack) -> None:
    def payload(value: Place) -> Row:
        for p in value.list_or_one():
            p.parse(lambda t: text.model(t, ""), "flows")
        return ["; ".join(p.text().strip().rstrip(";") for p in value.list_or_one())]

    _tables(section, ("methods", "flows"), lambda p, e: _methods(p, e, pack.models, "methods", "flows", payload))


def _sanitizers(section: Place, pack: Pack) -> None:
    def handle(place: Place, entry: dict[str, Place]) -> None:
        if "methods" in entry:
            for p in entry["methods"].list_or_one():
                for key in p.parse(text.method_keys, "a method"):
                    _put(pack.models, _classes(entry["class"]), key, _subclasses(entry), ["fresh; sanitizer"])
        else:
            for classes, key in _single(place, entry):
                _put(pack.models, classes, key, _subclasses(entry), ["fresh; sanitizer"])

    _tables(section, ("methods",), handle)


def _places(value: Place) -> str:
    value.parse(text.places, "places")
    return value.text()


def _when(entry: dict[str, Place], pack: Pack) -> str | None:
    if "when" not in entry:
        return None
    place = entry["when"]
    pack.uses[place.text("a condition")] = f"{place.file}:{place.line}"
    return place.text()


def _sources(section: Place, pack: Pack) -> None:
    def handle(place: Place, entry: dict[str, Place]) -> None:
        if "kind" not in entry:
            place.fail("a 'kind' in a source")
        kind = entry["kind"].text("a kind")
        when = _when(entry, pack)

        def payload(value: Place) -> Row:
            return [kind, _places(value), when]

        blocks = [b for b in ("methods", "parameters", "fields") if b in entry]
        if "fields" in entry:
            for p in entry["fields"].list_or_one():
                for name in p.text("field names").replace(",", " ").split():
                    _put(pack.fields, _classes(entry["class"]), text.MethodKey(name, ""), True, [kind, "ret", when])
        if "parameters" in entry:
            _methods(place, entry, pack.parameters, "parameters", "at", payload)
        if "methods" in entry or not blocks:
            _methods(place, entry, pack.sources, "methods", "at", payload)

    _tables(section, ("kind", "when", "methods", "parameters", "fields", "at"), handle)


def _sinks(section: Place, pack: Pack) -> None:
    def handle(place: Place, entry: dict[str, Place]) -> None:
        if "kind" not in entry:
            place.fail("a 'kind' in a sink ('none': these methods are no sinks)")
        kind = entry["kind"].text("a kind")
        when = _when(entry, pack)
        reach = entry["reach"].boolean() if "reach" in entry else True

        def payload(value: Place) -> Row:
            if kind == "none":
                return [None, "", reach, when]
            return [kind, _places(value), reach, when]

        _methods(place, entry, pack.sinks, "methods", "at", payload)

    _tables(section, ("kind", "when", "reach", "methods", "at"), handle)


def _shims(section: Place, pack: Pack) -> None:
    _tables(section, ("methods", "shim"), lambda p, e: _methods(p, e, pack.shims, "methods", "shim", _shim))


def _shim(value: Place) -> Row:
    known = {"this", "ret"}

    def place_of(p: Place) -> str:
        where = p.parse(text.access, "a place")
        if where.argument < 0 and where.singleton is None and where.base not in known:
            p.fail(f"this, arg0 … or the name of an earlier step, found {where.base!r}")
        return str(where)

    entry = value.record("a shim", ("steps", "result", "later", "flows"))
    if "steps" not in entry:
        value.fail("'steps' in a shim")
    steps = []
    for step in entry["steps"].list("a list of steps"):
        part = step.record("a step", ("call", "on", "args", "to"))
        if "call" not in part or "on" not in part:
            step.fail("'call' and 'on' in a step")
        cls, name, descriptor = part["call"].parse(text.signature, "a full signature")
        arguments: list[str | None] = []
        for p in part["args"].list("a list of places") if "args" in part else ():
            arguments.append(None if p.text() in ("", "null", "unknown") else place_of(p))
        wanted = len(text.parameters(descriptor))
        if len(arguments) > wanted:
            part["args"].fail(f"at most {wanted} arguments for {name}{descriptor}, found {len(arguments)}")
        arguments += [None] * (wanted - len(arguments))
        to = part["to"].text("a name") if "to" in part else None
        steps.append([f"{cls}->{name}{descriptor}", place_of(part["on"]), arguments, to])
        if to:
            known.add(to)
    result = place_of(entry["result"]) if "result" in entry else None
    later = [place_of(p) for p in entry["later"].list_or_one()] if "later" in entry else []
    flows = []
    for p in entry["flows"].list_or_one() if "flows" in entry else ():
        flows += [str(f) for f in p.parse(text.flows, "a flow")]
    return [steps, result, later, flows]


# Everything else


def _lifecycles(section: Place, pack: Pack) -> None:
    for key, value in section.items("kinds of components"):
        pack.lifecycles[key.text()] = lifecycle(value)


def _rules(section: Place, pack: Pack) -> None:
    allowed = ("id", "title", "kind", "sources", "sinks", "severity", "cwe", "masvs", "text", "remedy")
    for place in section.list("a list of rules"):
        entry = place.record("a rule", allowed)
        for needed in ("id", "title", "sources", "sinks", "severity"):
            if needed not in entry:
                place.fail(f"'{needed}' in a rule")
        entry["severity"].choice(SEVERITIES)
        rule: dict[str, Any] = {"kind": entry["kind"].choice(RULE_KINDS) if "kind" in entry else "leak"}
        for name, value in entry.items():
            if name in ("sources", "sinks", "cwe", "masvs"):
                rule[name] = [p.text() for p in value.list_or_one()]
            elif name != "id":
                rule[name] = " ".join(value.text().split())
        rule["where"] = f"{place.file}:{place.line}"
        pack.rules[entry["id"].text()] = rule


def _groups(section: Place, pack: Pack) -> None:
    for key, value in section.items("names of groups"):
        pack.groups[key.text()] = [p.text("a kind") for p in value.list("a list of kinds")]


def _conditions(section: Place, pack: Pack) -> None:
    for key, value in section.items("names of conditions"):
        entry = value.record("a condition", ("text", "at", "types", "follow"))
        if "text" not in entry:
            value.fail("'text' in a condition")
        pack.conditions[key.text()] = [
            " ".join(entry["text"].text().split()),
            str(entry["at"].parse(text.access, "a place")) if "at" in entry else None,
            _classes(entry["types"]) if "types" in entry else [],
            [p.text() for p in entry["follow"].list()] if "follow" in entry else [],
        ]


def _singletons(section: Place, pack: Pack) -> None:
    for key, value in section.items("names of app-wide objects"):
        entry = value.record("an app-wide object", ("type", "component"))
        if "type" not in entry:
            value.fail("'type' of an app-wide object")
        component = entry["component"].text() if "component" in entry else None
        pack.singletons[key.text()] = [entry["type"].parse(text.class_descriptor, "a class name"), component]


def _packages(name: str) -> Callable[[Place, Pack], None]:
    """A section that lists packages, into the pack's list of that name."""

    def read(section: Place, pack: Pack) -> None:
        for p in section.list("a list of package prefixes"):
            getattr(pack, name).append(p.parse(text.class_descriptor, "a package")[:-1] + "/")

    return read


def _callbacks(section: Place, pack: Pack) -> None:
    for place in section.list("a list of callback types"):
        if place.is_scalar:
            pack.callbacks[place.parse(text.class_descriptor)] = []
            continue
        entry = place.record("a callback type", ("class", "methods"))
        if "class" not in entry:
            place.fail("'class' in a callback type")
        names = [p.text("a method name") for p in entry["methods"].list_or_one()] if "methods" in entry else []
        for cls in _classes(entry["class"]):
            pack.callbacks[cls] = names


def _entrypoints(section: Place, pack: Pack) -> None:
    def handle(place: Place, entry: dict[str, Place]) -> None:
        if "annotations" in entry:
            pack.annotations += _classes(entry["annotations"])
            return
        for classes, key in _single(place, entry):
            pack.entrypoints.extend([cls, key.name, key.shape, _subclasses(entry)] for cls in classes)

    _tables(section, ("annotations",), handle)


def _constants(section: Place, pack: Pack) -> None:
    for key, value in section.items("static fields and their texts"):
        cls, _, name = key.text().rpartition(".")
        try:
            descriptor = text.class_descriptor(cls)
        except ValueError as error:
            key.fail(str(error))
        pack.constants[f"{descriptor}->{name}"] = value.text()


_SECTIONS: dict[str, Callable[[Place, Pack], None]] = {
    "propagations": _propagations,
    "sanitizers": _sanitizers,
    "sources": _sources,
    "sinks": _sinks,
    "shims": _shims,
    "callbacks": _callbacks,
    "entrypoints": _entrypoints,
    "lifecycles": _lifecycles,
    "rules": _rules,
    "groups": _groups,
    "conditions": _conditions,
    "singletons": _singletons,
    **{name: _packages(name) for name in ("libraries", "modelled", "analysed")},
    "constants": _constants,
}
