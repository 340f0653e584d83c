"""Jobs that wait for ever end a run with the first of them, and what holds them back."""

import pytest

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.errors import DecisionError
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import alike, per_user, replay, traced

SYSTEM = alike(2, core=1)


class Waits:
    """Starts nothing."""

    def dispatch(self, _problem: DispatchingProblem) -> Decision:
        """Let every job wait."""
        return Decision()


@pytest.mark.parametrize(("count", "more"), [(1, ""), (3, ""), (4, " and 1 more")])
def test_three_jobs_are_named(count: int, more: str) -> None:
    """The others are counted."""
    jobs = [traced(job_id, 0, 1, 1) for job_id in range(1, count + 1)]
    with pytest.raises(DecisionError) as caught:
        replay(SYSTEM, Waits(), jobs)
    named = ", ".join(f"job {job.job.job_id}" for job in jobs[:3])
    assert str(caught.value) == (
        "dispatcher tested, round 1: nothing runs and nothing more is submitted, yet"
        f" {count} jobs are left waiting: {named}{more}"
    )


@pytest.mark.parametrize(
    ("second", "more", "why"),
    [
        ({"after": (1,)}, {"dependencies": True}, "job 1 has not ended"),
        (
            {"user": 7},
            {"partitions": Partitions((Partition("one", limits=per_user(jobs=1)),))},
            "partition one: MaxJobsPerUser=1",
        ),
    ],
)
def test_what_holds_them_back(second: dict[str, object], more: dict[str, object], why: str) -> None:
    """Job 2 waits for job 1, or for room below a limit; job 1 could start."""
    jobs = [traced(1, 0, 1, 1, user=7), traced(2, 0, 1, run_time=1, **second)]
    with pytest.raises(DecisionError) as caught:
        replay(SYSTEM, Waits(), jobs, **more)
    assert str(caught.value).endswith(f" waiting: job 1, job 2 ({why})")
