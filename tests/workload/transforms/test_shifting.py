"""The transform `shift`, by hand and against sorting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from hpcsched.workload.transforms.submission_changes import ShiftParams
from tests.builders import traced
from tests.strategies import tries
from tests.workload.transforms.chains import Given, chain, numbers, read, submitted, times


def test_all_later() -> None:
    """Every job two hours later."""
    source = chain(Given(submitted([0, 10])), ("shift", {"by": "2h"}))
    assert times(read(source)) == [7200, 7210]
    assert source.account.changed == {"shifted": 2}


def test_all_earlier() -> None:
    """Five seconds earlier; there is nothing before second 0."""
    source = chain(Given(submitted([0, 4, 5, 9])), ("shift", {"by": "-5s"}))
    assert times(read(source)) == [0, 4]
    assert source.account.skipped == {"shifted_before_start": 2}
    assert source.account.changed == {"shifted": 2}


def test_one_user_later() -> None:
    """User 2 is 5 s late: job 2 comes after job 3, and job 4, at the same instant as 5, before."""
    jobs = submitted([0, 1, 3, 5, 10], [1, 2, 1, 2, 1])
    source = chain(Given(jobs), ("shift", {"by": 5, "users": [2]}))
    jobs = read(source)
    assert (numbers(jobs), times(jobs)) == ([1, 3, 2, 4, 5], [0, 3, 6, 10, 10])
    assert source.account.changed == {"shifted": 2}


def test_a_group_earlier() -> None:
    """Group 8 and user 2 are 4 s early: job 3 overtakes job 2, and job 1 falls before second 0."""
    jobs = [
        traced(1, 2, 1, 60, (1, 0, 0), user=2),
        traced(2, 6, 1, 60, (1, 0, 0), user=1, group=7),
        traced(3, 8, 1, 60, (1, 0, 0), user=1, group=8),
        traced(4, 20, 1, 60, (1, 0, 0), user=1, group=7),
    ]
    source = chain(Given(jobs), ("shift", {"by": -4, "users": [2], "groups": [8]}))
    jobs = read(source)
    assert (numbers(jobs), times(jobs)) == ([3, 2, 4], [4, 6, 20])
    assert source.account.skipped == {"shifted_before_start": 1}


@tries(200)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.sampled_from([1, 2])), max_size=25),
    st.integers(-20, 20),
)
def test_order(gaps: list[tuple[int, int]], by: int) -> None:
    """Streaming gives what sorting by the new times would, ties as they came."""
    instants, now = [], 20
    for gap, _ in gaps:
        now += gap
        instants.append(now)
    jobs = submitted(instants, [user for _, user in gaps])
    expected = sorted(
        (one.job.submit_time + by * (one.job.user == 2), one.job.job_id) for one in jobs
    )
    shifted = read(chain(Given(jobs), ("shift", {"by": by, "users": [2]})))
    assert list(zip(times(shifted), numbers(shifted), strict=True)) == expected


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"by": "1x"}, "expected a duration"),
        ({"by": "--1s"}, "expected a duration"),
        ({"by": 1, "users": []}, "expected at least one number"),
        ({"by": 1, "groups": [-1]}, "greater than or equal to 0"),
    ],
)
def test_what_is_refused(params: dict[str, object], message: str) -> None:
    """A duration is one, and a list names somebody."""
    with pytest.raises(ValidationError, match=message):
        ShiftParams.model_validate(params)
