"""The audit of runs that follow the starts of their log."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.audit.columns import due_times
from hpcsched.audit.job_checks import recorded_starts
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.system.system import System
from tests.builders import alike
from tests.dispatching.rules.test_recorded import write
from tests.runs.columns_by_hand import Row, audited, seen

SYSTEM = alike(2, core=1)
FIGURES = {"jobs": 2, "without_start": 0, "later": 1, "later_time": 4, "latest": 4}


def checked(
    system: System, rows: list[Row], waits: dict[int, int] | None, **summary: Any
) -> Check | None:
    """Check rows of a log with these waits, or of a run that follows none."""
    at = seen(system, rows)
    due = None if waits is None else due_times(at.trace, waits)
    return recorded_starts(audited(at, run=SimpleNamespace(summary=summary), due=due))


def test_honest_runs(tmp_path: Path) -> None:
    """A run passes whether its log fits or not."""
    write(tmp_path)
    for k, change in enumerate(([], ["trace.transforms=[{name: first, jobs: 1}]"])):
        done = run(load_scenario(tmp_path / "logged.yaml", change), tmp_path / str(k))
        report = audit_directory(done.directory)
        assert [check.violations for check in report.checks if check.count] == []


@pytest.mark.parametrize(
    ("starts", "waits", "changes", "violations"),
    [
        # Job 1 has both nodes from 5 to 9; job 2 was due at 1 + 4 = 5, and is 4 s late.
        ((5, 9), {1: 5, 2: 4}, {}, []),
        ((4, 9), {1: 5, 2: 4}, {}, ["job 1: start_time: expected 5 or later, found 4"]),
        ((5, 9), {1: 5, 2: 4}, {"later": 0}, ["recorded_starts.later: expected 1, found 0"]),
        ((5, 9), {1: 5, 2: 4}, {"without_start": 1}, ["without_start: expected 0, found 1"]),
        # Nobody ran from 1 on, when job 2 was due without its wait.
        (
            (5, 9),
            {1: 5},
            {"without_start": 1, "later_time": 8, "latest": 8},
            ["job 2: expected to start at 1, when 2 units were free, found it started at 9"],
        ),
    ],
)
def test_by_hand(
    starts: tuple[int, int], waits: dict[int, int], changes: dict[str, Any], violations: list[str]
) -> None:
    """A start that is too early is noticed, a figure that is wrong, and a delay without reason."""
    first, second = starts
    rows = [
        Row(1, first, 9, {0: 1, 1: 1}, submit=0, units=2),
        Row(2, second, 12, {0: 1}, submit=1),
    ]
    check = checked(SYSTEM, rows, waits, recorded_starts={**FIGURES, **changes})
    assert check is not None
    assert len(check.violations) == len(violations)
    assert all(text in found for text, found in zip(violations, check.violations, strict=True))


def test_figures_must_be_there_or_not() -> None:
    """A run that follows its log says how closely; another says nothing, and is not checked."""
    assert checked(SYSTEM, [], None) is None
    for check in (checked(SYSTEM, [], {}), checked(SYSTEM, [], None, recorded_starts=FIGURES)):
        assert check is not None
        assert check.count == 1


def test_a_note_where_room_is_not_counted() -> None:
    """Whether jobs of several cores a unit had room depends on nodes: that is not worked out."""
    system = alike(2, core=4)
    rows = [Row(1, 5, 9, {0: 1}, request=(3,))]
    figures = {"jobs": 1, "without_start": 0, "later": 1, "later_time": 5, "latest": 5}
    check = checked(system, rows, {1: 0}, recorded_starts=figures)
    assert check is not None
    assert not check.count
    assert check.notes == ["whether late jobs lacked room was not checked: units are not all 1"]


def test_another_wait_in_the_log(tmp_path: Path) -> None:
    """A log whose waits were changed after the run does not agree with it."""
    done = run(load_scenario(write(tmp_path)), tmp_path / "run")
    log = tmp_path / "jobs.swf"
    log.write_text(log.read_text().replace("5 20 0 1", "5 20 2 1"))
    report = audit_directory(RunDirectory.open(done.directory.path))
    found = [text for check in report.checks for text in check.violations]
    assert any("recorded_starts.later_time: expected 23, found 25" in text for text in found)
