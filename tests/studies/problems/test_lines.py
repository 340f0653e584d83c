"""Lines of a file of dispatching problems: what is right, and how faults are told."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from hpcsched.studies.problems.problem_files import ProblemLine, first_fault

JOB = {
    "job_id": 7,
    "submit_time": -5,
    "units": 2,
    "unit_request": [4, 0],
    "requested_time": 60,
    "predicted_run_time": 30,
}
LINE = {
    "round": 1,
    "now": 10,
    "jobs": [JOB],
    "placed": [{"job_id": 3, "start_time": 4, "nodes": [0, 2], "node_units": [1, 1]}],
    "running": [[3, 64]],
    "queue": [7],
}


def parsed(line: Any) -> ProblemLine:
    """Return a line that was read from JSON."""
    return ProblemLine.model_validate_json(json.dumps(line))


def fault(line: Any) -> str:
    """Return what is said of a line at fault."""
    with pytest.raises(ValidationError) as caught:
        parsed(line)
    return first_fault(caught.value)


def with_job(**changes: Any) -> dict[str, Any]:
    """Return the line with a changed job."""
    return LINE | {"jobs": [JOB | changes]}


def test_what_is_left_out() -> None:
    """A job that says nothing else belongs to nobody and may run on any nodes."""
    line = parsed(LINE)
    (job,), (placed,) = line.jobs, line.placed
    assert (job.job_id, job.submit_time, job.unit_request) == (7, -5, (4, 0))
    assert (job.user, job.allowed_nodes, job.exclusive, job.shared_requests) == (
        None, None, False, (),
    )  # fmt: skip
    assert (placed.nodes, placed.node_units) == ((0, 2), (1, 1))
    assert line.running == ((3, 64),)
    assert parsed({"round": 1, "now": 0, "queue": []}).jobs == ()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"now": 0, "queue": []}, "the key 'round' is missing"),
        (LINE | {"jobs": [JOB, {}]}, "jobs[1]: the key 'job_id' is missing"),
        (LINE | {"size": 1}, "there is no key 'size'"),
        (with_job(colour=1), "jobs[0]: there is no key 'colour'"),
        (LINE | {"running": [[3]]}, "running[0]: the key 1 is missing"),
    ],
)
def test_keys_and_items(line: Any, message: str) -> None:
    """What is missing, or is too much, is told with its place."""
    assert fault(line) == message


@pytest.mark.parametrize(
    ("line", "place"),
    [
        (with_job(units=0), "jobs[0].units: expected "),
        (with_job(units=2.0), "jobs[0].units: expected "),
        (with_job(units="2"), "jobs[0].units: expected "),
        (with_job(unit_request=[4, -1]), "jobs[0].unit_request[1]: expected "),
        (with_job(exclusive=1), "jobs[0].exclusive: expected "),
        (LINE | {"round": 0}, "round: expected "),
        (LINE | {"queue": 7}, "queue: expected "),
    ],
)
def test_values(line: Any, place: str) -> None:
    """No value is turned into another: 2.0 and "2" are no numbers of units."""
    message = fault(line)
    assert message.startswith(place)
    assert ", found " in message


def test_text_that_is_no_json() -> None:
    """The fault of the text is told."""
    with pytest.raises(ValidationError) as caught:
        ProblemLine.model_validate_json('{"round": ')
    assert first_fault(caught.value).startswith("expected JSON, found a fault in it: EOF")
