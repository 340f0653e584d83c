"""The checks of the account of jobs and of the rounds, on numbers worked out by hand."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.summary import check_account, check_rounds
from hpcsched.audit.violations import Check
from hpcsched.runs.columns import rounds_schema
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import ROUNDS, SUMMARY, TIMING
from hpcsched.testing.replaying import run_columns
from hpcsched.workload.trace_source import TraceAccount
from tests.runs.hand_made import JOBS, REJECTED, SYSTEM, record_of, tamper_json, write_run

Jobs = dict[str, Any]
LEFT = run_columns([record_of(placed) for placed in (*JOBS, REJECTED)], SYSTEM)
"""Seven jobs that were completed, and one that the dispatcher rejected."""


def account() -> TraceAccount:
    """Return the account of a trace: eight jobs, and three records that were skipped."""
    made = TraceAccount(read=11, submitted=8)
    made.skipped.update(zero_run_time=2, no_request=1)
    made.clipped.update(run_time=4)
    return made


def stated() -> Jobs:
    """Return what a summary says of these jobs."""
    return {
        "read": 11,
        "skipped": {"zero_run_time": 2, "no_request": 1},
        "clipped": {"run_time": 4},
        "changed": {},
        "submitted": 8,
        "completed": 7,
        "killed": 0,
        "rejected": 1,
        "failed": 0,
        "rejected_by": {"dispatcher": 1},
    }


def test_an_account_that_balances() -> None:
    """Four states, what rejected, three sums and what the trace says: all is looked at."""
    check = check_account(stated(), LEFT, account(), partial=False)
    assert check.violations == [] and check.notes == []
    # States 4, rejected_by 1, submitted and read 2, both by the trace 2; skipped, clipped and
    # changed are there 3, with reasons 2 + 1 + 0.
    assert check.looked_at == 4 + 1 + 2 + 2 + 3 + 3


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (
            lambda jobs: jobs.update(waiting=1),
            ["jobs submitted: expected 9, found 8"],
        ),
        (
            lambda jobs: jobs.update(running=2),
            ["jobs submitted: expected 10, found 8"],
        ),
        (
            lambda jobs: jobs.update(not_yet_submitted=3),
            ["records read: expected 14, found 11"],
        ),
        (
            lambda jobs: jobs.pop("submitted"),
            [
                "jobs submitted: expected 8, found None",
                "records read: expected 3, found 11",
                "jobs submitted in the trace: expected 8, found None",
            ],
        ),
        (
            lambda jobs: jobs["skipped"].pop("no_request"),
            [
                "records read: expected 10, found 11",
                "skipped for no_request: expected 1, found 0",
            ],
        ),
        (
            lambda jobs: jobs.pop("skipped"),
            [
                "records read: expected 8, found 11",
                "jobs.skipped: it is there: expected True, found False",
                "skipped for no_request: expected 1, found 0",
                "skipped for zero_run_time: expected 2, found 0",
            ],
        ),
        (
            lambda jobs: jobs["clipped"].update(memory=1),
            ["clipped for memory: expected 0, found 1"],
        ),
        (
            lambda jobs: jobs.update(rejected_by={"over_shared_resource": 1}),
            ["jobs rejected_by: expected {'dispatcher': 1}, found {'over_shared_resource': 1}"],
        ),
    ],
)  # fmt: skip
def test_an_account_that_does_not(change: Callable[[Jobs], Any], found: list[str]) -> None:
    """Each sum that is off is told, and no other."""
    jobs = stated()
    change(jobs)
    assert check_account(jobs, LEFT, account(), partial=False).violations == found


def test_an_account_of_a_run_broken_off() -> None:
    """Two of eleven jobs wait and one runs; two were read ahead. The trace may go on."""
    jobs = stated() | {"read": 16, "submitted": 11, "waiting": 2, "running": 1}
    jobs["not_yet_submitted"] = 2
    check = check_account(jobs, LEFT, TraceAccount(), partial=True)
    assert check.violations == []
    assert check.notes == ["the run is partial: its account of the trace covers what it had read"]
    for key, message in (
        ("waiting", "jobs submitted: expected 12, found 11"),
        ("running", "jobs submitted: expected 12, found 11"),
        ("not_yet_submitted", "records read: expected 17, found 16"),
    ):
        wrong = jobs | {key: jobs[key] + 1}
        assert check_account(wrong, LEFT, TraceAccount(), partial=True).violations == [message]


@pytest.fixture(scope="module", name="honest")
def _honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run whose rounds are to be replaced."""
    return write_run(tmp_path_factory.mktemp("hand") / "run").path


@pytest.fixture(name="checked")
def _checked(honest: Path, tmp_path: Path) -> Callable[..., Check]:
    """Return what checks rounds that are given by some of their columns.

    Figures are those of rounds that no solver was asked in, unless others are given.
    """

    def checked(
        rounds: list[dict[str, Any]], timing: tuple[float | None, float | None], **figures: Any
    ) -> Check:
        shutil.copytree(honest, tmp_path / "run")
        none = dict.fromkeys(SYSTEM.resource_types, 0)
        base = {
            "now": 0, "queued": 0, "running": 0, "started": 0, "rejected": 0, "waiting": 0,
            "waiting_amounts": none, "free_amounts": none, "latency": 0, "lost_amounts": none,
            "decision_time": 0.0, "fallback": False, "solver": None,
        }  # fmt: skip
        rows = [{"round": k, **base, **row} for k, row in enumerate(rounds, start=1)]
        table = pa.Table.from_pylist(rows, schema=rounds_schema(SYSTEM))
        pq.write_table(table, tmp_path / "run" / ROUNDS)
        said = {"count": len(rows), "fallbacks": 0, "asked_solver": 0, "without_plan": 0}
        tamper_json(
            tmp_path / "run" / SUMMARY,
            lambda summary: summary.update(rounds=said | {"solver": {}} | figures),
        )
        mean, p99 = timing
        tamper_json(
            tmp_path / "run" / TIMING,
            lambda content: content.update(
                rounds={"decision_time_mean": mean, "decision_time_p99": p99}
            ),
        )
        return check_rounds(RunDirectory.open(tmp_path / "run"), STARTED)

    return checked


