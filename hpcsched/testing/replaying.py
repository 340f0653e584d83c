"""Replay of a few jobs under a dispatcher, without a scenario."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.prediction.corrections import Correction, OneSecond
from hpcsched.prediction.predictor import Oracle, Predictor
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.engine import Simulation
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import JobRecord
from hpcsched.system.node_outages import NO_OUTAGES, Outages
from hpcsched.system.system import System
from hpcsched.testing.building import uniform_request
from hpcsched.workload.job import TracedJob


@dataclass(frozen=True, slots=True)
class ReplayConditions:
    """Conditions of a replay, which its audit has to know too."""

    kill_at_requested_time: bool = False
    outages: Outages = NO_OUTAGES


BY_DEFAULT = ReplayConditions()
"""No outages, and jobs run as long as they need."""


class _Records(Observer):
    def __init__(self) -> None:
        self.records: list[JobRecord] = []

    def job_ended(self, record: JobRecord) -> None:
        self.records.append(record)


def replay(
    dispatcher: Dispatcher,
    jobs: Sequence[TracedJob],
    system: System,
    predictor: Predictor | Oracle | None = None,
    *,
    correction: Correction | None = None,
    observers: Sequence[Observer] = (),
    aggregated: bool = False,
    conditions: ReplayConditions = BY_DEFAULT,
) -> list[JobRecord]:
    """Replay jobs to the end and return their records, in the order in which they left the system.

    Parameters
    ----------
    jobs : sequence of TracedJob
        The jobs, by ascending submit time.
    predictor : Predictor or Oracle, optional
        The predictor; dispatchers plan with requested times by default.
    correction : Correction, optional
        The correction of outlived predictions. By default such jobs are said to end in a second.
    aggregated : bool
        True: show the dispatcher slots instead of nodes, for jobs that all ask for the same. With
        outages it is shown nodes in any case.

    Raises
    ------
    DecisionError
        If a decision cannot be carried out or jobs wait for ever.
    """
    records = _Records()
    parts = Parts(
        system,
        dispatcher,
        type(dispatcher).__name__,
        RequestedTime() if predictor is None else predictor,
        BoundedSlowdown(),
        (records, *observers),
        uniform_request([traced.job for traced in jobs]) if aggregated else None,
        conditions.kill_at_requested_time,
        correction=OneSecond() if correction is None else correction,
        dependencies=any(traced.job.after for traced in jobs),
        outages=conditions.outages,
    )
    Simulation(parts).run(iter(jobs))
    return records.records


def start_times(records: Iterable[JobRecord]) -> dict[int, int | None]:
    """Return the start time of each job, in seconds, by job number; None if it was rejected."""
    ordered = sorted(records, key=lambda record: record.job.job_id)
    return {record.job.job_id: record.start_time for record in ordered}
