"""What library methods do, as data: models, sources, sinks, rules, shims, lifecycles. YAML and its loader."""

from analyzer.models.knowledge import Knowledge
from analyzer.models.types import (
    Access,
    Callback,
    Condition,
    Flow,
    LibraryModel,
    Lifecycle,
    LifecycleCall,
    Rule,
    Shim,
    Singleton,
    Sink,
    Source,
    State,
    Step,
    Transition,
)

__all__ = [
    "Access",
    "Callback",
    "Condition",
    "Flow",
    "Knowledge",
    "LibraryModel",
    "Lifecycle",
    "LifecycleCall",
    "Rule",
    "Shim",
    "Singleton",
    "Sink",
    "Source",
    "State",
    "Step",
    "Transition",
]
