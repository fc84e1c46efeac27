"""`python -m analyzer.models`: compiles the default rule files."""

from analyzer.models.compiled import write

write()
