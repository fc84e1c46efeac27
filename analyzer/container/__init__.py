"""From a file to the dex files, manifest and layouts of an app. The only package that imports Androguard."""

from analyzer.container.model import (
    AppFiles,
    Certificate,
    Component,
    DexFile,
    IntentFilter,
    Layout,
    Manifest,
    NetworkConfig,
    Problem,
    Widget,
)
from analyzer.container.opening import open_app

__all__ = [
    "AppFiles",
    "Certificate",
    "Component",
    "DexFile",
    "IntentFilter",
    "Layout",
    "Manifest",
    "NetworkConfig",
    "Problem",
    "Widget",
    "open_app",
]
