"""The check of places alone: jobs on nodes that exist, that they may use, and that they fit on."""

from typing import Any

import numpy as np
import pytest

from hpcsched.audit.columns import read_trace
from hpcsched.audit.job_checks import places
from hpcsched.audit.violations import Check
from hpcsched.system.system import NodeGroup, System
from tests.runs.columns_by_hand import Row, seen
from tests.runs.hand_made import found_by

# Nodes 0 and 1 are thin, node 2 is fat.
SYSTEM = System((NodeGroup("thin", 2, {"core": 4}), NodeGroup("fat", 1, {"core": 8, "gpu": 1})))


def checked(rows: list[Row], **more: Any) -> Check:
    """Check rows against a trace that has the same jobs, of which the first says more."""
    first, *rest = rows
    check = places(seen(SYSTEM, rows, [first.traced(**more), *rest]))
    assert check is not None
    return check


def job(job_id: int, at: dict[int, int], cores: int = 1, units: int | None = None) -> Row:
    """Return a job that ran, and all of whose units are placed unless their number is given."""
    count = sum(at.values()) if units is None else units
    return Row(job_id, 0, 10, at, units=count, request=(cores, 0))


def test_right_places() -> None:
    """Nodes are filled to the last core, first and last node too; each of 4 places is looked at."""
    rows = [job(1, {0: 4, 2: 8}), job(2, {1: 1}), Row(3, request=(1, 0)), job(4, {2: 2}, cores=4)]
    check = checked(rows)
    assert check.violations == []
    assert check.looked_at == 4


@pytest.mark.parametrize(
    ("rows", "more", "found"),
    [
        ([job(1, {0: 2}, units=3)], {}, ["job 1: units placed: expected 3, found 2"]),
        ([job(1, {-1: 1})], {}, ["job 1: node: expected a number from 0 to 2, found -1"]),
        ([job(1, {3: 1})], {}, ["job 1: node: expected a number from 0 to 2, found 3"]),
        ([job(1, {0: 1, 1: 0})], {}, ["job 1, node 1: units: expected at least 1, found 0"]),
        (
            [job(1, {1: 5})],
            {},
            ["job 1, node thin-1: core: expected at most 4, its capacity, found 5"],
        ),
        (
            [job(1, {0: 1, 2: 1})],
            {"node_groups": frozenset({"thin"})},
            ["job 1: node: expected one of thin, found fat-0"],
        ),
        (
            [job(1, {1: 1})],
            {"node_groups": frozenset()},
            ["job 1: node: expected one of no group, found thin-1"],
        ),
        ([job(1, {0: 1}), job(2, {2: 1})], {"node_groups": frozenset({"thin"})}, []),
        ([job(1, {2: 1}), job(2, {0: 1})], {"node_groups": frozenset({"fat", "new"})}, []),
        (
            [job(1, {0: 1, 1: 1}), job(2, {2: 1})],
            {"allowed_nodes": frozenset({0})},
            ["job 1: node: expected one that it may use, found thin-1"],
        ),
        (
            [job(1, {0: 1, 2: 2}), job(2, {1: 2})],
            {"one_unit_per_node": True},
            ["job 1, node fat-0: units: expected 1 on each, found 2"],
        ),
    ],
)
def test_wrong_places(rows: list[Row], more: dict[str, Any], found: list[str]) -> None:
    """Only the place that is wrong is named; `more` is of the first job alone."""
    assert checked(rows, **more).violations == found


def test_a_node_that_is_named_twice() -> None:
    """Job 1 has node 1 twice, not in a row; that job 2 has the same nodes is no fault."""
    rows = [job(1, {0: 1, 1: 1, 2: 1}), job(2, {0: 1, 1: 1})]
    at = seen(SYSTEM, rows)
    at.jobs.node = np.array([1, 0, 1, 0, 1])
    assert found_by(places(at)) == ["job 1: node 1: expected once, found again"]


def test_other_numbers_of_units_than_of_nodes() -> None:
    """Such a job's places are left out, so that nothing else is said of it."""
    rows = [Row(1, 0, 10, units=2, request=(1, 0)), job(2, {0: 1})]
    at = seen(SYSTEM, rows)
    at.jobs.unpaired = at.jobs.job_id == 1
    assert found_by(places(at)) == ["job 1: expected units for each node, found other numbers"]


def test_jobs_that_the_trace_does_not_have() -> None:
    """They are left to the check of presence, also where the trace has no job at all."""
    unknown = [job(7, {9: 1}), job(8, {0: 1, 1: 1}, units=5)]
    for known in ([], [job(1, {0: 1})]):
        rows = [*unknown, *known]
        at = seen(SYSTEM, rows)
        at.trace = read_trace([one.traced() for one in known], SYSTEM)
        check = places(at)
        assert check is not None
        assert (check.violations, check.looked_at) == ([], len(known))
