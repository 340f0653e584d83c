"""The compiled loop and the loop of events in Python start the same jobs on the same nodes."""

import zlib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.problem import Dispatcher
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import KEYS, ColumnKeyOrder
from hpcsched.prediction.predictor import Doubling, OneSecond, ToRequestedTime
from hpcsched.prediction.predictors import Actual, RequestedTime
from hpcsched.workload.job import Job, TracedJob
from tests import builders
from tests.builders import ALLOCATORS, easy_rule, parts
from tests.simulation.replays import by_the_core, event_by_event
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

ORDERS = {
    **builders.ORDERS,
    "sjf, expected": ColumnKeyOrder(KEYS["sjf"], (1, 0)),
    "ljf, expected": ColumnKeyOrder(KEYS["ljf"], (1, 0)),
    "saf, expected": ColumnKeyOrder(KEYS["saf"], (1,)),
    "spf, expected": ColumnKeyOrder(KEYS["spf"], (2, 1, 0)),
}
allocators = st.sampled_from(sorted(ALLOCATORS))
orders = st.sampled_from(sorted(ORDERS))


@st.composite
def dispatchers(draw: Any) -> Dispatcher:
    """Draw EASY or a list scheduler, in any order, with any allocator."""
    if draw(st.booleans()):
        behind = draw(st.none() | orders)
        return easy_rule(
            ALLOCATORS[draw(allocators)],
            ORDERS[draw(orders)],
            None if behind is None else ORDERS[behind],
        )
    option = draw(st.sampled_from(["strict", "greedy", "backfill", "backfill"]))
    depth = draw(st.sampled_from([None, None, 0, 1, 2])) if option == "backfill" else None
    return list_rule(ORDERS[draw(orders)], option, ALLOCATORS[draw(allocators)], depth)


class Chained:
    """A predictor and a correction whose every answer depends on all that it was told before.

    Each call changes a number; so calls of others, or in another order, are seen.
    """

    def __init__(self) -> None:
        self._chain = 0

    def predict(self, job: Job) -> int:
        """Return 0 to 9 s; 0 counts as 1."""
        return self._next("predict", *job) % 10

    def observe(self, job: Job, run_time: int) -> None:
        """Take note of it."""
        self._next("observe", *job, run_time)

    def correct(self, job: Job, predicted_run_time: int, elapsed: int) -> int:
        """Return up to 4 s more than have elapsed."""
        return elapsed + 1 + self._next("correct", *job, predicted_run_time, elapsed) % 4

    def _next(self, *told: object) -> int:
        self._chain = zlib.crc32(repr((self._chain, _in_order(told))).encode())
        return self._chain


def _in_order(told: object) -> object:
    """Return a value with all sets in it in order: the same one may be written in several ways."""
    if isinstance(told, frozenset):
        return sorted(told)
    return [_in_order(part) for part in told] if isinstance(told, tuple) else told


class ChainedOracle(Chained):
    """One that is shown run times as well."""

    def foresee(self, job: Job, run_time: int) -> int:
        """Return 0 to 9 s."""
        return self._next("foresee", *job, run_time) % 10


settings = st.fixed_dictionaries(
    {
        "predictor": st.sampled_from([Actual(), RequestedTime(), Chained(), ChainedOracle()]),
        "correction": st.sampled_from([OneSecond(), Doubling(), ToRequestedTime(), Chained()]),
        "kill_at_requested_time": st.booleans(),
    }
)
"""What a simulation is told beside system and dispatcher."""


def requesting(workload: Uniform | Workload) -> list[TracedJob]:
    """Return the jobs, each of which requests what is predicted of it; some are of two users."""
    predicted = workload.predictions
    found = []
    for job, run_time in workload.jobs:
        user = job.job_id % 3 or None
        asked = job._replace(requested_time=predicted[job.job_id], user=user)
        found.append(TracedJob(asked, run_time))
    return found


@tries(250)
@given(
    workload=uniform_workloads(max_jobs=20),
    dispatcher=dispatchers(),
    chosen=settings,
    aggregated=st.booleans(),
)
def test_equal_units(
    workload: Uniform, dispatcher: Dispatcher, chosen: dict[str, Any], aggregated: bool
) -> None:
    """Jobs that ask for equal units, counted as slots and looked up on nodes."""
    request = workload.request if aggregated else None
    simulated = parts(workload.system, dispatcher, uniform_request=request, **chosen)
    jobs = requesting(workload)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)


@tries(250)
@given(workload=mixed_workloads(max_jobs=12), dispatcher=dispatchers(), chosen=settings)
def test_unlike_units(workload: Workload, dispatcher: Dispatcher, chosen: dict[str, Any]) -> None:
    """Jobs that ask for unlike units, some of them exclusive, one per node or bound to nodes."""
    simulated = parts(workload.system, dispatcher, **chosen)
    jobs = requesting(workload)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)


@tries(500)
@given(
    workload=mixed_workloads(max_jobs=12), dispatcher=dispatchers(), chosen=settings, data=st.data()
)
def test_outages(
    workload: Workload, dispatcher: Dispatcher, chosen: dict[str, Any], data: Any
) -> None:
    """Nodes that go out of service, announced or not, with jobs on them and jobs that would be."""
    given_outages = data.draw(outages(workload.system, data.draw(st.sampled_from([12, 20, 40]))))
    simulated = parts(workload.system, dispatcher, outages=given_outages, **chosen)
    jobs = requesting(workload)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)
