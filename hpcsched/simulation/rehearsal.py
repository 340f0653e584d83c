"""Replays of the past for dispatchers that tune themselves; see `dispatching.hyper`."""

import copy
from typing import Any, Protocol

from hpcsched.dispatching.hyper.hyper_dispatcher import Hyper, make_hyper
from hpcsched.dispatching.hyper.params import HyperParams
from hpcsched.dispatching.problem import Dispatcher, JobEventObserver
from hpcsched.prediction.predictor import Correction
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.registration import Context, builtin
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_admission import admitted
from hpcsched.simulation.replay_choices import obstacles
from hpcsched.system.system import IntArray, is_constrained
from hpcsched.workload.job_batches import NO_JOBS, JobColumns


class RehearsalContext(Context, Protocol):
    """The parts of a scenario that replays of the past need."""

    followers: list[JobEventObserver]

    @property
    def correction(self) -> Correction:
        """Correction of predictions that have run out."""


@builtin("dispatcher", "hyper", HyperParams)
def make_tuning_dispatcher(params: HyperParams, context: RehearsalContext) -> Hyper:
    """Return a dispatcher: chooses from a portfolio by replaying the past under each dispatcher."""
    return make_hyper(params, context, Rehearsals(context))


class Rehearsals:
    """Replays jobs on a scenario's system without outages and without dispatch latency.

    Nothing of a replay is seen by what else the scenario is made of: each has a dispatcher of its
    own.
    """

    def __init__(self, context: RehearsalContext) -> None:
        self._context = context
        self._jobs = self._admitted = NO_JOBS

    def __deepcopy__(self, _: object) -> "Rehearsals":
        # What is kept only saves time, and a scenario's parts may hold what cannot be copied.
        return Rehearsals(self._context)

    def starts(self, choice: Any, jobs: JobColumns) -> IntArray:
        """Return when each job starts, `[J]`; jobs are in order of submission.

        A job that is rejected counts as if it had never waited.
        """
        parts = self._parts(choice, jobs)
        if self._jobs is not jobs:
            self._jobs, (self._admitted,) = jobs, admitted([jobs], parts)
        loop = EventLoop(parts, places=False, in_python=bool(obstacles(parts)))
        starts = jobs.submit_time.copy()
        for written in loop.run([self._admitted]):
            ran = written.left.has_run
            starts[written.left.sequence[ran]] = written.left.start_time[ran]
        return starts

    def _parts(self, choice: Any, jobs: JobColumns) -> Parts:
        """Return the parts of a replay, with a dispatcher of its own."""
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
            policies=context.policies,
        )


def _uniform_request(context: RehearsalContext, jobs: JobColumns) -> tuple[int, ...] | None:
    """Return the unit request of all jobs if they share one and units may be counted, or None."""
    if context.partitions.bind_nodes(context.system) or any(map(is_constrained, jobs.requests)):
        return None
    asked = {request.unit_request for request in jobs.requests}
    return asked.pop() if len(asked) == 1 else None
