"""What is refused in a matrix, with its place and why; all of it at once."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from pydantic_core import InitErrorDetails

from hpcsched.scenario.faults import refuse
from hpcsched.scenario.key_path import KeyPath, parse_key_path
from hpcsched.studies.experiment.matrix import MOST_CELLS, clash, matrix_refusals, path_refusals

ORDERS: dict[str, list[Any]] = {"dispatcher": ["easy", "cp"]}


def told(refusals: Sequence[InitErrorDetails]) -> list[tuple[KeyPath, str]]:
    """Return place and message of each refusal."""
    if not refusals:
        return []
    return [(error["loc"], error["msg"]) for error in refuse(*refusals).errors()]


def refused(
    *matrix: dict[str, list[Any]], exclude: Sequence[Mapping[str, Any]] = (), replicas: int = 1
) -> list[tuple[KeyPath, str]]:
    """Return place and message of everything that is refused in a matrix."""
    return told(matrix_refusals(matrix, exclude, (), replicas))


def test_a_matrix_that_is_right() -> None:
    """Lists of one axis have one length, and an exclusion names labels, as texts or not."""
    second = {"trace.jobs": [5, 9], "seed": [1, 2], "names": ["few", 9]}
    excluded = [{"dispatcher": ["cp", "easy"], "trace.jobs": "9"}, {"seed": "few"}]
    assert refused(ORDERS, second, exclude=excluded) == []


def test_all_that_is_wrong_with_axes() -> None:
    """Each fault has its place; exclusions are looked at when axes are right."""
    second: dict[str, list[Any]] = {"seed": [1, 2], "names": [1, "1"], "trace.jobs": [3]}
    names: dict[str, list[Any]] = {"names": ["a", True, ""]}
    third: dict[str, list[Any]] = {"objective": [1, 2, 3], **names}
    assert refused(second, third, {"names": ["a"]}, exclude=[{}]) == [
        (
            ("matrix", 0, "trace.jobs"),
            "expected a list of 2 items, as seed has, found 1; lists of one axis go together",
        ),
        (("matrix", 0, "names", 1), "the label '1' is given twice"),
        (("matrix", 1, "names", 1), "expected a label, found true"),
        (("matrix", 1, "names", 2), "expected a label, found ''"),
        (("matrix", 2), "expected a key path of the scenario with a list of values"),
    ]


@pytest.mark.parametrize(
    ("exclude", "at", "message"),
    [
        ({}, (), "expected labels by axis, found none: this would leave out every cell"),
        ({"seed": 1}, ("seed",), "there is no axis 'seed'; there are: dispatcher"),
        (
            {"dispatcher": []},
            ("dispatcher",),
            "expected labels of dispatcher, found none; leave the key out to mean all",
        ),
        (
            {"dispatcher": "eazy"},
            ("dispatcher",),
            "dispatcher has no label 'eazy'; there are: easy, cp",
        ),
        (
            {"dispatcher": ["easy", "eazy"]},
            ("dispatcher", 1),
            "dispatcher has no label 'eazy'; there are: easy, cp",
        ),
    ],
)
def test_exclusions(exclude: dict[str, Any], at: KeyPath, message: str) -> None:
    """The second of two is wrong."""
    found = refused(ORDERS, exclude=[{"dispatcher": "cp"}, exclude])
    assert found == [(("exclude", 1, *at), message)]


def test_too_many_cells() -> None:
    """Two dispatchers times 50,000 replicas are taken, one replica more is not."""
    assert MOST_CELLS == 100_000
    assert refused(ORDERS, replicas=50_000) == []
    assert refused(ORDERS, replicas=50_001) == [
        (("matrix",), "the matrix has 100,002 cells with replicas; at most 100,000 are taken")
    ]


def test_what_is_set_before_the_axes() -> None:
    """An axis must not undo what is set in all cells."""
    before = [(("set", "dispatcher.order"), "dispatcher.order")]
    assert told(matrix_refusals([ORDERS], (), before)) == [
        (
            ("matrix", 0, "dispatcher"),
            "this undoes dispatcher.order, which is set before it",
        )
    ]
    below = [(("set", "dispatcher"), "dispatcher")]
    assert matrix_refusals([{"dispatcher.order": ["sjf"]}], (), below) == []


def test_key_paths() -> None:
    """Each that is malformed, sets the name or undoes an earlier one is told at its place."""
    places = [((n,), text) for n, text in enumerate(["a.b", "a..b", "name", "a.c", "a.b"])]
    (malformed, named, undone) = told(list(path_refusals(places)))
    assert (malformed[0], named[0], undone[0]) == ((1,), (2,), (4,))
    assert "is not a key path" in malformed[1]
    assert named[1] == "cells are named after their labels; 'name' cannot be set"
    assert undone[1] == "this undoes a.b, which is set before it"


@pytest.mark.parametrize(
    ("path", "earlier", "undone"),
    [
        ("trace", "trace", True),
        ("trace", "trace.jobs", True),
        ("trace.jobs", "trace", False),
        ("trace.jobs", "trace.path", False),
        ("trace", "tracer", False),
        ("system.groups[0]", "system.groups.0.count", True),
        ("system.groups[1]", "system.groups[10]", False),
    ],
)
def test_clash(path: str, earlier: str, undone: bool) -> None:
    """What is set above or at the place of an earlier setting undoes it; below it does not."""
    assert clash(parse_key_path(path), parse_key_path(earlier)) is undone
