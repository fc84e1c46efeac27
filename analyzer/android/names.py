"""Names of the synthetic classes and of the pseudo-statics that environments and shims use (semantics.md 6)."""

from __future__ import annotations

ENV = "Lgdroid/Env;"
"""Holds the environment methods and, as static fields whose names start with `$`, the pseudo-statics. All are weak."""
SHIM = "Lgdroid/Shim;"
"""Holds the shims: one static method per call site of a library method that calls back."""
PSEUDO = "Lgdroid/Pseudo;"
"""Its fields stand for pseudo-fields of the same name: `$elem`, `$value`, `$target` …"""
LAMBDA = "Lgdroid/Lambda;"
"""Holds the factories of invoke-custom call sites; the classes that they make objects of are `Lgdroid/Lambda$N;`."""

OBJECT = "Ljava/lang/Object;"
ESCAPED = "$escaped"
ASYNC = "$async"
OUTBOX = "$outbox"
"""Followed by `$` and a kind: intents sent to components of that kind."""
BROADCAST = "$broadcast"
"""Intents that receivers may get which the app registers itself."""
BINDER = "$binder"
"""What services answer when they are bound."""
INTENT, RESULT, ACTIVITY = "$intent", "$result", "$activity"
"""What comes to a component: pseudo-statics of it, and pseudo-fields of its object."""
LIVE = "$live"
APP_WIDE = "$static$"
"""Followed by the name of an app-wide object of the framework: a pseudo-static that always holds it."""
OBJECT_OF = "$object"
"""Pseudo-field of an app-wide object in which the app's own object stands, where the app defines its class."""

ACC_PUBLIC_STATIC_SYNTHETIC = 0x1009


def dotted(descriptor: str) -> str:
    """'La/b/C$D;' -> 'a.b.C$D'."""
    return descriptor[1:-1].replace("/", ".")


def descriptor_of(class_name: str) -> str:
    """'a.b.C$D' -> 'La/b/C$D;'."""
    return "L" + class_name.replace(".", "/") + ";"
