"""Check of the protocol of corrections, on sample workloads."""

from collections.abc import Callable, Iterable, Iterator

from hpcsched.plugins.product_check import product_fault
from hpcsched.prediction.corrections import Correction
from hpcsched.testing.sample_replays import expect
from hpcsched.testing.workloads import sample_workloads
from hpcsched.workload.job import Job
from hpcsched.workload.time_bounds import LONGEST


def check_correction(make: Callable[[], Correction], *, seeds: Iterable[int] = range(3)) -> None:
    """Ask corrections about jobs of sample workloads, and check the answers.

    Answers must be whole numbers of seconds above the elapsed ones, and equal when asked again.

    Raises
    ------
    AssertionError
        If an answer is wrong; a note names the workload.
    """
    expect(product_fault(make(), "correction"))
    for seed in seeds:
        for workload in sample_workloads(seed):
            try:
                _check(make, [traced.job for traced in workload.jobs])
            except AssertionError as error:
                error.add_note(f"on sample workload {workload.name!r}, seed {seed}")
                raise


def _check(make: Callable[[], Correction], jobs: Iterable[Job]) -> None:
    # Two objects: a correction that keeps what it was asked would answer differently the second
    # time.
    one, other = make(), make()
    for job, predicted, elapsed in _questions(jobs):
        answer = one.correct(job, predicted, elapsed)
        what = f"job {job.job_id}, {predicted} s predicted, {elapsed} s elapsed"
        if type(answer) is not int or answer <= elapsed:
            raise AssertionError(
                f"{what}: expected a whole number of seconds above {elapsed}, found {answer!r}"
            )
        if answer > LONGEST:
            raise AssertionError(f"{what}: expected at most {LONGEST} s, found {answer}")
        again = other.correct(job, predicted, elapsed)
        if again != answer:
            raise AssertionError(f"{what}: {answer} s answered, and {again!r} s when asked again")


def _questions(jobs: Iterable[Job]) -> Iterator[tuple[Job, int, int]]:
    """Yield jobs with a predicted and an elapsed time, in seconds."""
    for job in jobs:
        for predicted in {1, 1 + job.requested_time // 3, job.requested_time}:
            for more in (0, 1, predicted, job.requested_time, 10 * job.requested_time):
                yield job, predicted, predicted + more
