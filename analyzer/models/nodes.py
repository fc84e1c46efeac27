"""YAML nodes that know where they stand: every complaint names the file and the line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NoReturn, TypeVar

import yaml

from gpu.errors import WrongConfiguration

T = TypeVar("T")
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Place:
    """One YAML node and its file."""

    __slots__ = ("file", "node")

    def __init__(self, node: yaml.Node, file: str) -> None:
        self.node, self.file = node, file

    @property
    def line(self) -> int:
        """Line of the node, counted from 1."""
        return int(self.node.start_mark.line) + 1

    def fail(self, expected: str) -> NoReturn:
        """Raises WrongConfiguration 'file:line: expected …'."""
        raise WrongConfiguration(f"{self.file}:{self.line}: expected {expected}")

    def found(self) -> str:
        """What stands here, in a few words."""
        if isinstance(self.node, yaml.ScalarNode):
            return repr(self.node.value) if self.node.value else "nothing"
        return "a list" if isinstance(self.node, yaml.SequenceNode) else "a mapping"

    def items(self, what: str = "a mapping") -> list[tuple[Place, Place]]:
        """Key and value of each entry of a mapping; a key that stands twice is an error."""
        if not isinstance(self.node, yaml.MappingNode):
            self.fail(f"{what}, found {self.found()}")
        pairs = [(Place(k, self.file), Place(v, self.file)) for k, v in self.node.value]
        seen: set[str] = set()
        for key, _ in pairs:
            if key.text() in seen:
                key.fail(f"each key once, found {key.text()!r} again")
            seen.add(key.text())
        return pairs

    def record(self, what: str, allowed: tuple[str, ...]) -> dict[str, Place]:
        """A mapping with only these keys."""
        result: dict[str, Place] = {}
        for key, value in self.items(what):
            if key.text() not in allowed:
                key.fail(f"one of {', '.join(allowed)} in {what}, found {key.text()!r}")
            result[key.text()] = value
        return result

    def list(self, what: str = "a list") -> Iterator[Place]:
        """The elements of a list."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.fail(f"{what}, found {self.found()}")
        return (Place(n, self.file) for n in self.node.value)

    def list_or_one(self) -> Iterator[Place]:
        """The elements of a list, or the node itself."""
        return self.list() if isinstance(self.node, yaml.SequenceNode) else iter((self,))

    @property
    def is_scalar(self) -> bool:
        """Whether it is text, a number, a boolean or nothing."""
        return isinstance(self.node, yaml.ScalarNode)

    @property
    def is_mapping(self) -> bool:
        """Whether it is a mapping."""
        return isinstance(self.node, yaml.MappingNode)

    def text(self, what: str = "text") -> str:
        """The text of a scalar."""
        if not isinstance(self.node, yaml.ScalarNode):
            self.fail(f"{what}, found {self.found()}")
        return str(self.node.value)

    def boolean(self) -> bool:
        """true or false."""
        value = self.text("true or false")
        if value not in ("true", "false"):
            self.fail(f"true or false, found {value!r}")
        return value == "true"

    def choice(self, allowed: tuple[str, ...]) -> str:
        """One of a few words."""
        value = self.text()
        if value not in allowed:
            self.fail(f"one of {', '.join(allowed)}, found {value!r}")
        return value

    def parse(self, parser: Callable[[str], T], what: str = "text") -> T:
        """The text through a parser whose ValueError says what was expected."""
        try:
            return parser(self.text(what))
        except ValueError as error:
            self.fail(str(error))


def compose(text: str, file: str) -> Place | None:
    """The root node of a YAML text; None when it is empty."""
    try:
        node = yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise WrongConfiguration(f"{file}:{line}: expected YAML, but {error.problem or error.context}") from error
    except yaml.YAMLError as error:
        raise WrongConfiguration(f"{file}:1: expected YAML, but {error}") from error
    return None if node is None else Place(node, file)
