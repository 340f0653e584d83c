"""The event log of a replay worked out by hand."""

import json
from pathlib import Path

from hpcsched.dispatching.rules.recorded import Reject
from hpcsched.runs.observers import EventLog
from hpcsched.system.outages import Outage, Outages
from tests.builders import alike, easy, replay, traced

SYSTEM = alike(2, core=1)


def logged(folder: Path) -> list[dict]:
    """Return what was written."""
    return [json.loads(line) for line in (folder / "events.jsonl").read_text().splitlines()]


def test_starts_rounds_and_interruptions(tmp_path: Path) -> None:
    """Both nodes fail at 2, so that job 1 waits until they are back at 4, and then runs its 6 s."""
    log = EventLog(tmp_path)
    outages = Outages((Outage(2, 4, (0, 1), "failure"),), True)
    replay(SYSTEM, easy(), [traced(1, 0, 2, 6)], [log], outages=outages)
    log.close()
    placed = {"job_id": 1, "nodes": [0, 1], "node_units": [1, 1]}
    assert logged(tmp_path) == [
        {"time": 0, "event": "submitted", "job_id": 1, "units": 2, "predicted_run_time": 6},
        {"time": 0, "event": "started", **placed},
        {"time": 0, "event": "round", "round": 1, "queued": 1, "started": 1, "waiting": 0},
        {"time": 2, "event": "interrupted", "job_id": 1, "requeued": True},
        {"time": 2, "event": "round", "round": 2, "queued": 1, "started": 0, "waiting": 1},
        {"time": 4, "event": "started", **placed},
        {"time": 4, "event": "round", "round": 3, "queued": 1, "started": 1, "waiting": 0},
        {"time": 10, "event": "completed", "job_id": 1},
    ]


def test_a_rejection_has_the_time_of_the_submission(tmp_path: Path) -> None:
    """A job that never runs has no other."""
    log = EventLog(tmp_path)
    replay(SYSTEM, Reject(), [traced(1, 3, 1, 6)], [log])
    log.close()
    assert logged(tmp_path)[1] == {"time": 3, "event": "rejected", "job_id": 1}
