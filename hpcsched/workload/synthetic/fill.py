"""Trace source `fill`: jobs of another trace arrive one by one and stay, and fill the system."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

from pydantic import Field

from hpcsched.parameters import Params, ResourceType, Selects
from hpcsched.registration import Context, builtin
from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.synthetic_source import Draws, SyntheticSource, checked_request
from hpcsched.workload.trace_source import TraceSource


class FillParams(Params):
    """Parameters of `fill`: the original trace, and how much is asked for."""

    of: Annotated[Any, Selects("trace_source")]
    """The trace with the jobs: a source with its parameters, as under `trace`."""
    resource: Annotated[str, ResourceType()]
    """Resource type of which `load` is a share."""
    load: float = Field(1.0, gt=0, le=1000)
    """Amount of it that all jobs ask for together, as a share of the system's."""


@builtin("trace_source", "fill", FillParams)
class FillSource(SyntheticSource):
    """Trace source: synthetic: jobs of another trace, in random order, that never leave.

    They come one a second, and run until all have arrived.

    Those that ask for more than `load` together lose some at random; if they ask for less, jobs
    drawn again at random follow. A job that cannot start at once is withdrawn.
    """

    def __init__(self, params: FillParams, context: Context) -> None:
        original: TraceSource = context.make("trace_source", params.of)
        system = context.system
        checked_request(system, {params.resource: 1}, "load")
        super().__init__(
            self._make, system, comments=original.comments, uniform_request=original.uniform_request
        )
        self.files = original.files
        self._original = original
        self._resource = system.resource_types.index(params.resource)
        self._most = params.load * system.totals[self._resource]
        self._jobs: Sequence[TracedJob] | None = None
        self._seed = context.seed

    def _make(self) -> Iterator[TracedJob]:
        if self._jobs is None:
            self._jobs = list(self._original.jobs())
        drawn = self._drawn(self._jobs, Draws(self._seed))
        for number, (job, _) in enumerate(drawn, 1):
            stays = len(drawn) + 1 - number
            yield TracedJob(
                job._replace(
                    job_id=number,
                    submit_time=number,
                    requested_time=stays,
                    patience=1,
                    after=(),
                    think_time=0,
                ),
                stays,
            )

    def _drawn(self, jobs: Sequence[TracedJob], draws: Draws) -> Sequence[TracedJob]:
        """Return the jobs in the order of their arrival."""
        order = list(jobs)
        for k in range(len(order) - 1, 0, -1):
            other = draws.below(k + 1)
            order[k], order[other] = order[other], order[k]
        asked = sum(map(self._asked, order))
        while order and asked > self._most:
            asked -= self._asked(order.pop(draws.below(len(order))))
        # Jobs that ask for nothing never fill the system.
        while asked and asked < self._most and len(order) >= len(jobs):
            one = jobs[draws.below(len(jobs))]
            asked += self._asked(one)
            if asked > self._most:
                break
            order.append(one)
        return order

    def _asked(self, traced: TracedJob) -> int:
        return traced.job.units * traced.job.unit_request[self._resource]
