"""The check of reasons alone: of jobs that were there, in rounds that were held."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from hpcsched.audit.reason_checks import reasons
from hpcsched.audit.violations import Check
from tests.builders import alike
from tests.runs.columns_by_hand import Held, Row, audited, directory, seen
from tests.runs.hand_made import DECLARED

SYSTEM = alike(1, core=4)
BY_A_PLUGIN = DECLARED._replace(third_party_dispatcher=True)
ROUNDS = [Held(10, 12), Held(20, 23), Held(23, 23)]
# Job 1 was lost and started again; job 4 came just in time for the first round, 5 a second later.
TRACE = [Row(1), Row(2), Row(3), Row(4, submit=10), Row(5, submit=11)]
ATTEMPTS = [
    Row(1, 12, 15, state="requeued"),
    Row(1, 23, 30),
    Row(2, 23, 30),
    Row(3, state="rejected"),
]
Given = tuple[int, int, int, str | None, int | None, int | None]
"""Round, its second, job, kind, other job and time."""


def checked(
    folder: Path,
    given: Sequence[Given],
    attempts: Sequence[Row] = ATTEMPTS,
    *,
    partial: bool = False,
) -> Check:
    """Check a file of these reasons."""
    names = ("round", "now", "job_id", "kind", "job", "time")
    kinds = (pa.int64(), pa.int64(), pa.int64(), pa.string(), pa.int64(), pa.int64())
    table = pa.table(
        {
            name: pa.array([row[k] for row in given], kind)
            for k, (name, kind) in enumerate(zip(names, kinds, strict=True))
        }
        | {"detail": pa.array([""] * len(given), pa.string())}
    )
    run = directory(folder, partial=partial, reasons=table)
    at = seen(SYSTEM, attempts, TRACE, partial=partial)
    check = reasons(audited(at, ROUNDS, run=run, declared=BY_A_PLUGIN))
    assert check is not None
    return check


def test_right_reasons(tmp_path: Path) -> None:
    """A job may wait in one round of an instant, and start in the next."""
    given: list[Given] = [
        (1, 10, 1, "in_order", None, None),
        (1, 10, 2, "no_room", None, 10),
        (1, 10, 4, "reserved_for", 2, 99),
        (2, 20, 1, "behind", 5, None),
        (2, 20, 2, None, None, None),
        (2, 20, 3, "limit", None, None),
        (3, 23, 1, "backfilled", None, None),
        (3, 23, 2, "planned", None, None),
        (3, 23, 1, "no_room", None, None),
    ]
    check = checked(tmp_path, given)
    assert check.violations == []
    assert check.looked_at == len(given)


HELD = "expected a round that was held, in order of rounds"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([(0, 10, 1, None, None, None)], [f"round 0, job 1: {HELD}"]),
        ([(4, 10, 1, None, None, None)], [f"round 4, job 1: {HELD}"]),
        (
            [(2, 20, 1, None, None, None), (1, 10, 1, None, None, None)],
            [f"round 1, job 1: {HELD}"],
        ),
        (
            [(9, 20, 1, None, None, None), (2, 21, 1, None, None, None)],
            [f"round 9, job 1: {HELD}", "round 2, job 1: now: expected 20, found 21"],
        ),
        (
            [(1, 10, 5, None, None, None)],
            ["round 1, job 5: expected a job that was submitted by 10"],
        ),
        (
            [(1, 10, 9, None, None, None)],
            ["round 1, job 9: expected a job that was submitted by 10"],
        ),
        (
            [(1, 10, 2, "behind", 9, None)],
            ["round 1, job 2: job: expected one of the trace, found 9"],
        ),
        (
            [(1, 10, 2, "no_room", None, 9)],
            ["round 1, job 2: time: expected at least 10, found 9"],
        ),
        (
            [(1, 10, 2, "in_order", None, None)],
            ["round 1, job 2: kind: in_order, but the job did not start at 12"],
        ),
        (
            [(1, 10, 3, "planned", None, None)],
            ["round 1, job 3: kind: planned, but the job did not start at 12"],
        ),
        (
            [(1, 10, 1, "whim", None, None)],
            ["round 1, job 1: kind: expected a known one, found 'whim'"],
        ),
    ],
)
def test_wrong_reasons(tmp_path: Path, given: list[Given], found: list[str]) -> None:
    """Each is told with its round and its job; a start may be that of a later attempt."""
    assert checked(tmp_path, given).violations == found


def test_starts_of_a_partial_run(tmp_path: Path) -> None:
    """Jobs that it left running have no row, so that their starts are not known."""
    given: Any = [(1, 10, 3, "planned", None, None)]
    assert checked(tmp_path, given, partial=True).violations == []


@pytest.mark.parametrize("kind", [None, "limit"])
def test_waiting_after_the_last_start(tmp_path: Path, kind: str | None) -> None:
    """A job that has started for good at 12 has no reason to wait at 20."""
    check = checked(tmp_path, [(2, 20, 1, kind, None, None)], [Row(1, 12, 50)])
    message = "round 2, job 1: expected a job that waited, found it started at 12"
    assert check.violations == [message]


def test_a_run_without_reasons(tmp_path: Path) -> None:
    """There is nothing to check."""
    at = audited(seen(SYSTEM, ATTEMPTS, TRACE), ROUNDS, run=directory(tmp_path))
    assert reasons(at) is None
