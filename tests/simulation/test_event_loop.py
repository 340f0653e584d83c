"""The event loop from columns to columns, by hand."""

from collections.abc import Iterable, Iterator, Sequence

import pytest

from hpcsched.dispatching.decision import NOTHING, Decision
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem
from hpcsched.errors import DecisionError, PluginError
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.records import REFUSALS, Written
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of
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
    written = list(loop.run(batches(*sizes)))
    assert started(written) == {0: 0, 1: 10, 2: 15, 3: 20}
    assert (loop.state.waiting, loop.state.running, loop.state.submitted, loop.state.now) == (
        0,
        0,
        4,
        23,
    )
    rounds = [now for part in written for now in part.rounds.now.tolist()]
    assert rounds == [0, 1, 2, 10, 15, 20]


def test_places_are_written_if_they_are_wanted() -> None:
    """The nodes of each job, and its units there."""
    for places, nodes in ((True, [0, 1, 0, 1, 0, 1]), (False, [])):
        loop = EventLoop(parts(alike(2, core=1), easy()), places=places)
        written = list(loop.run(batches(4)))
        assert [node for part in written for node in part.left.nodes.tolist()] == nodes


def test_it_stops_between_two_instants() -> None:
    """Jobs are left in the system, and the loop says how many."""
    loop = EventLoop(parts(alike(2, core=1), lists()))
    for _ in loop.run(_stopping(loop)):
        pass
    assert loop.stopped
    assert (loop.state.waiting, loop.state.running) == (0, 1)
    assert loop.state.allocated.tolist() == [2]


def _stopping(loop: EventLoop):
    first, *_ = batches(1, 3)
    yield first
    loop.stop()


def test_what_columns_cannot_hold() -> None:
    """Times out of order are a fault of the trace source."""
    loop = EventLoop(parts(alike(2, core=1), easy()))
    late, early = batches(3, 1)[1], batches(3, 1)[0]
    with pytest.raises(PluginError, match="before a job"):
        list(loop.run([late, early]))


class Odd:
    """Rejects the jobs of odd numbers, starts what comes first of the others, and may fail."""

    def __init__(self, fails_in: int = 0) -> None:
        self._first, self._fails_in = lists(), fails_in

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the decision, or fail in a round."""
        if problem.round == self._fails_in:
            raise KeyError("a round")
        odd = tuple(job.job_id for job in problem.queue if job.job_id % 2)
        queue = tuple(job for job in problem.queue if job.job_id % 2 == 0)
        decision = self._first.dispatch(problem._replace(queue=queue)) if queue else NOTHING
        return decision._replace(rejected=odd, chosen=f"round {problem.round}")


def in_python(jobs: Sequence[TracedJob], dispatcher: Dispatcher) -> Iterator[Written]:
    """Replay jobs under a dispatcher in Python."""
    loop = EventLoop(parts(alike(2, core=1), dispatcher), seconds=0, in_python=True)
    return loop.run(columns_of(jobs, RequestNumbers()))


def left_by(written: Iterable[Written]) -> list[tuple[int, int, int, int]]:
    """Return place, start, end and place of the cause of the jobs that have left, in turn."""
    names = ("sequence", "start_time", "end_time", "rejected_by")
    return [
        row
        for part in written
        for row in zip(*(getattr(part.left, name).tolist() for name in names), strict=True)
    ]


def test_what_a_dispatcher_in_python_decides() -> None:
    """Jobs 1 and 3 are rejected as they come; job 2 runs from 1 to 6, job 4 from 20 to 23.

    At 20 one round is held. Jobs have nodes, and each round has what the dispatcher says of it.
    """
    written = list(in_python(JOBS, Odd()))
    dispatcher = REFUSALS.index("dispatcher")
    assert left_by(written) == [
        (0, 0, 0, dispatcher), (2, 2, 2, dispatcher), (1, 1, 6, -1), (3, 20, 23, -1),
    ]  # fmt: skip
    assert [node for part in written for node in part.left.nodes.tolist()] == [0, 1, 0]
    rounds = [now for part in written for now in part.rounds.now.tolist()]
    remarks = [one for part in written for one in part.remarks]
    assert rounds == [0, 1, 2, 20]
    assert [one.rejected for one in remarks] == [1, 0, 1, 0]
    assert [one.chosen for one in remarks] == ["round 1", "round 2", "round 3", "round 4"]


def test_many_rejections_in_one_round() -> None:
    """They are more than a table of the loop has rows at first."""
    jobs = [traced(2 * n + 1, 5, 1, 10) for n in range(5000)]
    left = left_by(in_python(jobs, Odd()))
    assert [place for place, *_ in left] == list(range(5000))
    assert {row[1:] for row in left} == {(5, 5, REFUSALS.index("dispatcher"))}


@pytest.mark.parametrize(("fails_in", "left"), [(3, [0]), (4, [0, 2, 1]), (5, [0, 2, 1, 3])])
def test_what_was_told_comes_before_an_error(fails_in: int, left: list[int]) -> None:
    """A dispatcher that fails at 2, at 20 or at 24: all that had left by then is written."""
    jobs = [*JOBS, traced(6, 24, 1, 2)]
    written = []
    with pytest.raises(DecisionError, match=f"round {fails_in}: "):
        for part in in_python(jobs, Odd(fails_in)):
            written.append(part)
    assert [place for place, *_ in left_by(written)] == left
    rounds = [number for part in written for number in part.rounds.round.tolist()]
    assert rounds == list(range(1, fails_in))
    assert sum(len(part.remarks) for part in written) == len(rounds)
