"""Advice of a dispatcher, beside the actions of the cluster."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hpcsched.dispatching.decision import Reason
from hpcsched.runs.files import ADVICE
from hpcsched.system.cluster import ClusterState
from hpcsched.whole_files import write_text
from hpcsched_slurm.live.rounds import Round


class Advised(NamedTuple):
    """First advice to start a job: second, nodes and reason."""

    key: str
    job_id: int
    time: int
    nodes: tuple[str, ...]
    why: str


class Advice:
    """Collection of the first advice on each job, with the actions of the cluster."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self.given: dict[int, Advised] = {}

    def take(self, held: Round) -> list[Advised]:
        """Add a round; return the advice that is new."""
        reasons = {reason.job_id: reason for reason in held.reasons}
        new = []
        for start in held.starts:
            # The first advice counts: later rounds repeat it until the cluster starts the job.
            if start.job_id not in self.given:
                nodes = tuple(self._names[node] for node in start.allocation.nodes)
                why = in_words(reasons.get(start.job_id), held.jobs)
                key = held.jobs[start.job_id].key
                one = Advised(key, start.job_id, held.problem.now, nodes, why)
                self.given[start.job_id] = one
                new.append(one)
        return new

    def write(
        self,
        folder: Path,
        started: Mapping[int, int],
        nodes: Mapping[int, tuple[str, ...]],
    ) -> None:
        """Write `advice.jsonl`: a line for each job, with its start by the cluster."""
        lines = [
            json.dumps(
                one._asdict()
                | {"started": started.get(one.job_id), "started_on": nodes.get(one.job_id)}
            )
            for one in self.given.values()
        ]
        write_text(folder / ADVICE, "".join(f"{line}\n" for line in lines))


def in_words(reason: Reason | None, jobs: Mapping[int, object]) -> str:
    """Return a reason in a few words, with the cluster's job ids."""
    if reason is None:
        return "-"
    words: list[str] = [reason.kind]
    if reason.job is not None:
        words.append(str(getattr(jobs.get(reason.job), "key", reason.job)))
    if reason.detail:
        words.append(reason.detail)
    return " ".join(words)


def advice_lines(
    held: Round, names: Sequence[str], state: ClusterState, most: int
) -> Iterator[str]:
    """Yield a table of a round: advice, reasons, and the cluster's own reasons."""
    whys = {job.job_id: job.why for job in state.jobs}
    starts = {
        start.job_id: ",".join(names[node] for node in start.allocation.nodes)
        for start in held.starts
    }
    reasons = {reason.job_id: reason for reason in held.reasons}
    keys = {job.job_id: job.key for job in state.jobs}
    rows = [("job", "would start on", "why", "the cluster")]
    waiting = [job_id for job_id in reasons if job_id not in starts]
    for job_id in [*starts, *waiting[:most]]:
        why = in_words(reasons.get(job_id), held.jobs)
        rows.append((keys[job_id], starts.get(job_id, "-"), why, whys[job_id] or "-"))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    for row in rows:
        yield "  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
    if len(waiting) > most:
        yield f"and {len(waiting) - most} more that wait"
