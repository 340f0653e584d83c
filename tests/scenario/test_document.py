"""YAML is read as version 1.2 says, strictly and with positions."""

import math
from typing import Any

import pytest

from hpcsched.errors import Place
from hpcsched.scenario.document import parse_document


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("yes", "yes"),
        ("NO", "NO"),
        ("1:30:00", "1:30:00"),
        ("2024-01-31", "2024-01-31"),
        ("1_000", "1_000"),
        ("0b11", "0b11"),
        ("=", "="),
        ("True", True),
        ("false", False),
        ("~", None),
        ("", None),
        ("-12", -12),
        ("0o17", 15),
        ("0x1F", 31),
        ("1e3", 1000.0),
        ("-.5", -0.5),
        ("-.INF", -math.inf),
        ("'010'", "010"),
        ("!!str 12", "12"),
        ("!!float 3", 3.0),
    ],
)
def test_plain_values(text: str, value: Any) -> None:
    """A plain value is what the core schema of YAML 1.2 makes of it."""
    document = parse_document(f"key: {text}")
    assert document.findings == []
    assert document.value == {"key": value}
    assert type(document.value["key"]) is type(value)


@pytest.mark.parametrize(
    "text", ["010", "-07", "00", "9" * 5000, "!!int x", "!!binary aGk=", "!!set {a}", r'"\uD800"']
)
def test_refused_values(text: str) -> None:
    """A value that could be misread, or is no plain value, is refused at its place."""
    document = parse_document(f"key: {text}", "f")
    (problem,) = document.findings
    assert (problem.rule, problem.key, str(problem.place)) == ("bad-value", "key", "f:1:6")
    assert document.refused == {("key",)}


def test_every_key_and_value_has_a_position() -> None:
    """Lines and columns count from 1."""
    document = parse_document("a:\n  - b: 1\n    c: [x, {d: 2}]\n")
    assert {key: (place.line, place.column) for key, place in document.keys.items()} == {
        ("a",): (1, 1),
        ("a", 0, "b"): (2, 5),
        ("a", 0, "c"): (3, 5),
        ("a", 0, "c", 1, "d"): (3, 13),
    }
    assert document.values["a", 0, "c", 0] == Place("", 3, 9)
    assert document.values["a", 0, "c", 1, "d"] == Place("", 3, 16)


def test_aliases_are_written_out() -> None:
    """An alias stands for what its anchor names."""
    assert parse_document("a: &x {b: 1}\nc: *x").value == {"a": {"b": 1}, "c": {"b": 1}}


def test_a_bomb_of_aliases_is_refused() -> None:
    """Aliases of aliases do not fill the memory."""
    lines = ["a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}, *a{n - 1}]" for n in range(1, 40)]
    document = parse_document("\n".join(lines))
    (problem,) = document.findings
    assert problem.message == "not valid YAML: aliases repeat this value without end"


def test_a_value_within_itself_is_refused() -> None:
    """An alias to what is around it does not loop."""
    (problem,) = parse_document("a: &x [1, *x]").findings
    assert str(problem.place) == ":1:4"


@pytest.mark.parametrize("text", ["[" * 20000, "a: " + "{b: " * 20000, "- " * 20000])
def test_deep_nesting_is_refused(text: str) -> None:
    """Nesting without end is a problem of the file, not of the program."""
    (problem,) = parse_document(text).findings
    assert problem.rule == "syntax"


@pytest.mark.parametrize(
    "text", [r'"\UFFFFFFFF"', "a: b: c", "\x00", "*x", "&x &x a", "%YAML 3.0\n---\na", "a: |x", "'"]
)
def test_what_is_not_yaml_is_a_syntax_problem(text: str) -> None:
    """Whatever PyYAML says of a text becomes one problem with a position."""
    (problem,) = parse_document(text).findings
    assert problem.rule == "syntax"
    assert problem.place is not None
    assert (problem.place.line or 0, problem.place.column or 0) >= (1, 1)
