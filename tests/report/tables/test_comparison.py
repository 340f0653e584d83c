"""The comparison of runs, also with the log's own schedule."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.run_comparison import (
    Comparison,
    comparison_content,
    comparison_table,
    far_apart,
    values_table,
)
from hpcsched.report.tables.run_comparison import compare_runs as compare_study
from hpcsched.runs.directory import RunDirectory
from tests.runs.hand_made import JOBS, tamper_json, write_run


def pair(tmp_path: Path) -> list[RunDirectory]:
    """Return two runs of one trace: in the second the last job started 60 s later."""
    later = JOBS[-1]._replace(start=150)
    return [
        write_run(tmp_path / "first", name="slow"),
        write_run(tmp_path / "second", [*JOBS[:-1], later], name="slower"),
    ]


def compare_runs(runs: Sequence[RunDirectory], baseline: str | None = None) -> Comparison:
    """Compare runs that are given by their directories."""
    study = open_study([run.path for run in runs])
    return compare_study(ComparedStudy(study, baseline))


def test_percentages(tmp_path: Path) -> None:
    """Each value is given in percent of the baseline's, which is the first run or the one named."""
    runs = pair(tmp_path)
    by_metric = {row.metric: row for row in compare_runs(runs).rows}
    wait = by_metric["mean_wait_time"]
    assert wait.percent_of_baseline[0] == 100
    assert wait.percent_of_baseline[1] == 100 * wait.values[1] / wait.values[0] > 100
    assert by_metric["p2sf"].parameters == "alpha = 2.0"
    assert compare_runs(runs, "slower").baseline == 1
    assert compare_runs(runs, str(runs[1].path)).baseline == 1
    assert not compare_runs(runs).warnings


def test_baseline_that_is_not_there(tmp_path: Path) -> None:
    """A baseline that is none of the runs is an error with their names."""
    with pytest.raises(InputError, match="'fast' is none of these runs; there are: slow, slower"):
        compare_runs(pair(tmp_path), "fast")


def test_equal_names(tmp_path: Path) -> None:
    """Runs of one name are told apart by their directories."""
    runs = [write_run(tmp_path / name, name="same") for name in ("a", "b")]
    assert tuple(one.name for one in compare_runs(runs).columns) == tuple(
        f"same ({run.path})" for run in runs
    )
    with pytest.raises(InputError, match="the name of several runs"):
        compare_runs(runs, "same")


def test_warnings(tmp_path: Path) -> None:
    """Another trace, other parameters and a partial run are warned of."""
    first, second = pair(tmp_path)
    tamper_json(
        second.path / "manifest.json",
        lambda m: (m["trace_files"][0].update(sha256="0"), m.update(status="interrupted")),
    )
    tamper_json(
        second.path / "summary.json",
        lambda s: s["definitions"]["mean_bounded_slowdown"]["parameters"].update(tau=60),
    )
    warnings = compare_runs([first, RunDirectory.open(second.path)]).warnings
    assert warnings == (
        "slower ran another trace than slow: compare figures only within a trace",
        "not all of a run is there: slower (interrupted)",
        "mean_bounded_slowdown is not defined alike (slow: tau = 10; slower: tau = 60)",
    )


def test_only_runs_of_one_trace_are_ranked(tmp_path: Path) -> None:
    """The better one is first and marked; the value on another trace says nothing of a rank."""
    slow, slower = pair(tmp_path)
    ranked = compare_runs([slower, slow])
    assert [one.name for one in ranked.columns] == ["slow", "slower"]
    assert ranked.objective is not None
    assert ranked.best == {0}
    tamper_json(slow.path / "manifest.json", lambda m: m["trace_files"][0].update(sha256="0"))
    unranked = compare_runs([slower, RunDirectory.open(slow.path)])
    assert unranked.columns[0].name.startswith("slower")
    assert unranked.objective is None
    assert "the best" not in comparison_table(unranked).as_text()


def test_fewer_jobs(tmp_path: Path) -> None:
    """Runs over other parts of the same trace are warned of."""
    runs = [
        write_run(tmp_path / "a", name="all"),
        write_run(tmp_path / "b", JOBS[:3], name="three"),
    ]
    warning = "the runs have different numbers of submitted jobs: all: 7; three: 3"
    assert compare_runs(runs).warnings == (warning,)


def test_many_runs_of_another_trace_make_one_warning(tmp_path: Path) -> None:
    """A reason is told once: of more than three runs, two are named and the others counted."""
    first = write_run(tmp_path / "first", name="first")
    others = []
    for name in "abcde":
        path = write_run(tmp_path / name, name=name).path
        tamper_json(path / "manifest.json", lambda m: m["trace_files"][0].update(sha256="0"))
        others.append(RunDirectory.open(path))
    (warning,) = compare_runs([first, *others]).warnings
    assert warning.startswith("a, b and 3 others ran another trace than first")
    (warning,) = compare_runs([first, *others[:3]]).warnings
    assert warning.startswith("a, b, c ran another trace than first")


