"""The busiest jobs of a log, by hand."""

from hpcsched.studies.first_look.busiest_jobs import BusyPart, busiest_part
from hpcsched.system.system import Request
from hpcsched.workload.job import Job, TracedJob


def jobs(*times: tuple[int, int]) -> list[TracedJob]:
    """Return jobs of one core with these submit and run times."""
    return [
        TracedJob(Job(number, submit, Request(1, (1,)), run_time), run_time)
        for number, (submit, run_time) in enumerate(times, 1)
    ]


SPARSE = [(100 * k, 50) for k in range(10)]
BURST = [(2000 + k, 50) for k in range(10)]


def test_jobs_that_find_no_room() -> None:
    """Of ten jobs a second apart two run on two cores, and eight of ten find no room."""
    found = busiest_part(jobs(*SPARSE, *BURST, *((9000 + t, 50) for t, _ in SPARSE)), (2,), 10)
    assert found == BusyPart(skip=10, crowded=0.8, first_crowded=0.0, span=9)


def test_a_job_that_ends_makes_room() -> None:
    """Each job ends as the next is submitted; on one core all of them fit."""
    found = busiest_part(jobs(*((10 * k, 10) for k in range(6))), (1,), 2)
    assert found == BusyPart(skip=0, crowded=0.0, first_crowded=0.0, span=10)


def test_no_other_jobs() -> None:
    """Where all jobs are replayed there is no part of them."""
    assert busiest_part(jobs(*BURST), (2,), 10) is None
