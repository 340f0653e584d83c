"""The transform `without-flurries`, by hand."""

import pytest
from pydantic import ValidationError

from hpcsched.workload.transforms.job_transforms import WithoutFlurriesParams
from tests.workload.transforms.chains import Given, chain, read, submitted


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


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({}, "flurries"),
        ({"flurries": []}, "at least 1 item"),
        ({"flurries": [{"user": 1, "start": 9, "end": 9}]}, "expected an end after the start"),
    ],
)
def test_what_is_refused(params: dict[str, object], message: str) -> None:
    """There is something to remove."""
    with pytest.raises(ValidationError, match=message):
        WithoutFlurriesParams.model_validate(params)
