"""Writes a synthetic app: `python -m benchmarks.synthetic 10000 app.apk --seed 1`."""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.synthetic.apk import write


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Writes a synthetic app, the same bytes for the same numbers.")
    parser.add_argument("methods", type=int, help="methods with code, at least 20")
    parser.add_argument("file", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    made = write(options.file, options.methods, options.seed)
    print(f"{options.file}: {made.with_code} methods with code in {len(made.classes)} classes")


main()
