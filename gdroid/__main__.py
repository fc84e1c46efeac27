"""`python -m gdroid`: the command line without its installed script."""

from __future__ import annotations

from gdroid.cli import main

if __name__ == "__main__":
    main()
