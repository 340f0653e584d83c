"""Classes of jobs with similar wait times."""

from hpcsched.workload.job import WaitClass
from tests.builders import traced


def test_classes_of_a_job() -> None:
    """A job of 4 units in queue 2 of partition 5, and one that says nothing of these."""
    job = traced(1, 0, 4, 60, queue=2, partition=5).job
    assert [WaitClass(by).number(job) for by in ("queue", "partition", "units")] == [2, 5, 4]
    job = traced(1, 0, 4, 60).job
    assert [WaitClass(by).number(job) for by in ("queue", "partition", "units")] == [0, 0, 4]
