"""The check that no node holds more than it has, on few jobs."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hpcsched.audit.job_checks import capacity
from hpcsched.audit.violations import Check
from tests.runs.hand_made import Placed, job, record_of, replayed

At = tuple[int, int, int, dict[int, int]]
"""Job, start, run time, and units by node; of two cores each."""


def checked(*jobs: At, exclusive: int = 0) -> Check:
    """Return the check of jobs, one of which may be exclusive; nodes have four cores."""
    placed = [
        Placed(
            job(k, 0, sum(places.values()), (2, 1, 0), time, exclusive=k == exclusive),
            start,
            places,
        )
        for k, start, time, places in jobs
    ]
    return capacity_of(placed)


def capacity_of(placed: list[Placed], **changed: list[Any]) -> Check:
    """Return the check of jobs, of which some columns are others."""
    at = replayed([p.traced for p in placed], [record_of(p) for p in placed])
    at.jobs = replace(at.jobs, **{name: np.array(values) for name, values in changed.items()})
    check = capacity(at)
    assert check is not None
    return check


@pytest.mark.parametrize(
    ("jobs", "looked_at"),
    [
        ((), 0),
        # Two fill node 0 from 0 to 10, and the third follows at once: instants 0, 10 and 20.
        (((1, 0, 10, {0: 1}), (2, 0, 10, {0: 1}), (3, 10, 10, {0: 2})), 3),
        # The same seconds on another node: four instants.
        (((1, 0, 10, {0: 2}), (2, 0, 10, {1: 2})), 4),
        # A job of no length holds nothing, where it is alone and where there is no room.
        (((1, 0, 10, {0: 2}), (2, 5, 0, {0: 2}), (3, 5, 0, {1: 2})), 2),
        # Nodes that do not exist are for another check.
        (((1, 0, 10, {4: 9}), (2, 0, 10, {-1: 9}), (3, 0, 10, {3: 2})), 2),
    ],
)
def test_room_for_all(jobs: tuple[At, ...], looked_at: int) -> None:
    """Ends release before starts take; every node and instant with a change is looked at."""
    check = checked(*jobs)
    assert check.violations == []
    assert check.looked_at == looked_at


def test_too_much_at_once() -> None:
    """Who holds it is told: not those that end or start at another time, nor on other nodes."""
    check = checked(
        (1, 0, 10, {0: 2}),  # ends as too much begins
        (4, 10, 20, {0: 1}),
        (3, 5, 10, {1: 1}),
        (2, 10, 10, {0: 2}),  # ends first
        (5, 20, 10, {0: 1}),  # starts as too much has ended
        (6, 50, 10, {0: 2}),
    )
    assert check.violations == [
        "node thin-0, second 10: core: expected at most 4, its capacity, found 6, held by jobs 2, 4"
    ]
    assert check.count == 1


def test_an_exclusive_job_holds_all() -> None:
    """It asks for two of four cores, and nothing fits beside it, of any resource type."""
    assert checked((1, 0, 10, {3: 1}), exclusive=1).violations == []
    check = checked((1, 0, 10, {3: 1}), (2, 9, 10, {3: 1}), exclusive=1)
    assert check.violations == [
        "node fat-0, second 9: core: expected at most 4, its capacity, found 6, held by jobs 1, 2",
        "node fat-0, second 9: mem: expected at most 64, its capacity, found 65, held by jobs 1, 2",
    ]


def test_an_end_before_the_start() -> None:
    """It makes no room for others."""
    placed = [Placed(job(k, 0, 2, (2, 1, 0), 10), 0, {0: 2}) for k in (1, 2, 3)]
    check = capacity_of(placed, start_time=[0, 0, 20], end_time=[10, 10, 0])
    assert check.violations == [
        "node thin-0, second 0: core: expected at most 4, its capacity, found 8, held by jobs 1, 2"
    ]


def test_jobs_that_did_not_run() -> None:
    """What has no end, or no start, holds nothing."""
    placed = [Placed(job(k, 0, 2, (2, 1, 0), 10), 0, {0: 2}) for k in (1, 2, 3)]
    ended, started = [False, True, True], [True, False, True]
    check = capacity_of(placed, has_end_time=ended, has_start_time=started)
    assert check.violations == [] and check.looked_at == 2
