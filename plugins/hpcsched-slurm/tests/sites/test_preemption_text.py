"""Preemption of a Slurm site as keys of a scenario."""

from pathlib import Path

import pytest
import yaml

from hpcsched.scenario import load_scenario
from hpcsched_slurm.site.accounts import TraceNames, accounts_block, read_tables
from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.preemption_text import preempt_line
from hpcsched_slurm.site.site import read_site
from hpcsched_slurm.site.writing import as_yaml

QOS = """\
Name|Priority|GraceTime|Preempt|PreemptExemptTime|PreemptMode|Flags
low|0|00:02:00|||cancel|
free|1|00:00:00|||cluster|
high|10|00:00:00|low,free|01:00:00|cluster|
"""
CONF = """\
PreemptType=preempt/partition_prio
PreemptMode=SUSPEND,GANG
PreemptExemptTime=00:30:00
SchedulerParameters=preempt_youngest_first
NodeName=c[1-2] CPUs=4
PartitionName=fast Nodes=ALL PriorityTier=10 PreemptMode=OFF
PartitionName=slow Nodes=ALL GraceTime=90 PreemptMode=REQUEUE
"""


def test_by_partition(tmp_path: Path) -> None:
    """Tiers, modes and times are those of the partitions; the scenario is valid."""
    path = tmp_path / "slurm.conf"
    path.write_text(CONF)
    text = as_yaml(read_site(read_entries(path)), path)
    told = "by: partition, mode: suspend, exempt: 30min, requeue_delay: 121, youngest_first: true"
    assert f"preempt: {{{told}}}  # slurm.conf:1-3\n" in text
    assert "SchedulerParameters without" not in text
    value = yaml.safe_load(text)
    assert [sorted(one.items())[-2:] for one in value["partitions"]] == [
        [("preempt_mode", "off"), ("tier", 10)],
        [("name", "slow"), ("preempt_mode", "requeue")],
    ]
    assert value["partitions"][1]["grace"] == 90
    (tmp_path / "s.yaml").write_text(
        f"name: s\n{text}trace: {{source: lublin99, jobs: 5}}\n", encoding="utf-8"
    )
    load_scenario(tmp_path / "s.yaml")


def test_by_qos(tmp_path: Path) -> None:
    """Whom a QOS preempts, and what is done to its own jobs; `cluster` is the cluster's mode."""
    path = tmp_path / "qos.txt"
    path.write_text(QOS)
    tables = read_tables([path])
    block = accounts_block(tables, TraceNames({}, {}), {"core"})
    assert yaml.safe_load(block.text)["qos"] == {
        "low": {"priority": 0, "mode": "cancel", "grace": "2min"},
        "free": {"priority": 1},
        "high": {"priority": 10, "preempts": ["low", "free"], "exempt": "1h"},
    }
    info = "socket=/run/munge/munge.socket.2,cred_expire=300"
    settings = {"preempttype": "preempt/qos", "preemptmode": "REQUEUE", "authinfo": info}
    qos = {name: one.preemption for name, one in tables.qos.items()}
    line = "preempt: {by: qos, mode: requeue, requeue_delay: 301}\n"
    assert preempt_line(settings, {}, qos, {}) == line
    # A real Slurm suspends otherwise, which the scenario says.
    told = preempt_line(settings | {"preemptmode": "SUSPEND,GANG"}, {}, qos, {})
    assert told.startswith("# not as in Slurm: with GANG")
    assert told.endswith(line.replace("requeue,", "suspend,"))


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("preempt/none", ""),
        ("preempt/qos", "# not in the scenario: PreemptType=preempt/qos\n"),
        ("preempt/job_prio", "# not in the scenario: PreemptType=preempt/job_prio\n"),
    ],
)
def test_what_is_not_in_the_scenario(kind: str, told: str) -> None:
    """Preemption by QOS needs their table."""
    assert preempt_line({"preempttype": kind}, {}, {}, {}) == told
