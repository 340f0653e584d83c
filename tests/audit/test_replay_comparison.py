"""A run beside a replay of it: what must be equal, what need not, and what is said of the rest."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hpcsched
from hpcsched.audit.auditing import compare_replay, why_not_replayed
from hpcsched.audit.violations import AuditReport
from hpcsched.runs.directory import RunDirectory
from tests.runs.hand_made import JOBS, messages, tamper_jobs, tamper_json, write_run

HERE = {"hpcsched": hpcsched.__version__}


@pytest.fixture
def two(tmp_path: Path) -> tuple[RunDirectory, RunDirectory]:
    """Return a run and a replay of it, which are equal."""
    return write_run(tmp_path / "run"), write_run(tmp_path / "again")


def compared(two: tuple[RunDirectory, RunDirectory]) -> AuditReport:
    """Compare the directories as they are now."""
    run, again = (RunDirectory.open(one.path) for one in two)
    return compare_replay(run, again)


def change_rows(path: Path, column: str, values: list[Any]) -> None:
    """Replace a column of a table."""
    table = pq.read_table(path)
    where = table.column_names.index(column)
    kind = table.schema.field(column).type
    pq.write_table(table.set_column(where, table.field(column), pa.array(values, kind)), path)


def test_equal(two: tuple[RunDirectory, RunDirectory]) -> None:
    """Seven starts, and seven rows of jobs and their columns; runs without events need none."""
    report = compared(two)
    assert report.ok, messages(report)
    claims = {check.claim.split(": ")[1].split()[0]: check for check in report.checks}
    assert list(claims) == ["each", "jobs.parquet", "rounds.parquet", "the"]
    assert (claims["each"].looked_at, claims["jobs.parquet"].looked_at) == (7, 8)


def test_another_start(two: tuple[RunDirectory, RunDirectory]) -> None:
    """It is told as a start, and as a row of the table."""
    tamper_jobs(two[0], lambda rows: rows[0].update(start_time=rows[0]["start_time"] + 1))
    report = compared(two)
    job_id = pq.read_table(two[0].path / "jobs.parquet")["job_id"][0].as_py()
    assert job_id == 2
    assert messages(report).splitlines() == [
        "job 2: start_time: expected 0, found 1",
        "job_id 2: start_time: expected 0, found 1",
    ]


@pytest.mark.parametrize(
    ("which", "told"),
    [
        (0, "job 1: start_time: expected 0, found None"),
        (1, "job 1: start_time: expected None, found 0"),
    ],
)
def test_a_job_that_one_of_them_lacks(
    which: int, told: str, two: tuple[RunDirectory, RunDirectory]
) -> None:
    """Job 1 is missing in the run, or in the replay."""
    tamper_jobs(two[which], lambda rows: rows.pop([row["job_id"] for row in rows].index(1)))
    assert told in messages(compared(two)).splitlines()


def test_clocks_need_not_agree(two: tuple[RunDirectory, RunDirectory]) -> None:
    """How long decisions took is another thing than what was decided."""
    path = two[0].path / "rounds.parquet"
    rounds = pq.read_table(path)
    change_rows(path, "decision_time", [9.5] * rounds.num_rows)
    assert compared(two).ok
    change_rows(path, "queued", [n + 1 for n in rounds["queued"].to_pylist()])
    first = messages(compared(two)).splitlines()[0]
    queued = rounds["queued"][0].as_py()
    assert first == f"round 1: queued: expected {queued}, found {queued + 1}"


def test_a_figure_of_the_summary(two: tuple[RunDirectory, RunDirectory]) -> None:
    """It is told with its key path."""
    tamper_json(two[0].path / "summary.json", lambda s: s["jobs"].update(completed=6))
    assert messages(compared(two)) == "jobs.completed: expected 7, found 6"


def test_a_table_that_only_one_has(two: tuple[RunDirectory, RunDirectory]) -> None:
    """A replay with recorded reasons is not the replay of a run without them."""
    pq.write_table(pa.table({"round": [1]}), two[1].path / "reasons.parquet")
    assert "reasons.parquet is there: expected True, found False" in messages(compared(two))


def test_events(two: tuple[RunDirectory, RunDirectory]) -> None:
    """Lines are compared as they are; one that is missing is told too."""
    for one, lines in zip(two, ("a\nc\n", "a\nb\nd\n"), strict=True):
        (one.path / "events.jsonl").write_text(lines)
    assert messages(compared(two)).splitlines() == [
        "line 2: expected b, found c",
        "line 3: expected d, found None",
    ]


def test_an_interrupted_run_as_far_as_it_came(tmp_path: Path) -> None:
    """At 60, job 2 alone has ended; the figures are not those of the whole run."""
    run = write_run(tmp_path / "run", status="interrupted", until=60)
    again = write_run(tmp_path / "again")
    report = compare_replay(run, again)
    assert report.ok, messages(report)
    assert [check.looked_at for check in report.checks][:2] == [1, 2]
    later = write_run(tmp_path / "later", JOBS[:1] + JOBS[2:])
    assert "job 2: start_time: expected None, found 0" in messages(compare_replay(run, later))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, None),
        ({"versions": {"numpy": "0.1"}}, "it was made with numpy 0.1, and here is "),
        ({"plugins": {"gone": "1"}}, "it was made with gone 1, and here is none"),
        ({"status": "failed"}, "the run failed"),
        ({"status": "interrupted"}, None),
        ({"not_reproducible_because": ["a clock ran", "so did b"]}, "a clock ran; so did b"),
    ],
)
def test_why_not(change: dict[str, Any], why: str | None, tmp_path: Path) -> None:
    """Another version, another plugin, an error or a clock excuse a replay that differs."""
    run = write_run(tmp_path / "run")
    run = replace(run, manifest=run.manifest.model_copy(update=change))
    found = why_not_replayed(run, HERE)
    assert found is None if why is None else (found or "").startswith(why)
