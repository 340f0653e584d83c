"""Tables over jobs: distributions, classes of run times and paired differences, by hand."""

from pathlib import Path

import pytest

from hpcsched.report.tables.study_tables import classes, distribution, paired
from tests.report.studies import LATER, pair, table_rows, tables_of, write_studied
from tests.runs.hand_made import JOBS


def test_distribution(tmp_path: Path) -> None:
    """Seven jobs wait 0, 0, 20, 30, 30, 80 and 90 s; one ran for no time and has no slowdown."""
    table = distribution(tables_of(pair(tmp_path)))
    (waits,) = table_rows(table, run="easy", quantity="wait_time")
    assert waits["jobs"] == 7
    assert waits["mean"] == pytest.approx(250 / 7)
    assert [waits[name] for name in ("p25", "p50", "p75", "p90", "p99", "max")] == [
        0, 30, 80, 90, 90, 90,
    ]  # fmt: skip
    (slowdowns,) = table_rows(table, run="easy", quantity="slowdown")
    assert slowdowns["jobs"] == 6
    # The largest is of the job that waited 30 s and ran for 30 s.
    assert slowdowns["max"] == 2
    (bounded,) = table_rows(table, run="easy", quantity="bounded_slowdown")
    assert bounded["max"] == 3
    assert "Over jobs that ran for at least 1 s: slowdown." in table.notes
    assert "bounded_slowdown with tau = 10 s." in table.notes


def test_the_distribution_agrees_with_the_summary(tmp_path: Path) -> None:
    """Means and percentiles are those of the summary, which has its own program."""
    tables = tables_of(pair(tmp_path))
    table = distribution(tables)
    for one in tables.study.runs:
        for name, percentiles in one.run.summary["percentiles"].items():
            (row,) = table_rows(table, run=one.name, quantity=name)
            assert {key: row[key] for key in percentiles} == percentiles
            assert row["mean"] == pytest.approx(one.run.summary["metrics"][f"mean_{name}"])


def test_classes(tmp_path: Path) -> None:
    """Five jobs are short, one is of 3700 s and one of 20000 s."""
    tables = tables_of(pair(tmp_path))
    table = classes(tables)
    found = table_rows(table, run="easy", quantity="wait_time")
    assert [(row["class"], row["jobs"]) for row in found] == [
        ("short", 5),
        ("medium", 1),
        ("long", 1),
    ]
    assert [row["p50"] for row in found] == [20, 90, 80]
    assert [row["run_time_from"] for row in found] == [0, 3600, 18001]
    means = [entry["mean_wait_time"] for entry in tables.study.runs[0].run.summary["classes"]]
    assert [row["mean"] for row in found] == pytest.approx(means)


def test_paired_differences(tmp_path: Path) -> None:
    """One of seven jobs waits 60 s longer."""
    table = paired(tables_of(pair(tmp_path)))
    (row,) = table_rows(table, quantity="wait_time")
    assert (row["run"], row["baseline"], row["common_jobs"]) == ("sjf", "easy", 7)
    assert row["mean_difference"] == pytest.approx(60 / 7)
    assert row["lower"] <= 60 / 7 <= row["upper"]
    assert row["lower"] >= 0
    assert row["median_difference"] == 0
    assert [row[name] for name in ("less", "same", "more")] == pytest.approx([0, 600 / 7, 100 / 7])
    # The other way round the differences have the other sign.
    (turned,) = table_rows(paired(tables_of(pair(tmp_path / "2"), "sjf")), quantity="wait_time")
    assert turned["mean_difference"] == pytest.approx(-60 / 7)
    assert turned["less"] == row["more"]


def test_pairs_are_over_common_jobs(tmp_path: Path) -> None:
    """Jobs of one run alone are counted, and are in no difference."""
    first = write_studied(tmp_path / "first", JOBS[:5])
    second = write_studied(tmp_path / "second", LATER[2:], name="sjf", dispatcher="sjf")
    (row,) = table_rows(paired(tables_of([first, second])), quantity="wait_time")
    assert (row["common_jobs"], row["only_in_run"], row["only_in_baseline"]) == (3, 2, 2)
    assert row["mean_difference"] == 0


def test_nothing_in_common(tmp_path: Path) -> None:
    """There are no differences then, which is not the same as none that matter."""
    first = write_studied(tmp_path / "first", JOBS[:3])
    second = write_studied(tmp_path / "second", JOBS[4:], name="sjf")
    (row,) = table_rows(paired(tables_of([first, second])), quantity="wait_time")
    assert row["common_jobs"] == 0
    assert [row[name] for name in ("mean_difference", "median_difference", "less")] == [None] * 3
