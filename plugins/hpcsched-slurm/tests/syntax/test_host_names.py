"""Names of hosts become short lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.host_lists import expand
from hpcsched_slurm.syntax.host_names import fold
from tests.strategies import tries


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["c1", "c2", "c3", "c5"], "c[1-3,5]"),
        (["n098", "n099", "n100"], "n[098-100]"),
        (["n9", "n10", "g"], "n[9-10],g"),
        (["r1n1", "r1n2", "r2n1"], "r1n[1-2],r2n1"),
        (["b1-ib", "b2-ib"], "b1-ib,b2-ib"),
    ],
)
def test_fold(names: list[str], text: str) -> None:
    """Numbers that follow one another become a range."""
    assert fold(names) == text


@tries(200)
@given(
    names=st.lists(
        st.from_regex(r"[a-c]{0,2}[0-9]{0,4}[xy]?", fullmatch=True).filter(bool), max_size=9
    )
)
def test_folding_loses_nothing(names: list[str]) -> None:
    """What is folded can be expanded to the same names, in the same order."""
    assert expand(fold(names)) == tuple(names)


@tries(200)
@given(text=st.text("ac1[],-. \t", max_size=12))
def test_any_text(text: str) -> None:
    """Whatever can be expanded is folded without loss."""
    try:
        names = expand(text)
    except ValueError as error:
        assert "expected" in str(error)
    else:
        assert expand(fold(names)) == names
        assert all(name[0].isalnum() and not set(name) & set("[], \t") for name in names)
