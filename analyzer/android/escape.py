"""Which objects a library call hands out: the framework may keep them, call them back, or give them back."""

from __future__ import annotations

from analyzer.android.library import Library
from analyzer.hierarchy import Hierarchy
from analyzer.models import Knowledge
from analyzer.program import Program

RECEIVER = -1

NO_CALLBACK = frozenset(
    {
        "Ljava/lang/Object;",
        "Ljava/lang/String;",
        "Ljava/lang/CharSequence;",
        "Ljava/lang/Class;",
        "Ljava/lang/Throwable;",
        "Ljava/io/File;",
        "Ljava/util/Date;",
        "Ljava/util/Locale;",
        "Landroid/content/ContentValues;",
        "Landroid/content/Intent;",
        "Landroid/content/IntentFilter;",
        "Landroid/net/Uri;",
        "Landroid/os/Bundle;",
        "Landroid/os/Message;",
    }
)
"""Parameters of these types do not register callbacks."""

_TAKING_BACK = ("remove", "unregister", "cancel", "unbind")
"""Beginnings of names of methods that end what others began: what they are given is not called back for that."""

_OBJECT = "Ljava/lang/Object;"
_OBJECT_METHODS = frozenset(
    {"toString", "hashCode", "equals", "getClass", "notify", "notifyAll", "wait", "finalize", "clone"}
)


class Escapes:
    """Decides by the method's model and its declared types; answers are cached."""

    def __init__(
        self, program: Program, hierarchy: Hierarchy, knowledge: Knowledge, library: Library | None = None
    ) -> None:
        """`library`: the look-ups, where there are some already."""
        self._program, self._hierarchy = program, hierarchy
        self._library = Library(program, hierarchy, knowledge) if library is None else library
        self._called_back: dict[int, frozenset[int]] = {}
        self._kept: dict[int, frozenset[int]] = {}

    def called_back(self, method: int) -> frozenset[int]:
        """Positions (declared parameters; RECEIVER) whose objects the library method may call back later.

        Without a model or shim: the receiver (but no object for having been made) and every object, also in arrays.
        With a model: the receiver where it says `begins`; parameters of interfaces, and of classes that an app can
        extend where the model says `escapes`, unless nobody would register a callback that way; what the model only
        stores waits for a shim that looks there.
        What a shim calls back needs no more.
        """
        found = self._called_back.get(method)
        if found is None:
            found = self._called_back[method] = frozenset(self._find(method))
        return found

    def kept(self, method: int) -> frozenset[int]:
        """Positions that are called back or, by the method's model, stored or handed back."""
        found = self._kept.get(method)
        if found is None:
            model = self._library.model(method)
            flows = model.flows if model is not None else ()
            stored = {RECEIVER if f.source.base == "this" else f.source.argument for f in flows if not f.data}
            found = self._kept[method] = self.called_back(method) | stored
        return found

    def _find(self, method: int) -> list[int]:
        p, h = self._program, self._hierarchy
        ref = p.method(method)
        if (
            ref.name.startswith(_TAKING_BACK)
            or ref.name in _OBJECT_METHODS
            or (ref.name == "<init>" and p.type_name(ref.cls) == _OBJECT)
        ):
            return []
        names = [p.type_name(t) for t in ref.params]
        model = self._library.model(method)
        shimmed = self._library.shim(method) is not None
        if model is None:
            made = [] if ref.name == "<init>" else [RECEIVER]
            return [] if shimmed else [*made, *(i for i, name in enumerate(names) if name[0] in "L[")]
        stored = {f.source.argument for f in model.flows if not f.data and not f.source.fields}
        return [RECEIVER] * model.begins + [
            i
            for i, (t, name) in enumerate(zip(ref.params, names, strict=True))
            if name[0] == "L" and name not in NO_CALLBACK and not h.is_final(t)
            and (model.escapes or (h.is_interface(t) and i not in stored and not shimmed))
        ]  # fmt: skip
