"""Source and sink lists as FlowDroid and SuSi write them: `<a.b.C: int f(java.lang.String)> -> _SOURCE_`."""

from __future__ import annotations

import re

from analyzer.models import text
from analyzer.models.pack import Pack
from gpu.errors import WrongConfiguration

_LINE = re.compile(
    r"<(?P<cls>[^:]+):\s*(?P<ret>\S+)\s+(?P<name>[^\s(]+)\((?P<params>[^)]*)\)>"
    r"(?P<permissions>[^-]*?)(?:\s*\([A-Z_|]+\))?\s*->\s*_?(?P<role>SOURCE|SINK|BOTH|NONE|NEITHERNOR)_?(?:\|\w+)?\s*\Z"
)
_SHORT = re.compile(r"<(?P<cls>[^:]+):\s*(?P<ret>\S+)\s+(?P<name>[^\s(]+)\((?P<params>[^)]*)\)>[^-]*\Z")
KIND = "listed"


def read(content: str, file: str) -> Pack:
    """The pack of one list; all its methods have the kind 'listed'. Raises WrongConfiguration.

    Categories and permissions are read over, as are comments (% or #) and lines that only declare a category.
    """
    pack = Pack()
    for number, line in enumerate(content.splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "%#" or _SHORT.match(line):
            continue
        match = _LINE.match(line)
        if match is None:
            raise WrongConfiguration(
                f"{file}:{number}: expected <class: type name(types)> -> _SOURCE_ or _SINK_, found {line!r}"
            )
        try:
            cls = text.class_descriptor(match["cls"].strip())
            types = [text.java_type(t.strip()) for t in match["params"].split(",") if t.strip()]
            shape = f"({''.join(types)}){text.java_type(match['ret'])}"
        except ValueError as error:
            raise WrongConfiguration(f"{file}:{number}: expected {error}") from error
        name = match["name"]
        if match["role"] in ("SOURCE", "BOTH"):
            pack.sources.setdefault(cls, {}).setdefault(name, []).append([shape, True, KIND, "ret", None])
        if match["role"] in ("SINK", "BOTH") and types:
            places = " ".join(f"arg{i}" for i in range(len(types)))
            pack.sinks.setdefault(cls, {}).setdefault(name, []).append([shape, True, KIND, places, True, None])
    return pack
