"""The scenario with the values of a trial, and the two windows of a log."""

from pathlib import Path

import numpy as np
import pytest

import hpcsched
from hpcsched.errors import InputError
from hpcsched.studies.study_files import Limit
from hpcsched.studies.tuning_study import Window, Windows, excesses
from tests.studies.tuning_samples import OVERRIDES, SCENARIO, SPACE, small_study
from tests.studies.whatif_samples import outcome


def test_values_of_a_trial(tmp_path: Path) -> None:
    """The base stays as it is."""
    tuned = small_study(tmp_path)
    values = {"dispatcher.order.weights.age": 7, "dispatcher.order.favor_small": True}
    order = tuned.with_values(values).dispatcher.order
    assert (order.weights.age, order.favor_small) == (7, True)
    assert tuned.base.dispatcher.order.weights.age == 1000
    assert tuned.name == "sought"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{low: 0, high: 5000}", "{low: -3, high: 5000}", "at least 0.0, found -3"),
        ("{low: 0, high: 5000}", "{low: 9, high: 5}", "low below high"),
        ("{low: 0, high: 5000}", "{low: 1}", "'low' and 'high', or 'values'"),
        ("{low: 0, high: 5000}", "{low: 1, high: 2, values: [3]}", "found both"),
        ("low: 1.0, high", "low: 0.0, high", "low above 0 with 'log'"),
        ("weights.age", "weights.agee", "agee"),
        ("by: size", "by: colour", "colour"),
        ("trials: 8", "trials: 0", "at least 1, found 0"),
        ("name: sought\n", "name: sought\nspace: 1\n", "space"),
    ],
)
def test_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    """What is wrong is told at its line in the tuning file."""
    with pytest.raises(InputError) as caught:
        small_study(tmp_path, SPACE.replace(old, new))
    finding = next(iter(caught.value.findings))
    assert message in " ".join(one.message for one in caught.value.findings), finding
    assert finding.place is not None
    assert finding.place.file.endswith("space.yaml")
    assert finding.place.line is not None


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
