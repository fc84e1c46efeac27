"""gdroid: points-to and data-flow analysis of Android apps. The public API.

>>> import gdroid
>>> report = gdroid.analyze("app.apk")          # doctest: +SKIP
>>> [finding.title for finding in report.findings]  # doctest: +SKIP

Importing this package is cheap: NumPy, Numba and the analysis are loaded by the first call that needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyzer.limits import Limits
    from gdroid.api import analyze, load
    from gdroid.options import Options
    from gdroid.report.model import Report
    from gpu.errors import (
        EngineUnavailable,
        GdroidError,
        LimitReached,
        UnreadableInput,
        UnsupportedFeature,
        WrongConfiguration,
    )

__version__ = "0.1.0"

__all__ = [
    "EngineUnavailable",
    "GdroidError",
    "LimitReached",
    "Limits",
    "Options",
    "Report",
    "UnreadableInput",
    "UnsupportedFeature",
    "WrongConfiguration",
    "__version__",
    "analyze",
    "load",
]

_HOME = {
    "analyze": "gdroid.api",
    "load": "gdroid.api",
    "Limits": "analyzer.limits",
    "Options": "gdroid.options",
    "Report": "gdroid.report.model",
    "EngineUnavailable": "gpu.errors",
    "GdroidError": "gpu.errors",
    "LimitReached": "gpu.errors",
    "UnreadableInput": "gpu.errors",
    "UnsupportedFeature": "gpu.errors",
    "WrongConfiguration": "gpu.errors",
}


def __getattr__(name: str) -> Any:
    """Loads a public name from the module that defines it, at its first use."""
    try:
        home = _HOME[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
