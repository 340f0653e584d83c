"""Axes and positions: labels, crossing, zipping and exclusion."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.studies.experiment.axes import Axis, axis_of, label_of, positions


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
