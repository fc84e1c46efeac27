"""The default rule files fit the framework: classes and methods that they name exist."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

import pytest
import yaml

from analyzer.framework import load
from analyzer.models import Knowledge, compiled, text

FRAMEWORK = load()

# Methods that apps call and Android has, though the framework's declarations do not show them (hidden, old or newer).
UNDECLARED = {
    "android.telephony.TelephonyManager.getLine1AlphaTag",
    "android.telephony.TelephonyManager.getMsisdn",
    "android.app.Activity.getLastCustomNonConfigurationInstance",
}
# Packages of which the framework declares everything that apps may call.
COVERED = ("Ljava/lang/", "Ljava/util/", "Ljava/io/", "Ljava/net/", "Ljavax/crypto/", "Landroid/")
OLD = (
    "Landroid/support/",
    "Landroid/arch/",
    "Landroid/util/Slog;",
    "Landroid/os/SystemProperties;",
    "Ljava/lang/management/",
)


@cache
def supertypes(descriptor: str) -> tuple[str, ...]:
    """A class and its supertypes."""
    found = [descriptor]
    for name in found:
        cls = FRAMEWORK.find(name)
        for above in (cls.superclass, *cls.interfaces) if cls else ():
            if above and above not in found:
                found.append(above)
    return tuple(found)


@cache
def family() -> dict[str, set[str]]:
    """Class -> its supertypes and subtypes."""
    result: dict[str, set[str]] = defaultdict(set)
    for cls in FRAMEWORK.classes():
        for above in supertypes(cls):
            result[above].add(cls)
            result[cls].add(above)
    return result


def arity(shape: str) -> int | None:
    if not shape:
        return None
    return int(shape[1:]) if shape[0] == "/" else len(text.parameters(shape))


def exists(cls: str, key: text.MethodKey) -> bool:
    """Whether the class, a supertype or a subtype has a method that the key fits."""
    if key.name == "*" or key.name.startswith("/"):
        return True
    wanted = arity(key.shape)
    return any(
        m.name == key.name and wanted in (None, m.arity)
        for c in sorted(family().get(cls, {cls}))
        for m in FRAMEWORK.methods(c)
    )


def entries() -> Iterator[tuple[str, list[str], str, list[str]]]:
    """(file, classes, block, method keys) of every entry of the default files."""
    for path in compiled.files():
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        for section in ("propagations", "sources", "sinks", "shims"):
            for entry in content.get(section, ()):
                classes = entry["class"] if isinstance(entry["class"], list) else [entry["class"]]
                for block in ("methods", "parameters"):
                    if block in entry:
                        yield path.name, [text.class_descriptor(c) for c in classes], block, list(entry[block])


def test_every_method_exists_in_a_class_that_its_entry_names() -> None:
    missing = []
    for file, classes, _, keys in entries():
        known = [c for c in classes if FRAMEWORK.find(c)]
        if len(known) < len(classes):
            continue
        for key in (k for joined in keys for k in text.method_keys(joined)):
            names = {f"{text.class_name(c)}.{key.name}" for c in classes}
            if not names & UNDECLARED and not any(exists(c, key) for c in known):
                missing.append(f"{file}: {', '.join(map(text.class_name, classes))}: {key.name}{key.shape}")
    assert not missing, "\n".join(missing)


def test_every_class_of_the_platform_exists() -> None:
    named = {c for _, classes, _, _ in entries() for c in classes if "*" not in c}
    platform = {c for c in named if c.startswith(COVERED) and not c.startswith(OLD)}
    assert sorted(c for c in platform if FRAMEWORK.find(c) is None) == []


def test_every_class_pattern_meets_a_class() -> None:
    from fnmatch import fnmatchcase

    patterns = {c for _, classes, _, _ in entries() for c in classes if "*" in c}
    every = list(FRAMEWORK.classes())
    unmet = {p for p in patterns if not any(fnmatchcase(c, p) for c in every)}
    assert not unmet


def test_compiled_rules_are_fresh() -> None:
    import json

    value = json.loads(compiled.COMPILED.read_bytes())
    assert value["digest"] == compiled.digest(), "run: python -m analyzer.models"
    del value["digest"]
    assert value == json.loads(json.dumps(compiled.from_yaml().to_json()))


def test_names_that_rules_and_conditions_use_are_defined() -> None:
    Knowledge.load().check()


@pytest.mark.parametrize("kind", ["application", "activity", "service", "receiver", "provider", "fragment", "backup"])
def test_lifecycle_calls_exist_in_the_base_classes(kind: str) -> None:
    life = Knowledge.load().lifecycles[kind]
    bases = [b for b in life.base_classes if FRAMEWORK.find(b)]
    assert bases
    for call in life.calls:
        key = text.MethodKey(call.name, call.descriptor)
        assert any(exists(b, key) for b in bases), f"{kind}: {call.name}{call.descriptor}"


@pytest.mark.parametrize("kind", ["application", "activity", "service", "receiver", "provider", "fragment", "backup"])
def test_every_state_of_a_lifecycle_is_reached(kind: str) -> None:
    life = Knowledge.load().lifecycles[kind]
    seen, todo = {life.start}, [life.start]
    while todo:
        for edge in life.states[todo.pop()].next:
            if edge.to not in seen:
                seen.add(edge.to)
                todo.append(edge.to)
    assert seen == set(life.states)
