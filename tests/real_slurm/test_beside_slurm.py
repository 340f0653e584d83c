"""A real Slurm schedules jobs by itself, and the replay of its replica decides the same.

By default there is a workload of 40 jobs of each kind. `HPCSCHED_SLURM_SEEDS` is the number of
workloads of 200 jobs to run instead. With `HPCSCHED_SLURM_RESULTS`, a folder, the results are kept
there, and workloads that have one are not run again.
"""

import json
import os
import random
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.real_slurm import accounting
from tests.real_slurm.beside import (
    Maintenance,
    Planned,
    Workload,
    compare,
    node_kinds,
    partition_line,
    steady_jobs,
    watch,
)
from tests.real_slurm.conftest import started

JOBS = 10
LARGE = int(os.environ.get("HPCSCHED_SLURM_SEEDS", "0"))
SEEDS, EPISODES = (range(1, 1 + LARGE), 20) if LARGE else (range(1), 4)
MODES = ("REQUEUE", "CANCEL", "SUSPEND")
EXPIRE = 10
"""Seconds for which a job that was requeued waits at least."""
NO_BACKFILL = "SchedulerParameters=batch_sched_delay=0,sched_interval=5,bf_interval=10800"
GANG = "OverSubscribe=FORCE:1"
USERS = ("daemon", "games")


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


class Site(NamedTuple):
    """A site and its jobs: lines of `slurm.conf` and of `sacctmgr`.

    Attributes
    ----------
    partitions
        Lines of `slurm.conf` for an episode.
    accounts
        Arguments of `sacctmgr`, and those for an episode.
    """

    workload: Workload
    lines: tuple[str, ...]
    partitions: Callable[[int], tuple[str, ...]]
    accounts: Sequence[str] = ()
    episode_accounts: Callable[[int], tuple[str, ...]] = lambda _: ()
    enforce: str = "associations"


def preempting(
    chance: random.Random, episode: int, low: dict[str, str], high: dict[str, str]
) -> list[Planned]:
    """Return jobs of which the last ones may preempt those before them, half of the time."""
    jobs = []
    for n, (at, limit) in enumerate(spaced(chance, episode)):
        is_high = n >= 4 and chance.random() < 0.5
        seconds = chance.randint(11, 14) if is_high else chance.randint(9, 16)
        kind = high if is_high else low
        jobs.append(Planned(at, episode, seconds, chance.choice([1, 1, 2, 3]), limit, **kind))
    return jobs


def tiers(chance: random.Random, episode: int) -> list[Planned]:
    """Return jobs in partitions of a low and a high tier."""
    low, high = ({"partition": f"{name}{episode}"} for name in ("low", "high"))
    return preempting(chance, episode, low, high)


def by_tiers(episode: int) -> tuple[str, ...]:
    """Return the partitions of an episode."""
    low = f"PriorityTier=1 PreemptMode={MODES[episode % 3]} {GANG}"
    high = f"PriorityTier=2 PreemptMode=OFF {GANG}"
    return partition_line(f"low{episode}", episode, low), partition_line(
        f"high{episode}", episode, high
    )


def services(chance: random.Random, episode: int) -> list[Planned]:
    """Return jobs of one partition that preempt one another by their QOS."""
    low = {"partition": f"all{episode}", "qos": MODES[episode % 2].lower()}
    return preempting(chance, episode, low, low | {"qos": "urgent"})


def services_in_tiers(chance: random.Random, episode: int) -> list[Planned]:
    """Return four jobs, and others that preempt them by their QOS in a partition of a higher tier.

    No job of the lower tier waits then: Slurm would start it on cores that the higher tier uses.
    """
    jobs = []
    for n, (at, limit) in enumerate(spaced(chance, episode)):
        names = (f"high{episode}", "urgent") if n >= 4 else (f"low{episode}", "")
        seconds = chance.randint(5, 9) if n >= 4 else chance.randint(16, 30)
        nodes = chance.choice([1, 1, 2, 3]) if n >= 4 else 1
        qos = names[1] or MODES[1 + episode % 2].lower()
        later = at + 5 * max(n - 3, 0)
        jobs.append(Planned(later, episode, seconds, nodes, limit, names[0], qos=qos))
    return jobs