def test_a_trace_that_changed_under_a_run(tmp_path: Path) -> None:
    """Nobody knows what such a run has read; the comparison says so."""
    first, second = pair(tmp_path)
    tamper_json(second.path / "manifest.json", lambda m: m["trace_files"][0].update(changed=True))
    (warning,) = compare_runs([first, RunDirectory.open(second.path)]).warnings
    path = first.manifest.trace_files[0].path
    assert warning == (
        f"{path} changed while slower read it: its figures are of no trace that is known"
    )


def test_text(tmp_path: Path) -> None:
    """Piped text is plain and aligned; it states units, parameters and populations."""
    comparison = compare_runs(pair(tmp_path))
    plain = comparison_table(comparison).as_text()
    header, first, *_ = plain.splitlines()
    assert header.split() == ["metric", "unit", "slow", "(baseline)", "slower"]
    assert "mean_bounded_slowdown (tau = 10)" in first
    assert header.index("unit") == first.index(" 1 ") + 1
    assert "\x1b" not in plain
    assert "Over jobs that ran for at least 1 s: mean_slowdown." in plain
    drawn = comparison_table(comparison).as_text(200)
    assert "mean_bounded_slowdown (tau = 10)" in drawn


def test_csv_and_json_are_exact(tmp_path: Path) -> None:
    """Programs get the values as they are in the summaries."""
    runs = pair(tmp_path)
    comparison = compare_runs(runs)
    rows = list(csv.DictReader(io.StringIO(values_table(comparison).as_csv())))
    stated = {(row["metric"], row["run"]): float(row["value"]) for row in rows}
    content = json.loads(json.dumps(comparison_content(comparison)))
    assert content["baseline"] == "slow"
    for k, (name, run) in enumerate(zip(("slow", "slower"), runs, strict=True)):
        for metric in content["metrics"]:
            exact = run.summary["metrics"][metric["metric"]]
            assert metric["values"][k] == stated[metric["metric"], name] == exact


def test_markdown(tmp_path: Path) -> None:
    """Markdown has a header, a rule and a line for each metric."""
    lines = comparison_table(compare_runs(pair(tmp_path))).as_markdown().splitlines()
    assert lines[0] == "| metric | unit | slow (baseline) | slower |"
    assert lines[1] == "| --- | --- | ---: | ---: |"
    assert sum(line.startswith("|") for line in lines) == 11


def test_missing_metric(tmp_path: Path) -> None:
    """A metric that one run has not got is left blank there."""
    first, second = pair(tmp_path)
    tamper_json(second.path / "summary.json", lambda s: s["metrics"].pop("makespan"))
    comparison = compare_runs([first, RunDirectory.open(second.path)])
    (row,) = [row for row in comparison.rows if row.metric == "makespan"]
    assert row.values[1] is row.percent_of_baseline[1] is None
    assert "–" in comparison_table(comparison).as_text()


def test_long_times_in_hours_and_days(tmp_path: Path) -> None:
    """Up to ten days of which one is 100,000 s or more are hours; above, days; CSV has seconds."""
    for name, wait, span in (("one", 180_000.0, 1_728_000), ("two", 3600.0, 864_000)):
        folder = write_run(tmp_path / name, name=name).path
        metrics = {"mean_wait_time": wait, "makespan": span}
        tamper_json(folder / "summary.json", lambda s, m=metrics: s["metrics"].update(m))
    comparison = compare_runs([RunDirectory.open(tmp_path / name) for name in ("one", "two")])
    table = comparison_table(comparison)
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["mean_wait_time"] == ("h", "50", "1 (2.0 %)")
    assert rows["makespan"] == ("d", "20", "10 (50.0 %)")
    assert "Unit s: seconds; h: hours; d: days; unit 1: a ratio." in " ".join(table.notes)
    exact = {(row[0], row[4]): row[6] for row in values_table(comparison).rows}
    assert exact["mean_wait_time", "one"] == 180_000.0


@pytest.mark.parametrize(
    ("waits", "nearest"),
    [
        ([500.0, 100.0, 1001.0], "500"),
        ([500.0, 100.0, 999.0], None),
        ([500.0, 100.0, 49.0], None),
        ([100.0, 110.0, 39.0], "100"),
        ([0.0, 5000.0, 1000.0], None),
        ([None, 10.0, 1000.0], "10"),
        ([1.0, 2.0, None], None),
    ],
)
def test_far_apart(waits: list[float | None], nearest: str | None) -> None:
    """More than twice and a minute from the nearest run; runs on both sides are not far."""
    said = list(far_apart("recorded", waits[-1], waits[:-1]))
    assert len(said) == (nearest is not None)
    more = waits[-1] is not None and waits[-1] > 100
    assert all(("fewer nodes" if more else "more nodes") in line for line in said)
    assert all(f"and {nearest} s in the nearest run" in line for line in said)
