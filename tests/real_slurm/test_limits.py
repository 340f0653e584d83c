"""Limits of accounting and partitions, and licences, of a real Slurm that enforces them.

A start that Slurm refused would be seen: the job would wait in Slurm and be taken back.
"""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.real_slurm import accounting
from tests.real_slurm.cluster import SlurmCluster, plugin_module
from tests.real_slurm.conftest import started
from tests.real_slurm.driving import (
    check_all_ran,
    drive_at_once,
    finish,
    live,
    peaks,
    reasons,
    write_scenario,
)

UNTIL_IDLE = ("drive", "--until-idle")
SECONDS = 12
"""How long jobs run; Slurm on a busy machine takes some seconds to start one."""
LICENSES = "Licenses=matlab:3,comsol:5"


@pytest.fixture(scope="module")
def limited_of_all_tests() -> Iterator[SlurmCluster]:
    """Give a Slurm with accounting that enforces limits, with accounts, QOS and licences."""
    why = accounting.missing()
    if why:
        pytest.skip(f"no accounting is started: {why}")
    with started(enforce="associations,limits,qos", more=(LICENSES,)) as cluster:
        for command in (
            "add account physics GrpJobs=20",
            "add account theory parent=physics GrpTRES=cpu=12",
            "add user root account=theory MaxTRESPerJob=node=2",
            "add qos small MaxJobsPerUser=3 MaxTRESPerUser=cpu=8,mem=10G GrpTRES=gres/gpu=2"
            " MaxTRESPerJob=cpu=6 MaxWall=5 GrpTRESMins=cpu=100000",
            "modify user root set qos+=small",
        ):
            cluster.run("sacctmgr", "-i", *command.split())
        yield cluster


@pytest.fixture
def limited(limited_of_all_tests: SlurmCluster) -> SlurmCluster:
    """Give that Slurm when all its nodes are idle."""
    limited_of_all_tests.become_idle()
    return limited_of_all_tests


def ways(slurm: SlurmCluster) -> list[Any]:
    """Return the calls by slurmrestd and by the commands."""
    params, calls_of = plugin_module("params").SlurmParams, plugin_module("manager").calls_of
    rest = params(
        rest=f"unix:{slurm.socket}", token_file=str(slurm.token_file), config=str(slurm.config)
    )
    return [calls_of(rest), calls_of(params(config=str(slurm.config)))]


def test_one_reading(limited: SlurmCluster) -> None:
    """Slurmrestd and the commands tell the same limits and licences."""
    policy_reading, licenses = plugin_module("policy_reading"), plugin_module("licenses")
    partition_limits = plugin_module("partition_limits")
    found = []
    for calls in ways(limited):
        qos, no_qos = policy_reading.read_qos(calls.qos())
        own, none = policy_reading.read_associations(calls.associations())
        assert (no_qos, none) == ([], [])
        assert calls.enforced() == {"associations", "limits", "qos"}
        by_name = {one.name: one._replace(limits=one.limits._replace(left=())) for one in qos}
        partitions = partition_limits.read_partitions(calls.partitions())
        assert partitions.warnings == ()
        found.append(
            (by_name, sorted(own), licenses.read_licenses(calls.licenses()), partitions.limits)
        )
    rest, commands = found
    assert rest == commands
    small = rest[0]["small"].limits
    assert (small.user, small.group) == ({"cpu": 8, "mem": 10240, "jobs": 3}, {"gres/gpu": 2})
    assert (small.job, small.wall) == ({"cpu": 6}, 300)
    assert rest[2].present == {"license_matlab": 3, "license_comsol": 5}


def test_limits_are_kept(limited: SlurmCluster, tmp_path: Path) -> None:
    """Jobs that all fit on the nodes run as the limits of QOS, user and account let them."""
    common = ("--account=theory", "--mem=500", "--time=1")
    small = (*common, "--qos=small")
    jobs = [limited.submit(SECONDS, *small, "--cpus-per-task=2") for _ in range(4)]
    jobs += [limited.submit(SECONDS, *small, "--gres=gpu:1") for _ in range(4)]
    jobs += [limited.submit(SECONDS, *common, "--cpus-per-task=4") for _ in range(5)]
    drive_at_once(limited, tmp_path, jobs, SECONDS)
    assert peaks(limited, jobs[:8])["jobs"] == 3
    assert peaks(limited, jobs[:8])["gpu"] <= 2
    assert peaks(limited, jobs)["cpu"] == 12
    assert "QOS small: MaxJobsPerUser=3" in reasons(tmp_path)
    assert "account theory: GrpTRES cpu=12" in reasons(tmp_path)