def in_tiers(episode: int) -> tuple[str, ...]:
    """Return the partitions of an episode, for preemption by QOS."""
    return tuple(
        partition_line(f"{name}{episode}", episode, f"PriorityTier={tier}")
        for tier, name in enumerate(("low", "high"), 1)
    )


def one_partition(episode: int) -> tuple[str, ...]:
    """Return the partition of an episode."""
    return (partition_line(f"all{episode}", episode),)


def preempted_qos(*modes: str) -> tuple[str, ...]:
    """Return lines of `sacctmgr` for a QOS of each mode, and one that preempts them."""
    lines = (f"add qos {mode.lower()} PreemptMode={mode}" for mode in modes)
    return (*lines, f"add qos urgent Preempt={','.join(modes).lower()}")


def limited(chance: random.Random, episode: int) -> list[Planned]:
    """Return jobs of two users of an account, and of a QOS in half of the episodes."""
    jobs = []
    for at, limit in spaced(chance, episode):
        names = {"user": chance.choice(USERS), "account": f"a{episode}"}
        names["qos"] = "normal" if episode % 4 < 2 else f"q{episode}"
        nodes = chance.choice([1, 1, 1, 2])
        seconds = chance.randint(9, 16)
        jobs.append(Planned(at, episode, seconds, nodes, limit, f"all{episode}", **names))
    return jobs


def limits(episode: int) -> tuple[str, ...]:
    """Return the accounts of an episode, with a limit of each kind in turn."""
    account, user, qos = (
        ("GrpTRES=cpu=3", "", ""),
        ("GrpJobs=3", "MaxJobs=2", ""),
        ("", "", "MaxTRESPerUser=cpu=2"),
        ("", "", "MaxJobsPerUser=1 GrpTRES=node=2"),
    )[episode % 4]
    own = f"q{episode}"
    return (
        f"add qos {own} {qos}",
        f"add account a{episode} {account}",
        *(f"add user {name} account=a{episode} qos=normal,{own} {user}" for name in USERS),
    )


def before_maintenance(chance: random.Random, episode: int) -> list[Planned]:
    """Return jobs of which some could not end before the maintenance."""
    jobs = []
    for at, limit in spaced(chance, episode):
        requested = chance.choice([1, limit])
        nodes = chance.choice([1, 1, 2, 3])
        seconds = chance.randint(9, 16)
        jobs.append(Planned(at, episode, seconds, nodes, requested, f"all{episode}"))
    return jobs


SITES = {
    "tiers": Site(
        Workload(EPISODES, tiers),
        ("PreemptType=preempt/partition_prio", "PreemptMode=SUSPEND,GANG", NO_BACKFILL),
        by_tiers,
    ),
    "qos": Site(
        Workload(EPISODES, services),
        ("PreemptType=preempt/qos", "PreemptMode=REQUEUE", NO_BACKFILL),
        one_partition,
        # Slurm suspends jobs only with GANG.
        preempted_qos(*MODES[:2]),
    ),
    "qos-suspend": Site(
        Workload(EPISODES, services_in_tiers),
        ("PreemptType=preempt/qos", "PreemptMode=SUSPEND,GANG", NO_BACKFILL),
        in_tiers,
        preempted_qos(*MODES[1:]),
    ),
    "limits": Site(
        Workload(EPISODES, limited, reasons=True),
        (NO_BACKFILL,),
        one_partition,
        (),
        limits,
        "associations,limits,qos",
    ),
    "maintenance": Site(
        Workload(EPISODES, before_maintenance, Maintenance(90, 60, 2), reasons=True),
        (NO_BACKFILL,),
        one_partition,
    ),
}


