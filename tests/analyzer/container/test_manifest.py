"""The manifest says what Android's package parser makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.container import Component, IntentFilter, Manifest, NetworkConfig, open_app
from analyzer.container.axml import ANDROID, ATTRIBUTE_IDS, TYPE_STRING, Attribute, Element
from analyzer.container.manifest import build_manifest, qualified
from analyzer.container.resources import NoResources
from analyzer.limits import Limits


@pytest.fixture(scope="module")
def manifest(sample: Path) -> Manifest:
    found = open_app(sample / "sample.apk", Limits()).manifest
    assert found is not None
    return found


def element(tag: str, *children: Element, **attributes: str) -> Element:
    """An element with android: attributes; `package` and `split` are in no namespace."""
    plain = ("package", "split")
    return Element(
        tag,
        [
            Attribute("" if n in plain else ANDROID, n, ATTRIBUTE_IDS.get(n, 0), text, TYPE_STRING, 0)
            for n, text in attributes.items()
        ],
        list(children),
    )


def components(*children: Element, sdk: int = 30, **application: str) -> dict[str, Component]:
    root = element(
        "manifest",
        element("uses-sdk", targetSdkVersion=str(sdk)),
        element("application", *children, **application),
        package="p.q",
    )
    return {c.name: c for c in build_manifest(root, NoResources())[0].components}


def by_name(manifest: Manifest) -> dict[str, Component]:
    return {c.name.removeprefix("org.example.sample."): c for c in manifest.components}


def test_what_stands_at_the_top(manifest: Manifest) -> None:
    assert (manifest.package, manifest.version_name, manifest.version_code) == ("org.example.sample", "1.2-ß", 7)
    assert (manifest.min_sdk, manifest.target_sdk) == (16, 30)
    assert manifest.application_class == "org.example.sample.App"
    assert manifest.debuggable and not manifest.allow_backup and manifest.cleartext_traffic
    assert manifest.permissions == ("android.permission.INTERNET", "android.permission.CAMERA")
    assert manifest.declared_permissions == (("org.example.sample.OWN", 2),)


def test_the_network_configuration_is_read(manifest: Manifest) -> None:
    assert manifest.network_config == NetworkConfig(
        name="xml/network",
        cleartext=False,
        cleartext_domains=("plain.example.org",),
        user_certificates=True,
        pinned_domains=("pinned.example.org",),
    )


def test_every_kind_of_component_is_there_in_order(manifest: Manifest) -> None:
    assert [(c.kind, c.name.removeprefix("org.example.sample.")) for c in manifest.components] == [
        ("application", "App"),
        ("backup", "Backup"),
        ("activity", "Main"),
        ("activity", "Other"),
        ("activity", "org.example.elsewhere.Inner$Screen"),
        ("service", "Worker"),
        ("receiver", "Alarm"),
        ("provider", "Data"),
        ("provider", "Guarded"),
        ("instrumentation", "Tests"),
    ]


def test_filters_hold_data_in_every_configuration(manifest: Manifest) -> None:
    assert by_name(manifest)["Main"].filters == (
        IntentFilter(("android.intent.action.MAIN",), ("android.intent.category.LAUNCHER",), priority=-5),
        IntentFilter(
            actions=("android.intent.action.VIEW",),
            categories=("android.intent.category.BROWSABLE",),
            schemes=("https", "sample"),
            hosts=("example.org", "example.de"),
            ports=("8443",),
            paths=(("exact", "/a"), ("prefix", "/b"), ("pattern", "/c.*")),
            mime_types=("text/*",),
        ),
    )


def test_an_alias_is_a_component_that_names_its_target(manifest: Manifest) -> None:
    other = by_name(manifest)["Other"]
    assert (other.alias_of, other.exported, other.permission) == (
        "org.example.sample.Main", True, "android.permission.DUMP",
    )  # fmt: skip


def test_values_that_differ_between_configurations_count_as_true(manifest: Manifest) -> None:
    assert by_name(manifest)["org.example.elsewhere.Inner$Screen"].exported
    assert not by_name(manifest)["Worker"].enabled


def test_permissions_fall_back_to_those_of_the_application(manifest: Manifest) -> None:
    found = by_name(manifest)
    assert found["Alarm"].permission == "org.example.sample.OWN"
    assert found["Data"].permission == "org.example.sample.OWN"
    assert found["Guarded"].permission == "org.example.READ"
    assert found["Data"].authorities == ("org.example.a", "org.example.b")


@pytest.mark.parametrize(
    ("name", "meaning"),
    [(".A", "p.q.A"), ("A", "p.q.A"), ("A$B", "p.q.A$B"), ("x.A", "x.A"), (".a.B", "p.q.a.B")],
)
def test_names_are_qualified_as_android_does(name: str, meaning: str) -> None:
    assert qualified("p.q", name) == meaning
    assert list(components(element("activity", name=name))) == [meaning]


def test_a_filter_exports_a_component_that_does_not_say() -> None:
    action = element("intent-filter", element("action", name="a"))
    for sdk in (1, 30, 35):
        found = components(
            element("activity", action, name="A"),
            element("service", name="B"),
            element("receiver", action, name="C", exported="false"),
            sdk=sdk,
        )
        assert [c.exported for c in found.values()] == [True, False, False]


def test_providers_were_exported_before_api_17() -> None:
    provider = element("provider", name="P", authorities="a")
    assert components(provider, sdk=16)["p.q.P"].exported
    assert not components(provider, sdk=17)["p.q.P"].exported


def test_a_disabled_application_disables_its_components() -> None:
    assert not components(element("activity", name="A", enabled="true"), enabled="false")["p.q.A"].enabled
    assert not components(element("activity", name="A", enabled="false"))["p.q.A"].enabled


def test_one_open_side_leaves_a_provider_open() -> None:
    assert components(element("provider", name="P", readPermission="r"))["p.q.P"].permission is None
    both = element("provider", name="P", readPermission="r", writePermission="w")
    assert components(both)["p.q.P"].permission == "r"


def test_bait_behind_a_nul_is_cut_off() -> None:
    assert list(components(element("activity", name=".A\0.B"))) == ["p.q.A"]


def test_of_two_attributes_with_one_id_the_first_counts() -> None:
    twice = element("activity", name="A")
    twice.attributes.append(Attribute(ANDROID, "name", ATTRIBUTE_IDS["name"], "B", TYPE_STRING, 0))
    assert list(components(twice)) == ["p.q.A"]


def test_a_decoy_with_the_right_name_and_a_wrong_id_does_not_count() -> None:
    decoy = element("activity", name="A")
    decoy.attributes.insert(0, Attribute(ANDROID, "name", 0x01010099, "Decoy", TYPE_STRING, 0))
    assert list(components(decoy)) == ["p.q.A"]


def test_without_resource_ids_names_are_enough() -> None:
    nameless = Element("activity", [Attribute(ANDROID, "name", 0, "A", TYPE_STRING, 0)])
    assert list(components(nameless)) == ["p.q.A"]


def test_what_android_would_refuse_is_told() -> None:
    root = element(
        "manifest",
        element("application", element("activity"), element("service", name="S"), element("service", name="S")),
        element("application", element("activity", name="Hidden")),
    )
    manifest, notes = build_manifest(root, NoResources())
    assert [c.name for c in manifest.components] == ["S", "S"]
    assert notes == [
        "no package name",
        "2 <application> elements; the first is used",
        "<activity> without a name",
        "<service> S stands there twice",
    ]


def test_a_manifest_without_anything_has_defaults() -> None:
    manifest, _ = build_manifest(element("manifest", package="p"), NoResources())
    assert manifest == Manifest("p", None, None, 1, 1, None, False, True, (), ())
