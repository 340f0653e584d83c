"""One replay in compiled code and one event by event, in a form in which they can be compared."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from hpcsched._core import NEVER
from hpcsched.dispatching.problem import RunningJob, WaitingJob
from hpcsched.simulation.event_loop import EventLoop, simulate
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import (
    REFUSALS,
    Interruption,
    JobRecord,
    LeftJobs,
    LostAttempts,
    RoundRecord,
)
from hpcsched.simulation.replay_admission import admitted
from hpcsched.simulation.replay_choices import obstacles
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import RequestNumbers, columns_of
from tests.builders import Recorder


class Told(NamedTuple):
    """What a replay tells: jobs in the order in which they left, rounds, and attempts that failed.

    A job is its number, start, end, predicted run time, nodes and units on them; its fate is
    whether it failed, was withdrawn, or was backfilled, how often it was requeued, the time that
    was lost with that, and what rejected it; a rejected one has no nodes, and starts and ends when
    it is submitted. A round is the first fields of a `RoundRecord` without the number of rejected
    jobs, its latency, when it asks for the next one, and the amounts that wait, that are free and
    that are lost. An attempt is a job's number, its start and end, whether the job was requeued,
    nodes and units on them. An
    observer has `heard` of all this.
    """

    jobs: list[tuple[object, ...]]
    rounds: list[tuple[object, ...]]
    lost: list[tuple[object, ...]]
    fates: list[tuple[object, ...]]
    heard: list[object]


def _learning_anew(parts: Parts) -> Parts:
    """Return parts whose predictor and correction know nothing of another replay."""
    return parts._replace(
        predictor=deepcopy(parts.predictor), correction=deepcopy(parts.correction)
    )


def by_the_core(
    parts: Parts,
    jobs: Sequence[TracedJob],
    batch: int = 3,
    seconds: float = 10.0,
    *,
    hears: bool = False,
) -> Told:
    """Replay jobs that come in batches of a few, where the core decides.

    With `hears` an observer is told of everything.
    """
    parts = _learning_anew(parts)
    assert obstacles(parts) == []
    told = Told([], [], [], [], [])
    if hears:
        parts = parts._replace(observers=[_Hearing(told.heard)])
    replay = EventLoop(parts, seconds)
    batches = admitted(columns_of(jobs, RequestNumbers(), batch), parts)
    for left, held, lost, *_ in replay.run(batches):
        rejected = left.rejected_by.tolist()
        backfilled = [
            has_run and behind
            for has_run, behind in zip(left.has_run, left.backfilled.tolist(), strict=True)
        ]
        fates = (
            left.failed.tolist(), left.withdrawn.tolist(), backfilled,
            left.requeues.tolist(), left.lost_time.tolist(),
        )  # fmt: skip
        refusals = (None if by < 0 else REFUSALS[by] for by in rejected)
        told.fates.extend(zip(*fates, refusals, strict=True))
        told.jobs.extend(_rows(left, jobs, left.predicted))
        told.lost.extend(_rows(lost, jobs, lost.requeued))
        told.rounds.extend(
            (*numbers, tuple(waiting), tuple(free), tuple(lost))
            for *numbers, waiting, free, lost in zip(
                *(column.tolist() for column in held[:-1]), strict=True
            )
        )
    assert replay.state.waiting == replay.state.running == 0
    return told


def _rows(
    stopped: LeftJobs | LostAttempts, jobs: Sequence[TracedJob], what: np.ndarray
) -> Iterator[tuple[object, ...]]:
    """Yield number, start, end, what else there is, nodes and units of jobs that stopped."""
    first = 0
    columns = stopped.sequence, stopped.start_time, stopped.end_time, stopped.last_place, what
    for k, start, end, last, of in zip(*(column.tolist() for column in columns), strict=True):
        nodes, units = stopped.nodes[first:last].tolist(), stopped.node_units[first:last].tolist()
        yield jobs[k].job.job_id, start, end, of, tuple(nodes), tuple(units)
        first = last


class _Lost(Observer):
    """Keeps the attempts that were lost."""

    def __init__(self) -> None:
        self.all: list[Interruption] = []

    def job_interrupted(self, interruption: Interruption) -> None:
        """Keep it."""
        self.all.append(interruption)


class _Hearing(Observer):
    """Keeps all that it hears of, but what a clock measures."""

    def __init__(self, heard: list[object]) -> None:
        self._heard = heard

    def job_submitted(self, job: WaitingJob) -> None:
        """Keep it."""
        self._heard.append(job)

    def job_started(self, job: RunningJob) -> None:
        """Keep it."""
        self._heard.append(job)

    def job_interrupted(self, interruption: Interruption) -> None:
        """Keep it."""
        self._heard.append(interruption)

    def job_ended(self, record: JobRecord) -> None:
        """Keep it."""
        self._heard.append(record)

    def round_ended(self, record: RoundRecord) -> None:
        """Keep it."""
        self._heard.append(record._replace(decision_time=0.0))


def event_by_event(parts: Parts, jobs: Sequence[TracedJob], *, hears: bool = False) -> Told:
    """Replay jobs in Python."""
    recorder, lost = Recorder(), _Lost()
    parts = _learning_anew(parts)
    told = Told([], [], [], [], [])
    hearing = [_Hearing(told.heard)] if hears else []
    simulate(parts._replace(observers=(recorder, lost, *hearing)), jobs)
    for number, job in recorder.jobs.items():
        how = job.state == "failed", job.state == "withdrawn", bool(job.backfilled)
        told.fates.append((*how, job.requeues, job.lost_time, job.rejected_by))
        if job.allocation is None:
            now = job.job.submit_time + (job.job.patience or 0) * (job.state == "withdrawn")
            told.jobs.append((number, now, now, job.predicted_run_time, (), ()))
            continue
        where = tuple(job.allocation.nodes), tuple(job.allocation.units)
        times = job.start_time, job.end_time, job.predicted_run_time
        told.jobs.append((number, *times, *where))
    for attempt in lost.all:
        where = tuple(attempt.allocation.nodes), tuple(attempt.allocation.units)
        times = attempt.start_time, attempt.end_time
        told.lost.append((attempt.job.job_id, *times, attempt.requeued, *where))
    for r in recorder.rounds:
        counts = (r.round, r.now, r.queued, r.running, r.started, r.waiting, r.latency)
        again = NEVER if r.call_again_at is None else r.call_again_at
        told.rounds.append((*counts, again, r.waiting_amounts, r.free_amounts, r.lost_amounts))
    return told
