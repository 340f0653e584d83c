"""Forecasts of the jobs that wait on a real Slurm, and its own estimates, beside their starts."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from statistics import mean, median

import pytest

from tests.real_slurm.cluster import SlurmCluster
from tests.real_slurm.driving import finish, live, write_scenario
from tests.real_slurm.workload import sleep_jobs

BEFORE, AFTER, WAITING = 60, 150, 100


def submitted(slurm: SlurmCluster, count: int, seed: int) -> list[str]:
    """Submit jobs to Slurm's own partition, and return their numbers."""
    return [
        slurm.submit(job.seconds, *job.options, partition="other")
        for job in sleep_jobs(count, seed)
    ]


def in_state(slurm: SlurmCluster, keys: list[str], state: str) -> int:
    """Return the number of jobs that are in a state."""
    jobs = slurm.jobs()
    return sum(jobs[int(key)]["job_state"] == state for key in keys)


def estimates(slurm: SlurmCluster) -> dict[str, int]:
    """Return when Slurm expects its waiting jobs to start, of those for which it does."""
    printed = slurm.run("squeue", "--noheader", "--start", "--format=%i|%S")
    rows = (line.split("|") for line in printed.splitlines())
    return {
        key: int(datetime.fromisoformat(start).timestamp()) for key, start in rows if start != "N/A"
    }


@pytest.mark.slow
def test_forecasts_of_a_hundred_waiting_jobs(
    slurm: SlurmCluster, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """Slurm decides by itself; most starts are within the central 90 % interval of the forecast."""
    history = submitted(slurm, BEFORE, 1)
    slurm.wait_until(lambda: in_state(slurm, history, "COMPLETED") == BEFORE, 300)
    keys = submitted(slurm, AFTER, 2)
    # The backfill scheduler must have looked at all of them.
    slurm.wait_until(lambda: len(estimates(slurm)) >= WAITING)
    scenario = write_scenario(slurm, tmp_path)
    printed = finish(
        live(
            slurm, scenario, "forecast", "--format", "json", "--out", str(tmp_path / "found.json"),
            "--set", "live.partitions=[other]",
        )
    )  # fmt: skip
    found = json.loads((tmp_path / "found.json").read_text())
    expected = estimates(slurm)
    slurm.wait_until(lambda: in_state(slurm, keys, "COMPLETED") == AFTER, 600)
    jobs, forecasts = slurm.jobs(), found["jobs"]
    assert len(forecasts) >= WAITING, printed
    # Times of a forecast count from a midnight.
    first = forecasts[0]
    origin = jobs[int(first["job_id"])]["submit_time"] - first["submit_time"]
    errors, inside, naive, both = [], {0.5: 0, 0.9: 0}, [], []
    waited = [jobs[int(key)]["start_time"] - jobs[int(key)]["submit_time"] for key in history]
    for one in forecasts:
        start = jobs[int(one["job_id"])]["start_time"] - origin
        low, lower, middle, upper, high = one["starts"]
        errors.append(abs(start - middle))
        if (own := expected.get(one["job_id"])) is not None:
            both.append((errors[-1], abs(start + origin - own)))
        # Slurm tells whole seconds, and begins a round every second or two.
        inside[0.5] += lower - 2 <= start <= upper + 2
        inside[0.9] += low - 2 <= start <= high + 2
        naive.append(abs(start - found["now"] - mean(waited)))
    share = {level: count / len(forecasts) for level, count in inside.items()}
    version = ".".join(f"{part:02}" for part in slurm.version())
    record_property(
        "measured",
        f"Slurm {version}, {len(forecasts)} waiting jobs: median error {median(errors):g} s,"
        f" mean error {mean(errors):.1f} s (mean wait of the jobs before: {mean(naive):.1f} s);"
        f" of {len(both)} that Slurm has an estimate of, {mean(one for one, _ in both):.1f} s, and"
        f" its own {mean(one for _, one in both):.1f} s;"
        f" {100 * share[0.5]:.0f} % in the 50 % interval,"
        f" {100 * share[0.9]:.0f} % in the 90 % interval",
    )
    assert mean(errors) < mean(naive)
    assert share[0.9] > 0.5