@pytest.mark.parametrize("name", SITES)
@pytest.mark.parametrize("seed", SEEDS)
def test_replay_beside_slurm(name: str, seed: int, tmp_path: Path) -> None:
    """Starts, victims and reasons are those of Slurm, in nearly all episodes."""
    if why := accounting.missing():
        pytest.skip(f"no accounting is started: {why}")
    result = kept(f"{name}-{seed}")
    if result is not None and result.exists():
        pytest.skip(f"{result} has the result")
    site = SITES[name]
    workload, episodes = site.workload, range(site.workload.episodes)
    more = (*site.lines, *(line for k in episodes for line in site.partitions(k)))
    kinds = node_kinds(len(episodes))
    with started(kinds, enforce=site.enforce, more=more, held=False, expire=EXPIRE) as cluster:
        accounts = [line for k in episodes for line in site.episode_accounts(k)]
        for line in (*site.accounts, *accounts):
            cluster.run("sacctmgr", "-i", *line.split())
        jobs = steady_jobs(cluster, tmp_path, workload, seed)
        found = compare(cluster, tmp_path, workload, jobs)
        # It puts jobs that were requeued behind all others.
        is_late = cluster.version() >= (26, 5)
        if result is not None:
            result.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(cluster.folder / "log" / "ctld.log", result.with_suffix(".log"))
            shutil.copytree(tmp_path, result.with_suffix(""), dirs_exist_ok=True)
    requeued = {k for k, told in found.slurm.items() if any(one.what == "requeued" for one in told)}
    if result is not None:
        told = {"jobs": jobs, "seen": found.seen, "different": found.different}
        result.write_text(json.dumps(told))
    assert len(jobs) >= 0.8 * EPISODES * JOBS
    # One, or an episode in ten, may differ; see the page on Slurm's decisions.
    unexplained = found.different.keys() - (requeued if is_late else set())
    assert len(unexplained) <= max(1, 0.1 * EPISODES), found.different


PAIRS = {
    "one": ((GANG, None), ["R"] * 4, ["S"]),
    "equal": (("", ""), ["R"] * 4, ["R"]),
    "tiers": (("", "PriorityTier=2"), ["S", "S", "R", "R"], ["R"]),
}
"""Lines of partitions, of jobs of a low QOS and of one that preempts it, and their states then."""


def test_suspension_by_qos() -> None:
    """Slurm suspends jobs by QOS only for a job in a partition of a higher tier.

    In one partition the preempting job is itself suspended for its first time slice; in partitions
    of equal tiers all run on the same cores.
    """
    if why := accounting.missing():
        pytest.skip(f"no accounting is started: {why}")
    lines, jobs = [], []
    for k, ((low, high), *_) in enumerate(PAIRS.values()):
        lines.append(partition_line(f"low{k}", k, low))
        if high is not None:
            lines.append(partition_line(f"high{k}", k, high))
        other = f"low{k}" if high is None else f"high{k}"
        jobs += [Planned(0, k, 25, 1, 5, f"low{k}", qos="suspend") for _ in range(4)]
        jobs.append(Planned(8, k, 8, 2, 5, other, qos="urgent"))
    jobs.sort()
    more = ("PreemptType=preempt/qos", "PreemptMode=SUSPEND,GANG", NO_BACKFILL, *lines)
    kinds = node_kinds(len(PAIRS))
    with started(kinds, enforce="associations", more=more, held=False) as cluster:
        for line in preempted_qos("SUSPEND"):
            cluster.run("sacctmgr", "-i", *line.split())
        begin = int(time.time()) + 1
        seen = watch(cluster, jobs, begin)
    for k, (name, (_, low_states, high_states)) in enumerate(PAIRS.items()):
        states: dict[str, list[str]] = {"suspend": [], "urgent": []}
        for job, rows in zip(jobs, seen, strict=True):
            if job.episode == k:
                states[job.qos].append(next(x for at, x, _ in reversed(rows) if at <= begin + 13))
        assert (sorted(states["suspend"], reverse=True), states["urgent"]) == (
            low_states,
            high_states,
        ), name
