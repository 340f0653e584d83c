"""Metrics by class of jobs, and their tables."""

import csv
import json
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.job_breakdown import (
    JobBreakdown,
    breakdown_table,
    devices_asked,
    job_breakdown,
    objective_of,
    read_schedule,
)
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.report_table import Table
from hpcsched.system.mig import MIG_PROFILES, MIG_SHARES
from hpcsched.system.system import Devices, NodeGroup, System
from tests.report.named_site import shown, write_site


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


def test_compare_by_class(tmp_path: Path) -> None:
    """The text has a section for each metric, the names of the log, and what the figures are of."""
    write_site(tmp_path, "easy", "again")
    text = shown("compare", tmp_path / "runs", "--baseline", "easy", "--by", "account")
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[0] == "By group (account)"
    assert "group jobs area [%] again easy (baseline)" in lines
    at = lines.index("mean_wait_time, in s")
    assert lines[at + 1 : at + 4] == [
        "physics 2 62.5 45 (100.0 %) 45",
        "chemistry 2 37.5 0 0",
        "all jobs 4 100.0 22.5 (100.0 %) 22.5",
    ]
    assert "In brackets: percent of easy. Over all jobs that ran." in lines
    # The metrics of all jobs are no table of their own unless they are asked for.
    assert "utilization" not in text
    both = shown("compare", tmp_path / "runs", "--table", "metrics", "--by", "qos", "--by", "queue")
    assert both.index("utilization") < both.index("By queue (QOS)")
    assert both.count("By queue (QOS)") == 1


@pytest.mark.parametrize(
    ("name", "begin"), [("markdown", "## By partition\n"), ("latex", "% needs")]
)
def test_other_formats(tmp_path: Path, name: str, begin: str) -> None:
    """Sections are rows there."""
    write_site(tmp_path)
    text = shown("compare", tmp_path / "runs", "--by", "partition", "--format", name)
    assert text.startswith(begin)
    assert "slow" in text
    assert "62.5" in text


def test_csv_and_json_are_exact(tmp_path: Path) -> None:
    """There is a row for each class, metric and run."""
    (path,) = write_site(tmp_path)
    command = ("compare", tmp_path / "runs", "--by", "partition", "--format")
    rows = list(csv.DictReader(shown(*command, "csv").splitlines()))
    assert rows[0] == {
        "partition": "slow",
        "metric": "mean_response_time",
        "unit": "s",
        "run": "easy",
        "directory": str(path),
        "jobs": "2",
        "area_percent": "62.5",
        "value": "120.0",
        "percent_of_baseline": "100.0",
    }
    content = json.loads(shown(*command, "json"))["tables"]["by_partition"]
    assert [row["partition"] for row in content["rows"][::3]] == ["slow", "fast", "all jobs"]
    assert content["rows"][1]["value"] == 45
    # A file holds one table.
    shown(*command, "csv", "--by", "user", code=2)


def test_the_footer_tells_of_the_others(tmp_path: Path) -> None:
    """It says how many are shown, and by what they were chosen."""
    table: Table = breakdown_table(broken_down(tmp_path, "user", most=1))
    assert "Shown are the 1 with the largest area; the 2 others are one row." in table.notes


def test_the_page_has_a_table_for_each_class(tmp_path: Path) -> None:
    """By default of all classes that tell jobs apart: here all but the hour and the size."""
    write_site(tmp_path)
    out = tmp_path / "page.html"
    titles = ("partition", "queue (QOS)", "group (account)", "user", "use of GPUs")
    shown("report", tmp_path / "runs", "--no-verify", "--out", out)
    page = unescape(out.read_text())
    assert [f"<summary>By {title}" in page for title in titles] == [True] * 5
    assert "<summary>By hour of submission" not in page
    assert "<td>mean_wait_time, in s</td><td>slow</td>" in page
    shown("report", tmp_path / "runs", "--no-verify", "--out", out, "--force", "--by", "user")
    page = unescape(out.read_text())
    assert [f"<summary>By {title}" in page for title in titles] == [
        False,
        False,
        False,
        True,
        False,
    ]


def test_jobs_by_what_they_ask_of_devices() -> None:
    """Shares in quarters, whole GPUs by their number, slices by profile, with the models."""
    groups = (NodeGroup("a", 1, {"gpu": 2}, "V100"), NodeGroup("b", 1, {"gpu": 2}, "T4"))
    system = System(groups, {"gpu": Fraction(1, 1000)}, devices=Devices("gpu", 1000))
    requests = [{"gpu": amount} for amount in (0, 300, 500, 2000, 2000)]
    bounds = [None, None, ["a", "b"], ["a"], None]
    assert devices_asked(system, requests, bounds) == [
        (0, "no GPU"), (500, "up to 0.50 GPU"), (500, "T4 or V100: up to 0.50 GPU"),
        (2000, "V100: 2 GPU"), (2000, "2 GPU"),
    ]  # fmt: skip
    sliced = System(
        (NodeGroup("a", 1, {"gpu": 2}, sliced=True),),
        {"gpu": Fraction(1, MIG_SHARES)},
        devices=Devices("gpu", MIG_SHARES, MIG_PROFILES["a100-40gb"]),
    )
    requests = [{"gpu": amount} for amount in (15, 112)]
    assert devices_asked(sliced, requests, [None, None]) == [(15, "1g.5gb"), (112, "1 GPU")]
