"""Registration of built-in plugins: what the decorator notes, and packages that are missing."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hpcsched import registration
from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.registration import BuiltIn, Caution, OptionalPackage, OtherNames, builtin

HERE = __name__


class DepthParams(Params):
    """Parameters of a plugin."""

    depth: int = 1


def review(_params: Any, _system: Any) -> Iterator[Caution]:
    """Yield no caution."""
    yield from ()


@pytest.fixture(name="rows")
def _rows(monkeypatch: pytest.MonkeyPatch) -> list[BuiltIn]:
    """Return the registrations of a test alone."""
    rows: list[BuiltIn] = []
    monkeypatch.setattr(registration, "registered", rows)
    return rows


def test_a_class(rows: list[BuiltIn]) -> None:
    """Objects are noted by where they are; what is left out has its default."""

    @builtin("metric", "depth", summary="how deep it is")
    class Depth:
        """A plugin."""

    assert Depth.__name__ == "Depth"
    where = f"{HERE}:test_a_class.<locals>.Depth"
    assert rows == [
        BuiltIn("metric", "depth", "how deep it is", where, "hpcsched.parameters:Params")
    ]


def test_a_factory_with_everything(rows: list[BuiltIn]) -> None:
    """Capabilities are in alphabetical order, whatever set they come in."""
    package = OptionalPackage("solver deep", "deep", "deep-solver", "deep")

    @builtin(
        "solver",
        "deep",
        DepthParams,
        summary="goes deep",
        capabilities={"b", "c", "a"},
        review=review,
        needs=package,
        other_names=OtherNames(("deeper",), ("d",)),
    )
    def make(params: object, context: object) -> object:
        return params, context

    assert make(1, 2) == (1, 2)
    (row,) = rows
    assert row.made_by == f"{HERE}:test_a_factory_with_everything.<locals>.make"
    assert (row.params, row.review) == (f"{HERE}:DepthParams", f"{HERE}:review")
    assert row.capabilities == ("a", "b", "c")
    assert (row.needs, row.aliases) == (package, ("deeper", "d"))


def test_rows_are_plain_data(rows: list[BuiltIn]) -> None:
    """The index is a JSON file."""

    @builtin("metric", "depth", DepthParams, summary="how deep it is", review=review)
    def make(params: object, context: object) -> object:
        return params, context

    (row,) = rows
    assert make is not None
    read = json.loads(json.dumps(row))
    assert read[:6] == ["metric", "depth", "how deep it is", row.made_by, row.params, row.review]


def test_a_package_that_is_there() -> None:
    """There is nothing to say."""
    package = OptionalPackage("a solver", "json", "json", "x")
    assert package.missing() is None
    package.require()


def test_a_package_that_is_not_there() -> None:
    """The message says what needs it, and how to install it."""
    package = OptionalPackage("the solver deep", "no_such_module", "deep-solver", "deep")
    message = (
        "the solver deep: the package deep-solver is not installed; pip install 'hpcsched[deep]'"
    )
    assert package.missing() == message
    with pytest.raises(PluginError) as raised:
        package.require()
    assert str(raised.value) == message
