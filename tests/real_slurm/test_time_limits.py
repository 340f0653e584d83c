"""Limits over time, and AllowGroups, of a real Slurm: kept by hpcsched as Slurm keeps them itself.

Jobs of the partition `main` are hpcsched's, the same ones of `other` are Slurm's own.
"""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_slurm import accounting
from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.conftest import started
from tests.real_slurm.driving import (
    drive_at_once,
    finish,
    live,
    peaks,
    reasons,
    write_scenario,
)

SECONDS = 6
SMALL = ("--mem=500", "--cpus-per-task=2")
LATER = "uid 1 not in group permitted to use this partition (other). groups allowed: games"
"""Reason of a job that AllowGroups keeps waiting, in Slurm 24.11."""
USAGE = ("PriorityType=priority/multifactor", "PriorityDecayHalfLife=14-0")
"""Slurm counts usage with this plugin alone: when it starts, and then every few minutes."""


@pytest.fixture(scope="module", name="slurm")
def _slurm() -> Iterator[SlurmCluster]:
    """Give a Slurm that enforces limits, with accounts and usage."""
    why = accounting.missing()
    if why:
        pytest.skip(f"no accounting is started: {why}")
    with started(enforce="associations,limits,qos", more=USAGE) as cluster:
        for command in (
            "add account physics",
            "add account theory parent=physics GrpTRESRunMins=cpu=40",
            "add account spent parent=physics",
            "add account walled parent=physics",
            "add user root,daemon account=theory,spent,walled",
            "modify user root where account=spent set MaxTRESMinsPerJob=cpu=30",
        ):
            cluster.run("sacctmgr", "-i", *command.split())
        yield cluster


def advice(slurm: SlurmCluster, folder: Path) -> str:
    """Return what hpcsched advises."""
    scenario = write_scenario(slurm, folder)
    return finish(live(slurm, scenario, "advise", "--out", str(folder / "advice")))


def reason(slurm: SlurmCluster, job: str) -> str:
    """Return Slurm's own reason for a waiting job."""
    return str(slurm.jobs()[int(job)]["state_reason"])


def test_minutes_of_running_jobs(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Of jobs of 2 CPUs for 5 minutes, four may run within 40 CPU minutes, of either scheduler."""
    options = ("--account=theory", *SMALL, "--time=5")
    own = [slurm.submit(SECONDS, *options, partition="other") for _ in range(6)]
    slurm.wait_until(lambda: all(slurm.jobs()[int(key)]["job_state"] == "COMPLETED" for key in own))
    assert peaks(slurm, own)["jobs"] == 4
    jobs = [slurm.submit(SECONDS, *options) for _ in range(6)]
    drive_at_once(slurm, tmp_path, jobs, SECONDS)
    assert peaks(slurm, jobs)["jobs"] == 4
    assert "account theory: GrpTRESRunMins cpu=40" in reasons(tmp_path)


def test_minutes_of_a_job(slurm: SlurmCluster, tmp_path: Path) -> None:
    """2 CPUs for 16 minutes are more than 30 CPU minutes: neither scheduler starts the job."""
    options = ("--account=spent", *SMALL, "--time=16")
    own, job = slurm.submit(1, *options, partition="other"), slurm.submit(1, *options)
    try:
        slurm.wait_until(lambda: reason(slurm, own) == "AssocMaxCpuMinutesPerJobLimit")
        told = "user root in account spent: MaxTRESMinsPerJob cpu=30, and it asks for 32"
        assert told in advice(slurm, tmp_path)
    finally:
        slurm.run("scancel", own, job)


def test_minutes_that_are_used_up(slurm: SlurmCluster, tmp_path: Path) -> None:
    """GrpTRESMins and GrpWall stop jobs as soon as the usage that Slurm counts has reached them."""
    accounts = {"spent": "GrpTRESMins=cpu=1", "walled": "GrpWall=1"}
    options = ("--mem=500", "--cpus-per-task=4", "--time=1")
    slurm.wait_until(lambda: "RUNNING" not in slurm.run("squeue", "--format=%T"))
    used = [
        slurm.submit(65 if name == "walled" else 20, f"--account={name}", *options,
                     partition="other")
        for name in accounts
    ]  # fmt: skip
    done = {"COMPLETED", "TIMEOUT"}
    slurm.wait_until(
        lambda: all(slurm.jobs()[int(job)]["job_state"] in done for job in used), seconds=150
    )
    slurm.restart_controller()
    for name, limit in accounts.items():
        slurm.run("sacctmgr", "-i", "modify", "account", name, "set", limit)
    time.sleep(1)
    own = [slurm.submit(1, f"--account={name}", *options, partition="other") for name in accounts]
    jobs = [slurm.submit(1, f"--account={name}", *options) for name in accounts]
    try:
        slurm.wait_until(lambda: reason(slurm, own[0]) == "AssocGrpCPUMinutesLimit")
        slurm.wait_until(lambda: reason(slurm, own[1]) == "AssocGrpWallLimit")
        printed = advice(slurm, tmp_path)
        assert "account spent: GrpTRESMins cpu=1, of which 1 are used" in printed
        assert "account walled: GrpWall=1 minutes, of which 1 are used" in printed
    finally:
        slurm.run("scancel", *own, *jobs)
        for name, limit in accounts.items():
            lifted = f"{limit.rpartition('=')[0]}=-1"
            slurm.run("sacctmgr", "-i", "modify", "account", name, "set", lifted)


def told(slurm: SlurmCluster, job: str) -> str:
    """Return Slurm's reason for a waiting job in words."""
    return slurm.run("squeue", "--noheader", "--format=%r", "-j", job).strip()


def test_groups_of_a_partition(slurm: SlurmCluster, tmp_path: Path) -> None:
    """Slurm looks at the groups of a user again when a job could start, and so does hpcsched."""
    options = ("--uid=daemon", "--account=theory", "--chdir=/tmp", *SMALL, "--time=1")
    held = slurm.submit(1, "--hold", *options, partition="other")
    job = slurm.submit(1, *options)
    try:
        for partition in ("main", "other"):
            slurm.run("scontrol", "update", f"PartitionName={partition}", "AllowGroups=games")
        # It says that this cannot be now, and releases the job.
        slurm.run("scontrol", "release", held, check=False)
        slurm.wait_until(lambda: told(slurm, held) in ("PartitionConfig", LATER))
        assert "partition main: AllowGroups=games" in advice(slurm, tmp_path)
    finally:
        slurm.run("scancel", held, job)
        for partition in ("main", "other"):
            slurm.run("scontrol", "update", f"PartitionName={partition}", "AllowGroups=ALL")
