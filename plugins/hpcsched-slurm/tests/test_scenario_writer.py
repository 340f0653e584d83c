"""Scenarios that are written for a cluster, the same as from what `scontrol show` prints."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from hpcsched import InputError, cli
from hpcsched.errors import Place
from hpcsched_slurm.params import SlurmHistoryParams
from hpcsched_slurm.scenario_writer import scenario_of
from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.site import read_site
from hpcsched_slurm.site.writing import write_blocks
from hpcsched_slurm.versions import plain_nodes, plain_partitions
from recorded import said
from test_versions import RECORDED, answer

MAIN = {"partitionname": "main", "nodes": "c[1-3],g[1-3]", "maxtime": "1-00:00:00"}


class Told:
    """A Slurm that tells of some nodes and partitions."""

    def __init__(
        self,
        nodes: list[Any],
        partitions: list[Mapping[str, str]],
        licenses: list[Mapping[str, Any]] | None = None,
    ) -> None:
        self._nodes, self._partitions, self._licenses = nodes, partitions, licenses or []

    def jobs(self) -> list[Mapping[str, Any]]:
        """Return no jobs."""
        return []

    def nodes(self) -> list[Mapping[str, Any]]:
        """Return the nodes."""
        return self._nodes

    def partitions(self) -> list[Mapping[str, str]]:
        """Return the partitions."""
        return self._partitions

    def licenses(self) -> list[Mapping[str, Any]]:
        """Return the licences."""
        return self._licenses

    def qos(self) -> list[Mapping[str, Any]]:
        """Return no QOS."""
        return []

    associations = qos

    def lists_subaccounts(self) -> bool:
        """Return what Slurm 22.05 does."""
        return False

    def enforced(self) -> frozenset[str]:
        """Return that nothing is."""
        return frozenset()

    def time_usage(self) -> str:
        """Return no usage."""
        return ""

    def reservations(self) -> list[Mapping[str, Any]]:
        """Return no reservations."""
        return []

    def place(self, key: str, nodes: str) -> None:
        """Do nothing."""

    def hold(self, key: str) -> None:
        """Do nothing."""


def written(told: Told, *partitions: str) -> tuple[str, tuple[str, ...]]:
    """Return the scenario of some partitions, and warnings."""
    return scenario_of(told, partitions, {"rest": "unix:/s"}, history="/h", dispatcher="easy")


def test_scenario() -> None:
    """Nodes that are alike make a group; limits that Slurm applies are comments."""
    text, warnings = written(Told(said("nodes"), [MAIN]), "main")
    scenario = yaml.safe_load(text)
    assert scenario["system"]["groups"] == [
        {"name": "c", "count": 3, "resources": {"core": 16, "mem": "64000MiB"}},
        {"name": "g", "count": 3, "resources": {"core": 8, "mem": "128000MiB", "gpu": 4}},
    ]
    assert scenario["live"]["nodes"] == {"c": "c[1-3]", "g": "g[1-3]"}
    assert "#   - {name: main, jobs: {partition: [main]}, max_time: 1d}\n" in text
    assert "partitions" not in scenario
    assert warnings == ()


def test_the_past() -> None:
    """It is a file, or what slurmdbd answers; the plugin takes either."""
    told = Told(said("nodes"), [MAIN])
    reached = {"rest": "unix:/s", "token_file": "/t"}
    for history, past in (("/h", {"path": "/h"}), (None, reached)):
        text, _ = scenario_of(told, ["main"], reached, history=history, dispatcher="easy")
        trace = yaml.safe_load(text)["trace"]
        assert trace == {"source": "slurm-history", **past}
        trace.pop("source")
        SlurmHistoryParams(**trace)
    with pytest.raises(InputError, match="expected --history FILE, or --rest"):
        scenario_of(told, ["main"], {}, dispatcher="easy")


def test_licences() -> None:
    """They are shared resources, whose draw is in the requests of jobs; the rest is as without."""
    licences = [
        {"LicenseName": "matlab", "Total": 3, "Used": 1},
        {"LicenseName": "none", "Total": 0},
    ]
    text, warnings = written(Told(said("nodes"), [MAIN], licences), "main")
    assert yaml.safe_load(text)["system"]["shared_resources"] == [
        {"name": "license_matlab", "capacity": 3, "draw": "as_the_trace_says"}
    ]
    assert warnings == ()


def test_partitions_without_nodes() -> None:
    """They are refused by name."""
    with pytest.raises(InputError, match="no node belongs to night"):
        written(Told(said("nodes"), [MAIN]), "night")


def test_nodes_that_are_not_understood() -> None:
    """They are left out, and a comment and a warning name them, and so are nodes to come."""
    nodes = said("nodes")
    nodes[0]["cpus"] = None
    nodes[1]["state"] = "future"
    text, warnings = written(Told(nodes, [MAIN]), "main")
    assert yaml.safe_load(text)["live"]["nodes"] == {"c": "c3", "g": "g[1-3]"}
    not_read, to_come = warnings
    assert not_read.startswith("nodename c1: left out: expected a number")
    assert to_come == "nodename c2: left out: State=future"
    assert all(f"# {warning}\n" in text for warning in warnings)


STATE = """\
NodeName=t1 CPUAlloc=0 CPUEfctv=30 CPUTot=32 Gres=gpu:a100:4(S:0-1) RealMemory=1000 MemSpecLimit=24
   ThreadsPerCore=2 State=IDLE+DRAIN Partitions=main
