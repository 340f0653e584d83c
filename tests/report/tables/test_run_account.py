"""The outcome of a run in lines, from summaries by hand."""

from typing import Any

import pytest

from hpcsched.report.tables.run_account import account_lines, recorded_starts_text

SUMMARY: dict[str, Any] = {
    "jobs": {
        "read": 12,
        "submitted": 10,
        "completed": 7,
        "killed": 2,
        "rejected": 1,
        "skipped": {"zero_run_time": 2},
        "clipped": {"run_time_over_request": 3},
        "rejected_by": {"never_fits": 1},
    },
    "metrics": {"mean_wait_time": 1234.5, "p2sf": None},
    "definitions": {
        "mean_wait_time": {"unit": "s", "parameters": {}},
        "p2sf": {"unit": "", "parameters": {"alpha": 2.0}},
    },
    "rounds": {"solver": {}},
    "objective": {"name": "makespan", "parameters": {}, "value": 125.0},
}


def test_jobs_and_metrics() -> None:
    """Jobs by outcome, what happened to records, then metrics in aligned columns."""
    assert list(account_lines(SUMMARY)) == [
        "12 records read, 10 jobs submitted: 7 completed, 2 killed, 1 rejected",
        "  2 skipped: zero_run_time",
        "  3 clipped: run_time_over_request",
        "  1 rejected: never_fits",
        "  mean_wait_time          1,234.5000 s",
        "  p2sf                             -     (alpha = 2.0)",
        "  makespan                  125.0000  (objective)",
    ]


def test_an_objective_that_is_a_metric() -> None:
    """It is marked, and has no second line; with other parameters it is not that metric."""
    as_metric = {"name": "p2sf", "parameters": {"alpha": 2.0}, "value": None}
    lines = list(account_lines({**SUMMARY, "objective": as_metric}))
    assert lines[-1] == "  p2sf                             -     (alpha = 2.0)  (objective)"
    other = {"name": "p2sf", "parameters": {"alpha": 3.0}, "value": 7.5}
    lines = list(account_lines({**SUMMARY, "objective": other}))
    assert lines[-2:] == [
        "  p2sf                             -     (alpha = 2.0)",
        "  p2sf                        7.5000     (alpha = 3.0)  (objective)",
    ]


def added(**more: Any) -> list[str]:
    """Return the lines that a summary with more parts has in addition."""
    before = list(account_lines(SUMMARY))
    return [line for line in account_lines({**SUMMARY, **more}) if line not in before]


def test_a_run_without_an_end() -> None:
    """A run that was interrupted early has no jobs that left."""
    jobs = {"read": 3, "submitted": 1, "rejected_by": {}}
    assert added(jobs=jobs) == ["3 records read, 1 jobs submitted: no end"]


def test_losses_are_in_node_hours() -> None:
    """5,400 node-seconds are 1.5 node-hours."""
    outages = {"interruptions": 4, "requeued": 3, "lost_node_seconds": 5400}
    assert added(outages=outages) == [
        "  lost to outages: 4 attempts, of which 3 were tried again, after 1.5 node-hours"
    ]


@pytest.mark.parametrize(
    ("drawn", "expected"),
    [
        ({"mean": 12.34, "peak": 4000, "over_cap_time": 0}, "12.3 in the mean, at most 4,000"),
        (
            {"mean": None, "peak": 0, "over_cap_time": 7200},
            "0.0 in the mean, at most 0; more than it offered for 7,200 s",
        ),
    ],
)
def test_shared_resources(drawn: dict[str, Any], expected: str) -> None:
    """Time above the offer is told where there is any."""
    assert added(shared_resources={"power": drawn}) == [f"  drawn from power: {expected}"]


def test_rounds_with_a_solver() -> None:
    """They are told of when there are any."""
    assert added(rounds={"solver": {"optimal": 7, "failed": 1}}) == [
        "  1 of 8 rounds with a solver had no plan: failed 1"
    ]


@pytest.mark.parametrize(
    ("offline", "expected"),
    [
        (
            {"value": 125.0, "lower_bound": 100.0, "gap": 0.2, "proved": False},
            "planned off-line for makespan: 125.0000, lower bound 100.0000, gap 20.00%",
        ),
        (
            {"value": 100.0, "lower_bound": 100.0, "gap": 0.0, "proved": True},
            "planned off-line for makespan: 100.0000, lower bound 100.0000,"
            " proved to be the best possible",
        ),
        (
            {"value": 100.0, "lower_bound": None, "gap": None, "proved": None},
            "planned off-line for makespan; no lower bound is known",
        ),
    ],
)
def test_offline_plans(offline: dict[str, Any], expected: str) -> None:
    """Value, lower bound and gap; or that there is no bound."""
    assert added(offline=offline) == [expected]


def test_recorded_starts() -> None:
    """Of 10 jobs 2 were late, by 90 s together; one has no start in the log."""
    figures = {"jobs": 10, "later": 2, "later_time": 90, "latest": 3600, "without_start": 1}
    text = (
        "8 of 10 jobs started when the log says; 2 later for want of room, by 45 s on average"
        " and at most 3,600 s; 1 have no recorded start"
    )
    assert recorded_starts_text(figures) == text
    assert added(recorded_starts=figures) == [f"  {text}"]
    punctual = {"jobs": 10, "later": 0, "later_time": 0, "latest": 0, "without_start": 0}
    assert recorded_starts_text(punctual) == "10 of 10 jobs started when the log says"
