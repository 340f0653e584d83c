"""Jobs that a real Slurm schedules by itself, and their replay on the replica of that site.

A workload is made of episodes: jobs on nodes of their own, so that many episodes run at a time and
each is decided alone. The replica is what `hpcsched init site` makes of `slurm.conf`, of the tables
of `sacctmgr` and of the jobs. Slurm takes a second or two for a start or an end: only episodes are
tried whose decisions do not depend on that.
"""

import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from typing import NamedTuple

import pyarrow.parquet as pq

import hpcsched
from tests.real_slurm.cluster import NodeKind, SlurmCluster
from tests.real_slurm.driving import finish
from tests.real_slurm.driving import hpcsched as command

NODES = 4
"""Nodes of an episode, of one core each."""
TICK = 3
"""Seconds within which decisions may be in any order."""
OVERHEAD = 1
"""Seconds that Slurm takes, about, from the end of a job to the start of the next one."""
DRIFT = 8
"""Seconds by which times of a decision may differ."""
JITTERS = 5
"""Replays with other seconds that must have the same decisions."""
TRIES = 8
"""Episodes that are drawn for each that is tried."""
APART = 5000
"""Seconds between them in one replay of all."""
LASTING = 12
"""Seconds after which Slurm must have told why a job waits; it may tell a shorter reason."""
_ENDED = frozenset({"CD", "CA", "F", "TO", "PR", "DL"})
_COLUMNS = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqMem|Partition|User|Account|QOS|State"


class Planned(NamedTuple):
    """A job: when it is submitted, how long it runs, and what `sbatch` is told.

    Attributes
    ----------
    at
        Seconds after the first submission.
    limit
        Minutes of its time limit.
    """

    at: int
    episode: int
    seconds: int
    nodes: int
    limit: int
    partition: str
    user: str = "root"
    account: str = "root"
    qos: str = "normal"


class Maintenance(NamedTuple):
    """Maintenance of the last nodes of each episode, in seconds after the first submission."""

    begin: int
    seconds: int
    nodes: int


class Workload(NamedTuple):
    """Jobs of episodes, which a function draws, and maintenance.

    Attributes
    ----------
    reasons
        Whether reasons of waiting jobs are compared; a replay with preemption tells none.
    """

    episodes: int
    draw: Callable[[random.Random, int], list[Planned]]
    maintenance: Maintenance | None = None
    reasons: bool = False

    def outages(self, begin: int) -> list[dict[str, object]]:
        """Return the maintenance as a scenario declares it, once for each try."""
        if self.maintenance is None:
            return []
        numbers = range(NODES - self.maintenance.nodes, NODES)
        return [
            {
                "name": "planned",
                "nodes": [f"e{k}n-{n}" for k in range(self.episodes) for n in numbers],
                "start": begin + self.maintenance.begin,
                "duration": self.maintenance.seconds,
                "every": APART,
                "times": TRIES,
            }
        ]


class Decision(NamedTuple):
    """What happened to a job: `start`, `resumed`, what preemption did to it, or why it waited.

    Reasons have the count 0: there is one of a kind, and Slurm tells it when it looks at the job.
    """

    job: int
    what: str
    count: int


Decisions = dict[Decision, int]
"""Times of decisions; those of a kind about a job are counted. Of reasons, how long they held."""


def node_kinds(episodes: int) -> list[NodeKind]:
    """Return the nodes of episodes."""
    return [NodeKind(f"e{k}n[1-{NODES}]", 1, 2000) for k in range(episodes)]


def partition_line(name: str, episode: int, more: str = "") -> str:
    """Return a line of `slurm.conf` for a partition of an episode's nodes."""
    return f"PartitionName={name} Nodes=e{episode}n[1-{NODES}] MaxTime=INFINITE State=UP {more}"


