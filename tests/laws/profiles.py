"""How many examples the laws are tried on: few and always the same ones, or many new ones with GDROID_DEEP=1."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

DEEP = os.environ.get("GDROID_DEEP") == "1"


def examples(few: int) -> settings:
    """Settings of a law. Failures are made smaller by `tests.programs.reduce`, not by Hypothesis."""
    return settings(
        max_examples=few * 50 if DEEP else few,
        derandomize=not DEEP,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
