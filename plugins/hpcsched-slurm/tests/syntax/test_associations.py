"""Associations of Slurm in the three forms, as Slurm 22.05.8 printed them for one tree."""

import json
from collections.abc import Iterator
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched_slurm.syntax.associations import (
    Associations,
    AssociationsError,
    SlurmAssociation,
    parse_associations,
)
from syntax.associations_22_05 import DUMP, SSHARE, SSHARE_CLASSIC, as_json
from syntax.shares_24_11 import CLASSIC, FAIR_TREE, shares_json, shares_text
from tests.strategies import tries


def found(text: str) -> dict[tuple[str, str | None], tuple[str | None, int | None]]:
    """Return parent and shares by account and user, without the root."""
    return {
        (one.account, one.user): (one.parent, one.shares)
        for one in parse_associations(text).listed
        if (one.account, one.user) != ("root", None)
    }


def test_all_forms_say_the_same() -> None:
    """Eighteen associations: five accounts, and thirteen users in them and in the root."""
    of_sshare = found(SSHARE)
    assert len(of_sshare) == 18
    assert found(DUMP) == of_sshare
    assert found(as_json()) == of_sshare
    assert of_sshare["theory", None] == ("physics", 3)
    assert of_sshare["pool", None] == ("root", None)
    assert of_sshare["biology", "lp"] == (None, None)
    assert of_sshare["root", "root"] == (None, 1)


def test_only_sshare_has_usage_and_the_algorithm() -> None:
    """Level fair shares are there with Fair Tree alone."""
    one = parse_associations(SSHARE)
    assert (one.has_usage, one.classic, one.limits) == (True, False, ())
    assert SlurmAssociation("chemistry", "sys", None, 3, 54) in one.listed
    assert parse_associations(SSHARE_CLASSIC).classic is True
    short = "Account|User|RawShares\nroot||\n root|root|1\n"
    assert parse_associations(short).classic is None
    other = parse_associations(DUMP)
    assert (other.has_usage, other.classic) == (False, None)


@pytest.mark.parametrize(("text", "classic"), [(FAIR_TREE, False), (CLASSIC, True)])
def test_shares_as_json(text: str, classic: bool) -> None:
    """It tells the same as the text, also the algorithm."""
    assert parse_associations(shares_text(classic=classic)) == parse_associations(text)
    limited = shares_json()
    limited["shares"]["shares"][3]["tres"]["group_minutes"][0]["value"]["set"] = True
    assert parse_associations(json.dumps(limited)).limits == ("GrpTRESMins",)


def test_shares_that_are_damaged() -> None:
    """The message has the place in the list."""
    for key, told in (("usage", "no field usage"), ("fairshare", "no field fairshare")):
        content = shares_json()
        del content["shares"]["shares"][2][key]
        with pytest.raises(AssociationsError, match=rf"shares\[2\]: {told}"):
            parse_associations(json.dumps(content))
    content = shares_json()
    content["shares"]["shares"][1]["parent"] = ""
    with pytest.raises(AssociationsError, match="expected the account of user root as parent"):
        parse_associations(json.dumps(content))


def test_a_bar_at_the_end_of_each_line() -> None:
    """`--parsable` prints one."""
    text = "".join(f"{line}|\n" for line in SSHARE.splitlines())
    assert parse_associations(text) == parse_associations(SSHARE)


def test_partitions_and_limits() -> None:
    """Limits are named, and associations of one partition have its name."""
    dump = (
        "Cluster - 'test':Fairshare=1:QOS='normal'\n"
        "QOS - 'normal':Description='x'\nParent - 'root'\n"
        "Account - 'a':Description='x:Fairshare=9':Organization='x':Fairshare=2:MaxJobs=4\n"
        "Parent - 'a'\nUser - 'ann':Partition='gpu':DefaultAccount='a':GrpTRES=gres/gpu:a100=4\n"
    )
    one = parse_associations(dump)
    assert one.listed == (
        SlurmAssociation("a", None, "root", 2),
        SlurmAssociation("a", "ann", None, 1, 0, "gpu"),
    )
    assert one.limits == ("MaxJobs", "GrpTRES")
    listed = json.loads(as_json())
    listed["associations"][3]["max"]["jobs"]["active"] = 4
    assert parse_associations(json.dumps(listed)).limits == ("max",)


