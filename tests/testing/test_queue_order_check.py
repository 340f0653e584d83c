"""`check_queue_order` accepts orders that are right, and finds each mistake of others."""

from itertools import count

import pytest

from hpcsched.dispatching.rules.orders import KEYS, ArrivalOrder, ColumnKeyOrder
from hpcsched.errors import PluginError
from hpcsched.testing import check_queue_order


class Wrong:
    """Order that makes one mistake."""

    numbers = count()

    def __init__(self, mistake: str) -> None:
        self._mistake = mistake

    def sort(self, problem):
        """Return the queue, with the mistake."""
        queue = list(problem.queue)
        match self._mistake:
            case "type":
                return {job.job_id for job in queue}
            case "numbers":
                return [job.job_id for job in queue]
            case "loses":
                return queue[1:]
            case "twice":
                return [queue[0], *queue]
            case "calls" if next(self.numbers) % 2:
                return queue[::-1]
        return queue


class Follows:
    """Order of jobs by the ends that it has been told of."""

    def __init__(self) -> None:
        self.ends = 0

    def job_started(self, job) -> None:
        """Do nothing."""

    def job_ended(self, job, end_time: int) -> None:
        """Count the end."""
        self.ends += 1

    def sort(self, problem):
        """Return the queue backwards after every third end."""
        return problem.queue if self.ends % 3 else problem.queue[::-1]


class Forgets(Follows):
    """Order that keeps the count of all replays."""

    kept = 0

    def job_ended(self, job, end_time: int) -> None:
        """Count the end for good."""
        Forgets.kept += 1
        self.ends = Forgets.kept


@pytest.mark.parametrize(
    "make", [ArrivalOrder, lambda: ColumnKeyOrder(KEYS["saf"]), Follows, lambda: Wrong("none")]
)
def test_right(make) -> None:
    """Orders that return each job once pass; starts and ends are told."""
    check_queue_order(make, seeds=[0])


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        ("type", "expected a sequence of the queued jobs, found {"),
        ("numbers", r"expected the jobs of the queue, found \d+ among them"),
        ("loses", r"expected each queued job once, found job \d+ 0 times"),
        ("twice", r"expected each queued job once, found job \d+ 2 times"),
        ("calls", "two replays differ"),
    ],
)
def test_wrong(mistake: str, message: str) -> None:
    """Each mistake is named, with the workload in a note."""
    with pytest.raises((AssertionError, PluginError), match=message) as caught:
        check_queue_order(lambda: Wrong(mistake), seeds=[0])
    assert "on sample workload 'one-slot', seed 0, as " in caught.value.__notes__[-1]


def test_state_of_another_replay() -> None:
    """Two replays must be equal."""
    Forgets.kept = 1
    with pytest.raises((AssertionError, PluginError), match="two replays differ"):
        check_queue_order(Forgets)