def watch(
    cluster: SlurmCluster, jobs: Sequence[Planned], begin: float
) -> list[list[tuple[int, str, str]]]:
    """Submit jobs, and return the times, states and reasons of each as they changed."""
    numbers: dict[int, int] = {}
    seen: list[list[tuple[int, str, str]]] = [[] for _ in jobs]
    last_look = time.time()

    def look() -> bool:
        nonlocal last_look
        gap = time.time() - last_look
        assert gap <= DRIFT, f"nothing was seen for {gap:.0f} s: this machine stands still"
        last_look += gap
        while len(numbers) < len(jobs) and jobs[len(numbers)].at <= time.time() - begin:
            late = time.time() - begin - jobs[len(numbers)].at
            assert late <= DRIFT, f"a job is submitted {late:.0f} s late: this machine stands still"
            numbers[_submit(cluster, jobs[len(numbers)])] = len(numbers)
        now = int(time.time())
        printed = cluster.run("squeue", "--noheader", "--states=all", "--format=%i|%t|%r")
        for name, state, reason in (line.split("|") for line in printed.splitlines()):
            if int(name) not in numbers:
                continue
            rows = seen[numbers[int(name)]]
            if not rows or rows[-1][1:] != (state, reason):
                rows.append((now, state, reason))
        return all(rows and rows[-1][1] in _ENDED for rows in seen)

    cluster.wait_until(look, 600)
    return seen


def _submit(cluster: SlurmCluster, job: Planned) -> int:
    return int(
        cluster.run(
            "sbatch", "--parsable", f"--uid={job.user}", f"--account={job.account}",
            f"--qos={job.qos}", f"--partition={job.partition}", f"--nodes={job.nodes}",
            f"--ntasks={job.nodes}", "--mem=100", f"--time={job.limit}", "--requeue",
            "--chdir=/", "--output=/dev/null",
            # A sleep goes on while its job is suspended.
            f"--wrap=for k in $(seq {job.seconds}); do sleep 1; done",
        )
    )  # fmt: skip


def decisions_of_slurm(
    seen: Sequence[Sequence[tuple[int, str, str]]], workload: Workload
) -> Decisions:
    """Return the decisions that states of jobs tell."""
    told = []
    for job, rows in enumerate(seen, 1):
        before = "PD"
        for at, state, _ in rows:
            if before == "PD" and state != "PD":
                told.append((at, "start", job))
            if before not in {"PD", state} and state in {"PD", "PR"}:
                told.append((at, "requeued" if state == "PD" else "cancelled", job))
            if state != before and "S" in {state, before}:
                told.append((at, "suspended" if state == "S" else "resumed", job))
            before = state
    held: Counter[Decision] = Counter()
    for job, rows in enumerate(seen, 1) if workload.reasons else ():
        for (at, state, reason), (until, *_) in pairwise(rows):
            if state == "PD" and (kind := _TOLD.match(reason)):
                held[Decision(job, kind[0], 0)] += until - at
    return _counted(told) | held


_TOLD = re.compile("(Assoc|QOS).*|ReqNodeNotAvail")
"""Reasons of Slurm that are compared."""
_TYPES = {"core": "Cpu", "nodes": "Node", "mem": "Mem"}


def slurms_reason(kind: str, detail: str | None) -> str | None:
    """Return the name that Slurm has for a reason of a replay, if it is compared.

    Examples
    --------
    >>> slurms_reason("limit", "QOS q1: MaxTRESPerUser core=2")
    'QOSMaxCpuPerUserLimit'
    >>> slurms_reason("limit", "account a1: GrpJobs=2")
    'AssocGrpJobsLimit'
    """
    if kind == "outage":
        return "ReqNodeNotAvail"
    if kind != "limit" or detail is None:
        return None
    who, _, limit = detail.partition(": ")
    name, _, counted = re.split("[= ]", limit, maxsplit=1)[0], *limit.partition(" ")[1:]
    name = name.replace("TRES", _TYPES.get(counted.partition("=")[0], "TRES"))
    if who.startswith("user"):  # what a user may have in all
        name = name.replace("Grp", "Max")
    return f"{'QOS' if who.startswith('QOS') else 'Assoc'}{name}Limit"


