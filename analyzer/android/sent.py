"""Intents in the words of the app's loop: what `analyzer.android.intents` asks about them."""

from __future__ import annotations

from collections.abc import Callable

from analyzer.android.intents import Facts
from analyzer.shape import MethodShape
from analyzer.texts import Texts
from analyzer.tokens import BY_TYPE, OBJECT


class Sent:
    """One object that was sent, as the shape of the root has it."""

    def __init__(self, texts: Texts, shape: MethodShape, token: int) -> None:
        self._texts, self._shape, self._token = texts, shape, token

    def texts(self, field: str) -> tuple[str, ...] | None:
        """Texts that a field may hold; None when one is not known, () when it was never set."""
        key = self._shape.keys[self._token]
        if key[0] not in (OBJECT, BY_TYPE) or (key[0] == OBJECT and self._shape.ctx.sites[key[1]].outside):
            return None
        return self._texts.field(self._shape, self._token, field)

    @staticmethod
    def test(accepts: Callable[[Facts], bool], texts: Texts) -> Callable[[MethodShape, int], bool]:
        """A test of objects by the facts about them."""
        return lambda shape, token: accepts(Sent(texts, shape, token))
