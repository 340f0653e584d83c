"""Axes, their labels and positions, and what cannot be expanded."""

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import InitErrorDetails

from hpcsched.scenario.faults import refuse
from hpcsched.scenario.key_path import KeyPath
from hpcsched.studies.cell import (
    MOST_CELLS,
    Axis,
    axis_of,
    label_of,
    matrix_refusals,
    positions,
)


@pytest.mark.parametrize(
    ("value", "label"),
    [
        ("easy", "easy"),
        ({"name": "list", "order": "sjf", "depth": 5}, "list-sjf-5"),
        ({"name": "best-of", "orders": ["spf", "saf"]}, "best-of-spf-saf"),
        ("${TRACES}/KTH-SP2-1996-2.swf.gz", "KTH-SP2-1996-2"),
        ("a.swf", "a"),
        (5, "5"),
        (0.5, "0.5"),
        (True, "true"),
        (None, "none"),
        ("", "none"),
        ("a b/c d", "c-d"),
    ],
)
def test_labels_are_made_from_values(value: object, label: str) -> None:
    """A label has what tells values apart, in a few plain characters."""
    assert label_of(value) == label


def test_lists_of_one_axis_go_together() -> None:
    """Labels come from the first key path, and are told apart by numbers."""
    axis = axis_of({"trace.path": ["x/a.swf", "y/a.swf"], "system": ["s", "t"]})
    assert axis == Axis(
        ("trace.path", "system"), (("x/a.swf", "y/a.swf"), ("s", "t")), ("a", "a-2")
    )
    assert axis.name == "trace.path"


def test_exclusion_takes_out_what_has_all_labels() -> None:
    """The last axis goes fastest, and labels are compared as texts."""
    axes = [axis_of({"d": ["easy", "list"]}), axis_of({"n": [1, 2], "m": [3, 4]})]
    found = [position.labels for position in positions(axes, [{"d": "list", "m": 2}])]
    assert found == [{"d": "easy", "n": "1"}, {"d": "easy", "n": "2"}, {"d": "list", "n": "1"}]


def test_an_exclusion_takes_several_labels_of_an_axis() -> None:
    """What has any of them is out; other axes of the exclusion still have to agree."""
    axes = [axis_of({"d": ["easy", "list", "cp"]}), axis_of({"n": [1, 2]})]
    found = [position.labels for position in positions(axes, [{"d": ["list", "cp"], "n": 1}])]
    assert [(labels["d"], labels["n"]) for labels in found] == [
        ("easy", "1"),
        ("easy", "2"),
        ("list", "2"),
        ("cp", "2"),
    ]


sizes = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@given(sizes, st.data())
def test_every_combination_is_there_once(lengths: list[int], data: st.DataObject) -> None:
    """Nothing is left out but what an exclusion matches."""
    axes = [axis_of({f"a{n}": list(range(length))}) for n, length in enumerate(lengths)]
    chosen = data.draw(
        st.lists(st.fixed_dictionaries({}, optional={
            f"a{n}": st.integers(0, length - 1) for n, length in enumerate(lengths)
        }).filter(bool), max_size=3)
    )  # fmt: skip
    found = [position.steps for position in positions(axes, chosen)]
    assert len(set(found)) == len(found) <= math.prod(lengths)
    for steps in itertools.product(*map(range, lengths)):
        out = any(all(steps[int(key[1:])] == k for key, k in item.items()) for item in chosen)
        assert (steps in found) is not out


@given(st.lists(st.one_of(st.integers(), st.text(max_size=5), st.none()), min_size=1, max_size=8))
def test_labels_are_never_alike(values: list[object]) -> None:
    """Whatever the values are, each position has a label of its own."""
    labels = axis_of({"a": values}).labels
    assert len(set(labels)) == len(values)
    assert all(labels)


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


def test_key_paths() -> None:
    """Each that is malformed or sets the name is told at its place."""
    places: list[KeyPath] = [("set", text) for text in ("a.b", "a..b", "name", "a.c")]
    malformed, named = told(matrix_refusals([ORDERS], (), places))
    assert (malformed[0], named[0]) == (("set", "a..b"), ("set", "name"))
    assert "is not a key path" in malformed[1]
    assert named[1] == "cells are named after their labels; 'name' cannot be set"