def replayed(scenario: Path, folder: Path, dump: Path, workload: Workload, begin: int) -> Decisions:
    """Replay the jobs of a dump, and return the decisions."""
    changes = {
        "trace.path": str(dump),
        "dispatcher.reserve_past_outages": False,
        "outages.maintenance": workload.outages(begin),
        "observers": ["reasons"] if workload.reasons else [],
    }
    hpcsched.run(hpcsched.load_scenario(scenario, changes), folder, force=True)
    told = [
        (row["start_time"], "start", row["job_id"])
        for row in pq.read_table(folder / "jobs.parquet").to_pylist()
    ]
    interruptions = folder / "interruptions.parquet"
    for row in pq.read_table(interruptions).to_pylist() if interruptions.exists() else ():
        job, begin, end = row["job_id"], row["start_time"], row["end_time"]
        if row["suspended"]:
            told += [(begin, "suspended", job), (end, "resumed", job)]
        elif row["requeued"]:
            told += [(begin, "start", job), (end, "requeued", job)]
        else:
            told.append((end, "cancelled", job))
    return _counted(told) | (_reasons(folder) if workload.reasons else {})


def _reasons(folder: Path) -> Decisions:
    """Return how long jobs of a replay waited for reasons that Slurm has too."""
    starts = {
        row["job_id"]: row["start_time"]
        for row in pq.read_table(folder / "jobs.parquet").to_pylist()
    }
    since: dict[int, tuple[int, str | None]] = {}
    held: Counter[Decision] = Counter()

    def close(job: int, until: int) -> None:
        begin, reason = since.pop(job, (until, None))
        if reason is not None:
            held[Decision(job, reason, 0)] += until - begin

    for row in pq.read_table(folder / "reasons.parquet").to_pylist():
        close(row["job_id"], row["now"])
        since[row["job_id"]] = row["now"], slurms_reason(row["kind"] or "", row["detail"])
    for job in list(since):
        close(job, starts[job])
    return dict(held)


def _counted(told: Iterable[tuple[int, str, int]]) -> Decisions:
    """Return decisions by job, without times for which a suspended job only seems to resume."""
    by_job: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for at, what, job in sorted(told):
        rows = by_job[job]
        if what == "suspended" and rows[-1][1] == "resumed" and at - rows[-1][0] <= TICK:
            rows.pop()
        else:
            rows.append((at, what))
    found = {}
    for job, rows in by_job.items():
        counts: Counter[str] = Counter()
        for at, what in rows:
            counts[what] += 1
            found[Decision(job, what, counts[what])] = at
    return found


def write_dump(
    path: Path,
    jobs: Sequence[Planned],
    submitted: Sequence[int],
    more: Callable[[], int] = lambda: OVERHEAD,
) -> Path:
    """Write jobs as `sacct` prints them, with the time that each would run alone."""
    lines = [_COLUMNS]
    for number, (job, at) in enumerate(zip(jobs, submitted, strict=True), 1):
        end = at + job.seconds + more()
        columns = (
            number, at, at, end, f"{job.limit // 60:02}:{job.limit % 60:02}:00",
            job.nodes, job.nodes, f"{100 * job.nodes}M", job.partition,
            job.user, job.account, job.qos, "COMPLETED",
        )  # fmt: skip
        lines.append("|".join(map(str, columns)))
    path.write_text("\n".join(lines) + "\n")
    return path


def write_replica(cluster: SlurmCluster, folder: Path, dump: Path) -> Path:
    """Have the scenario of the site written, and return its path."""
    tables = folder / "tables.txt"
    tables.write_text(
        cluster.run("sacctmgr", "--parsable2", "show", "qos")
        + cluster.run("sacctmgr", "--parsable2", "show", "associations", "tree")
    )
    path = folder / "replica.yaml"
    finish(
        command(
            cluster, "init", "site", f"--sacct={dump}", f"--conf={cluster.config}",
            f"--assoc={tables}", "--time-zone=UTC", "--weeks=0", f"--out={path}", "--force",
        )
    )  # fmt: skip
    return path


