"""The two windows of a log, and constraints between two replays, by hand."""

from pathlib import Path

import numpy as np
import pytest

import hpcsched
from hpcsched.errors import InputError
from hpcsched.studies.tuning.tuning_space import Limit
from hpcsched.studies.tuning.windows import Window, Windows, excesses
from tests.studies.tuning.samples import OVERRIDES, SCENARIO
from tests.studies.whatif.samples import outcome


def test_windows_of_a_log() -> None:
    """The first half alone is replayed as if no others came; the later one after all others."""
    scenario = hpcsched.load_scenario(SCENARIO, OVERRIDES)
    windows = Windows(hpcsched.read_workload(scenario), 0.5)
    trained, later = windows.trained(scenario), windows.later(scenario)
    assert sum(windows.counts) == 300
    assert len(trained.outcome.jobs.job_ids) == windows.counts[0]
    assert len(later.outcome.jobs.job_ids) == windows.counts[1]
    assert trained.outcome.jobs.submits.max() == windows.split < later.outcome.jobs.submits.min()
    whole = hpcsched.replay(scenario).start_times
    mine = zip(later.outcome.jobs.job_ids.tolist(), later.outcome.jobs.starts.tolist(), strict=True)
    assert dict(mine).items() <= whole.items()
    alone = hpcsched.load_scenario(SCENARIO, [*OVERRIDES, f"trace.jobs={windows.counts[0]}"])
    assert trained.objective == hpcsched.replay(alone).objective


def test_the_objective_is_that_of_the_window() -> None:
    """The mean bounded slowdown of the later jobs alone."""
    scenario = hpcsched.load_scenario(SCENARIO, OVERRIDES)
    later = Windows(hpcsched.read_workload(scenario), 0.5).later(scenario)
    jobs = later.outcome.jobs
    bounded = (jobs.ends - jobs.submits) / np.maximum(jobs.run_times, 10)
    assert later.objective == pytest.approx(np.maximum(bounded, 1).mean())


@pytest.mark.parametrize("share", [0.001, 1.0])
def test_a_window_without_jobs(share: float) -> None:
    """There is nothing to search on, or nothing to judge by."""
    scenario = hpcsched.load_scenario(SCENARIO, OVERRIDES)
    with pytest.raises(InputError, match="expected jobs to search on and later jobs"):
        Windows(hpcsched.read_workload(scenario), share)


def window(starts: list[int]) -> Window:
    """Return a window with 20 jobs of each of two users."""
    return Window(outcome(starts, user=[1, 2] * 20), 1.0)


@pytest.mark.parametrize(
    ("percent", "excess"),
    [(5, 200 - 60), (10, 200 - 100), (20, 0), (30, -100)],
)
def test_an_excess_by_hand(percent: float, excess: float) -> None:
    """User 1 waits 1000 s, then 1200 s: 5 % are 50 s, below the 60 s that nobody minds."""
    base, trial = window([1000, 500] * 20), window([1200, 500] * 20)
    limit = Limit(by="user", percent=percent)
    assert list(excesses(base, trial, [limit])) == [excess]


def test_classes_of_few_jobs_are_left_out() -> None:
    """Each user has 20 jobs."""
    base, trial = window([1000, 500] * 20), window([1200, 500] * 20)
    assert list(excesses(base, trial, [Limit(by="user", least_jobs=21)])) == [0]


def test_a_bounded_slowdown() -> None:
    """Jobs of 100 s that wait 100 s, then 150 s: 2 becomes 2.5, of which 0.2 is allowed."""
    base, trial = window([100, 0] * 20), window([150, 0] * 20)
    limit = Limit(by="user", quantity="bounded_slowdown", percent=10)
    assert list(excesses(base, trial, [limit])) == [pytest.approx(0.3)]
    assert Path(SCENARIO).exists()
