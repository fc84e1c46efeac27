"""Synthetic apps of any size that look like real ones: `structure` plans them, `bodies` writes code, `apk` the file."""
