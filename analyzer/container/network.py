"""Network security configuration (res/xml, named by the manifest)."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.container.axml import Element
from analyzer.container.model import NetworkConfig


def build_network_config(name: str, root: Element) -> NetworkConfig:
    """What a `<network-security-config>` allows; `<debug-overrides>` do not count, as releases ignore them."""
    base = next(root.named("base-config"), None)
    domains = [e for top in root.named("domain-config") for e in top.walk() if e.tag == "domain-config"]
    open_domains = [e for e in domains if _flag(e, "cleartextTrafficPermitted")]
    trusting = [certificates for e in [base, *domains] if e is not None for certificates in _anchors(e)]
    return NetworkConfig(
        name=name,
        cleartext=_flag(base, "cleartextTrafficPermitted") if base is not None else None,
        cleartext_domains=_hosts(open_domains),
        user_certificates=any(_text(e, "src") == "user" for e in trusting),
        pinned_domains=_hosts([e for e in domains if next(e.named("pin-set"), None) is not None]),
    )


def _anchors(config: Element) -> Iterator[Element]:
    return (certificates for anchors in config.named("trust-anchors") for certificates in anchors.named("certificates"))


def _hosts(configs: list[Element]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(domain.text.strip() for e in configs for domain in e.named("domain") if domain.text.strip())
    )


def _text(element: Element, name: str) -> str | None:
    attribute = element.get(name)
    return attribute.text if attribute else None


def _flag(element: Element, name: str) -> bool | None:
    attribute = element.get(name)
    number = attribute.number if attribute else None
    return None if number is None else number != 0