PartitionName=main
   MaxTime=1-00:00:00 Nodes=t1 PriorityJobFactor=3 MaxNodes=2 State=UP
"""
NODE = {
    "name": "t1", "cpus": 32, "effective_cpus": 30, "threads": 2, "gres": "gpu:a100:4(S:0-1)",
    "real_memory": 1000, "specialized_memory": 24, "state": ["IDLE", "DRAIN"],
    "partitions": ["main"], "active_features": [],
}  # fmt: skip


def partition_of_41() -> dict[str, Any]:
    """Return a partition as slurmrestd v0.0.41 tells it."""
    infinite = {"set": False, "infinite": True, "number": 0}
    return {
        "name": "main", "nodes": {"configured": "t1"}, "priority": {"job_factor": 3, "tier": 1},
        "maximums": {
            "time": {"set": True, "infinite": False, "number": 1440},
            "nodes": {"set": True, "infinite": False, "number": 2}, "cpus_per_node": infinite,
            "partition_memory_per_node": infinite, "partition_memory_per_cpu": infinite,
            "shares": 1,
        },
        "minimums": {"nodes": 0}, "accounts": {"allowed": "", "deny": ""},
        "groups": {"allowed": ""}, "qos": {"allowed": "", "deny": "", "assigned": ""},
        "partition": {"state": ["UP"]},
    }  # fmt: skip


def test_the_same_as_from_a_file(tmp_path: Path) -> None:
    """CPUs and memory for jobs, devices, limits and priorities are those of `system-from`."""
    path = tmp_path / "slurm"
    path.write_text(STATE)
    # What Slurm itself tells has no lines.
    entries = [replace(entry, place=Place("slurm")) for entry in read_entries(path)]
    blocks = write_blocks(read_site(entries), path)
    told = Told(plain_nodes(41, [NODE]), plain_partitions(41, [partition_of_41()]))
    text, _ = written(told, "main")
    assert "{core: 30, mem: 976MiB, gpu: 4}}  # t1, gpu:a100" in blocks.system
    assert "max_time: 1d, priority: 3, limits: {per_job: {nodes: 2}}}" in blocks.partitions
    assert blocks.system in text
    assert blocks.partitions in text.replace("\n# ", "\n")


@pytest.mark.parametrize(
    ("own", "shares", "told"),
    [
        ({}, 1, {}),
        ({}, 0, {"oversubscribe": "EXCLUSIVE"}),
        ({"exclusive": "NO", "oversubscribe": "NO"}, 0, {"exclusive": "NO", "oversubscribe": "NO"}),
        (
            {"exclusive": "NODE", "oversubscribe": "YES:2"}, 0,
            {"exclusive": "NODE", "oversubscribe": "YES:2"},
        ),
    ],
)  # fmt: skip
def test_whole_nodes(own: dict[str, str], shares: int, told: dict[str, str]) -> None:
    """No shares mean whole nodes up to v0.0.44; v0.0.45 has 0 always, and tells it in words."""
    partition = partition_of_41()
    partition["maximums"]["shares"] = shares
    partition["partition"] |= own
    (pairs,) = plain_partitions(45 if own else 44, [partition])
    assert {key: pairs[key] for key in ("exclusive", "oversubscribe") if key in pairs} == told


def test_partitions_of_the_oldest_version() -> None:
    """Its limits are plain numbers; -1 is none."""
    old = {
        "name": "main", "nodes": "t1", "max_time_limit": -1, "priority_job_factor": 3,
        "maximum_nodes_per_job": 4, "min_nodes_per_job": -1, "allowed_accounts": "",
    }  # fmt: skip
    (pairs,) = plain_partitions(38, [old])
    assert pairs == {
        "partitionname": "main", "nodes": "t1", "priorityjobfactor": "3", "maxnodes": "4",
    }  # fmt: skip


@pytest.mark.parametrize("number", RECORDED)
def test_recorded_partitions(number: int) -> None:
    """Each partition of the recorded clusters with a recorded node is written."""
    nodes = plain_nodes(number, answer(number, "slurm-nodes")["nodes"])
    partitions = plain_partitions(number, answer(number, "slurm-partitions")["partitions"])
    there = {name for node in nodes for name in node["partitions"]}
    found = yaml.safe_load(written(Told(nodes, partitions), *sorted(there))[0])
    counts = sum(group["count"] for group in found["system"]["groups"])
    assert counts == len(nodes)


def test_an_unknown_dispatcher(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is refused with the nearest name, before Slurm is asked, and nothing is written."""
    out = tmp_path / "live.yaml"
    command = ["live", "init", "--partition=main", "--history=jobs.txt", f"--out={out}"]
    assert cli.main([*command, "--dispatcher=joint-nwo"]) == 1
    told = "--dispatcher: no dispatcher is called 'joint-nwo'; did you mean 'joint-now'?"
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_a_bad_address(capsys: pytest.CaptureFixture[str]) -> None:
    """The option is named."""
    assert cli.main(["live", "init", "--partition=main", "--rest=nowhere"]) == 1
    told = "--rest: expected unix:/path/to/socket or http://127.0.0.1:PORT"
    assert told in capsys.readouterr().err
