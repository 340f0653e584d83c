"""What the forest is told of a job."""

from hpcsched import Job, Request
from hpcsched_learned.features import Features
from streams import habits

JOB = Job(1, 90_000, Request(2, (4, 8)), 600, user=3)


def test_as_many_for_every_job() -> None:
    """Known or not, a job has as many features, and all of them are finite."""
    features = Features(100)
    bare = features.row(Job(1, 0, Request(1, (1, 1)), 600))
    bound = JOB._replace(
        group=1, application=2, queue=3, partition=4, name="run7",
        request=Request(2, (4, 8), frozenset("a"), frozenset({1, 2}), exclusive=True),
    )  # fmt: skip
    features.submit(bound)
    features.complete(bound, 0)
    rows = [bare, features.row(bound), features.row(bound._replace(submit_time=0))]
    assert len({len(row) for row in rows}) == 1
    assert all(abs(number) < 1e9 for row in rows for number in row)


def test_asking_changes_nothing() -> None:
    """A row is the same when it is asked for again."""
    features = Features(100)
    for job, run_time in habits(20):
        features.submit(job)
        features.complete(job, run_time)
    assert features.row(JOB) == features.row(JOB)


def test_jobs_in_the_system() -> None:
    """Submission and completion of a user's jobs show in the next row, those of others do not."""
    features = Features(100)
    nothing = features.row(JOB)
    features.submit(JOB._replace(job_id=5, user=9))
    assert features.row(JOB) == nothing
    features.submit(JOB._replace(job_id=6, submit_time=80_000))
    with_one = features.row(JOB)
    assert sum(a != b for a, b in zip(nothing, with_one, strict=True)) == 2
    features.complete(JOB._replace(job_id=6, submit_time=80_000), 10)
    assert features.row(JOB) != with_one


def test_kinds_of_job() -> None:
    """A run time counts for the user's jobs that are alike; for others only as the user's."""
    features = Features(100)
    before = features.row(JOB)
    other_time = features.row(JOB._replace(requested_time=700))
    features.complete(JOB, 60)

    def changed(one: tuple[float, ...], other: tuple[float, ...]) -> int:
        return sum(a != b for a, b in zip(one, other, strict=True))

    of_one_kind = 6  # the number of run times, the last, median, mean, shortest and longest
    the_end = 1
    assert changed(before, features.row(JOB)) == 4 * of_one_kind + the_end
    row = features.row(JOB._replace(requested_time=700))
    assert changed(other_time, row) == 2 * of_one_kind + the_end


def test_memory_is_bounded() -> None:
    """No more records are kept than are allowed, of each kind."""
    features = Features(10)
    for job, run_time in habits(200):
        stranger = job._replace(user=job.job_id)
        features.submit(stranger)
        features.complete(stranger, run_time)
    assert len(features) <= 20
