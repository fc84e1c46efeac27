"""What a caller of the pipeline may choose, in one record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from analyzer.limits import Limits

Progress = Callable[[str, int, int], None]
"""`progress(phase, done, total)`: called as work advances; total 0 means that it is not known yet."""


@dataclass(frozen=True, slots=True)
class Options:
    """The choices of one analysis; the defaults are what `gdroid analyze` does without options."""

    engine: str = "auto"
    """Name of an engine of `gpu.engine`, or `auto` for the first that can solve the problem."""
    rules: tuple[Path, ...] = ()
    """Rule files read in addition to the packs that ship with gdroid."""
    limits: Limits = field(default_factory=Limits)
    """Bounds of the analysis; echoed in the report."""
    progress: Progress | None = field(default=None, compare=False)
    """Told how far each phase is, if given."""
    all_code: bool = False
    """Analyse the code of modelled libraries (AndroidX, OkHttp, …) too, instead of taking them from the models."""
    together: tuple[Path, ...] = ()
    """Other apps, analysed with the one at hand as the system that they form."""
