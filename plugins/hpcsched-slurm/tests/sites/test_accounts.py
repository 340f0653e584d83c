"""The tree of accounts of a scenario, from associations of Slurm."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from pydantic import TypeAdapter

from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.multifactor_params import MultifactorParams
from hpcsched.errors import InputError
from hpcsched.scenario.policy_declarations import DeclaredAccounts, DeclaredQos, build_policies
from hpcsched.workload.site_partitions import NO_PARTITIONS
from hpcsched_slurm.site.accounts import (
    FIRST_ABSENT,
    AccountsBlock,
    Tables,
    TraceNames,
    accounts_block,
    read_tables,
)
from hpcsched_slurm.syntax.associations import Associations, SlurmAssociation, parse_associations
from sites.origins import without_origins
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


def block_of(text: str, names: TraceNames = NAMES) -> AccountsBlock:
    """Return the accounts of a table, for a scenario with cores."""
    return accounts_block(Tables(parse_associations(text), SOURCE), names, {"core"})


def test_a_block() -> None:
    """Users below the root are in an account that counts as the root."""
    block = block_of(SSHARE)
    text = without_origins(block.text)
    assert text.startswith(BLOCK)
    assert text.endswith(POOL)
    assert f"      {FIRST_ABSENT}: 1  # uucp\n" in block.text
    assert "    parent: physics\n    shares: 3\n    groups: [3]\n" in block.text
    assert block.left_out == ()


@pytest.mark.parametrize(("text", "is_classic"), [(SSHARE, False), (SSHARE_CLASSIC, True)])
def test_the_factors_are_those_of_the_same_table(text: str, is_classic: bool) -> None:
    """Both columns FairShare are computed from the shares and the usage beside them.

    `sshare` prints 1 for `backup` under the classic formula, and `sprio` 0.5: its jobs have the
    factor of the root.
    """
    value = yaml.safe_load(block_of(text).text)
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
    block = block_of(text, names)
    assert block.left_out == (
        "further associations by partition: ann in a, gpu",
        "usage of a by users whom it no longer has: 700",
        "bob is in a, b: jobs without one of these as their group are charged to a",
    )
    assert all(f"# {told}\n" in block.text for told in block.left_out)
    assert yaml.safe_load(block.text)["accounts"]["a"] == {
        "shares": 1, "groups": [7], "users": {1: 2, 2: 1}, "usage": {1: 100, 2: 100},
        "limits": {"total_minutes": {"core": 100}},
    }  # fmt: skip


TREE = """\
Cluster|Account|User|Partition|Share|GrpTRES|MaxJobs|MaxTRES|MaxWall|GrpTRESRunMins
test|root|||1|||||
test| physics|||3|cpu=4,billing=9|||01:00:00|
test|  theory|||1|||node=2|01:00:00|cpu=40
test|   theory|ann||parent||3|node=2|01:00:00|
test|   theory|bob||1|||node=2|02:00:00|
"""
"""What `sacctmgr` of Slurm 22.05.8 prints, whose limits of users are those inherited, too."""
QOS = """\
Name|Priority|Flags|UsageFactor|GrpTRESMins|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|MinTRES|GrpWall
normal|0|||||||||
express|10|OverPartQOS|2.000000|cpu=100|node=2|02:00:00|cpu=8,mem=2G,gres/gpu=1|3|cpu=2|1-00:00:00
"""


def test_limits(tmp_path: Path) -> None:
    """Those of QOS, accounts and users; limits that are inherited stand once."""
    path = tmp_path / "accounts.txt"
    path.write_text(f"{TREE}\n{QOS}")
    names = TraceNames({"ann": 1, "bob": 2}, {"theory": 1})
    block = accounts_block(read_tables([path]), names, {"core", "mem"})
    value = yaml.safe_load(block.text)
    assert value["accounts"]["physics"]["limits"] == {"total": {"core": 4}, "max_time": "1h"}
    assert value["accounts"]["theory"] == {
        "parent": "physics",
        "shares": 1,
        "groups": [1],
        "limits": {"per_job": {"nodes": 2}, "running_minutes": {"core": 40}},
        "users": {
            1: {"shares": "parent", "limits": {"total": {"jobs": 3}}},
            2: {"shares": 1, "limits": {"max_time": "2h"}},
        },
    }
    assert value["qos"] == {
        "normal": {"priority": 0},
        "express": {
            "priority": 10,
            "limits": {
                "per_user": {"core": 8, "mem": "2048MiB", "jobs": 3},
                "per_job": {"nodes": 2},
                "least": {"core": 2},
                "max_time": "2h",
                "total_minutes": {"core": 100},
                "wall_minutes": 1440,
            },
            "over_partition": True,
        },
    }
    assert "  express: {" in block.text and "}  # accounts.txt:10\n" in block.text
    assert block.left_out == (
        "limit of account physics: GrpTRES billing",
        "limit of QOS express: UsageFactor=2.000000",
        "limit of QOS express: gres/gpu=1",
    )
    TypeAdapter(DeclaredAccounts).validate_python(value["accounts"])
    TypeAdapter(DeclaredQos).validate_python(value["qos"])


def test_limits_of_the_root(tmp_path: Path) -> None:
    """They are those of an account above all others, which leaves shares as they are."""
    path = tmp_path / "accounts.txt"
    path.write_text(
        "Account|User|Share|GrpTRES|MaxJobs\n"
        "root||1|cpu=9|2\n a||1||2\n  a|ann|1||2\n b||3|cpu=4|5\n  b|bob|1||5\n"
    )
    names = TraceNames({"ann": 1, "bob": 2}, {})
    block = accounts_block(read_tables([path]), names, {"core"}, whole=True)
    assert yaml.safe_load(block.text)["accounts"] == {
        "root": {
            "other_users": True,
            "shares": "parent",
            "limits": {"total": {"core": 9}, "per_user": {"jobs": 2}},
        },
        "a": {"parent": "root", "shares": 1, "users": {1: 1}},
        "b": {
            "parent": "root",
            "shares": 3,
            "limits": {"total": {"core": 4}, "per_user": {"jobs": 5}},
            "users": {2: 1},
        },
    }


def test_factors_of_a_qos(tmp_path: Path) -> None:
    """The factor of limits is written, and that of usage is named."""
    path = tmp_path / "qos.txt"
    path.write_text("Name|Priority|LimitFactor|UsageFactor\nlarge|3|2.500000|0.500000\n")
    block = accounts_block(read_tables([path]), NAMES, {"core"})
    assert yaml.safe_load(block.text) == {"qos": {"large": {"priority": 3, "limit_factor": 2.5}}}
    assert block.left_out == ("limit of QOS large: UsageFactor=0.500000",)


def test_limits_that_are_shares(tmp_path: Path) -> None:
    """Of a QOS with the flag Relative they are named; the priority is there."""
    path = tmp_path / "qos.txt"
    path.write_text("Name|Priority|Flags|GrpTRES\nhalf|3|Relative,DenyOnLimit|cpu=50\n")
    block = accounts_block(read_tables([path]), NAMES, {"core"})
    assert yaml.safe_load(block.text) == {"qos": {"half": {"priority": 3}}}
    assert block.left_out == ("limits of QOS half, which are shares of the cluster",)


def test_limits_that_are_not_enforced(tmp_path: Path) -> None:
    """Without AccountingStorageEnforce=limits they are named, and not written."""
    path = tmp_path / "accounts.txt"
    path.write_text(f"{TREE}{QOS}")
    names = TraceNames({"ann": 1}, {})
    block = accounts_block(read_tables([path]), names, {"core"}, enforced=False)
    assert "limits:" not in block.text.replace("named: ", "")
    assert block.left_out == (
        "limits that AccountingStorageEnforce does not name: account physics, account theory,"
        " user ann in theory, user bob in theory, QOS express",
    )


def test_names_that_yaml_takes_for_something_else() -> None:
    """They are in quotes, and nothing leaves its comment."""
    text = "Account|User|RawShares\nroot||\n on||1\n  on|a\x85b|1\n 12||parent\n"
    value = yaml.safe_load(block_of(text, TraceNames({"x": 1}, {})).text)
    assert list(value["accounts"]) == ["on", "12"]


def test_faults(tmp_path: Path) -> None:
    """The file is named, with the line where there is one."""
    path = tmp_path / "shares"
    path.write_text("Account|User|RawShares\nroot||\n a||1\n a|ann|1\n")
    tables = read_tables([path])
    with pytest.raises(InputError, match="expected a trace with names of users"):
        accounts_block(tables, TraceNames({}, {}), {"core"})
    listed = SlurmAssociation("a", None, "gone", 1), SlurmAssociation("a", "ann", None, 1)
    gone = Tables(Associations(listed, None), path)
    with pytest.raises(InputError, match="parent 'gone' of account 'a' is not one of accounts"):
        accounts_block(gone, NAMES, {"core"})
    path.write_text("Cluster|Account|User|Share\na|root||1\nb|root||1\n")
    with pytest.raises(InputError, match=r"shares:3.*expected one cluster, found a, b"):
        read_tables([path])
    path.write_text("Account|User|RawShares\nroot||\n a||x\n")
    with pytest.raises(InputError, match=r"shares:3.*expected shares") as caught:
        read_tables([path])
    assert caught.value.findings[0].rule == "bad-accounts"
