"""What is read of a real Slurm is the same by all ways."""

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hpcsched_slurm.site.entries import read_entries
from hpcsched_slurm.site.site import read_site
from hpcsched_slurm.site.writing import write_blocks
from tests.real_slurm.cluster import SlurmCluster, plugin_module


@pytest.fixture
def limited(slurm: SlurmCluster) -> Iterator[SlurmCluster]:
    """Give a Slurm with limits of the partition `other`."""
    change = ("scontrol", "update", "PartitionName=other")
    slurm.run(*change, "MaxNodes=2", "MaxTime=60", "PriorityJobFactor=3")
    yield slurm
    slurm.run(*change, "MaxNodes=UNLIMITED", "MaxTime=INFINITE", "PriorityJobFactor=1")


def ways(slurm: SlurmCluster) -> list[Any]:
    """Return the parameters of slurmrestd and of the commands."""
    params = plugin_module("params").SlurmParams
    rest = params(rest=f"unix:{slurm.socket}", token_file=str(slurm.token_file))
    return [rest, params(config=str(slurm.config))]


def without_lines(text: str) -> str:
    """Return a block of a scenario without the lines of the file it was read from."""
    return re.sub(r"(,|  #) slurm:[0-9-]+", "", text)


def test_one_system(limited: SlurmCluster, tmp_path: Path) -> None:
    """slurmrestd, the commands, and files of `scontrol show` give the same groups and limits."""
    path = tmp_path / "slurm"
    shown = [limited.run("scontrol", "show", what) for what in ("nodes", "partitions")]
    path.write_text("\n".join(shown))
    blocks = write_blocks(read_site(read_entries(path)), path)
    assert "max_time: 1h, priority: 3, limits: {per_job: {nodes: 2}}}" in blocks.partitions
    writer, manager = plugin_module("scenario_writer"), plugin_module("manager")
    for params in ways(limited):
        text, warnings = writer.scenario_of(
            manager.calls_of(params), ["main", "other"], {}, history="/h", dispatcher="easy"
        )
        assert without_lines(blocks.system) in text
        assert without_lines(blocks.partitions) in text.replace("\n# ", "\n")
        assert warnings == ()


def test_reservations(slurm: SlurmCluster) -> None:
    """One that goes on closes its node until its end; one to come is an outage of its nodes."""
    common = ("Duration=60", "Users=root")
    for name, start, nodes in (("later", "now+2hours", "c[1-2]"), ("present", "now", "g1")):
        slurm.run(
            "scontrol", "create", "reservation", f"ReservationName={name}", f"StartTime={start}",
            f"Nodes={nodes}", *common,
        )  # fmt: skip

    def closed() -> bool:
        return "RESERVED" in slurm.run("scontrol", "show", "node", "g1")

    try:
        slurm.wait_until(closed)
        read = [plugin_module("manager").make_slurm(params).read() for params in ways(slurm)]
    finally:
        for name in ("later", "present"):
            slurm.run("scontrol", "delete", f"ReservationName={name}")
    assert read[0].outages == read[1].outages
    assert read[0].nodes == read[1].nodes
    by_name = {outage.name: outage for outage in read[0].outages}
    assert by_name["later"].nodes == ("c1", "c2")
    assert by_name["later"].end - by_name["later"].start == 3600
    assert abs(by_name["later"].start - time.time() - 7200) < 300
    for node in read[0].nodes:
        assert node.usable == (node.name != "g1")
        assert node.back == (by_name["present"].end if node.name == "g1" else None)
    assert [one.warnings for one in read] == [(), ()]
