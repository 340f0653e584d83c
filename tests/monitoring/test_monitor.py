"""The monitor knows how far a replay has come, and changes nothing of it."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from hpcsched.dispatching.decision import Decision
from hpcsched.monitoring.monitor import Monitor
from hpcsched.monitoring.replay_progress import ReplayProgress
from hpcsched.monitoring.run_state import RunState
from hpcsched.monitoring.state_board import DAY, StateBoard
from hpcsched.monitoring.state_rendering import state_line, state_rows
from hpcsched.system.node_outages import Outage, Outages
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount
from tests.builders import alike, lists, replay, traced


class Shown:
    """A view that keeps what it is shown."""

    def __init__(self, interval: float = 0.0) -> None:
        self.interval = interval
        self.states: list[RunState] = []
        self.closed = False

    def show(self, state: RunState) -> None:
        """Keep the state."""
        assert not self.closed
        self.states.append(state)

    def close(self) -> None:
        """Take note."""
        self.closed = True


def progress(
    fraction: float | None = None, most_jobs: int | None = None, jobs: int = 0
) -> ReplayProgress:
    """Return the progress with a trace of which a share has been read, with so many jobs in it."""
    trace = SimpleNamespace(fraction_read=fraction, account=TraceAccount(read=jobs))
    return ReplayProgress(trace, most_jobs)


def follow(
    system: System, jobs: list[TracedJob], interval: float = 0.0, most_jobs: int | None = None
) -> list[RunState]:
    """Return the states that were shown of a replay of jobs, first come first served."""
    view = Shown(interval)
    monitor = Monitor(StateBoard("followed", system, progress(0.5, most_jobs, len(jobs)), [view]))
    replay(system, lists(), jobs, [monitor])
    monitor.close()
    assert view.closed
    return view.states


def test_counts_and_what_is_free() -> None:
    """Two jobs of two and three cores on four: the second waits for the first."""
    jobs = [traced(1, 0, 2, 100), traced(2, 10, 3, 50)]
    before, first, second, third, last = follow(alike(2, core=2), jobs, most_jobs=4)
    assert (before.phase, first.phase, last.phase) == ("preparing", "replaying", "summarizing")
    assert (before.now, before.decision_time.mean, before.progress) == (None, None, 0)
    assert before.resources["core"].free == 4
    seen = [
        (s.now, s.submitted, s.waiting, s.running, s.ended, s.resources["core"].free, s.progress)
        for s in (first, second, third, last)
    ]
    assert seen == [
        (0, 1, 0, 1, 0, 2, 0),
        (10, 2, 1, 1, 0, 2, 0),
        (100, 2, 0, 1, 1, 1, 0.25),
        (150, 2, 0, 0, 2, 4, 0.5),
    ]
    # By hand: 2 cores for 100 s, then 3 for 50 s, of 4 cores for 150 s.
    assert first.resources["core"].utilization_last_day is None
    assert second.resources["core"].utilization_last_day == 0.5
    assert last.resources["core"].utilization_last_day == (200 + 150) / 600
    assert last.rounds == 3
    times = last.decision_time
    assert times.mean and times.last and times.longest
    assert 0 < times.mean <= times.longest
    assert times.last == third.decision_time.last


def test_shared_resources_and_outages() -> None:
    """Node 0 is serviced from 10 to 30, and power falls from 100 to 60 W until 50.

    A core draws 20 W and a node 5 W. Job 1 runs on both nodes from 0 to 10, and job 2 on node 1
    from 10 to 40. What is out of service is not free.
    """
    power = SharedResource(
        "power", 100, Draw({"core": 20}, per_node=5), (Change(10, 60), Change(50, 100))
    )
    system = System((NodeGroup("node", 2, {"core": 2}),), {}, (power,))
    service = Outages((Outage(10, 30, (0,), "maintenance", "service"),))
    view = Shown()
    monitor = Monitor(StateBoard("followed", system, progress(), [view], outages=service))
    jobs = [traced(1, 0, 4, 10), traced(2, 1, 1, 30), traced(3, 20, 2, 5)]
    replay(system, lists(), jobs, [monitor], outages=service)
    monitor.close()
    seen = [
        (
            s.now,
            s.nodes and s.nodes.down,
            s.resources["core"].free,
            (s.shared_resources["power"].drawn, s.shared_resources["power"].capacity),
        )
        for s in view.states
    ]
    assert seen[0] == (None, 0, 4, (0, 100))
    assert seen[1] == (0, 0, 0, (90, 100))
    assert (10, 1, 1, (25, 60)) in seen
    assert seen[-1][1:] == (0, 4, (0, 60))
    assert all(s.nodes and s.nodes.count == 2 for s in view.states)


def test_the_last_day_alone_counts() -> None:
    """A job of half the system before the last day, and one of the quarter in it."""
    jobs = [traced(1, 1000, 2, 1000), traced(2, 3 * DAY, 1, DAY // 2), traced(3, 4 * DAY, 1, 5)]
    *_, at_third, last = follow(alike(1, core=4), jobs)
    assert at_third.now == 4 * DAY
    assert at_third.resources["core"].utilization_last_day == 1 / 8
    held = (DAY // 2 - 5) + 5
    assert last.resources["core"].utilization_last_day == held / (4 * DAY)


def test_a_job_that_began_before_the_day_counts_from_its_beginning() -> None:
    """It has held its cores for all of the last day."""
    jobs = [traced(1, 0, 3, 10 * DAY), traced(2, 5 * DAY, 1, 1)]
    _, _, at_second, _ = follow(alike(1, core=4), jobs)
    assert at_second.resources["core"].utilization_last_day == 3 / 4


def test_amounts_are_as_declared() -> None:
    """Counted in units inside, told in what the system is declared in."""
    system = System((NodeGroup("n", 2, {"core": 2, "mem": 4096}),), {"mem": 1024})
    *_, first, _ = follow(system, [traced(1, 0, 1, 10, (1, 2))])
    mem = first.resources["mem"]
    assert (mem.capacity, mem.free) == (8192, 6144)


def test_progress_is_of_the_trace_where_no_number_of_jobs_is_given() -> None:
    """Half of the trace has two jobs: of four in all, none, one and two have ended."""
    jobs = [traced(1, 0, 1, 1), traced(2, 5, 1, 1)]
    states = follow(alike(1, core=1), jobs)
    assert sorted({state.progress for state in states}) == [0, 0.25, 0.5]


def test_states_are_made_when_they_are_due() -> None:
    """Once at the beginning and once at the end, if the interval is longer than the replay."""
    jobs = [traced(n, n, 1, 5) for n in range(1, 50)]
    assert [state.phase for state in follow(alike(1, core=1), jobs, interval=3600)] == [
        "preparing",
        "summarizing",
    ]
    for earlier, later in pairwise(follow(alike(1, core=1), jobs)):
        assert earlier.elapsed <= later.elapsed
        assert earlier.ended <= later.ended


def test_rejected_jobs_have_ended() -> None:
    """They are neither waiting nor running."""

    class RejectAll:
        """Rejects whatever it sees."""

        def dispatch(self, problem):
            """Reject the queue."""
            return Decision((), tuple(job.job_id for job in problem.queue))

    view = Shown()
    monitor = Monitor(StateBoard("rejected", alike(1, core=1), progress(), [view]))
    replay(alike(1, core=1), RejectAll(), [traced(1, 0, 1, 5)], [monitor])
    monitor.close()
    last = view.states[-1]
    assert (last.submitted, last.waiting, last.running, last.ended) == (1, 0, 0, 1)
    assert last.resources["core"].utilization_last_day is None
    assert last.progress is None


@pytest.mark.parametrize("interval", [0.0, 3600.0])
def test_nothing_of_the_replay_changes(interval: float) -> None:
    """Jobs end as they do without a monitor."""
    jobs = [traced(n, 7 * n, 1 + n % 3, 11 + n * 5 % 17) for n in range(1, 60)]
    view = Shown(interval)
    monitor = Monitor(StateBoard("same", alike(2, core=2), progress(), [view]))
    watched = replay(alike(2, core=2), lists(), jobs, [monitor])
    assert watched.jobs == replay(alike(2, core=2), lists(), jobs).jobs


def test_dates_of_simulated_times() -> None:
    """They are by the clock of the log: its second 10 is 10:00:10 in Prague."""
    comments = ("UnixStartTime: 1709283600", "TimeZoneString: Europe/Prague")
    view = Shown()
    board = StateBoard("dated", alike(1, core=1), progress(), [view], comments=lambda: comments)
    monitor = Monitor(board)
    replay(alike(1, core=1), lists(), [traced(1, 10, 1, 5)], [monitor])
    monitor.close()
    assert view.states[0].date is None
    assert view.states[1].date == "2024-03-01 10:00:10"
    assert ("simulated time", "2024-03-01 10:00:10 (10 s)") in list(state_rows(view.states[1]))
    assert "at 2024-03-01 10:00:10" in state_line(view.states[1])
