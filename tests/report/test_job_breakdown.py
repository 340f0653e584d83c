"""Metrics by class of jobs, on the site of four jobs whose numbers are worked out by hand."""

from pathlib import Path

import pytest

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import JobBreakdown, job_breakdown, objective_of, read_schedule
from hpcsched.report.studied_runs import open_study
from tests.report.named_site import write_site


def broken_down(folder: Path, kind: str, most: int = 20) -> JobBreakdown:
    """Return the metrics of the site's run by a kind of class."""
    (one,) = open_study(write_site(folder)).runs
    return job_breakdown([read_schedule(one, objective_of(one.run))], 0, kind, most)


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("partition", ["slow", "fast"]),
        ("queue", ["normal", "express"]),
        ("group", ["physics", "chemistry"]),
        ("gpu", ["GPU", "no GPU"]),
    ],
)
def test_metrics_of_each_class(tmp_path: Path, kind: str, names: list[str]) -> None:
    """Jobs 1 and 2 wait 0 and 90 s and have 75 of the area of 120; the others wait for nothing.

    Response times are 100, 140, 60 and 30 s. The bounded slowdown of job 2 is 140 / 50.
    """
    found = broken_down(tmp_path, kind)
    *classes, whole = found.classes
    assert [one.name for one in classes] == names
    first, second = sorted(classes, key=lambda one: -one.area_percent[0])
    assert (first.jobs, second.jobs, whole.jobs) == ((2,), (2,), (4,))
    assert first.area_percent == pytest.approx((62.5,))
    assert first.values == {
        "mean_response_time": (120,),
        "mean_wait_time": (45,),
        "mean_bounded_slowdown (tau = 10)": (pytest.approx(1.9),),
    }
    assert second.values["mean_response_time"] == (45,)
    assert second.values["mean_wait_time"] == (0,)
    assert whole.values["mean_wait_time"] == (22.5,)
    assert found.units["mean_response_time"] == "s"


def test_users_by_area_and_the_others(tmp_path: Path) -> None:
    """Areas: ada has 80, bob 25, eve 15; of three one is shown, and two others are one row."""
    found = broken_down(tmp_path / "all", "user")
    assert [one.name for one in found.classes] == ["ada", "bob", "eve", "all jobs"]
    found = broken_down(tmp_path / "one", "user", most=1)
    assert [one.name for one in found.classes] == ["ada", "2 others", "all jobs"]
    assert [one.jobs for one in found.classes] == [(2,), (2,), (4,)]
    others = found.classes[1]
    assert others.area_percent == pytest.approx((100 * 40 / 120,))
    # Bob waits 90 s, and eve for nothing.
    assert others.values["mean_wait_time"] == (45,)
    assert found.left_out == 2


def test_a_class_more_than_are_shown_is_shown(tmp_path: Path) -> None:
    """It takes the row of the others."""
    assert [one.name for one in broken_down(tmp_path, "user", most=2).classes] == [
        "ada", "bob", "eve", "all jobs",
    ]  # fmt: skip


def test_the_classes_are_all_jobs_of_the_summary(tmp_path: Path) -> None:
    """What is said of all jobs is what the summary says."""
    compared = ComparedStudy(open_study(write_site(tmp_path)))
    one = compared.baseline_run
    found = job_breakdown([read_schedule(one, objective_of(one.run))], 0, "hour")
    for name in ("mean_wait_time", "mean_response_time"):
        assert found.classes[-1].values[name] == (one.run.summary["metrics"][name],)
    assert [klass.name for klass in found.classes] == ["10 h", "all jobs"]
