"""The tables of DEBS 2024 on its logs: percentages of List-REG on the same log, by hand."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import debs2024_logs as command
from comparisons.debs2024_logs import paper
from hpcsched.runs.files import JOBS
from hpcsched.studies.study_files import read_experiment
from tests.docs.pages import tables
from tests.experiments.samples import BASE, place_of, write_folder, write_run
from tests.workload.readers.swf_files import record, write

EXPERIMENT = """\
name: debs2024_logs
scenario: base.yaml
matrix:
  - names: [KTH-SP2, CTC-SP2]
    system:
      - {groups: [{name: node, count: 4, resources: {core: 1}}]}
      - {groups: [{name: node, count: 5, resources: {core: 1}}]}
  - predictor: [actual, requested-time]
  - names: [BSLD, AF]
    objective: [{name: bounded_slowdown}, {name: af}]
  - names: [List-REG, List-SAF, order-search]
    dispatcher: [{name: list, option: backfill}, {name: list, order: saf}, {name: order-search}]
  - names: [as-logged, j1, j2]
    trace.transforms: [[], [{name: jitter, by: 1s}], [{name: jitter, by: 1s, seed: 2}]]
exclude:
  - {dispatcher: [List-REG, List-SAF], objective: AF}
"""

RUNS = {
    "KTH-SP2_actual_BSLD_List-REG_as-logged": (10.0, 400.0),
    "KTH-SP2_actual_BSLD_List-SAF_as-logged": (3.0, 350.0),
    "KTH-SP2_actual_BSLD_order-search_as-logged": (2.5, 300.0),
    "KTH-SP2_actual_AF_order-search_as-logged": (9.0, 200.0),
    "KTH-SP2_requested-time_BSLD_List-SAF_as-logged": (4.0, 350.0),
    "CTC-SP2_requested-time_BSLD_List-REG_as-logged": (20.0, 500.0),
    "CTC-SP2_requested-time_BSLD_List-SAF_as-logged": (12.0, 430.0),
    "CTC-SP2_requested-time_BSLD_List-REG_j1": (25.0, 500.0),
    "CTC-SP2_requested-time_BSLD_List-SAF_j1": (14.0, 440.0),
    "CTC-SP2_requested-time_BSLD_List-REG_j2": (20.0, 500.0),
    "CTC-SP2_requested-time_BSLD_List-SAF_j2": (13.0, 420.0),
}
"""Bounded slowdown and response time of the runs that are there, by the names of their cells."""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return the tables that are left beside these runs."""
    folder = tmp_path_factory.mktemp("logs")
    write(folder, [record(1, 0, 40, 1, 200)])
    (folder / "base.yaml").write_text(BASE)
    (folder / "logs.yaml").write_text(EXPERIMENT)
    experiment, out = read_experiment(folder / "logs.yaml"), folder / "out"
    write_folder(experiment, out)
    for name, (slowdown, response) in RUNS.items():
        cell, place = place_of(experiment, out, name)
        metrics = {"mean_bounded_slowdown": slowdown, "mean_response_time": response}
        write_run(cell, place, metrics)
        # One job runs for 40 s at once, two for 10 s after a wait; that of second 500 ends last.
        wait = 90 if "REG" in name else 30
        columns = {
            "submit_time": [0, 500, 0], "start_time": [0, 500 + wait, wait],
            "end_time": [40, 510 + wait, 10 + wait], "run_time": [40, 10, 10], "demand": [1, 1, 1],
        }  # fmt: skip
        pq.write_table(pa.table(columns), place / JOBS)
    assert command.main([str(out)]) == 0
    return tables((out / "tables.md").read_text())


def columns(table, objective, dispatcher):
    """Return what a row has beside its names."""
    return next(row[2:] for row in table if row[:2] == [objective, dispatcher])


def test_halves(shown):
    """3 of 10 are 30 %, 350 of 400 are 87.5 %; a search is seen by what it pursues alone.

    Without List-REG nothing is known, and what is not legible in the paper is a question mark.
    """
    known, requested = shown[:2]
    assert columns(known, "BSLD", "List-SAF")[:4] == ["31", "30.0", "17", "–"]
    assert columns(known, "AF", "List-SAF")[:2] == ["83", "87.5"]
    assert columns(known, "BSLD", "order-search")[:4] == ["–", "25.0", "–", "–"]
    assert columns(known, "AF", "order-search")[:2] == ["–", "50.0"]
    assert columns(requested, "BSLD", "List-SAF")[:4] == ["44", "–", "58", "60.0"]
    assert columns(requested, "BSLD", "CP-BSLD")[:4] == ["38", "–", "?", "–"]
    assert len(known) == len(requested) == 1 + len(paper.ROWS)


def test_the_baseline_in_full(shown):
    """What is 100 % stands in a table of its own."""
    assert shown[2][1] == ["run times known in advance", "KTH-SP2", "10.0000", "400.0", "–", "–"]
    assert shown[2][7][:3] == ["run times as requested", "CTC-SP2", "20.0000"]


def test_without_the_last_job(shown):
    """Of the two jobs that are left, one waits for 90 s under List-REG and for 30 s in this order.

    BSLD is (1 + 4) / 2 of (1 + 10) / 2, and AF (40 + 40) / 2 of (40 + 100) / 2.
    """
    assert shown[3][1:] == [
        ["known in advance", "KTH-SP2", "BSLD", "List-SAF", "31", "30.0", "45.5"],
        ["known in advance", "KTH-SP2", "AF", "List-SAF", "83", "87.5", "57.1"],
        ["as requested", "CTC-SP2", "BSLD", "List-SAF", "58", "60.0", "45.5"],
        ["as requested", "CTC-SP2", "AF", "List-SAF", "86", "86.0", "57.1"],
    ]


def test_delayed_arrivals(shown):
    """14 of 25 are 56 % and 13 of 20 are 65 %, each of List-REG with the same delays."""
    assert shown[4][1:] == [
        ["BSLD", "List-SAF", "58", "60.0", "60.5", "56.0 to 65.0"],
        ["AF", "List-SAF", "86", "86.0", "86.0", "84.0 to 88.0"],
    ]


def test_each_row_of_the_paper_has_all_logs():
    """A row that is printed has a number, or none legible, for each log in both halves."""
    for row in paper.ROWS:
        assert not row.printed or set(row.printed) == set(paper.HALVES)
        assert all(len(numbers) == len(paper.LOGS) for numbers in row.printed.values())
