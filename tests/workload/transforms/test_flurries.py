"""The transform `without-flurries`, by hand and against its definition."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hpcsched.workload.job import TracedJob
from hpcsched.workload.transforms.job_selection import WithoutFlurriesParams
from tests.strategies import tries
from tests.workload.transforms.chains import Given, chain, numbers, read, submitted


def test_listed() -> None:
    """User 1 from 10 on and before 20, user 2 always; others stay, and jobs of no user do."""
    jobs = submitted([5, 10, 12, 15, 19, 20], [1, 1, 3, None, 1, 1])
    jobs += submitted([21], [2])
    flurries = [{"user": 1, "start": 10, "end": 20}, {"user": 2}]
    source = chain(Given(jobs), ("without-flurries", {"flurries": flurries}))
    assert [(one.job.submit_time, one.job.user) for one in read(source)] == [
        (5, 1), (12, 3), (15, None), (20, 1),
    ]  # fmt: skip
    assert source.account.skipped == {"flurry": 3}


def test_found() -> None:
    """More than 2 jobs of a user within 10 s, which is less than 10 s from first to last.

    User 1: seconds 0, 9 and 10 are no flurry (10 − 0 is not less than 10); 9, 10 and 18 are; 10, 18
    and 19 are; 18, 19 and 28 are not. So 0 and 28 stay. User 2 is not user 1.
    """
    jobs = submitted([0, 9, 10, 11, 18, 19, 28], [1, 1, 1, 2, 1, 1, 1])
    source = chain(Given(jobs), ("without-flurries", {"more_than": 2, "within": 10}))
    assert numbers(read(source)) == [1, 4, 7]
    assert source.account.skipped == {"flurry": 4}


def test_jobs_of_no_user_are_nobody_s_flurry() -> None:
    """Nobody knows that they are one user's."""
    source = chain(
        Given(submitted([0, 0, 0], [None] * 3)), ("without-flurries", {"more_than": 1, "within": 9})
    )
    assert numbers(read(source)) == [1, 2, 3]


def test_listed_and_found() -> None:
    """What is listed is removed first: the rest of the burst is too small for the rule."""
    both = {"flurries": [{"user": 1, "end": 1}], "more_than": 2, "within": 10}
    source = chain(Given(submitted([0, 1, 2])), ("without-flurries", both))
    assert numbers(read(source)) == [2, 3]


def by_definition(jobs: list[TracedJob], more_than: int, within: int) -> list[int]:
    """Return the jobs that are in no flurry, looking at all runs of jobs of each user."""
    removed = set()
    for user in {one.job.user for one in jobs} - {None}:
        own = [one.job for one in jobs if one.job.user == user]
        for k in range(len(own) - more_than):
            some = own[k : k + more_than + 1]
            if some[-1].submit_time - some[0].submit_time < within:
                removed.update(job.job_id for job in some)
    return [number for number in numbers(jobs) if number not in removed]


@tries(300)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.sampled_from([None, 1, 2])), max_size=25),
    st.integers(1, 4),
    st.integers(1, 12),
)
def test_found_by_definition(
    gaps: list[tuple[int, int | None]], more_than: int, within: int
) -> None:
    """The streaming rule finds what the definition says, and keeps the order."""
    instants, now = [], 0
    for gap, _ in gaps:
        now += gap
        instants.append(now)
    jobs = submitted(instants, [user for _, user in gaps])
    source = chain(Given(jobs), ("without-flurries", {"more_than": more_than, "within": within}))
    assert numbers(read(source)) == by_definition(jobs, more_than, within)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "expected flurries, or more_than and within, found neither"),
        ({"more_than": 3}, "found no within"),
        ({"within": 3}, "found no more_than"),
        ({"flurries": [{"user": 1, "start": 9, "end": 9}]}, "expected an end after the start"),
    ],
)
def test_what_is_refused(params: dict[str, object], message: str) -> None:
    """A rule has two numbers, and there is something to remove."""
    with pytest.raises(ValidationError, match=message):
        WithoutFlurriesParams.model_validate(params)
