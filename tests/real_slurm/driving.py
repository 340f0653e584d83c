"""Drives a real Slurm by the commands that an operator uses."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from hpcsched.system.host_lists import expand
from tests.real_slurm.cluster import PLUGIN, SlurmCluster

ROOT = Path(__file__).parents[2]
PROGRAM = (
    "import sys, hpcsched_slurm.plugins as plugins\n"
    "from hpcsched.plugins.manager import build_registry, stand_in\n"
    "from hpcsched.cli import main\n"
    "with stand_in(build_registry(external=False, modules=[plugins])):\n"
    "    sys.exit(main(sys.argv[1:]))\n"
)
"""The command `hpcsched` with the plugin, which need not be installed."""
UNFINISHED = frozenset({"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", "SUSPENDED"})
"""States of jobs that have not come to an end."""
_STARTED = re.compile(r"JobId=(\d+) .* StartTime=(\S+) ")


def environment(cluster: SlurmCluster) -> dict[str, str]:
    """Return what commands need: Slurm's configuration, and the plugin on the path."""
    paths = os.pathsep.join((str(PLUGIN), str(ROOT)))
    return cluster.environment | {"PYTHONPATH": paths, "PYTHONUNBUFFERED": "1"}


def write_scenario(
    cluster: SlurmCluster, folder: Path, dispatcher: str = "easy", *, asks_slurmdbd: bool = False
) -> Path:
    """Have a scenario for the cluster written, and return its path.

    Its trace is the file of completed jobs, or what slurmdbd answers.
    """
    path = folder / "live.yaml"
    history = () if asks_slurmdbd else (f"--history={cluster.history}",)
    subprocess.run(
        [
            sys.executable, "-c", PROGRAM, "live", "init", "--partition=main",
            f"--rest=unix:{cluster.socket}", f"--token-file={cluster.token_file}",
            *history, f"--dispatcher={dispatcher}", f"--out={path}",
        ],
        env=environment(cluster), check=True, timeout=60,
    )  # fmt: skip
    return path


def live(cluster: SlurmCluster, scenario: Path, mode: str, *options: str) -> subprocess.Popen[str]:
    """Start `hpcsched live` on a scenario."""
    return hpcsched(cluster, "live", mode, str(scenario), *options)


def hpcsched(cluster: SlurmCluster, *arguments: str) -> subprocess.Popen[str]:
    """Start a command of hpcsched with the plugin."""
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        env=environment(cluster),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )


def finish(process: subprocess.Popen[str], seconds: float = 300) -> str:
    """Wait for a command to end well, and return what it printed."""
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        raise AssertionError(f"still at work after {seconds} s:\n{output}") from None
    assert process.returncode == 0, output
    return output


def journalled(scenario: Path) -> dict[str, dict[str, Any]]:
    """Return the last start that the journal has of each job, by key."""
    lines = (scenario.parent / "live" / "journal.jsonl").read_text().splitlines()
    entries = (json.loads(line) for line in lines)
    return {entry["job"]: entry for entry in entries if entry.get("do") == "start"}


def round_trips(scenario: Path) -> list[float]:
    """Return the journal's round trips of the changes that were made, in seconds.

    A round trip is the time from the beginning of a look to the cluster's answer on the change:
    reading, deciding and placing.
    """
    lines = (scenario.parent / "live" / "journal.jsonl").read_text().splitlines()
    entries = (json.loads(line) for line in lines)
    return [entry["after"] for entry in entries if entry.get("outcome") == "made"]


def check_all_ran(cluster: SlurmCluster, scenario: Path, keys: list[str]) -> None:
    """Check that each job ran once to its end, where the journal says, and not before."""

    # The driver is done when jobs end; Slurm clears up after them.
    def ended() -> bool:
        listed = cluster.jobs_by_key()
        return not any(listed[key]["job_state"] in UNFINISHED for key in keys)

    cluster.wait_until(ended)
    starts, jobs = journalled(scenario), cluster.jobs_by_key()
    for key in keys:
        job = jobs[key]
        assert job["job_state"] == "COMPLETED", (key, job["job_state"], job["state_reason"])
        assert sorted(expand(job["nodes"])) == sorted(starts[key]["nodes"]), key
        assert job["start_time"] >= starts[key]["time"] - 1, key
    ended = Counter(
        match[1]
        for match in map(_STARTED.match, cluster.history.read_text().splitlines())
        if match is not None
    )
    assert {key: ended[str(jobs[key]["job_id"])] for key in keys} == dict.fromkeys(keys, 1)


def peaks(slurm: SlurmCluster, jobs: list[str]) -> dict[str, int]:
    """Return the most jobs, CPUs, GPUs and licences that jobs had at the same time."""
    records = [slurm.jobs_by_key()[key] for key in jobs]
    changes = []
    for job in records:
        told = dict(item.split("=") for item in job["tres_alloc_str"].split(","))
        matlab = re.search(r"matlab:(\d+)", job["licenses"])
        amounts = {
            "jobs": 1, "cpu": int(told["cpu"]), "gpu": int(told.get("gres/gpu", 0)),
            "matlab": int(matlab[1]) if matlab else 0,
        }  # fmt: skip
        changes += [(job["start_time"], 1, amounts), (job["end_time"], -1, amounts)]
    most = dict.fromkeys(("jobs", "cpu", "gpu", "matlab"), 0)
    now = dict(most)
    for _, sign, amounts in sorted(changes, key=lambda change: change[:2]):
        now = {name: value + sign * amounts[name] for name, value in now.items()}
        most = {name: max(value, now[name]) for name, value in most.items()}
    return most


def drive_at_once(slurm: SlurmCluster, folder: Path, jobs: list[str], seconds: int) -> None:
    """Drive jobs to their ends; each must start at once, and not wait in Slurm for a limit.

    Parameters
    ----------
    slurm, folder
        The cluster, and a folder for the scenario and the run.
    jobs
        Numbers of the jobs.
    seconds
        Run time of each.
    """
    # There is accounting, so the past comes from it.
    scenario = write_scenario(slurm, folder, asks_slurmdbd=True)
    assert "rest:" in scenario.read_text().partition("trace:")[2].partition("live:")[0]
    printed = finish(live(slurm, scenario, "drive", "--until-idle", "--out", str(folder / "run")))
    assert "is taken back" not in printed, printed
    assert "could not be started" not in printed, printed
    check_all_ran(slurm, scenario, jobs)
    told, ran = journalled(scenario), slurm.jobs_by_key()
    # Jobs run for longer: one that waited for another's end would be later than this.
    assert max(ran[key]["start_time"] - told[key]["time"] for key in jobs) < seconds - 2


def reasons(folder: Path) -> str:
    """Return all reasons of a run directory, as text."""
    import pyarrow.parquet as pq  # noqa: PLC0415

    return str(pq.read_table(folder / "run" / "reasons.parquet").column("detail").to_pylist())