STARTED = run_columns([record_of(placed) for placed in JOBS[:3]], SYSTEM)
"""Three jobs: two start at 0 and one at 100."""
IN_TWO = [{"now": 0, "started": 2}, {"now": 90, "latency": 10, "started": 1}]
"""Rounds that start them; the second is carried out at 100."""


def test_rounds_that_add_up(checked: Callable[..., Check]) -> None:
    """Two rounds of 1 and 4 s, the second with a fallback, start three jobs."""
    rounds = [IN_TWO[0] | {"decision_time": 1.0}]
    rounds += [IN_TWO[1] | {"decision_time": 4.0, "fallback": True}]
    check = checked(rounds, (2.5, 4.0), fallbacks=1)
    assert check.violations == [] and check.notes == []
    # Rounds, fallbacks, statuses, asked, without plan, order, two times, rejected and started: 10;
    # and the instants 0 and 100.
    assert check.looked_at == 10 + 2


def call(status: str) -> dict[str, Any]:
    """Return a round in which a solver was asked, at the instant of others."""
    said = {"status": status, "jobs": 1, "variables": 1, "why": ""}
    times = dict.fromkeys(("build_time", "transform_time", "solve_time"), 0.0)
    return {"now": 0, "solver": said | times}


def test_what_the_solver_answered(checked: Callable[..., Check]) -> None:
    """Of six rounds that asked, two optimal and two feasible ones had a plan; two of six had none.

    That is more than one in ten, and the note says what to do.
    """
    statuses = ("optimal", "feasible", "unknown", "optimal", "overrun", "feasible")
    counts = {"optimal": 2, "feasible": 2, "unknown": 1, "overrun": 1}
    check = checked(
        [*(call(status) for status in statuses), *IN_TWO],
        (0.0, 0.0),
        solver=counts,
        asked_solver=6,
        without_plan=2,
    )
    assert check.violations == []
    (note,) = check.notes
    assert note.startswith("2 of 6 rounds with a solver had no plan: overrun 1, unknown 1; above")
    assert "give it a larger `budget`" in note


def test_few_rounds_without_a_plan(checked: Callable[..., Check]) -> None:
    """One of eleven is less than a tenth: it is noted, and no advice is given."""
    rounds = [*(call("optimal") for _ in range(10)), call("failed"), *IN_TWO]
    figures = {"solver": {"optimal": 10, "failed": 1}, "asked_solver": 11, "without_plan": 1}
    check = checked(rounds, (0.0, 0.0), **figures)
    assert check.violations == []
    assert check.notes == ["1 of 11 rounds with a solver had no plan: failed 1"]


def test_every_round_had_a_plan(checked: Callable[..., Check]) -> None:
    """Nothing is noted."""
    figures = {"solver": {"feasible": 1, "optimal": 1}, "asked_solver": 2}
    check = checked([call("feasible"), call("optimal"), *IN_TWO], (0.0, 0.0), **figures)
    assert check.violations == [] and check.notes == []


@pytest.mark.parametrize(
    ("third", "in_order"),
    [
        ({"now": 100}, True),  # as the second is carried out
        ({"now": 99}, False),  # after the first, before the second is carried out
        ({"now": 101, "latency": -1}, False),
    ],
)
def test_one_round_at_a_time(
    checked: Callable[..., Check], third: dict[str, int], in_order: bool
) -> None:
    """A round is held once the one before was carried out."""
    found = checked([*IN_TWO, third], (0.0, 0.0)).violations
    assert ("rounds in order of time, one at a time: expected True, found False" in found) != (
        in_order
    )


def test_times_of_no_rounds(checked: Callable[..., Check]) -> None:
    """There is no mean of none, and no percentile."""
    found = checked([], (None, None)).violations
    assert found == [
        "jobs started by all rounds: expected 3, found 0",
        "second 0: jobs started by rounds: expected 2, found 0",
        "second 100: jobs started by rounds: expected 1, found 0",
    ]


@pytest.mark.parametrize(("count", "mean", "p99"), [(100, 50.5, 99), (101, 51, 100), (99, 50, 99)])
def test_times_of_a_hundred_rounds(
    checked: Callable[..., Check], count: int, mean: float, p99: float
) -> None:
    """The 99th percentile of 100 times is the 99th of them, of 101 the 100th, of 99 the last.

    Times are 1 s, 2 s and so on, the longest first.
    """
    rounds = [{"decision_time": float(count - k)} for k in range(count - 1)]
    rounds += [{"now": 100, "decision_time": 1.0, "started": 1}]
    rounds[0] |= {"started": 2}
    assert checked(rounds, (mean, p99)).violations == []


def test_jobs_that_rounds_start(checked: Callable[..., Check]) -> None:
    """As many as the jobs say, at each instant: the first round is one short, the last one over."""
    rounds = [{"now": 0, "started": 1}, {"now": 50}, IN_TWO[1] | {"started": 2}]
    check = checked(rounds, (0.0, 0.0))
    assert check.violations == [
        "second 0: jobs started by rounds: expected 2, found 1",
        "second 100: jobs started by rounds: expected 1, found 2",
    ]
    assert check.looked_at == 10 + 3
