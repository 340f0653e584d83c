"""Comparisons in Python by class of jobs and with the log's own schedule, like the command's."""

import json
from pathlib import Path
from typing import get_args

import pyarrow
import pytest

import hpcsched
from hpcsched.cli.options import JobClass
from hpcsched.report.job_breakdown import ClassName
from hpcsched.report.studied_runs import open_study
from hpcsched.report.studying import compare_study
from tests.report.named_site import LOG, shown, write_site

ALL_RECORDED = LOG.replace("10:00:20|2024-03-01T10:00:50", "10:00:40|2024-03-01T10:01:10")
"""The log with a start of job 4, 10 s after its submission: its waits are 0, 140, 0 and 10 s."""


def test_by_class_in_python(tmp_path: Path) -> None:
    """Under EASY the waits of the slow partition are 0 and 90 s, those of the fast one 0 s."""
    (path,) = write_site(tmp_path)
    found = hpcsched.compare(path, by=["partition", "qos"])
    assert list(found.breakdowns) == ["partition", "queue"]
    slow, fast, everybody = found.breakdowns["partition"].classes
    assert (slow.name, slow.jobs, slow.values["mean_wait_time"]) == ("slow", (2,), (45.0,))
    assert fast.values["mean_wait_time"] == (0.0,)
    assert everybody.values["mean_wait_time"] == (22.5,)
    assert hpcsched.compare(path, by="user").breakdowns["user"].title == "user"
    assert hpcsched.compare(path).breakdowns == {}


def test_the_log_in_python(tmp_path: Path) -> None:
    """The site's mean wait time is 37.5 s, that of EASY 22.5 s: 60 % of it."""
    (path,) = write_site(tmp_path, log=ALL_RECORDED)
    found = hpcsched.compare(path, recorded=True, baseline="recorded", by="gpu")
    row = next(row for row in found.comparison.rows if row.metric == "mean_wait_time")
    assert row.values == (22.5, 37.5)
    assert row.percent_of_baseline == (60.0, 100.0)
    assert found.comparison.log is not None
    assert found.comparison.log.ran == 4
    gpu, others, _ = found.breakdowns["gpu"].classes
    assert (gpu.name, gpu.values["mean_wait_time"]) == ("GPU", (0.0, 5.0))
    assert others.values["mean_wait_time"] == (45.0, 70.0)


def test_a_notebook_shows_all_tables(tmp_path: Path) -> None:
    """The Markdown has the metrics and each breakdown, with the log's column in both."""
    (path,) = write_site(tmp_path)
    found = hpcsched.compare(path, recorded=True, by=["user", "gpu"])
    shown_there = found._repr_markdown_()
    assert shown_there.count("| recorded |") == 3
    assert "## By use of GPUs" in shown_there
    assert "By user" in str(found)
    assert "## By user" in found.as_markdown()
    assert found.as_latex().count(r"\begin{tabular}") == 3


def test_the_command_has_the_same_values(tmp_path: Path) -> None:
    """The JSON of `compare --by --recorded` is the content of the function's result."""
    (path,) = write_site(tmp_path)
    found = hpcsched.compare(path, recorded=True, by=["user", "account"])
    options = ("--recorded", "--by", "user", "--by", "account", "--format", "json")
    printed = json.loads(shown("compare", path, *options))
    assert printed == json.loads(json.dumps(found.content()))


def test_what_is_no_class(tmp_path: Path) -> None:
    """The message names the classes that there are."""
    (path,) = write_site(tmp_path)
    with pytest.raises(hpcsched.InputError, match="classes of jobs by 'colour'; there are: parti"):
        hpcsched.compare(path, by="colour")


def test_the_best_is_a_run(tmp_path: Path) -> None:
    """The site's starts are no result of a dispatcher, and are never marked as the best."""
    early = LOG.replace("10:02:30|2024-03-01T10:03:20", "10:00:10|2024-03-01T10:01:00")
    (path,) = write_site(tmp_path, log=early)
    comparison = compare_study(open_study([path]), recorded=True).comparison
    assert comparison.objective is not None
    easy, recorded = comparison.rows[comparison.objective].values
    assert easy is not None and recorded is not None and recorded < easy
    assert comparison.best == {0}


def test_names_of_classes_are_those_of_the_command() -> None:
    """The type in Python has the values of the option."""
    assert set(get_args(ClassName)) == {str(name) for name in JobClass}


def test_a_page_with_the_log(tmp_path: Path) -> None:
    """Its tables have the column, its answer names it as no run, and it is in no list of runs."""
    paths = write_site(tmp_path, "easy", "again", log=ALL_RECORDED)
    out = tmp_path / "page.html"
    shown("report", *paths, "--recorded", "--out", out, "--no-verify")
    text = out.read_text(encoding="utf-8")
    # Response times: 100, 140, 60 and 30 s under EASY, 100, 190, 60 and 40 s at the site.
    assert (
        "<p>The log&#39;s own schedule, which is not replayed and not ranked, has 97.5 by the"
        " objective; in percent of that: easy 84.6 %, again 84.6 %.</p>" in text
    )
    assert text.count(">recorded</") >= 6
    answer = text.partition('<section id="answer">')[2].partition("</section>")[0]
    assert "recorded is ahead" not in answer
    assert 'value="recorded"' not in text
    path = hpcsched.write_report(tmp_path / "b.html", *paths, recorded=True, by="user")
    assert "By user" in path.read_text(encoding="utf-8")
    assert "By partition" not in path.read_text(encoding="utf-8")


def test_a_page_with_a_log_of_other_jobs(tmp_path: Path) -> None:
    """Of job 4 no start is recorded: 350 / 3 s at the site, 300 / 3 s under EASY over the same."""
    (path,) = write_site(tmp_path)
    out = tmp_path / "page.html"
    shown("report", path, "--recorded", "--out", out, "--no-verify")
    text = out.read_text(encoding="utf-8")
    assert "has 116.667 by the objective; in percent of that: easy 85.7 %." in text


def test_a_comparison_is_a_data_frame(tmp_path: Path) -> None:
    """Its values are a row for each metric and run; other libraries take it as it is."""
    (path,) = write_site(tmp_path, log=ALL_RECORDED)
    found = hpcsched.compare(path, recorded=True)
    rows = [row for row in found.values.to_pylist() if row["metric"] == "mean_wait_time"]
    assert [(row["unit"], row["value"]) for row in rows] == [("s", 22.5), ("s", 37.5)]
    assert rows[1]["run"] == "recorded"
    frame = pyarrow.table(found).to_pandas()
    assert frame.loc[frame.metric == "mean_wait_time", "value"].tolist() == [22.5, 37.5]
    assert frame.value.dtype == "float64"


def test_a_comparison_is_printed(tmp_path: Path) -> None:
    """At a prompt too, not as an object with an address."""
    (path,) = write_site(tmp_path)
    found = hpcsched.compare(path)
    assert repr(found) == str(found) == found.as_text()
    assert "mean_wait_time" in repr(found)
