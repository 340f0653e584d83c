"""How well a real Slurm is served by dispatchers of a scenario, and by its own scheduler.

    export PYTHONPATH=plugins/hpcsched-slurm/src
    python -m benchmarks.slurm_dispatchers [JOBS] [DISPATCHER ...]

For each dispatcher, a Slurm of six nodes is started on the loopback interface, which takes root and
Debian's packages (see `make test-slurm`). Jobs that sleep are submitted and held, then all are
left to the dispatcher at once; `slurm` releases them to Slurm's own backfill. What ran under a
dispatcher of ours is simulated afterwards, and the start times are compared.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from tests.real_slurm.cluster import SlurmCluster, missing
from tests.real_slurm.driving import check_all_ran, environment, finish, live, write_scenario
from tests.real_slurm.workload import sleep_jobs

SLURM = "slurm"
LONGEST = 1800
"""Seconds after which a run is given up."""


class Served(NamedTuple):
    """Seconds from the first start: the mean of all starts, and the last end."""

    mean_start: float
    makespan: float


def main(arguments: Sequence[str]) -> int:
    """Run all, and print a line for each; return 1 where no Slurm can be started."""
    jobs = int(arguments[0]) if arguments else 200
    why = missing()
    if why:
        print(f"no Slurm is started: {why}")
        return 1
    print(f"{jobs} jobs on six nodes; seconds from the first start")
    for dispatcher in arguments[1:] or ("easy", "joint-now", SLURM):
        with tempfile.TemporaryDirectory(prefix="hpcsched-slurm-") as name:
            folder = Path(name)
            folder.chmod(0o755)
            with SlurmCluster(folder / "slurm") as cluster:
                keys = [cluster.submit(job.seconds, *job.options) for job in sleep_jobs(jobs)]
                served, apart = serve(cluster, folder, dispatcher, keys)
        load = f"load {os.getloadavg()[0]:.1f}"
        print(
            f"{dispatcher:10} mean start {served.mean_start:6.1f}  makespan {served.makespan:4.0f}"
            f"  {apart}  {load}",
            flush=True,
        )
    return 0


def serve(
    cluster: SlurmCluster, folder: Path, dispatcher: str, keys: list[str]
) -> tuple[Served, str]:
    """Run held jobs to their ends, and return how they were served, and the replay's difference."""
    if dispatcher == SLURM:
        release = ("hpcsched_slurm.release", "--now", "--partition", "main")
        subprocess.run(
            [sys.executable, "-m", *release], env=environment(cluster), check=True, timeout=600
        )
        cluster.wait_until(lambda: len(_ended(cluster)) == len(keys), LONGEST)
        return _served(cluster, keys), ""
    scenario, run = write_scenario(cluster, folder, dispatcher), folder / "run"
    finish(live(cluster, scenario, "drive", "--until-idle", "--out", str(run)), LONGEST)
    check_all_ran(cluster, scenario, keys)
    replayed = live(cluster, scenario, "replay", str(run), "--out", str(folder / "replayed"))
    found = re.search(r"median difference of start times\s+(\S+ s)", finish(replayed))
    return _served(cluster, keys), f"replay {found[1] if found else '-'} apart"


def _ended(cluster: SlurmCluster) -> list[int]:
    return [number for number, job in cluster.jobs().items() if job["job_state"] == "COMPLETED"]


def _served(cluster: SlurmCluster, keys: list[str]) -> Served:
    jobs = cluster.jobs()
    starts = [jobs[int(key)]["start_time"] for key in keys]
    ends = [jobs[int(key)]["end_time"] for key in keys]
    return Served(mean(starts) - min(starts), max(ends) - min(starts))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
