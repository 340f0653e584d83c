"""Checks of shared resources: draws, excess, figures, and recorded rows."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hpcsched.audit.columns import Replayed
from hpcsched.audit.shared_resource_checks import (
    changes_between,
    course_of,
    draws,
    largest_draws,
    offered_at,
    shared_resource_figures,
    shared_resource_records,
)
from hpcsched.audit.violations import Check
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from tests.runs.columns_by_hand import Row, audited, directory, seen
from tests.runs.hand_made import found_by

GROUPS = (NodeGroup("node", 2, {"core": 40, "mem": 80}),)
PER_CORE = Draw({"core": 1})


def job(job_id: int, start: int, end: int, cores: int, submit: int = 0, **more: Any) -> Row:
    """Return a job of units of one core and 4 of memory, all on node 0."""
    places = more.pop("places", {0: cores})
    return Row(job_id, start, end, places, submit, cores, (1, 4), **more)


def looked_at(
    resource: SharedResource, rows: Sequence[Row], jobs: Sequence[TracedJob] = (), **more: Any
) -> Replayed:
    """Return rows and the jobs of their trace in a system with a shared resource."""
    return seen(System(GROUPS, shared_resources=(resource,)), rows, jobs, **more)


def drawn(resource: SharedResource, rows: Sequence[Row], jobs: Sequence[TracedJob] = ()) -> Any:
    """Return from when on how much is drawn, and how much of it begins then."""
    course = course_of(resource, looked_at(resource, rows, jobs))
    return list(zip(*(column.tolist() for column in course), strict=True))


def found(
    resource: SharedResource, rows: Sequence[Row], jobs: Sequence[TracedJob] = ()
) -> list[str]:
    """Return what the checks of a shared resource find."""
    at = looked_at(resource, rows, jobs)
    return [*found_by(draws(at)), *found_by(largest_draws(at))]


def test_what_a_model_draws() -> None:
    """A core draws 2, a job 3, and a node 5 as long as jobs follow each other on it.

    Job 1 draws 2 · 2 + 3 = 7 and the node 5 from 0 on; job 3 in between 2 + 3 = 5. Job 2 follows at
    10 without a gap, until 20. At 22 job 4 has 2 · 2 + 3 = 7, and two nodes 10 more.
    """
    rows = [
        job(4, 22, 25, 2, places={0: 1, 1: 1}),
        job(2, 10, 20, 1),
        job(1, 0, 10, 2),
        job(3, 5, 8, 1),
        job(5, 30, 30, 1),  # draws nothing, as it has no length
        Row(6, units=9, request=(1, 4), state="rejected"),
    ]
    assert drawn(SharedResource("power", 99, Draw({"core": 2}, per_node=5, per_job=3)), rows) == [
        (0, 12, 12),
        (5, 17, 5),
        (8, 12, 0),
        (10, 10, 5),
        (20, 0, 0),
        (22, 17, 17),
        (25, 0, 0),
    ]


def test_what_the_trace_says_is_drawn() -> None:
    """Job 1 takes 2 licences, job 2 nothing of this one; its model does not count then."""
    rows = [job(1, 0, 10, 1), job(2, 5, 10, 1)]
    jobs = [
        rows[0].traced(shared_requests=(("licence", 2),)),
        rows[1].traced(shared_requests=(("x", 9),)),
    ]
    resource = SharedResource("licence", 9, Draw({"core": 2}, per_node=5, traced=True))
    assert drawn(resource, rows, jobs) == [(0, 2, 2), (5, 2, 0), (10, 0, 0)]


def test_nodes_that_do_not_exist() -> None:
    """Such a place is found elsewhere; here it counts as a node that is on."""
    rows = [job(1, 0, 10, 1, places={-1: 1})]
    assert drawn(SharedResource("power", 99, Draw(per_node=5)), rows) == [(0, 5, 5), (10, 0, 0)]


THREE = (Change(5, 4), Change(10, 6), Change(15, 12))


@pytest.mark.parametrize(
    ("resource", "offered", "changes"),
    [
        (SharedResource("power", 9, PER_CORE), {0: 9, 99: 9}, []),
        (SharedResource("power", 9, PER_CORE, THREE), {4: 9, 5: 4, 14: 6, 15: 12, 25: 12}, [10]),
        # What the period before ended with holds until the first change of the next.
        (
            SharedResource("power", 9, PER_CORE, THREE, every=20),
            {4: 9, 5: 4, 19: 12, 20: 12, 24: 12, 25: 4, 39: 12, 40: 12, 45: 4},
            [10, 15, 25, 30, 35, 45, 50],
        ),
        (
            SharedResource("power", 9, PER_CORE, (Change(0, 3), Change(6, 4)), every=20),
            {0: 3, 6: 4, 19: 4, 20: 3, 26: 4},
            [6, 20, 26, 40, 46],
        ),
    ],
)
def test_what_is_offered(
    resource: SharedResource, offered: dict[int, int], changes: list[int]
) -> None:
    """By second; changes are those after 5 and before 15 or, where they come again, 55."""
    assert offered_at(resource, np.array([*offered])).tolist() == list(offered.values())
    assert changes_between(resource, 5, 55 if resource.every else 15).tolist() == changes


FALLS = (Change(10, 5),)


@pytest.mark.parametrize(
    ("resource", "rows", "violations"),
    [
        # 8 of 8 are drawn, and 8 of 5 from 10 on, when nothing starts.
        (SharedResource("power", 8, PER_CORE, FALLS), [job(1, 0, 20, 3), job(2, 5, 20, 5)], []),
        # A job of no length starts then, and draws nothing.
        (SharedResource("power", 8, PER_CORE, FALLS), [job(1, 0, 20, 8), job(2, 12, 12, 1)], []),
        (
            SharedResource("power", 8, PER_CORE, FALLS),
            [job(1, 0, 20, 4), job(2, 10, 20, 2), job(3, 15, 20, 1)],
            [
                "second 10: expected at most 5 of power to be drawn where jobs start, found 6",
                "second 15: expected at most 5 of power to be drawn where jobs start, found 7",
            ],
        ),
        # At 15 job 2 follows on a node that is on, so that nothing more is drawn.
        (
            SharedResource("power", 8, Draw(per_node=8), FALLS),
            [job(1, 0, 15, 1), job(2, 15, 20, 1)],
            [],
        ),
        # Places that are not known draw nothing: 2 · 3 are drawn.
        (
            SharedResource("power", 6, Draw({"core": 3}, per_node=5), ((Change(1, 5)),)),
            [job(1, 2, 9, 2, places={})],
            [
                "second 2: expected at most 5 of power to be drawn where jobs start, found 6",
            ],
        ),
    ],
)
def test_starts(resource: SharedResource, rows: list[Row], violations: list[str]) -> None:
    """More may be drawn than is offered, but not where a job starts that draws something."""
    assert found(resource, rows) == violations
    assert found(resource, []) == []


ONCE = SharedResource("power", 30, PER_CORE, (Change(10, 20), Change(40, 8)))
AGAIN = SharedResource("power", 30, PER_CORE, (Change(10, 20), Change(40, 8)), every=100)


@pytest.mark.parametrize(
    ("resource", "submit", "most"),
    [
        (ONCE, 9, 30),
        (ONCE, 10, 20),
        (ONCE, 40, 8),
        (SharedResource("power", 5, PER_CORE, (Change(10, 20), Change(40, 8))), 9, 20),
        (AGAIN, 9, 30),
        (AGAIN, 10, 20),
        (AGAIN, 40, 20),
        (AGAIN, 300, 20),
    ],
)
def test_the_largest_draw(resource: SharedResource, submit: int, most: int) -> None:
    """Whatever is offered once after the first submission may be drawn, and no more.

    Jobs here have no length, so that it does not matter when they start; job 3 did not run.
    """
    rows = [
        job(1, 999, 999, most, submit),
        job(2, 999, 999, most + 1, submit),
        Row(3, submit=submit, units=99, request=(1, 4), state="rejected"),
    ]
    assert found(resource, rows) == [
        f"job 2: expected it to draw at most {most} of power, found {most + 1}"
    ]


def test_the_largest_draw_by_the_trace() -> None:
    """Job 2 of no length takes more licences than there are."""
    rows = [job(1, 0, 0, 1), job(2, 0, 0, 1)]
    jobs = [rows[0].traced(), rows[1].traced(shared_requests=(("licence", 4),))]
    resource = SharedResource("licence", 3, Draw(traced=True))
    assert found(resource, rows, jobs) == [
        "job 2: expected it to draw at most 3 of licence, found 4"
    ]


# From the trace's origin on 10 is offered, from 5 on 4, from 15 on 12, from 25 on 4 again.
COMES_AGAIN = SharedResource("power", 10, PER_CORE, (Change(5, 4), Change(15, 12)), every=20)
TWO = [job(1, 4, 12, 4, submit=2), job(2, 10, 30, 6, submit=3)]
FIGURES = {
    # 4 from 4 to 10, 10 until 12, and 6 until 30.
    "energy": 4 * 6 + 10 * 2 + 6 * 18,
    "mean": 152 / 28,
    "peak": 10,
    # 6 too much from 10 to 12, 2 too much until 15 and from 25 to 30.
    "over_cap_time": 2 + 3 + 5,
    "over_cap_energy": 6 * 2 + 2 * 3 + 2 * 5,
    "over_cap_peak": 6,
}
NOTHING = dict.fromkeys(FIGURES, 0) | {"mean": None}


@pytest.mark.parametrize(
    ("rows", "figures"),
    [
        (TWO, FIGURES),
        ([job(1, 3, 3, 4, submit=3)], NOTHING),
        ([Row(1, submit=3, units=1, request=(1, 4), state="rejected")], NOTHING),
        ([], NOTHING),
    ],
)
def test_figures(rows: list[Row], figures: dict[str, Any]) -> None:
    """Each is worked out again; one that is wrong is found, as are all that are missing."""
    at = looked_at(COMES_AGAIN, rows)

    def said(**stated: Any) -> list[str]:
        return found_by(shared_resource_figures(audited(at, run=SimpleNamespace(summary=stated))))

    assert said(shared_resources={"power": figures}) == []
    for name, value in figures.items():
        wrong = {**figures, name: 7}
        message = f"shared_resources.power.{name}: expected {value!r}, found 7"
        assert said(shared_resources={"power": wrong}) == [message]
    missing = [
        f"shared_resources.power.{name}: expected {value!r}, found None"
        for name, value in figures.items()
        if value is not None
    ]
    assert (
        said() == said(shared_resources={}) == said(shared_resources={"heat": figures}) == missing
    )


def test_figures_that_are_not_worked_out() -> None:
    """That of a partial run is told; a system without shared resources has none."""
    check = shared_resource_figures(audited(looked_at(COMES_AGAIN, TWO, partial=True)))
    assert check is not None
    assert check.violations == []
    assert check.notes == ["shared resources were not worked out again: jobs were left running"]
    assert shared_resource_figures(audited(seen(System(GROUPS), TWO))) is None


Level = tuple[int, int, int]


def recorded(folder: Path, rows: Sequence[Row], levels: Sequence[Level]) -> list[str]:
    """Return what is found in recorded rows of when, drawn and offered."""
    kind = pa.struct([("power", pa.int64())])
    columns = list(zip(*levels, strict=True)) or [(), (), ()]
    table = pa.table(
        {
            "time": pa.array(columns[0], pa.int64()),
            "drawn": pa.array([{"power": amount} for amount in columns[1]], kind),
            "offered": pa.array([{"power": amount} for amount in columns[2]], kind),
        }
    )
    run = directory(folder, shared_resources=table)
    return found_by(shared_resource_records(audited(looked_at(COMES_AGAIN, rows), run=run)))


LEVELS = [
    (2, 0, 10),
    (4, 4, 10),
    (5, 4, 4),
    (10, 10, 4),
    (12, 6, 4),
    (15, 6, 12),
    (25, 6, 4),
    (30, 0, 4),
]


@pytest.mark.parametrize(
    ("rows", "levels"),
    [
        (TWO, LEVELS),
        # Jobs of no length change nothing; the last second is there all the same.
        ([*TWO, job(3, 13, 13, 9), job(4, 33, 33, 9)], [(0, 0, 10), *LEVELS[1:], (33, 0, 4)]),
        ([Row(1, submit=3, units=1, request=(1, 4), state="rejected")], [(3, 0, 10)]),
        ([], []),
    ],
)
def test_recorded_rows(tmp_path: Path, rows: list[Row], levels: list[Level]) -> None:
    """There is a row where something changes, first and last second included, and no other."""
    assert recorded(tmp_path, rows, levels) == []
    more = [*levels, (99, 0, 4)]
    table = "shared_resources.parquet"
    assert recorded(tmp_path, rows, more) == [
        f"rows of {table}: expected {len(levels)}, found {len(more)}"
    ]
    if levels:
        time, amount, offered = levels[0]
        wrong = [(time, amount, offered + 1), *levels[1:]]
        both = (np.array(row) for row in (levels[0], wrong[0]))
        message = f"{table}, row 1: time, drawn and offered: expected {{}}, found {{}}"
        assert recorded(tmp_path, rows, wrong) == [message.format(*both)]


def test_recorded_rows_that_are_not_looked_at() -> None:
    """Those of a partial run, and where the system has no shared resources."""
    partial = looked_at(COMES_AGAIN, TWO, partial=True)
    none: list[Check | None] = [
        shared_resource_records(audited(at)) for at in (partial, seen(System(GROUPS), TWO))
    ]
    assert none == [None, None]
