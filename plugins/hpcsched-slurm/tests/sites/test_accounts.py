"""The tree of accounts of a scenario, from associations of Slurm."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from pydantic import TypeAdapter

from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.errors import InputError
from hpcsched.scenario.policy_declarations import DeclaredAccounts, build_policies
from hpcsched.workload.site_partitions import NO_PARTITIONS
from hpcsched_slurm.site.accounts import (
    FIRST_ABSENT,
    TraceNames,
    accounts_block,
    read_accounts,
)
from hpcsched_slurm.syntax.associations import SlurmAssociation, parse_associations
from syntax.associations_22_05 import SSHARE, SSHARE_CLASSIC
from tests.builders import alike

USERS = ["daemon", "bin", "sys", "games", "man", "lp", "mail", "news", "proxy", "backup", "root"]
GROUPS = ["physics", "chemistry", "theory", "biology", "pool", "root"]
NAMES = TraceNames.of_comments(
    [
        *(f"User: {number} {name}" for number, name in enumerate(USERS, 1)),
        *(f"Group: {number} {name}" for number, name in enumerate(GROUPS, 1)),
        "Partition: 1 main",
    ]
)
SOURCE = Path("sshare.txt")
BLOCK = """\
# From sshare.txt: 6 accounts, 13 users in them.
# Not in the trace: uucp.
accounts:
  root:
    shares: parent
    groups: [6]
    users:
      11: 1  # root
  biology:
    shares: 1
    groups: [4]
    users:
      6: parent  # lp
      7: 2  # mail
      5: parent  # man
    usage:
      6: 10
      7: 10
      5: 21
"""
POOL = """\
  pool:
    shares: parent
    groups: [5]
    users:
      10: parent  # backup
      9: 1  # proxy
    usage:
      9: 21
"""


def test_a_block() -> None:
    """Users below the root are in an account that counts as the root."""
    block = accounts_block(parse_associations(SSHARE), NAMES, SOURCE)
    assert block.text.startswith(BLOCK)
    assert block.text.endswith(POOL)
    assert f"      {FIRST_ABSENT}: 1  # uucp\n" in block.text
    assert "    parent: physics\n    shares: 3\n    groups: [3]\n" in block.text
    assert block.left_out == ()


@pytest.mark.parametrize(("text", "is_classic"), [(SSHARE, False), (SSHARE_CLASSIC, True)])
def test_the_factors_are_those_of_the_same_table(text: str, is_classic: bool) -> None:
    """Both columns FairShare are computed from the shares and the usage beside them.

    `sshare` prints 1 for `backup` under the classic formula, and `sprio` 0.5: its jobs have the
    factor of the root.
    """
    value = yaml.safe_load(accounts_block(parse_associations(text), NAMES, SOURCE).text)
    accounts = TypeAdapter(DeclaredAccounts).validate_python(value["accounts"])
    given = {"half_life": None, "fair_share": "classic" if is_classic else None}
    params = MultifactorParams.model_validate(given)
    policies = build_policies({}, accounts)
    order = MultifactorOrder(params, alike(1, core=1), NO_PARTITIONS, policies)
    none = order.keys([])
    shares = order.core.fair_shares(0, none, none, np.empty(0, dtype=np.int64))
    found = {tuple(one): shares[number] for one, number in order.users.items()}
    header, *rows = (line.split("|") for line in text.splitlines())
    column, looked_at = header.index("FairShare"), 0
    for row in rows:
        account, name = row[0].strip(), row[1]
        if name and (not is_classic or name != "backup"):
            factor = found[account, NAMES.users.get(name, FIRST_ABSENT)]
            # The printed usage has whole seconds.
            accuracy = 0.02 if is_classic else 1e-6
            assert factor == pytest.approx(float(row[column]), abs=accuracy)
            looked_at += 1
    assert looked_at == (12 if is_classic else 13)


def test_what_is_left_out() -> None:
    """Limits, further associations of a user, former users, and accounts that nobody can tell."""
    text = (
        "Account|User|Partition|RawShares|RawUsage|GrpTRESMins\n"
        "root|||1|900|\n"
        " a|||1|900|cpu=100\n"
        "  a|ann|cpu|2|100|\n"
        "  a|ann|gpu|3|100|\n"
        "  a|bob||1|100|\n"
        " b|||1|0|\n"
        "  b|bob||1|0|\n"
    )
    names = TraceNames({"ann": 1, "bob": 2}, {"a": 7})
    block = accounts_block(parse_associations(text), names, SOURCE)
    assert block.left_out == (
        "further associations by partition: ann in a, gpu",
        "usage of a by users whom it no longer has: 700",
        "limits: GrpTRESMins",
        "bob is in a, b: jobs without one of these as their group are charged to a",
    )
    assert all(f"# {told}\n" in block.text for told in block.left_out)
    assert yaml.safe_load(block.text)["accounts"]["a"] == {
        "shares": 1, "groups": [7], "users": {1: 2, 2: 1}, "usage": {1: 100, 2: 100},
    }  # fmt: skip


def test_names_that_yaml_takes_for_something_else() -> None:
    """They are in quotes, and nothing leaves its comment."""
    text = "Account|User|RawShares\nroot||\n on||1\n  on|a\x85b|1\n 12||parent\n"
    value = yaml.safe_load(
        accounts_block(parse_associations(text), TraceNames({"x": 1}, {}), SOURCE).text
    )
    assert list(value["accounts"]) == ["on", "12"]


def test_faults(tmp_path: Path) -> None:
    """The file is named, with the line where there is one."""
    path = tmp_path / "shares"
    path.write_text("Account|User|RawShares\nroot||\n a||1\n a|ann|1\n")
    associations, _ = read_accounts(path, None)
    with pytest.raises(InputError, match="expected a trace with names of users"):
        accounts_block(associations, TraceNames({}, {}), path)
    gone = associations._replace(
        listed=(SlurmAssociation("a", None, "gone", 1), SlurmAssociation("a", "ann", None, 1))
    )
    with pytest.raises(InputError, match="parent 'gone' of account 'a' is not one of accounts"):
        accounts_block(gone, NAMES, path)
    path.write_text("Account|User|RawShares\nroot||\n a||x\n")
    with pytest.raises(InputError, match=r"shares:3.*expected shares") as caught:
        read_accounts(path, None)
    assert caught.value.findings[0].rule == "bad-accounts"
