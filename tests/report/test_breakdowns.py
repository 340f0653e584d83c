"""Breakdowns of runs: their objectives, and the kinds of classes."""

from pathlib import Path

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import breakdowns, objective_of
from hpcsched.report.studied_runs import open_study
from tests.report.named_site import write_site
from tests.report.studies import pair


def test_kinds_with_several_classes_by_default(tmp_path: Path) -> None:
    """All four jobs have one unit, and were submitted in one hour."""
    compared = ComparedStudy(open_study(write_site(tmp_path)))
    found = [one.kind for one in breakdowns(compared)]
    assert found == ["partition", "queue", "group", "user", "gpu"]
    assert [one.kind for one in breakdowns(compared, ["hour"])] == ["hour"]
    assert list(breakdowns(compared, [])) == []


def test_a_scenario_that_cannot_be_built_here(tmp_path: Path) -> None:
    """The scenarios of these runs have no trace: waits and slowdowns are known all the same."""
    compared = ComparedStudy(open_study(pair(tmp_path)))
    assert objective_of(compared.baseline_run.run) is None
    (found,) = breakdowns(compared, ["user"])
    assert list(found.units) == ["mean_wait_time", "mean_bounded_slowdown (tau = 10)"]
    # Job 2 of user 7 starts at once; the other six wait for 250 s, and 310 s in the other run.
    assert [one.name for one in found.classes] == ["unknown", "7", "all jobs"]
    assert found.classes[0].values["mean_wait_time"] == (250 / 6, 310 / 6)
