"""Failures of nodes in dumps of sacct, by hand."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.trace_calendar import time_zone
from hpcsched_slurm.logs.node_failures import FailuresFound, read_node_failures

HEADER = "JobID|Start|End|State|NodeList|FailedNode"
LOG = (
    HEADER,
    "1|0|100|NODE_FAIL|c1|c1",
    "1.batch|0|100|NODE_FAIL|c1|",
    "2|0|103|NODE_FAIL|c[1-2]|None assigned",
    "3|50|101|NODE_FAIL|c[1-2]|c1",
    "1|250|300|COMPLETED|c1|",
    "5|10|400|NODE_FAIL by 0|g1|",
    "6|300|500|COMPLETED|c2|",
    "7|Unknown|Unknown|PENDING|None assigned|",
    "8|450|Unknown|RUNNING|c[1-2]|",
)
"""Node c1 fails at 100, which jobs 1 and 3 tell; g1 fails at 400, and no job starts there again."""


def found(
    folder: Path, *lines: str, repair: int | None = None, all_nodes: bool = False
) -> FailuresFound:
    """Return what a dump of lines tells."""
    path = folder / "jobs"
    path.write_text("\n".join(lines))
    return read_node_failures(path, None, repair=repair, all_nodes=all_nodes)


def test_until_the_next_start(tmp_path: Path) -> None:
    """c1 is back at 250; g1 is down until 500, the last instant. Job 2 does not tell its node."""
    failures, counts = found(tmp_path, *LOG)
    assert failures == [("c1", 100, 250), ("g1", 400, 500)]
    assert counts == {"records": 4, "told_again": 1, "unnamed_node": 1, "not_seen_again": 1}


def test_all_nodes_of_a_job(tmp_path: Path) -> None:
    """With job 2, c1 fails at 103 as well, within the outage, and c2 from 103 until 300."""
    failures, counts = found(tmp_path, *LOG, all_nodes=True)
    assert failures == [
        ("c1", 100, 250),
        ("c2", 103, 300),
        ("g1", 400, 500),
    ]
    assert counts == {"records": 4, "told_again": 2, "not_seen_again": 1}


def test_a_time_for_repairs(tmp_path: Path) -> None:
    """Each outage takes 30 s, whatever starts; a failure after that is another one."""
    failures, _ = found(tmp_path, *LOG, "9|260|310|NODE_FAIL|c1|c1", repair=30)
    assert failures == [
        ("c1", 100, 130),
        ("c1", 310, 340),
        ("g1", 400, 430),
    ]


def test_a_log_that_ends_with_the_failure(tmp_path: Path) -> None:
    """No time is left after it."""
    failures, counts = found(tmp_path, HEADER, "1|0|9|NODE_FAIL|c1|")
    assert failures == []
    assert counts == {"records": 1, "not_seen_again": 1, "no_time": 1}


def test_records_that_are_none(tmp_path: Path) -> None:
    """They are an error with its line."""
    with pytest.raises(InputError, match=r"jobs:3: error: expected a job id such as 123"):
        found(tmp_path, HEADER, LOG[1], "x|0|9|NODE_FAIL|c1|")


def test_what_is_needed(tmp_path: Path) -> None:
    """The nodes of jobs, and a zone for local times."""
    with pytest.raises(InputError, match="the dump has no column State, NodeList, without which"):
        found(tmp_path, "JobID|Start|End", "1|0|9")
    local = "1|1970-01-01T01:00:00|1970-01-01T01:01:40|NODE_FAIL|c1|"
    with pytest.raises(InputError, match=r"expected --time-zone to name"):
        found(tmp_path, HEADER, local)
    again = "1|1970-01-01T01:02:00|1970-01-01T01:03:00|COMPLETED|c1|"
    (tmp_path / "local").write_text("\n".join([HEADER, local, again]))
    failures, _ = read_node_failures(tmp_path / "local", time_zone("Europe/Prague"))
    assert failures == [("c1", 100, 120)]
