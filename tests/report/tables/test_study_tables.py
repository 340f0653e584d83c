"""The tables of a study."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.tables.study_tables import (
    TABLES,
    decision_time,
    distribution,
    load,
    paired,
    ranks,
    replicas,
)
from tests.report.studies import LATER, pair, table_rows, tables_of, write_experiment, write_studied
from tests.runs.hand_made import JOBS, tamper_json


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


def test_load(tmp_path: Path) -> None:
    """The mean queue is the sum of all waits by the makespan, the mean use the utilization."""
    tables = tables_of(pair(tmp_path))
    table = load(tables)
    (queue,) = table_rows(table, run="easy", quantity="queue_length")
    assert queue["mean"] == pytest.approx(250 / 20_100)
    # From 60 s to 90 s jobs 3, 4, 6 and 7 wait.
    assert (queue["p50"], queue["max"]) == (0, 4)
    for resource, share in tables.study.runs[0].run.summary["utilization_by_resource"].items():
        (used,) = table_rows(table, run="easy", quantity=f"utilization of {resource}")
        assert used["mean"] == pytest.approx(100 * share)


def test_decision_times(tmp_path: Path) -> None:
    """Rounds are in the bin of their queue's length, each once."""
    tables = tables_of(pair(tmp_path)[:1])
    one = tables.study.runs[0]
    recorded = one.run.rounds.read("queued", "decision_time").to_pylist()
    found = table_rows(decision_time(tables))
    assert sum(row["rounds"] for row in found) == len(recorded)
    for row in found:
        inside = [
            r["decision_time"]
            for r in recorded
            if row["queue_from"] <= r["queued"] <= row["queue_to"]
        ]
        assert len(inside) == row["rounds"]
        assert row["mean"] == pytest.approx(sum(inside) / len(inside))
        assert row["max"] == max(inside)
    assert [row["queue_from"] for row in found] == sorted({row["queue_from"] for row in found})


def set_metric(path: Path, metric: str, value: float | None) -> None:
    """Give a run another value of a metric."""
    tamper_json(path / "summary.json", lambda content: content["metrics"].update({metric: value}))


def test_replicas(tmp_path: Path) -> None:
    """Means over seeds, and of differences from the baseline's run with the same seed."""
    paths = []
    for name, values in (("easy", (10, 20, 60)), ("sjf", (7, 15, 53))):
        for seed, value in enumerate(values):
            path = write_studied(tmp_path / f"{name}{seed}", name=name, seed=seed)
            set_metric(path, "mean_wait_time", value)
            paths.append(path)
    table = replicas(tables_of(paths))
    easy, sjf = table_rows(table, metric="mean_wait_time")
    assert (easy["configuration"], easy["runs"], easy["mean"], easy["pairs"]) == ("easy", 3, 30, 0)
    assert 10 <= easy["lower"] < 30 < easy["upper"] <= 60
    assert (sjf["mean"], sjf["pairs"], sjf["mean_difference"]) == (25, 3, -5)
    assert -7 <= sjf["difference_lower"] < -5 < sjf["difference_upper"] <= -3


def test_ranks(tmp_path: Path) -> None:
    """The least value is first, of utilization the largest; those equal up to rounding share it."""
    paths = []
    values = {"a": (1.0, 5.0), "b": (2.0, 5.000000000000001), "c": (3.0, 1.0)}
    for name, of_traces in values.items():
        for trace, value in zip(("kth", "ctc"), of_traces, strict=True):
            path = write_studied(tmp_path / name / trace, name=name, trace=trace)
            set_metric(path, "mean_wait_time", value)
            set_metric(path, "utilization", value)
            paths.append(path)
    table = ranks(tables_of(paths))
    waits = table_rows(table, metric="mean_wait_time")
    assert {row["configuration"]: row["mean_rank"] for row in waits} == {
        "a": (1 + 2.5) / 2,
        "b": (2 + 2.5) / 2,
        "c": (3 + 1) / 2,
    }
    assert [row["alone_in_front"] for row in waits] == [1, 0, 1]
    uses = table_rows(table, metric="utilization")
    assert {row["configuration"]: row["mean_rank"] for row in uses} == {
        "a": (3 + 1.5) / 2,
        "b": (2 + 1.5) / 2,
        "c": (1 + 3) / 2,
    }


def test_ranks_are_over_cases_that_all_have(tmp_path: Path) -> None:
    """A trace and seed that one configuration lacks tell nothing of who is ahead."""
    write_experiment(tmp_path)
    assert {row["cases"] for row in table_rows(ranks(tables_of([tmp_path])))} == {3}


def test_an_unknown_baseline(tmp_path: Path) -> None:
    """It is an error."""
    with pytest.raises(InputError, match="'fast' is none of these runs; there are: easy, sjf"):
        tables_of(pair(tmp_path), "fast")


def test_every_table_says_over_what_it_is(tmp_path: Path) -> None:
    """Every table has a note on its population, and bounded slowdowns one on their bound."""
    tables = tables_of(pair(tmp_path))
    for name, make in TABLES.items():
        table = make(tables)
        assert table.name == name
        notes = " ".join(table.notes)
        assert "Population: " in notes or "Over all jobs that ran" in notes
        if any("bounded_slowdown" in str(cell) for row in table.rows for cell in row):
            assert "tau = 10 s" in notes
