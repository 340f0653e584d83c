"""The checks that jobs are those of the trace, and when they ran, of rows made by hand."""

from dataclasses import replace
from typing import Any

import pytest

from hpcsched.audit import job_checks
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import Request
from hpcsched.workload.job import TracedJob
from tests.builders import changed_request
from tests.runs.hand_made import found_by, job, replayed, row

PLACES = {0: 2}
Changed = dict[str, Any]


def first(run_time: int = 50) -> TracedJob:
    """Return job 1, which is submitted at 10 and requests 101 s: 2 units of 2 cores and 1 mem."""
    return job(1, 10, 2, (2, 1, 0), 50)._replace(run_time=run_time)


# A unit of 2 of 16 cores holds 14 of 112 parts of the system, and job 1 has two.
DEMAND = 28
# Job 2 asks for 2^62 + 1 units, each the whole of the system: its demand is a float in the file.
HUGE = job(2, 10, 2**62 + 1, (16, 112, 2), 50)


def times(changed: Changed, run_time: int = 50, *, kill: bool = False) -> list[str]:
    """Return what is found of job 1 that ran from 20 on, with some values changed."""
    traced = first(run_time)
    at = replayed([traced], [row(traced, 20, PLACES, **changed)], kill_at_requested_time=kill)
    check = job_checks.times(at)
    assert check is not None
    assert check.looked_at == 1
    assert check.count == len(check.violations)
    return check.violations


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"start_time": 10, "end_time": 60}, []),
        (
            {"start_time": 9, "end_time": 59},
            ["start_time: expected at least 10, its submission, found 9"],
        ),
        ({"predicted_run_time": 1}, []),
        (
            {"predicted_run_time": 0},
            ["predicted_run_time: expected at least 1, found 0"],
        ),
        ({"end_time": 71}, ["end_time: expected 70, found 71"]),
        (
            {"state": "odd"},
            ["state: expected a known one, found 'odd'", "state: expected completed, found odd"],
        ),
        ({"state": "killed"}, ["state: expected completed, found killed"]),
        ({"rejected_by": "dispatcher"}, ["expected rejected_by of rejected jobs alone"]),
    ],
)
def test_times(changed: Changed, found: list[str]) -> None:
    """A start at submission and a prediction of 1 s are the least that is right."""
    assert times(changed) == [f"job 1: {text}" for text in found]


def test_a_job_that_failed_may_end_at_any_time() -> None:
    """When its node went is for another check to say."""
    assert times({"state": "failed", "end_time": 45}) == []


def test_run_times() -> None:
    """They are what lies between start and end."""
    at = replayed([first()], [row(first(), 20, PLACES)])
    at.jobs.run_time = at.jobs.run_time + 1
    assert found_by(job_checks.times(at)) == ["job 1: run_time: expected 50, found 51"]


@pytest.mark.parametrize(
    ("run_time", "end", "state"),
    [(100, 120, "completed"), (101, 121, "completed"), (102, 121, "killed"), (900, 121, "killed")],
)
def test_killing(run_time: int, end: int, state: str) -> None:
    """A job is killed that takes longer than the 101 s it requests; one that takes as long ends."""
    assert times({"end_time": end, "state": state}, run_time, kill=True) == []
    assert times({"end_time": 20 + run_time}, run_time) == []


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, []),
        ({"start_time": 20}, ["no start, end or places of a rejected job"]),
        ({"end_time": 20}, ["no start, end or places of a rejected job"]),
        ({"start_time": 20, "end_time": 70}, ["no start, end or places of a rejected job"]),
        ({"allocation": NodeAllocation((0,), (2,))}, ["no start, end or places of a rejected job"]),
        ({"rejected_by": None}, ["rejected_by of rejected jobs alone"]),
    ],
)
def test_rejected_jobs(changed: Changed, found: list[str]) -> None:
    """They have what rejected them and nothing of a job that ran."""
    at = replayed([first()], [row(first(), None, **changed)], kill_at_requested_time=True)
    assert found_by(job_checks.times(at)) == [f"job 1: expected {text}" for text in found]


