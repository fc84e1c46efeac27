"""Which libraries in an app are taken from the models instead of from their code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analyzer.android.own import package_prefix
from analyzer.type_graph import NOTHING_MODELLED, Modelled

if TYPE_CHECKING:
    from analyzer.container import Manifest
    from analyzer.program import Program


def modelled_in(
    program: Program, manifest: Manifest | None, libraries: Sequence[str], analysed: Sequence[str]
) -> Modelled:
    """Of the modelled libraries (prefixes of descriptors, such as 'Lokio/') those that are libraries here.

    Where the app at hand is such a library, or where there is nothing else, its code is what is asked about.
    `analysed`: packages in them whose code counts.
    """
    package = package_prefix(manifest)
    found = Modelled(tuple(prefix for prefix in libraries if not package.startswith(prefix)), tuple(analysed))
    return NOTHING_MODELLED if all(found.holds(program.type_name(c.type)) for c in program.classes) else found
