"""Outages in words: why a job waits for them, and why a node is closed."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.problem import waiting_job
from hpcsched.simulation.replay_events import LateStarts, OutageReasons
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.space import NodeAllocation
from tests.builders import alike, easy, parts, traced

SYSTEM = alike(3, core=1)
WEEKLY = Outage(100, 200, (0,), "maintenance", "weekly")
COURSE = Outage(150, 160, (1,), "reservation", "course")
BROKEN = Outage(10, 20, (2,), "failure")
ALL = Outages((BROKEN, WEEKLY, COURSE))
REASONS = OutageReasons(ALL, SYSTEM)


def state(*, down: tuple[int, ...] = (), clear_until: tuple[int, ...]) -> Any:
    """Return an instant: nodes that are out, and when each goes out next."""
    return SimpleNamespace(
        down=np.array([node in down for node in range(3)]), clear_until=np.array(clear_until)
    )


def test_announced_ones_by_start() -> None:
    """A failure is not announced; one that is over is gone."""
    assert REASONS.announced(0) == (WEEKLY, COURSE)
    assert REASONS.announced(170) == (WEEKLY,)


@pytest.mark.parametrize(
    ("run_time", "words"),
    [(50, ""), (120, "maintenance weekly"), (151, "maintenance weekly, reservation course")],
)
def test_what_a_job_would_reach(run_time: int, words: str) -> None:
    """At second 0 it would run into what begins before its end."""
    waiting = waiting_job(traced(1, 0, 3, run_time).job, run_time, SYSTEM)
    assert REASONS.closing(waiting, 0, state(clear_until=(100, 150, 10))) == words


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (0, "node node-0 goes out of service at 100, and the job is predicted to end at 120"),
        (1, None),
        (2, "node node-2 is out of service"),
    ],
)
def test_why_a_node_is_closed(node: int, words: str | None) -> None:
    """A job of 120 s would start at second 0, while the third node is out."""
    waiting = waiting_job(traced(1, 0, 1, 120).job, 120, SYSTEM)
    now = state(down=(2,), clear_until=(100, 150, 10))
    assert REASONS.closed_to(waiting, node, 0, now) == words


def test_a_start_that_comes_too_late() -> None:
    """The first closed node of its allocation is named."""
    now = state(down=(2,), clear_until=(100, 150, 10))
    late = LateStarts(parts(SYSTEM, easy(), outages=ALL))
    waiting = waiting_job(traced(1, 0, 2, 120).job, 120, SYSTEM)
    why = late.why(waiting, NodeAllocation((1, 2), (1, 1)), 0, now)
    assert why == "node node-2 is out of service"
