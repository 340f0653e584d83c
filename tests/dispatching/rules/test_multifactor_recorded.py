"""Priorities of twenty jobs that a real Slurm printed, beside those of `multifactor`."""

from pathlib import Path

import pytest
import yaml

from hpcsched.dispatching.problem import waiting_job
from hpcsched.system.system import Request
from hpcsched.workload.job import Job
from hpcsched.workload.site_partitions import Partition, Partitions
from hpcsched_slurm.site.accounts import Tables, TraceNames, accounts_block
from hpcsched_slurm.syntax.associations import parse_associations
from tests.builders import alike
from tests.dispatching.rules.multifactor_factors import factors_of, order_of, priorities_of
from tests.dispatching.rules.priorities_22_05 import SPRIO, SSHARE, SSHARE_CLASSIC

SYSTEM = alike(4, core=16)
PARTITIONS = Partitions(
    (
        Partition("main", {"partition": frozenset({"main"})}, priority=4),
        Partition("other", {"partition": frozenset({"other"})}, priority=1),
    )
)
SETTINGS = {
    "weights": {"age": 1000, "size": 2000, "fair_share": 100000, "partition": 3000, "qos": 4000},
    "qos": {"express": 10, "fast": 5, "normal": 0},
}


@pytest.mark.parametrize(
    ("sshare", "classic", "accuracy"),
    # Ranks agree exactly. The classic formula depends on usage, which is printed in whole seconds.
    [(SSHARE, False, 1e-6), (SSHARE_CLASSIC, True, 0.02)],
)
def test_priorities_are_those_of_slurm(sshare: str, classic: bool, accuracy: float) -> None:
    """Each factor, and their sum; the jobs had waited for some seconds of seven days."""
    users = sorted({row.user for row in SPRIO} | {"root"})
    accounts = sorted({row.account for row in SPRIO})
    names = TraceNames(
        {name: number for number, name in enumerate(users)},
        {name: number for number, name in enumerate(accounts)},
    )
    tables = Tables(parse_associations(sshare), Path("sshare.txt"))
    block = accounts_block(tables, names, ("core",))
    given = SETTINGS | yaml.safe_load(block.text) | ({"fair_share": "classic"} if classic else {})
    order = order_of(given, SYSTEM, PARTITIONS)
    queue = [
        waiting_job(
            Job(
                row.number, 0, Request(row.nodes, (16,), one_unit_per_node=True), 1800,
                user=names.users[row.user], group=names.groups[row.account],
                queue_name=row.qos, partition_name=row.partition,
            ),
            1800,
            SYSTEM,
        )
        for row in SPRIO
    ]  # fmt: skip
    found = factors_of(order, 0, queue, ())
    priorities = priorities_of(order, 0, queue, ())
    assert len(found) == 20
    for row in SPRIO:
        own = found[row.number]
        fair_share = row.classic_fair_share if classic else row.fair_share
        priority = row.classic_priority if classic else row.priority
        printed = (row.size, row.partition_factor, row.qos_factor)
        assert (own.size, own.partition, own.qos) == pytest.approx(printed, abs=1e-6)
        assert own.fair_share == pytest.approx(fair_share, abs=accuracy)
        assert priorities[row.number] == pytest.approx(priority, abs=2 + 1e5 * accuracy)
    if not classic:
        in_turn = [row.number for row in sorted(SPRIO, key=lambda row: (-row.priority, row.number))]
        assert sorted(priorities, key=lambda number: (-priorities[number], number)) == in_turn
