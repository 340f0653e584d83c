"""`reasons.parquet`: what is written of reasons, and what is read back."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.dispatching.decision import Decision, Reason, Start
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.errors import InputError
from hpcsched.runs.observers import (
    ReasonRecorder,
    ReasonRow,
    jobs_that_speak_of,
    reasons_of,
)
from hpcsched.runs.recorder import ROW_GROUP
from hpcsched.runs.tables import ParquetTable
from hpcsched.simulation.records import RoundRecord
from hpcsched.system.space import NodeAllocation
from tests.builders import alike, replay, traced
from tests.runs.hand_made import write_run

Told = Sequence[Reason]


class Tells:
    """Starts jobs at their instants, and tells prepared reasons, by round; rejects job 99."""

    def __init__(self, starts: dict[int, int], reasons: dict[int, Told]) -> None:
        self._starts, self._reasons = starts, reasons

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return what was prepared."""
        due = [job.job_id for job in problem.queue if self._starts[job.job_id] == problem.now]
        return Decision(
            tuple(Start(number, NodeAllocation((0,), (1,))) for number in due if number != 99),
            tuple(number for number in due if number == 99),
            reasons=tuple(self._reasons.get(problem.round, ())) if problem.explain else (),
        )


def recorded(folder: Path, starts: dict[int, int], reasons: dict[int, Told]) -> list[ReasonRow]:
    """Replay jobs that are submitted at 0, 1, 2, … in order of numbers; return what is written."""
    recorder = ReasonRecorder(folder)
    jobs = [traced(number, k, 1, 10) for k, number in enumerate(sorted(starts))]
    replay(alike(1, core=40), Tells(starts, reasons), jobs, [recorder])
    recorder.close()
    rows = pq.read_table(folder / "reasons.parquet").to_pylist()
    return [ReasonRow(**row) for row in rows]


def test_only_changes_are_written(tmp_path: Path) -> None:
    """Kind, job, detail, and a first time: each makes a row; a time that moves or goes does not."""
    told = [
        Reason(1, "no_room"),
        Reason(1, "no_room", time=30),
        Reason(1, "no_room", time=40),
        Reason(1, "no_room"),
        Reason(1, "no_room", time=50),
        Reason(1, "reserved_for", 3),
        Reason(1, "reserved_for", 4),
        Reason(1, "reserved_for", 4, detail="once more"),
        Reason(1, "in_order"),
    ]
    starts = {1: 8} | {number: number - 1 for number in range(2, 10)}
    rows = recorded(tmp_path, starts, {k + 1: [reason] for k, reason in enumerate(told)})
    assert rows == [
        ReasonRow(1, 0, 1, "no_room", None, None, ""),
        ReasonRow(2, 1, 1, "no_room", None, 30, ""),
        ReasonRow(6, 5, 1, "reserved_for", 3, None, ""),
        ReasonRow(7, 6, 1, "reserved_for", 4, None, ""),
        ReasonRow(8, 7, 1, "reserved_for", 4, None, "once more"),
        ReasonRow(9, 8, 1, "in_order", None, None, ""),
    ]


def test_a_job_that_is_left_out(tmp_path: Path) -> None:
    """From where on no reason is given, that is said once; a job that has left has no such row."""
    reasons = {
        1: [Reason(1, "no_room")],
        2: [Reason(1, "no_room")],
        3: [Reason(1, "no_room"), Reason(99, "no_room")],
        # Nothing in rounds 4 and 5; then the same reason again.
        6: [Reason(1, "no_room")],
        7: [],
    }
    starts = {1: 6, 2: 1, 99: 2, 100: 3, 101: 4, 102: 5, 103: 6}
    rows = recorded(tmp_path, starts, reasons)
    assert [(row.round, row.job_id, row.kind) for row in rows] == [
        (1, 1, "no_room"),
        (3, 99, "no_room"),
        (4, 1, None),
        (6, 1, "no_room"),
    ]


def test_reading_back_across_row_groups(tmp_path: Path) -> None:
    """The rows of a job, and who speaks of it, are found in all of a file."""
    recorder = ReasonRecorder(tmp_path)
    numbers = ROW_GROUP + 10
    for number in range(numbers):
        record = RoundRecord(
            number, 2 * number, 1, 0, 0, 0, 1, (1,), (0,), 0, (0,), 0.0, False, None
        )
        kind = "reserved_for" if number in (3, numbers - 1) else "no_room"
        other = 7 if kind == "reserved_for" else None
        recorder.reasons_given(record, [Reason(number % 5, kind, other, detail=str(number))])
    recorder.close()
    table = ParquetTable(tmp_path / "reasons.parquet")
    assert pq.read_metadata(tmp_path / "reasons.parquet").num_row_groups == 3
    assert jobs_that_speak_of(table, 7) == [3, (numbers - 1) % 5]
    found = reasons_of(table, [3, 8])
    assert found[8] == []
    given = [row for row in found[3] if row.kind is not None]
    assert [row.detail for row in given] == [str(number) for number in range(3, numbers, 5)]
    assert given[0] == ReasonRow(3, 6, 3, "reserved_for", 7, None, "3")


def test_memory_is_bounded_by_the_queue(tmp_path: Path) -> None:
    """What is kept is of queued jobs alone."""
    kept: list[int] = []

    class Looked(ReasonRecorder):
        """Shows how much is kept."""

        def reasons_given(self, record: RoundRecord, reasons: Told) -> None:
            """Count after each round."""
            super().reasons_given(record, reasons)
            kept.append(len(self._last) + len(self._gone))

    starts = {number: number for number in range(1, 40)}
    reasons = {number: [Reason(number, "no_room")] for number in range(1, 40)}
    recorder = Looked(tmp_path)
    jobs = [traced(number, number - 1, 1, 1) for number in starts]
    replay(alike(1, core=40), Tells(starts, reasons), jobs, [recorder])
    recorder.close()
    assert max(kept) == 1


def test_a_run_without_reasons(tmp_path: Path) -> None:
    """What to do about it is said."""
    run = write_run(tmp_path / "run")
    with pytest.raises(InputError, match="no reasons were recorded: run it with --explain"):
        _ = run.reasons
