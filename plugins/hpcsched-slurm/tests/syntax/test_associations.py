"""Associations of Slurm, as `sshare` of Slurm 22.05.8 printed them for one tree."""

from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched_slurm.syntax.associations import (
    Associations,
    SlurmAssociation,
    TableError,
    parse_associations,
)
from syntax.associations_22_05 import SSHARE, SSHARE_CLASSIC
from tests.strategies import tries


def found(text: str) -> dict[tuple[str, str | None], tuple[str | None, int | None]]:
    """Return parent and shares by account and user, without the root."""
    return {
        (one.account, one.user): (one.parent, one.shares)
        for one in parse_associations(text).listed
        if (one.account, one.user) != ("root", None)
    }


def test_a_tree() -> None:
    """Eighteen associations: five accounts, and thirteen users in them and in the root."""
    tree = found(SSHARE)
    assert len(tree) == 18
    assert tree["theory", None] == ("physics", 3)
    assert tree["pool", None] == ("root", None)
    assert tree["biology", "lp"] == (None, None)
    assert tree["root", "root"] == (None, 1)


def test_usage_and_the_algorithm() -> None:
    """Level fair shares are there with Fair Tree alone."""
    one = parse_associations(SSHARE)
    assert one.classic is False
    assert SlurmAssociation("chemistry", "sys", None, 3, 54) in one.listed
    assert parse_associations(SSHARE_CLASSIC).classic is True
    short = "Account|User|RawShares\nroot||\n root|root|1\n a||2147483647\n"
    assert parse_associations(short).classic is None
    assert parse_associations(short).listed[2] == SlurmAssociation("a", None, "root", None)


def test_a_bar_at_the_end_of_each_line() -> None:
    """`--parsable` prints one."""
    text = "".join(f"{line}|\n" for line in SSHARE.splitlines())
    assert parse_associations(text) == parse_associations(SSHARE)


def damaged() -> Iterator[tuple[str, str, int | None]]:
    """Yield texts that are in no form, the message, and the line."""
    head = "Account|User|RawShares\n"
    yield "", "expected what `sshare", None
    yield "rubbish\n", "expected what `sshare", None
    yield "a|b\n", "expected the columns Account, User, RawShares, found no Account", 1
    yield f"{head}root||\n a|ann\n", "expected 3 columns, found 2", 3
    yield f"{head}  a||1\n", "expected its parent above it", 2
    yield f"{head}a||1\n", "expected the root of the tree, found a", 2
    yield f"{head}root||\n b|ann|1\n", "expected the account b above its user", 3
    yield f"{head}root||\n a||many\n", "expected shares as a whole number, found 'many'", 3


@pytest.mark.parametrize(("text", "message", "line"), list(damaged()))
def test_damaged_texts(text: str, message: str, line: int | None) -> None:
    """The message has the line where there is one."""
    with pytest.raises(TableError, match=message) as caught:
        parse_associations(text)
    assert caught.value.line == line


@tries(200)
@given(
    st.lists(
        st.sampled_from(
            ["Account", "|", "User", "RawShares", "\n", " ", "root", "a", "1", "parent",
             "\0", "é", "-"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_any_text(parts: list[str]) -> None:
    """It is read, or refused with a message."""
    with suppress(TableError):
        assert isinstance(parse_associations("".join(parts)), Associations)
