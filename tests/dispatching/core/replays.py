"""One replay in compiled code and one event by event, in a form in which they can be compared."""

from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

from hpcsched.simulation.array_replay import ArrayReplay
from hpcsched.simulation.engine import Simulation
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import obstacles
from hpcsched.workload.columns import RequestNumbers, columns_of
from hpcsched.workload.job import TracedJob
from tests.builders import Recorder


class Told(NamedTuple):
    """What a replay tells: jobs in the order in which they left, and rounds.

    A job is its number, start, end, predicted run time, nodes and units on them. A round is the
    first fields of a `RoundRecord` without the number of rejected jobs, and the amounts that wait
    and that are free.
    """

    jobs: list[tuple[object, ...]]
    rounds: list[tuple[object, ...]]


def _learning_anew(parts: Parts) -> Parts:
    """Return parts whose predictor and correction know nothing of another replay."""
    return parts._replace(
        predictor=deepcopy(parts.predictor), correction=deepcopy(parts.correction)
    )


def in_compiled_code(
    parts: Parts,
    jobs: Sequence[TracedJob],
    batch: int = 3,
    seconds: float = 10.0,
    *,
    plainly: bool = False,
) -> Told:
    """Replay jobs that come in batches of a few; plainly: with the same code in Python."""
    parts = _learning_anew(parts)
    assert obstacles(parts) == []
    told = Told([], [])
    replay = ArrayReplay(parts, seconds)
    replay.plainly = plainly
    for left, held in replay.run(columns_of(jobs, RequestNumbers(), batch)):
        first = 0
        columns = left[:5]
        for k, start, end, predicted, last in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            nodes, units = left.nodes[first:last].tolist(), left.node_units[first:last].tolist()
            told.jobs.append(
                (jobs[k].job.job_id, start, end, predicted, tuple(nodes), tuple(units))
            )
            first = last
        told.rounds.extend(
            (*numbers, tuple(waiting), tuple(free))
            for *numbers, waiting, free in zip(
                *(column.tolist() for column in held[:-1]), strict=True
            )
        )
    assert replay.waiting == replay.running == 0
    return told


def event_by_event(parts: Parts, jobs: Sequence[TracedJob]) -> Told:
    """Replay jobs in Python."""
    recorder = Recorder()
    parts = _learning_anew(parts)
    Simulation(parts._replace(observers=(recorder,))).run(iter(jobs))
    told = Told([], [])
    for number, job in recorder.jobs.items():
        assert job.allocation is not None
        nodes, units = tuple(job.allocation.nodes), tuple(job.allocation.units)
        times = job.start_time, job.end_time, job.predicted_run_time
        told.jobs.append((number, *times, nodes, units))
    for r in recorder.rounds:
        counts = (r.round, r.now, r.queued, r.running, r.started, r.waiting)
        told.rounds.append((*counts, r.waiting_amounts, r.free_amounts))
    return told
