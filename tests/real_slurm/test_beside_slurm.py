"""A real Slurm schedules 200 jobs by itself, and the replay of its replica decides the same.

`HPCSCHED_SLURM_SEEDS` is the number of workloads, none by default. With `HPCSCHED_SLURM_RESULTS`,
a folder, the results are kept there, and workloads that have one are not run again.
"""

import json
import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_slurm import accounting
from tests.real_slurm.beside import Planned, compare, node_kinds, partition_line, steady_jobs
from tests.real_slurm.conftest import started

EPISODES = 20
JOBS = 10
SEEDS = range(1, 1 + int(os.environ.get("HPCSCHED_SLURM_SEEDS", "0")))
MODES = ("REQUEUE", "CANCEL", "SUSPEND")
EXPIRE = 10
"""Seconds for which a job that was requeued waits at least."""
NO_BACKFILL = "SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=10800"
GANG = "OverSubscribe=FORCE:1"


def kept(name: str) -> Path | None:
    """Return the file for a result, if results are kept."""
    folder = os.environ.get("HPCSCHED_SLURM_RESULTS")
    return None if folder is None else Path(folder) / f"{name}.json"


def spaced(chance: random.Random, episode: int) -> Iterator[tuple[int, int]]:
    """Yield submissions and time limits, in minutes, that are far from each other."""
    at, limits = episode % 4, list(range(5, 5 * JOBS + 1, 5))
    chance.shuffle(limits)
    for limit in limits:
        yield at, limit
        at += chance.choice([2, 3, 4, 5])


def tiers(chance: random.Random, episode: int) -> list[Planned]:
    """Return jobs of which the last ones may preempt those before them, half of the time."""
    jobs = []
    for n, (at, limit) in enumerate(spaced(chance, episode)):
        high = n >= 4 and chance.random() < 0.5
        seconds = chance.randint(11, 14) if high else chance.randint(9, 16)
        partition = f"{'high' if high else 'low'}{episode}"
        jobs.append(Planned(at, episode, seconds, chance.choice([1, 1, 2, 3]), limit, partition))
    return jobs


@pytest.mark.parametrize("seed", SEEDS)
def test_preemption_by_partition(seed: int, tmp_path: Path) -> None:
    """Jobs of a higher tier requeue, cancel or suspend others, by the mode of their partition."""
    if why := accounting.missing():
        pytest.skip(f"no accounting is started: {why}")
    result = kept(f"tiers-{seed}")
    if result is not None and result.exists():
        pytest.skip(f"{result} has the result")
    lines = []
    for k in range(EPISODES):
        low = f"PriorityTier=1 PreemptMode={MODES[k % 3]} {GANG}"
        lines.append(partition_line(f"low{k}", k, low))
        lines.append(partition_line(f"high{k}", k, f"PriorityTier=2 PreemptMode=OFF {GANG}"))
    more = ("PreemptType=preempt/partition_prio", "PreemptMode=SUSPEND,GANG", NO_BACKFILL, *lines)
    kinds = node_kinds(EPISODES)
    with started(kinds, enforce="associations", more=more, held=False, expire=EXPIRE) as cluster:
        jobs = steady_jobs(cluster, tmp_path, EPISODES, tiers, seed)
        found = compare(cluster, tmp_path, jobs)
    assert len(jobs) >= 0.9 * EPISODES * JOBS
    # An episode in ten may differ; see the page on preemption.
    assert len(found.different) <= 0.1 * EPISODES, found.different
    if result is not None:
        result.parent.mkdir(parents=True, exist_ok=True)
        result.write_text(
            json.dumps({"jobs": jobs, "seen": found.seen, "different": found.different})
        )
