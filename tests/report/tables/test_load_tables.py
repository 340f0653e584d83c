"""Tables over time: queue, use and decision times, by hand."""

from pathlib import Path

import pytest

from hpcsched.report.tables.study_tables import decision_time, load
from tests.report.studies import pair, table_rows, tables_of


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
