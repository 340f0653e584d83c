"""The event loop from columns to columns, by hand."""

import pytest

from hpcsched.simulation.event_loop import FEW_JOBS, FEW_PLACES, EventLoop
from hpcsched.simulation.replay_output import Written
from hpcsched.workload.job_batches import JobColumns, NeedsPythonError, RequestNumbers, columns_of
from tests.builders import alike, easy, lists, parts, traced

JOBS = [traced(1, 0, 2, 10), traced(2, 1, 2, 5), traced(3, 2, 1, 8), traced(4, 20, 1, 3)]


def batches(*sizes: int) -> list[JobColumns]:
    """Return the jobs in batches of these sizes."""
    numbers, found, begin = RequestNumbers(), [], 0
    for size in sizes:
        found += columns_of(JOBS[begin : begin + size], numbers)
        begin += size
    return found


def started(written: list[Written]) -> dict[int, int]:
    """Return the start of each job that has left, by its place."""
    return {
        place: start
        for part in written
        for place, start in zip(
            part.left.sequence.tolist(), part.left.start_time.tolist(), strict=True
        )
    }


@pytest.mark.parametrize("uniform", [None, (1,)])
@pytest.mark.parametrize("sizes", [(4,), (1, 3), (1, 1, 1, 1)])
def test_starts_by_hand(uniform: tuple[int, ...] | None, sizes: tuple[int, ...]) -> None:
    """Two cores: job 3 is backfilled beside nothing, so all follow one another.

    Job 2 has the reservation at 10; job 3 would delay it until 10, and waits until 15.
    """
    loop = EventLoop(parts(alike(2, core=1), easy(), uniform_request=uniform))
    loop.plainly = True
    written = list(loop.run(batches(*sizes)))
    assert started(written) == {0: 0, 1: 10, 2: 15, 3: 20}
    assert (loop.waiting, loop.running, loop.submitted, loop.now) == (0, 0, 4, 23)
    rounds = [now for part in written for now in part.rounds.now.tolist()]
    assert rounds == [0, 1, 2, 10, 15, 20]


def test_places_are_written_if_they_are_wanted() -> None:
    """The nodes of each job, and its units there."""
    for places, nodes in ((True, [0, 1, 0, 1, 0, 1]), (False, [])):
        loop = EventLoop(parts(alike(2, core=1), easy()), places=places)
        loop.plainly = True
        written = list(loop.run(batches(4)))
        assert [node for part in written for node in part.left.nodes.tolist()] == nodes


def test_it_stops_between_two_instants() -> None:
    """Jobs are left in the system, and the loop says how many."""
    loop = EventLoop(parts(alike(2, core=1), lists()))
    loop.plainly = True
    for _ in loop.run(_stopping(loop)):
        pass
    assert loop.stopped
    assert (loop.waiting, loop.running) == (0, 1)
    assert loop.running_jobs.units.tolist() == [2]
    assert loop.allocated.tolist() == [2]


def _stopping(loop: EventLoop):
    first, *_ = batches(1, 3)
    yield first
    loop.stop()


def test_what_columns_cannot_hold() -> None:
    """Times out of order are for the loop that names the fault."""
    loop = EventLoop(parts(alike(2, core=1), easy()))
    loop.plainly = True
    late, early = batches(3, 1)[1], batches(3, 1)[0]
    with pytest.raises(NeedsPythonError):
        list(loop.run([late, early]))


@pytest.mark.parametrize(("nodes", "few"), [(1, FEW_JOBS), (1000, FEW_PLACES // 1000)])
def test_how_many_jobs_are_few(nodes: int, few: int) -> None:
    """On many nodes fewer jobs are worth loading compiled code."""
    assert EventLoop(parts(alike(nodes, core=1), easy())).few_jobs == few
