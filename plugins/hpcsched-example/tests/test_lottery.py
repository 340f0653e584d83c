"""The dispatcher `lottery`."""

from collections import Counter
from functools import partial

from hpcsched import BestFit, FirstFit
from hpcsched.testing import check_dispatcher, make_jobs, make_problem, make_system, replay
from hpcsched_example.lottery import Lottery

TWO_JOBS = """
    job_id  submit_time  units  requested_time
    1       0            4      100
    2       900          4      100
"""


def winners(ticket_every: int, rounds: int = 1000) -> Counter[int]:
    """Return how often each of two jobs that exclude each other is drawn first."""
    lottery = Lottery(ticket_every, FirstFit(), seed=1)
    problem = make_problem(make_system(4), TWO_JOBS)
    return Counter(lottery.dispatch(problem).starts[0].job_id for _ in range(rounds))


def test_keeps_to_the_protocol() -> None:
    """Replays of the sample workloads are valid, and the same for a seed."""
    check_dispatcher(partial(Lottery, 60, FirstFit(), seed=1))
    check_dispatcher(partial(Lottery, 60, BestFit(), seed=2))


def test_equal_chances() -> None:
    """Jobs with as many tickets are drawn as often."""
    drawn = winners(ticket_every=3600)
    assert abs(drawn[1] - drawn[2]) < 150


def test_waiting_gives_tickets() -> None:
    """A job that has waited for nine tickets has ten times the chance of one that has not."""
    assert 880 <= winners(ticket_every=100)[1] <= 930


def test_starts_all_that_fits() -> None:
    """What is drawn early and does not fit is passed over."""
    jobs = make_jobs(
        make_system(4),
        """
        job_id  units  run_time
        1       3      10
        2       2      10
        3       1      10
        """,
    )
    records = replay(Lottery(3600, FirstFit(), seed=1), jobs, make_system(4))
    assert max(record.end_time or 0 for record in records) == 20
