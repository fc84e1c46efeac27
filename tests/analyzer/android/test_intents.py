"""To which components an intent can resolve."""

from __future__ import annotations

import pytest

from analyzer.android.intents import _Resolution
from analyzer.container.model import Component, IntentFilter
from analyzer.program import Program
from tests.programs.language import compile_program

FILTER = IntentFilter(("act",), ("cat",))
VIEW = IntentFilter(("view",), ("cat",), ("http",), ("a.org", "*.b.org"), (), (("prefix", "/x"),))
TYPED = IntentFilter(("send",), (), (), (), (), (), ("text/*",))


class Facts:
    """An intent's fields; what is not named was never set."""

    def __init__(self, **texts: tuple[str, ...] | None) -> None:
        self.of = {f"${name}": found for name, found in texts.items()}

    def texts(self, field: str) -> tuple[str, ...] | None:
        return self.of.get(field, ())


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_program("class Main { static void main() { } }")


@pytest.mark.parametrize(
    ("wanted", "facts", "reached"),
    [
        (FILTER, Facts(component=("a.Target",)), True),
        (FILTER, Facts(component=("a.Alias",)), True),
        (FILTER, Facts(component=("a.Other",)), False),
        (FILTER, Facts(component=("a.Other", "a.Target")), True),
        (FILTER, Facts(component=None), True),
        (FILTER, Facts(component=("a.Other",), action=("act",)), False),
        (FILTER, Facts(action=("act",)), True),
        (FILTER, Facts(action=("other",)), False),
        (FILTER, Facts(action=("other", "act")), True),
        (FILTER, Facts(action=None), True),
        (FILTER, Facts(), True),
        (FILTER, Facts(action=("act",), categories=("cat",)), True),
        (FILTER, Facts(action=("act",), categories=("dog",)), False),
        (FILTER, Facts(action=("act",), data=("http://a.org",)), False),
        (FILTER, Facts(action=("act",), data=None), True),
        (FILTER, Facts(action=("act",), type=("text/plain",)), False),
        (VIEW, Facts(action=("view",)), False),
        (VIEW, Facts(action=("view",), data=None), True),
        (VIEW, Facts(action=("view",), data=("http://a.org/xy",)), True),
        (VIEW, Facts(action=("view",), data=("http://c.b.org:80/x?q",)), True),
        (VIEW, Facts(action=("view",), data=("http://a.org/y",)), False),
        (VIEW, Facts(action=("view",), data=("http://other.org/x",)), False),
        (VIEW, Facts(action=("view",), data=("ftp://a.org/x",)), False),
        (TYPED, Facts(action=("send",), type=("text/plain",)), True),
        (TYPED, Facts(action=("send",), type=("image/png",)), False),
        (TYPED, Facts(action=("send",)), False),
        (TYPED, Facts(action=("send",), type=None), True),
    ],
)
def test_an_intent_reaches_what_it_may_resolve_to(
    program: Program, wanted: IntentFilter, facts: Facts, reached: bool
) -> None:
    target = Component("a.Target", "activity", True, filters=(wanted,))
    alias = Component("a.Alias", "activity", True, alias_of="a.Target")
    assert _Resolution(program, (target, alias))(facts) is reached


def test_a_component_without_filters_is_reached_by_name_only(program: Program) -> None:
    resolution = _Resolution(program, (Component("a.Target", "activity", False),))
    assert resolution(Facts(component=("a.Target",)))
    assert not resolution(Facts(action=None))
