"""Jobs that wait for ever: what the message says of each."""

from fractions import Fraction

import pytest

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem, waiting_job
from hpcsched.errors import DecisionError
from hpcsched.simulation.latency import Latency
from hpcsched.simulation.stranded import Stranded, why_stranded
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import alike, easy, replay, traced

SYSTEM = alike(2, core=1)
NOTHING = "nothing holds it back, but the dispatcher does not start it"


class Waits:
    """Starts nothing."""

    def dispatch(self, _problem: DispatchingProblem) -> Decision:
        """Let every job wait."""
        return Decision()


@pytest.mark.parametrize(("count", "more"), [(1, ""), (3, ""), (4, "; and 1 more")])
def test_three_jobs_are_named(count: int, more: str) -> None:
    """The others are counted."""
    jobs = [traced(job_id, 0, 1, 1) for job_id in range(1, count + 1)]
    with pytest.raises(DecisionError) as caught:
        replay(SYSTEM, Waits(), jobs)
    named = "; ".join(f"job {job.job.job_id}: {NOTHING}" for job in jobs[:3])
    assert str(caught.value) == (
        "dispatcher tested, round 1: nothing runs and nothing more is submitted, yet"
        f" {count} jobs are left waiting: {named}{more}"
    )


@pytest.mark.parametrize(
    ("second", "more", "why"),
    [
        ({"units": 3}, {}, "its 3 units do not fit on the nodes open to it, which hold 2"),
        (
            {"units": 2, "allowed_nodes": frozenset({1})},
            {},
            "its 2 units do not fit on the nodes open to it, which hold 1",
        ),
        ({"units": 2}, {}, NOTHING),
        (
            {"units": 1, "after": (1,)},
            {"dependencies": True},
            "held back by a dependency, job 1 has not ended",
        ),
        (
            {"units": 1, "user": 7},
            {"partitions": Partitions((Partition("one", running_jobs_per_user=1),))},
            "held back by a limit, partition one: running_jobs_per_user 1",
        ),
    ],
)
def test_why(second: dict[str, object], more: dict[str, object], why: str) -> None:
    """Job 2 is too large, or waits for job 1, or for room below a limit; job 1 could start."""
    jobs = [traced(1, 0, 1, 1, user=7), traced(2, 0, run_time=1, **second)]
    with pytest.raises(DecisionError) as caught:
        replay(SYSTEM, Waits(), jobs, **more)
    assert str(caught.value).endswith(f" waiting: job 1: {NOTHING}; job 2: {why}")


def why_it_waits(asked: tuple[int, ...], *shared_resources: SharedResource) -> str:
    """Return why a job of one core and 1 s waits, with rounds that were held at some times."""
    system = System((NodeGroup("node", 2, {"core": 1}),), {}, shared_resources)
    (job, _), stranded = traced(1, 0, 1, 1), Stranded()
    stranded.asked += asked
    return why_stranded((waiting_job(job, 1, system),), (), stranded, system)


def test_the_shared_resource_that_offered_too_little_last_is_named() -> None:
    """Of heat there is none until 20, of power none from then on: rounds were at 0, 10 and 20."""
    draw = Draw({"core": 10})
    heat = SharedResource("heat", 0, draw, (Change(20, 10),))
    power = SharedResource("power", 10, draw, (Change(20, 0),))
    why = why_it_waits((0, 10, 20), heat, power)
    assert why.startswith("job 1: shared resource power offers too little for it")


def test_what_a_shared_resource_offers_at_a_predicted_end_does_not_count() -> None:
    """There is power until 20, and job 1, asked for at 19, would run for 1 s."""
    power = SharedResource("power", 10, Draw({"core": 10}), (Change(20, 0),))
    assert why_it_waits((19,), power) == f"job 1: {NOTHING}"
    assert why_it_waits((20,), power).startswith("job 1: shared resource power offers too little")


def test_behind_jobs_that_come_too_late() -> None:
    """In each 12 s there is power for one job, from 9 to 11, and each decision takes 2 s.

    Job 1 is tried first, asked for at 9 and 21, and comes too late; job 2 has its room then.
    """
    resource = SharedResource("power", 0, Draw({"core": 10}), (Change(9, 10), Change(11, 0)), 12)
    system = System((NodeGroup("node", 2, {"core": 1}),), {}, (resource,))
    jobs = [traced(1, 0, 1, 1), traced(2, 0, 1, 1)]
    with pytest.raises(DecisionError) as caught:
        replay(system, easy(), jobs, latency=Latency(Fraction(2)))
    assert str(caught.value).endswith(
        " waiting: job 1: shared resource power: 10 would be drawn, 0 free since the decision was"
        " asked for; with the dispatch latency every start of it comes too late; job 2: the"
        " dispatcher keeps its room for what comes too late each time: job 1"
    )


def test_behind_a_limit_that_only_late_starts_reach() -> None:
    """As above, but there is power for two jobs, and a user may have one at a time."""
    resource = SharedResource("power", 0, Draw({"core": 10}), (Change(9, 20), Change(11, 0)), 12)
    system = System((NodeGroup("node", 2, {"core": 1}),), {}, (resource,))
    jobs = [traced(1, 0, 1, 1, user=7), traced(2, 0, 1, 1, user=7)]
    partitions = Partitions((Partition("one", running_jobs_per_user=1),))
    with pytest.raises(DecisionError) as caught:
        replay(system, easy(), jobs, latency=Latency(Fraction(2)), partitions=partitions)
    assert str(caught.value).endswith(
        "; job 2: held back by a limit, partition one: running_jobs_per_user 1, which counts what"
        " comes too late each time: job 1"
    )