def test_places_of_a_rejected_job_that_do_not_match() -> None:
    """Nodes without units, or units without nodes, are places too."""
    at = replayed([first()], [row(first(), None)], kill_at_requested_time=True)
    at.jobs.unpaired[:] = True
    expected = "job 1: expected no start, end or places of a rejected job"
    assert found_by(job_checks.times(at)) == [expected]


@pytest.mark.parametrize("missing", ["start_time", "end_time"])
def test_a_job_without_times(missing: str) -> None:
    """One that was not rejected must have both, and is looked at no further."""
    assert times({missing: None}) == [
        "job 1: state completed: expected a start and an end time, found none"
    ]


def requests(wanted: TracedJob, demand: float, changed: Changed, /, **in_trace: Any) -> list[str]:
    """Return what is found of a job and a demand, with values of the run and the trace changed."""
    asked = {name: changed.pop(name) for name in Request._fields if name in changed}
    job_of_run = wanted._replace(job=changed_request(wanted.job, **asked)._replace(**changed))
    at = replayed([wanted], [row(job_of_run, 20, PLACES, demand=0)])
    at.trace = replace(at.trace, **in_trace)
    at.jobs.demand[0] = demand
    check = job_checks.requests(at)
    assert check is not None
    assert check.looked_at == 1
    assert check.count == len(check.violations)
    return check.violations


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, None),
        ({"submit_time": 9}, "submit_time: expected 10, found 9"),
        ({"units": 3}, "units: expected 2, found 3"),
        ({"requested_time": 100}, "requested_time: expected 101, found 100"),
        ({"exclusive": True}, "exclusive: expected False, found True"),
        ({"one_unit_per_node": True}, "one_unit_per_node: expected False, found True"),
        ({"unit_request": (2, 2, 0)}, "unit_request of mem: expected 1, found 2"),
    ],
)
def test_requests(changed: Changed, found: str | None) -> None:
    """Each value is the trace's."""
    assert requests(first(), DEMAND, changed) == ([f"job 1: {found}"] if found else [])


def test_demands() -> None:
    """Whole numbers are compared exactly; one that the file cannot hold is a float there."""
    assert requests(first(), 29, {}) == ["job 1: demand: expected 28, found 29"]
    assert requests(first(), 28.5, {}) == ["job 1: demand: expected 28.0, found 28.5"]
    exact = 2**53 + 1
    assert requests(first(), exact, {}, demand=[exact]) == []
    assert requests(first(), 2**53, {}, demand=[exact]) == [
        f"job 1: demand: expected {exact}, found {2**53}"
    ]
    assert requests(HUGE, 112.0 * 2**62, {}) == []


@pytest.mark.parametrize(
    ("ids", "partial", "found"),
    [
        ((1, 2, 3), False, []),
        ((3, 1), True, []),
        ((3, 1), False, ["job 2: expected in the run, found only in the trace"]),
        (
            (1, 2, 3, 2, 3, 3),
            True,
            [
                "job 2: expected once in the run, found 2 times",
                "job 3: expected once in the run, found 3 times",
            ],
        ),
        ((1, 2, 3, 4), True, ["job 4: expected to be in the trace, found only in the run"]),
    ],
)
def test_presence(ids: tuple[int, ...], partial: bool, found: list[str]) -> None:
    """Three jobs are in the trace; a partial run may lack some."""
    rows = [row(job(k, 0, 1, (1, 0, 0), 5), 0, {0: 1}) for k in ids]
    at = replayed([job(k, 0, 1, (1, 0, 0), 5) for k in (1, 2, 3)], rows, partial=partial)
    check = job_checks.presence(at)
    assert check is not None
    assert (check.violations, check.looked_at) == (found, 3)


def test_a_job_that_is_twice_in_the_trace() -> None:
    """The trace is told, although a reader refuses such a trace before."""
    twice = [first(), first()]
    at = replayed(twice, [row(first(), 20, PLACES)])
    assert found_by(job_checks.presence(at)) == ["job 1: expected once in the trace, found 2 times"]