def test_licences_are_shared(limited: SlurmCluster, tmp_path: Path) -> None:
    """Never more of them are in use than there are; jobs of Slurm's own partition count."""
    # It runs until all others have ended.
    other = limited.submit(600, "--licenses=matlab:1", "--mem=500", "--time=15", partition="other")
    limited.wait_until(lambda: limited.jobs()[int(other)]["job_state"] == "RUNNING")
    jobs = [
        limited.submit(SECONDS, "--licenses=matlab:2,comsol", "--mem=500", "--time=1")
        for _ in range(3)
    ]
    jobs += [
        limited.submit(SECONDS, "--licenses=matlab", "--mem=500", "--time=1") for _ in range(3)
    ]
    try:
        drive_at_once(limited, tmp_path, jobs, SECONDS)
        assert limited.jobs()[int(other)]["job_state"] == "RUNNING"
    finally:
        limited.run("scancel", other)
    assert "{name: license_matlab, capacity: 3" in (tmp_path / "live.yaml").read_text()
    assert peaks(limited, [*jobs, other])["matlab"] == 3


def test_limits_of_partitions(limited: SlurmCluster, tmp_path: Path) -> None:
    """A job that is beyond one waits with the reason, and runs when the limit is lifted."""
    job = limited.submit(1, "--nodes=2", "--ntasks=2", "--mem=500", "--time=1")
    change = ("scontrol", "update", "PartitionName=main")
    limited.run(*change, "MaxNodes=1")
    scenario = write_scenario(limited, tmp_path)
    try:
        out = ("--out", str(tmp_path / "advice"))
        printed = finish(live(limited, scenario, "advise", *out))
        process = live(limited, scenario, *UNTIL_IDLE, "--out", str(tmp_path / "run"))
        time.sleep(8)
        assert limited.jobs()[int(job)]["priority"] == 0
    finally:
        limited.run(*change, "MaxNodes=UNLIMITED")
    assert "partition main: MaxNodes=1" in printed
    finish(process)
    check_all_ran(limited, scenario, [job])


def test_cpus_of_a_partition_on_a_node(limited: SlurmCluster, tmp_path: Path) -> None:
    """Jobs of 2 CPUs of a partition with MaxCPUsPerNode=2 start at once, each on its own node."""
    change = ("scontrol", "update", "PartitionName=main")
    limited.run(*change, "MaxCPUsPerNode=2")
    options = ("--mem=500", "--time=1", "--cpus-per-task=2", "--constraint=gpu")
    jobs = [limited.submit(SECONDS, *options) for _ in range(5)]
    try:
        drive_at_once(limited, tmp_path, jobs, SECONDS)
    finally:
        limited.run(*change, "MaxCPUsPerNode=UNLIMITED")
    assert peaks(limited, jobs)["cpu"] == 6


def test_whole_nodes_of_a_partition(limited: SlurmCluster) -> None:
    """Jobs of a partition with OverSubscribe=EXCLUSIVE are read as jobs of whole nodes."""
    change = ("scontrol", "update", "PartitionName=main")
    limited.run(*change, "OverSubscribe=EXCLUSIVE")
    job = limited.submit(1, "--cpus-per-task=2", "--mem=500", "--time=1")
    manager = plugin_module("manager")
    terms = plugin_module("reading_jobs").Terms("hpcsched", 1000)
    try:
        for calls in ways(limited):
            found = {one.key: one for one in manager.Slurm(calls, terms).read().jobs}[job]
            assert found.exclusive
            # It counts with all CPUs of the largest node, as Slurm counts it when it runs.
            assert found.usage["cpu"] == 16
    finally:
        limited.run("scancel", job)
        limited.run(*change, "OverSubscribe=NO")