def test_later_versions() -> None:
    """From v0.0.41 on, users have an empty text for none, and numbers of limits are objects."""
    content = {
        "associations": [
            {"account": "a", "user": "", "parent_account": "root", "shares_raw": 5,
             "cluster": "c", "partition": "",
             "max": {"jobs": {"active": {"set": False, "infinite": True, "number": 0}}}},
            {"account": "a", "user": "ann", "parent_account": "", "shares_raw": 2147483647,
             "cluster": "c", "partition": "",
             "max": {"jobs": {"active": {"set": True, "infinite": False, "number": 3}}}},
        ]
    }  # fmt: skip
    expected = (
        SlurmAssociation("a", None, "root", 5),
        SlurmAssociation("a", "ann", None, None),
    )
    assert parse_associations(json.dumps(content)) == Associations(expected, None, False, ("max",))


def damaged() -> Iterator[tuple[str, str, int | None]]:
    """Yield texts that are in no form, the message, and the line."""
    head = "Account|User|RawShares\n"
    yield "", "expected what `sshare", None
    yield "rubbish\n", "expected what `sshare", None
    yield "a|b\n", "expected the columns Account, User, RawShares of sshare, found no Account", 1
    yield f"{head}root||\n a|ann\n", "expected 3 columns, found 2", 3
    yield f"{head}  a||1\n", "expected its parent above it", 2
    yield f"{head}a||1\n", "expected the root of the tree, found a", 2
    yield f"{head}root||\n b|ann|1\n", "expected the account b above its user", 3
    yield f"{head}root||\n a||many\n", "expected shares as a whole number, found 'many'", 3
    yield "Parent - 'root'\nUser - 'ann':Fairshare=-1\n", "expected shares as a whole number", 2
    yield "Parent - 'root'\nUsers - 'ann'\n", "expected a line such as User - 'ann'", 2
    yield "Cluster - 'a'\nCluster - 'b'\n", "expected one cluster, found another", 2
    yield "{", "expected JSON", None
    nested = '{"a":' * 600 + "1" + "}" * 600
    yield (
        '{"associations": [{"account": "a", "user": "b", "parent_account": "", "shares_raw": 1,'
        f' "max": {nested}}}]}}',
        r"associations\[0\]: ",
        None,
    )
    yield '{"associations": [7]}', r"associations\[0\]: ", None
    yield "{}", "expected a list 'associations', or of 'shares'", None
    yield '{"associations": [{"user": null}]}', r"associations\[0\]: no field account", None
    two = [
        {"account": "a", "user": None, "parent_account": "root", "shares_raw": 1, "cluster": name}
        for name in ("x", "y")
    ]
    yield json.dumps({"associations": two}), "expected one cluster, found x, y", None


@pytest.mark.parametrize(("text", "message", "line"), list(damaged()))
def test_damaged_texts(text: str, message: str, line: int | None) -> None:
    """The message has the line where there is one."""
    with pytest.raises(AssociationsError, match=message) as caught:
        parse_associations(text)
    assert caught.value.line == line


@tries(200)
@given(
    st.lists(
        st.sampled_from(
            ["Account", "|", "User", "RawShares", "\n", " ", "root", "a", "1", "parent",
             "Parent - '", "User - '", "'", ":Fairshare=", "Cluster - 'x'",
             '{"associations": [', "{", "}", "]", '"user": null,', "\0", "é", "-"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_any_text(parts: list[str]) -> None:
    """It is read, or refused with a message."""
    with suppress(AssociationsError):
        assert isinstance(parse_associations("".join(parts)), Associations)
