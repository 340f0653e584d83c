"""The transform `first`, by hand."""

from hpcsched.workload.transform import TransformAccount
from hpcsched.workload.transforms.job_transforms import First, FirstParams
from tests.workload.transforms.chains import numbers, submitted


def test_jobs_after_those_skipped() -> None:
    """Of five jobs, the second and third; the fourth is not even read."""
    account = TransformAccount()
    waiting = iter(submitted(range(5)))
    assert numbers(list(First(FirstParams(jobs=2, skip=1)).apply(waiting, account))) == [2, 3]
    assert account.counts.skipped == {"before_first_jobs": 1}
    assert account.ended == "after_first_jobs"
    assert numbers(list(waiting)) == [4, 5]


def test_more_than_there_are() -> None:
    """All, and any number that a scenario may have."""
    first = First(FirstParams(jobs=10**30))
    assert numbers(list(first.apply(iter(submitted([0, 1])), TransformAccount()))) == [1, 2]