def differences(found: Decisions, expected: Decisions, drift: int = DRIFT) -> list[str]:
    """Return what is different about decisions: those there are, their orders, their times."""
    told = [
        f"only {'Slurm' if one in found else 'the replay'} has {one}"
        for one in sorted(found.keys() ^ expected.keys())
        if one.count or one in found or expected[one] >= LASTING
    ]
    common = sorted(
        (one for one in found.keys() & expected.keys() if one.count), key=expected.__getitem__
    )
    told += [
        f"{one} at {found[one]}, not {expected[one]}"
        for one in common
        if abs(found[one] - expected[one]) > drift
    ]
    told += [
        f"{one} before {other}"
        for other, one in combinations(common, 2)
        if expected[one] - expected[other] > TICK and found[one] < found[other]
    ]
    return told


def by_episode(jobs: Sequence[Planned], decisions: Decisions) -> dict[int, Decisions]:
    """Return the decisions of each episode."""
    found: dict[int, Decisions] = defaultdict(dict)
    for one, at in decisions.items():
        found[jobs[one.job - 1].episode][one] = at
    return found


def steady_jobs(
    cluster: SlurmCluster,
    folder: Path,
    workload: Workload,
    seed: int,
) -> list[Planned]:
    """Return jobs of episodes whose decisions depend on no second, by their submission."""
    chance = random.Random(seed)
    jobs = sorted(
        job._replace(at=job.at + APART * k, episode=episode * TRIES + k)
        for episode in range(workload.episodes)
        for k in range(TRIES)
        for job in workload.draw(chance, episode)
    )
    begin = 1_700_000_000
    times = [begin + job.at for job in jobs]
    dump = write_dump(folder / "planned.txt", jobs, times)
    scenario = write_replica(cluster, folder, dump)
    expected = by_episode(jobs, replayed(scenario, folder / "run", dump, workload, begin))
    steady = set(expected)
    for _ in range(JITTERS):
        later = [at + chance.randint(0, 1) for at in times]
        write_dump(dump, jobs, later, lambda: OVERHEAD + chance.randint(-1, 2))
        found = by_episode(jobs, replayed(scenario, folder / "run", dump, workload, begin))
        steady = {k for k in steady if not differences(found[k], expected[k])}
    chosen = set({k // TRIES: k for k in sorted(steady)}.values())
    return sorted(
        job._replace(at=job.at % APART, episode=job.episode // TRIES)
        for job in jobs
        if job.episode in chosen
    )


class Comparison(NamedTuple):
    """Decisions of Slurm and of the replay, by episode; see `compare`."""

    jobs: list[Planned]
    seen: list[list[tuple[int, str, str]]]
    slurm: dict[int, Decisions]
    replay: dict[int, Decisions]

    @property
    def different(self) -> dict[int, list[str]]:
        """What is different in each episode where anything is."""
        told = {k: differences(found, self.replay[k]) for k, found in self.slurm.items()}
        return {k: differences for k, differences in told.items() if differences}


def _reserve(cluster: SlurmCluster, one: Maintenance, begin: int, episodes: int) -> None:
    """Make a reservation for maintenance."""
    first = NODES - one.nodes + 1
    nodes = ",".join(f"e{k}n[{first}-{NODES}]" for k in range(episodes))
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.localtime(begin + one.begin))
    cluster.run(
        "scontrol", "create", "reservation", "ReservationName=planned", "Users=root",
        "Flags=MAINT,IGNORE_JOBS", f"Nodes={nodes}", f"StartTime={at}",
        f"Duration={one.seconds // 60}",
    )  # fmt: skip


def compare(
    cluster: SlurmCluster,
    folder: Path,
    workload: Workload,
    jobs: list[Planned],
) -> Comparison:
    """Have Slurm run jobs, and the replica replay them."""
    begin = int(time.time()) + 1
    if workload.maintenance is not None:
        _reserve(cluster, workload.maintenance, begin, workload.episodes)
    seen = watch(cluster, jobs, begin)
    dump = write_dump(folder / "sacct.txt", jobs, [rows[0][0] for rows in seen])
    scenario = write_replica(cluster, folder, dump)
    slurm = by_episode(jobs, decisions_of_slurm(seen, workload))
    replay = replayed(scenario, folder / "run", dump, workload, begin)
    return Comparison(jobs, seen, slurm, by_episode(jobs, replay))
