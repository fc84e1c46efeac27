"""Signers' certificates, through Androguard."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from analyzer.container.archive import Archive, Budget
from analyzer.container.model import Certificate
from analyzer.limits import Limits
from gpu.errors import GdroidError, UnreadableInput


def read_certificates(path: Path) -> tuple[Certificate, ...]:
    """Certificates of an APK, or of the APKs in a set, sorted; () where there is none or none that can be read.

    They are read, not checked: whether a signature is valid is not our question.
    """
    try:
        found = {certificate for data in _apks(path) for certificate in _of_apk(data)}
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror or error}") from error
    except GdroidError:
        return ()
    return tuple(sorted(found, key=lambda c: (c.scheme, c.sha256)))


def _apks(path: Path) -> Iterator[bytes]:
    if path.is_dir():
        for file in sorted(path.iterdir()):
            if file.is_file():
                yield from _apks(file)
        return
    data = path.read_bytes()
    if data.find(b"PK\5\6") < 0:
        return
    archive = Archive.open(data, path.name, Budget.of_mb(Limits().input_mb))
    inner = [name for name in archive.entries if name.lower().endswith(".apk")]
    if "AndroidManifest.xml" in archive.entries or not inner:
        yield data
    else:
        yield from (archive.read(name) for name in inner)


def _of_apk(data: bytes) -> Iterator[Certificate]:
    from loguru import logger

    logger.disable("androguard")
    from androguard.core.apk import APK
    from asn1crypto import x509

    # Androguard and asn1crypto raise whatever a damaged structure leads to; there is then nothing to show.
    try:
        apk = APK(data, raw=True, skip_analysis=True)
    except Exception:  # noqa: BLE001
        return
    schemes: tuple[Literal["v1", "v2", "v3"], ...] = ("v1", "v2", "v3")
    for scheme in schemes:
        try:
            if scheme == "v1":
                encoded = [apk.get_certificate_der(name) for name in apk.get_signature_names()]
            else:
                encoded = apk.get_certificates_der_v2() if scheme == "v2" else apk.get_certificates_der_v3()
        except Exception:  # noqa: BLE001
            continue
        for der in encoded:
            try:
                certificate = x509.Certificate.load(der)
                subject, issuer = certificate.subject.human_friendly, certificate.issuer.human_friendly
            except Exception:  # noqa: BLE001
                subject = issuer = ""
            if der:
                yield Certificate(hashlib.sha256(der).hexdigest(), subject, issuer, scheme)
