"""Reads supplements: text files with facts that the declarations leave out.

    # comment
    [final|abstract] class|interface NAME [< SUPERCLASS] [: INTERFACE …]
        [static] name(PARAMS)RETURN

Names are written as in a dex file without `L` and `;`. A line about a type that the declarations know adds to it.
"""

from __future__ import annotations

import re

from analyzer.framework.families import family, split_descriptors
from analyzer.framework.table import ABSTRACT, FINAL, INTERFACE, ClassRecord
from gpu.errors import WrongConfiguration

_TYPE = re.compile(
    r"^(?P<flags>(?:final |abstract )*)(?P<kind>class|interface) (?P<name>[^\s<:]+)"
    r"(?: < (?P<super>[^\s:]+))?(?: : (?P<interfaces>.+))?$"
)
_METHOD = re.compile(r"^\s+(?P<static>static )?(?P<name>[^\s(]+)\((?P<params>[^)]*)\)(?P<ret>\S+)$")


def add_supplement(text: str, file: str, classes: dict[str, ClassRecord]) -> None:
    """Adds the facts of a supplement to `classes`. Raises WrongConfiguration with file and line."""
    record: ClassRecord | None = None
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.split("#", 1)[0].rstrip()
        if not line:
            continue
        if head := _TYPE.match(line):
            record = _type(head, classes)
        elif record is not None and (method := _METHOD.match(line)):
            try:
                kinds = [method["ret"], *split_descriptors(method["params"])]
            except ValueError as error:
                raise WrongConfiguration(f"{file}:{number}: {error}") from error
            record.methods.add((method["name"], tuple(map(family, kinds)), method["static"] is not None))
        else:
            raise WrongConfiguration(f"{file}:{number}: neither a type nor a method: {line.strip()}")


def _type(head: re.Match[str], classes: dict[str, ClassRecord]) -> ClassRecord:
    descriptor = f"L{head['name']};"
    flags = FINAL * ("final" in head["flags"]) | ABSTRACT * ("abstract" in head["flags"])
    flags |= INTERFACE * (head["kind"] == "interface")
    record = classes.get(descriptor)
    if record is None:
        superclass = None if flags & INTERFACE else "Ljava/lang/Object;"
        record = classes[descriptor] = ClassRecord(superclass, [], flags)
    record.flags |= flags
    if head["super"] is not None:
        record.superclass = f"L{head['super']};"
    for name in (head["interfaces"] or "").split():
        if f"L{name};" not in record.interfaces:
            record.interfaces.append(f"L{name};")
    return record
