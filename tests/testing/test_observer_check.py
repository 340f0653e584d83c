"""`check_observer` accepts observers that are right, and finds each mistake of others."""

from itertools import count
from pathlib import Path

import pytest

from hpcsched.runs.observers import ProcessUsage
from hpcsched.simulation.observer import Observer
from hpcsched.testing import check_observer


class Longest(Observer):
    """Writes the longest queue, with a mistake."""

    numbers = count()

    def __init__(self, folder: Path, mistake: str = "none") -> None:
        self._path = folder / "longest.txt"
        self._mistake = mistake
        self._queues: list[int] = []

    def round_ended(self, record) -> None:
        """Look at the queue."""
        self._queues.append(record.waiting)

    def close(self) -> None:
        """Write the file."""
        longest = max(self._queues) if self._mistake == "empty" else max(self._queues, default=0)
        if self._mistake == "number":
            longest = next(self.numbers)
        self._path.write_text(f"{longest}\n")


class Tells(Observer):
    """Gives data to dispatchers."""

    def __init__(self, mistake: str = "none") -> None:
        self._mistake = mistake
        self._calls = 0

    def additional_data(self, now: int):
        """Return the data, with the mistake."""
        self._calls += 1
        match self._mistake:
            case "type":
                return [now]
            case "calls":
                return {"calls": self._calls}
        return {"now": now}


class NotAnObserver:
    """Has one method alone."""

    def round_ended(self, record) -> None:
        """Do nothing."""


class Raises(Observer):
    """Fails at a start."""

    def job_started(self, job) -> None:
        """Fail."""
        raise KeyError(job.job_id)


@pytest.mark.parametrize("make", [Longest, lambda _: Tells()])
def test_right(make) -> None:
    """Observers that leave the replay as it is and write the same files pass."""
    check_observer(make, seeds=[0])


def test_times_of_the_clock() -> None:
    """Files with real times differ, which has to be said."""
    with pytest.raises(AssertionError, match=r"expected the same usage.parquet when replayed"):
        check_observer(ProcessUsage, seeds=[0])
    check_observer(ProcessUsage, seeds=[0], reproducible=False)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda _: NotAnObserver(),
            AssertionError,
            "an object with 'job_submitted', found NotAnObserver, which has none",
        ),
        (lambda folder: Longest(folder, "empty"), ValueError, "max"),
        (lambda folder: Longest(folder, "number"), AssertionError, r"the same longest.txt when"),
        (lambda _: Tells("type"), AssertionError, r"expected a mapping of names .* found \[7\]"),
        (lambda _: Tells("calls"), AssertionError, "expected the same data when asked again"),
        (lambda _: Raises(), KeyError, r"\d+"),
    ],
)
def test_wrong(make, error: type[Exception], message: str) -> None:
    """Each mistake is named."""
    with pytest.raises(error, match=message):
        check_observer(make, seeds=[0])
