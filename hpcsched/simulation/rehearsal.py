"""Replays of the past for dispatchers that tune themselves; see `dispatching.hyper`."""

import copy
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.history import FollowsJobs
from hpcsched.dispatching.objective import Objective
from hpcsched.prediction.correction import Correction
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.array_admission import admitted
from hpcsched.simulation.array_replay import ArrayReplay
from hpcsched.simulation.engine import Simulation
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import JobRecord
from hpcsched.simulation.replay_choices import obstacles
from hpcsched.system.system import IntArray, System
from hpcsched.workload.columns import JobColumns, NeedsPythonError, RequestNumbers, columns_of
from hpcsched.workload.job import TracedJob
from hpcsched.workload.partitions import Partitions

PLAIN_JOBS = 20_000
"""After so many replayed jobs code is compiled that replays them."""


class Context(Protocol):
    """What replays of the past need of an assembly."""

    followers: list[FollowsJobs]

    @property
    def system(self) -> System:
        """The scenario's system."""

    @property
    def partitions(self) -> Partitions:
        """The scenario's partitions."""

    @property
    def objective(self) -> Objective:
        """The scenario's objective."""

    @property
    def correction(self) -> Correction:
        """What is asked about jobs that have outlived their prediction."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds."""


class _Starts(Observer):
    """Keeps the starts of jobs by number."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}

    def job_ended(self, record: JobRecord) -> None:
        """Keep the start; a job that was rejected counts as if it had never waited."""
        start = record.start_time
        self.of[record.job.job_id] = record.job.submit_time if start is None else start


class Rehearsals:
    """Replays jobs on a scenario's system without outages and without dispatch latency.

    Nothing of a replay is seen by what else the scenario is made of: each has a dispatcher of its
    own.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._compiled: dict[int, bool] = {}
        self._jobs: Sequence[TracedJob] = ()
        self._columns: JobColumns | None = None
        self._replayed = 0

    def is_compiled(self, choice: Any) -> bool:
        """Say whether a dispatcher is replayed in compiled code, without Python at each round."""
        known = self._compiled.get(id(choice))
        if known is None:
            known = self._compiled[id(choice)] = not obstacles(self._parts(choice, ()))
        return known

    def starts(self, choice: Any, jobs: Sequence[TracedJob]) -> IntArray:
        """Return when each job starts, `[J]`; jobs are in order of submission."""
        parts = self._parts(choice, jobs)
        if self.is_compiled(choice):
            try:
                return self._by_columns(parts, jobs)
            except NeedsPythonError:
                parts = self._parts(choice, jobs)
        heard = _Starts()
        Simulation(parts._replace(observers=[heard])).run(iter(jobs))
        return np.array([heard.of[job.job_id] for job, _ in jobs], dtype=np.int64)

    def _parts(self, choice: Any, jobs: Sequence[TracedJob]) -> Parts:
        """Return what a replay is made of; the dispatcher is its own."""
        context = copy.copy(self._context)
        context.followers = []
        dispatcher: Dispatcher = context.make("dispatcher", choice)
        return Parts(
            context.system,
            dispatcher,
            choice.plugin_name,
            RequestedTime(),
            context.objective,
            uniform_request=_uniform_request(context, jobs),
            correction=context.correction,
            partitions=context.partitions,
            followers=context.followers,
        )

    def _by_columns(self, parts: Parts, jobs: Sequence[TracedJob]) -> IntArray:
        replay = ArrayReplay(parts, places=False)
        self._replayed += len(jobs)
        # Code that is there already is quicker for any number of jobs.
        replay.plainly = self._replayed <= PLAIN_JOBS and not replay.is_compiled
        starts = np.zeros(len(jobs), dtype=np.int64)
        for written in replay.run([self._columns_of(jobs, parts)]):
            starts[written.left.sequence] = written.left.start_time
        return starts

    def _columns_of(self, jobs: Sequence[TracedJob], parts: Parts) -> JobColumns:
        """Return jobs as columns; those of the last replay are kept for the next."""
        if self._columns is None or self._jobs is not jobs:
            (read,) = columns_of(jobs, RequestNumbers(), len(jobs))
            (self._columns,) = admitted([read], parts)
            self._jobs = jobs
        return self._columns


def _uniform_request(context: Context, jobs: Sequence[TracedJob]) -> tuple[int, ...] | None:
    """Return what each unit of all jobs asks for, if that is the same and units may be counted."""
    if not jobs or context.system.pools or context.partitions.bind_nodes(context.system):
        return None
    requests = {job.request for job, _ in jobs}
    free = all(
        request.node_groups is None
        and request.allowed_nodes is None
        and not (request.exclusive or request.scatter)
        for request in requests
    )
    asked = {request.unit_request for request in requests}
    return asked.pop() if free and len(asked) == 1 else None
