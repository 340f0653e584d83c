"""Times of the jobs of a run, and what is derived from them, by hand."""

from pathlib import Path

import numpy as np
import pytest

from hpcsched.report.compared_study import (
    QUANTITIES,
    JobTimes,
    by_submission,
    read_job_times,
    tau_of,
)
from hpcsched.report.studied_runs import StudiedRun, open_study
from tests.report.studies import set_tau, write_studied
from tests.runs.hand_made import JOBS, REJECTED, tamper_json

# Job 2 waits 5 s and runs 20 s; job 5 waits 30 s and runs for no time; job 9 runs 100 s at once.
THREE = JobTimes(
    np.array([2, 5, 9]), np.array([10, 0, 10]), np.array([15, 30, 10]), np.array([35, 30, 110]), 10
)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("wait_time", [5, 30, 0]),
        ("response_time", [25, 30, 100]),
        # 25 / 20 and 100 / 100; a job of no length has none.
        ("slowdown", [1.25, 1]),
        # A run time below tau = 10 s counts as 10 s: 25 / 20, 30 / 10, 100 / 100.
        ("bounded_slowdown", [1.25, 3, 1]),
    ],
)
def test_quantities(name: str, expected: list[float]) -> None:
    """Each quantity is over the jobs that have it."""
    assert QUANTITIES[name].values(THREE).tolist() == expected


def test_the_bound_of_slowdowns_is_that_of_the_run() -> None:
    """With tau = 40 s: 25 / 40 and 30 / 40 are less than 1, which is the least."""
    assert QUANTITIES["bounded_slowdown"].values(THREE._replace(tau=40)).tolist() == [1, 1, 1]


def test_some_of_the_jobs() -> None:
    """A mask and indices both choose jobs; the bound stays."""
    by_mask = THREE.only(THREE.run_times > 0)
    assert (by_mask.job_ids.tolist(), by_mask.run_times.tolist()) == ([2, 9], [20, 100])
    assert by_mask.tau == 10
    assert THREE.only([2, 0]).job_ids.tolist() == [9, 2]


def test_the_order_of_submission() -> None:
    """Job 5 came first; jobs 2 and 9, of one second, keep the order of their numbers."""
    assert THREE.job_ids[by_submission(THREE)].tolist() == [5, 2, 9]


def studied(folder: Path, **more: object) -> StudiedRun:
    """Return a run of all jobs by hand and one that was rejected."""
    jobs = [REJECTED, *reversed(JOBS)]
    (one,) = open_study([write_studied(folder / "run", jobs, **more)]).runs  # type: ignore[arg-type]
    return one


def test_reading(tmp_path: Path) -> None:
    """Jobs that ran are there by ascending number; the rejected job 8 is not."""
    jobs = read_job_times(studied(tmp_path))
    assert jobs.job_ids.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert jobs.submits.tolist() == [0, 0, 10, 20, 30, 60, 60]
    assert jobs.starts.tolist() == [0, 0, 100, 100, 50, 90, 90]
    assert jobs.ends.tolist() == [100, 50, 3800, 20_100, 90, 90, 120]


def test_the_bound_of_a_run(tmp_path: Path) -> None:
    """It is the metric's parameter, and the default of 10 s if the run has no such metric."""
    one = studied(tmp_path)
    set_tau(one.run.path, 60)
    (again,) = open_study([one.run.path]).runs
    assert (tau_of(again), read_job_times(again).tau) == (60, 60)
    tamper_json(
        one.run.path / "summary.json",
        lambda content: content["definitions"].pop("mean_bounded_slowdown"),
    )
    (without,) = open_study([one.run.path]).runs
    assert tau_of(without) == 10
