"""The errors of gdroid: one root, few kinds. Messages name the file and the place in it."""

from __future__ import annotations


class GdroidError(Exception):
    """Root of every error that gdroid raises on purpose."""


class UnreadableInput(GdroidError):
    """The input, or a part of it, cannot be read. The message names the file and the place."""


class UnsupportedFeature(GdroidError):
    """The input is well formed but uses something that gdroid does not handle."""


class LimitReached(GdroidError):
    """A bound of `Limits` was hit where no partial answer is possible."""


class EngineUnavailable(GdroidError):
    """An engine cannot solve this problem here: no device, not enough memory. The next one is tried."""


class WrongConfiguration(GdroidError):
    """Wrong usage: a bad option, a bad rule file, an unknown method name."""
