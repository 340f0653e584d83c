"""Constraints on the features of single nodes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched_slurm.syntax.constraints import constraint_choices, parse_constraint


@pytest.mark.parametrize(
    ("text", "yes", "no"),
    [
        ("", "", None),
        ("a", "a", "b"),
        ("a&b", "a b", "a"),
        ("a|b", "b", "c"),
        ("a|b|c", "c", "d"),
        ("(a|b)&c", "b c", "a b"),
        ("a|(b&c)", "b c", "b"),
        ("((a))", "a", "b"),
        (" a & b ", "a b", "b"),
        ("a*2&b", "a b", "a"),  # all nodes of the job
        ("rack-1.x&cpu_gen", "rack-1.x cpu_gen", "rack"),
    ],
)
def test_conditions_on_each_node(text: str, yes: str, no: str | None) -> None:
    """Features are and-ed and or-ed, with parentheses."""
    found = parse_constraint(text, 2)
    assert found.holds(yes.split())
    assert no is None or not found.holds(no.split())


@pytest.mark.parametrize(
    "text",
    [
        "a&b|c",
        "a*1&b",
        "[a*2&b*2]",
        "[a|b]",
        "a&",
        "&a",
        "(a",
        "a)",
        "()",
        "a b",
        "a*",
        "!a",
        "*2",
        "(" * 999,
    ],
)
def test_what_is_no_condition_on_each_node(text: str) -> None:
    """Counts of some nodes, one choice for all nodes, and what is no constraint."""
    with pytest.raises(ValueError, match="expected a condition on each node"):
        parse_constraint(text, 2)


def test_brackets_for_one_node() -> None:
    """The choice for all nodes is one for a single node; parts of a job are not."""
    assert constraint_choices("[a|b]", 1) == (parse_constraint("a|b", 1),)
    assert constraint_choices("[a*1|b]", 1) == (parse_constraint("a|b", 1),)
    with pytest.raises(ValueError, match=r"found '\[a\*1&b\*1\]'"):
        constraint_choices("[a*1&b*1]", 1)


def test_brackets_for_several_nodes() -> None:
    """One of the alternatives holds for all nodes, also where its count covers all of them."""
    assert constraint_choices("a|b", 2) == (parse_constraint("a|b", 2),)
    choices = constraint_choices("[(a&b)|c*2]", 2)
    assert choices == (parse_constraint("a&b", 2), parse_constraint("c", 2))
    assert constraint_choices("[a]", 2) == (parse_constraint("a", 2),)
    for text in ("[a*1|b*1]", "[a*2&b*4]", "[a&b]", "[a|b", "[]", "[[a]]", "[a|b]&c"):
        with pytest.raises(ValueError, match="expected a condition on each node"):
            constraint_choices(text, 2)


@given(st.text(alphabet="ab&|()[]*2 ", max_size=12), st.integers(1, 3))
def test_any_text_ends_well(text: str, nodes: int) -> None:
    """Whatever the text is, it becomes a condition or a ValueError."""
    try:
        choices = constraint_choices(text, nodes)
    except ValueError:
        return
    for found in choices:
        # More features never close a node.
        assert not found.holds({"a"}) or found.holds({"a", "b", "ab"})
        assert not found.holds(()) or not text.strip()
