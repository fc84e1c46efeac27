"""Operations on constant texts, and what they make of the constants of one method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

from analyzer.ir import Body, Op
from analyzer.program import Program

MOST = 16
"""Texts of one value; more are unknown."""

Part = str | int
_STRING = "Ljava/lang/String;"
BUILDERS = ("Ljava/lang/StringBuilder;", "Ljava/lang/StringBuffer;")


def _substring(text: Part, start: Part, end: Part | None = None) -> str:
    return str(text)[int(start) : None if end is None else int(end)]


def _replaced(text: Part, old: Part, new: Part) -> str:
    old, new = (chr(x) if isinstance(x, int) else x for x in (old, new))
    return str(text).replace(old, new)


OPERATIONS: dict[tuple[str, str], Callable[..., str]] = {
    (_STRING, "concat"): lambda a, b: a + b,
    (_STRING, "substring"): _substring,
    (_STRING, "subSequence"): _substring,
    (_STRING, "replace"): _replaced,
    (_STRING, "trim"): lambda a: a.strip(),
    (_STRING, "toLowerCase"): lambda a, *_: a.lower(),
    (_STRING, "toUpperCase"): lambda a, *_: a.upper(),
    (_STRING, "toString"): lambda a: a,
    (_STRING, "intern"): lambda a: a,
    (_STRING, "valueOf"): lambda a, *_: str(a),
    ("Ljava/lang/CharSequence;", "toString"): lambda a: a,
    ("Ljava/lang/Object;", "toString"): lambda a: a,
    ("Ljava/lang/Class;", "forName"): lambda a, *_: a,
    ("Ljava/lang/Class;", "getName"): lambda a: a,
    ("Ljava/lang/Class;", "getCanonicalName"): lambda a: a.replace("$", "."),
    ("Ljava/lang/ClassLoader;", "loadClass"): lambda a, b, *_: b,
    ("Landroid/net/Uri;", "parse"): lambda a: a,
    ("Landroid/net/Uri;", "toString"): lambda a: a,
    ("Landroid/net/Uri;", "withAppendedPath"): lambda a, b: f"{a.rstrip('/')}/{b}",
}
"""What operations make of constants, the receiver first."""


def combined(operation: Callable[..., str], parts: Sequence[tuple[Part, ...] | None]) -> tuple[str, ...] | None:
    """What an operation makes of all choices of its parts, sorted; None when one of them is not known."""
    known = [p for p in parts if p is not None]
    if len(known) < len(parts):
        return None
    found: set[str] = set()
    for given in product(*known):
        if len(found) > MOST:
            return None
        try:
            found.add(operation(*given))
        except (TypeError, ValueError, AttributeError, OverflowError):
            return None
    return tuple(sorted(found))


def folded(body: Body, program: Program) -> tuple[str, ...]:
    """Constant texts of a method: its strings, and what operations make of them, in the order of the code."""
    known: dict[int, tuple[Part, ...]] = {v: (int(n),) for v, n in body.constant.items()}
    found: dict[str, None] = {}
    for i, op in enumerate(body.op.tolist()):
        dst = int(body.dst[i])
        texts: tuple[str, ...] | None = None
        if op == Op.STRING:
            texts = (program.string(int(body.ref[i])),)
        elif op == Op.CAST and int(body.a[i]) in known:
            known[dst] = known[int(body.a[i])]
        elif op == Op.CALL and dst >= 0:
            ref = program.method(int(body.ref[i]))
            operation = OPERATIONS.get((program.type_name(ref.cls), ref.name))
            args = body.args[body.arg_off[i] : body.arg_off[i + 1]].tolist()
            texts = combined(operation, [known.get(a) for a in args]) if operation is not None else None
        if texts is not None:
            found.update(dict.fromkeys(texts))
            if dst >= 0:
                known[dst] = texts
    return tuple(found)
