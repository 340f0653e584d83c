"""The monitor knows how far a replay has come, and changes nothing of it."""

import logging
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hpcsched.dispatching.decision import Decision, SolverCall
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.errors import InputError
from hpcsched.runs import watching
from hpcsched.runs.monitor import DAY, SLOW, Monitor, ReplayProgress, log_round
from hpcsched.runs.run_status import RunState, state_line, state_rows
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, OpenJobs, RequestNumbers, columns_of
from hpcsched.workload.trace_source import TraceAccount
from tests.builders import alike, lists, parts, traced


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
    system: System,
    jobs: list[TracedJob],
    interval: float = 0.0,
    most_jobs: int | None = None,
    *,
    dispatcher: Dispatcher | None = None,
    in_python: bool = True,
    comments: Sequence[str] = (),
    **more: Any,
) -> list[RunState]:
    """Return the states that were shown of a replay of jobs, first come first served.

    The monitor looks after each instant; those without a round are left out.
    """
    view = Shown(interval)
    outages = {name: more[name] for name in ("outages",) if name in more}
    trace = progress(0.5, most_jobs, len(jobs))
    of_replay = parts(system, lists() if dispatcher is None else dispatcher, **more)
    replaying = EventLoop(of_replay, seconds=0, in_python=in_python)
    monitor = Monitor(
        "followed", system, replaying, trace, [view], comments=lambda: comments, **outages
    )
    opened = OpenJobs()

    def read(columns: JobColumns) -> JobColumns:
        opened.add(columns)
        monitor.read(columns)
        return columns

    for left, rounds, *_, remarks in replaying.run(map(read, columns_of(jobs, RequestNumbers()))):
        monitor.replayed(opened.take(left.sequence), left, rounds, remarks)
    monitor.close()
    assert view.closed
    before = [0, *(state.rounds for state in view.states)]
    return [
        state
        for state, rounds in zip(view.states, before, strict=False)
        if state.phase != "replaying" or state.rounds > rounds
    ]


def told(state: RunState) -> dict[str, Any]:
    """Return what a state tells, but for what a clock measured."""
    content = state.model_dump()
    for name in ("process", "written", "elapsed", "decision_time", "remaining"):
        del content[name]
    return content


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
    jobs = [traced(1, 0, 4, 10), traced(2, 1, 1, 30), traced(3, 20, 2, 5)]
    states = follow(system, jobs, outages=service)
    seen = [
        (
            s.now,
            s.nodes and s.nodes.down,
            s.resources["core"].free,
            (s.shared_resources["power"].drawn, s.shared_resources["power"].capacity),
        )
        for s in states
    ]
    assert seen[0] == (None, 0, 4, (0, 100))
    assert seen[1] == (0, 0, 0, (90, 100))
    assert (10, 1, 1, (25, 60)) in seen
    assert seen[-1][1:] == (0, 4, (0, 60))
    assert all(s.nodes and s.nodes.count == 2 for s in states)


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

    jobs = [traced(1, 0, 1, 5)]
    last = follow(alike(1, core=1), jobs, dispatcher=RejectAll())[-1]
    assert (last.submitted, last.waiting, last.running, last.ended) == (1, 0, 0, 1)
    assert last.resources["core"].utilization_last_day is None


def test_calls_of_a_solver_are_counted_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    """By status; a call without a plan is logged with its round and why."""

    class Calls:
        """Starts what comes first, with a call of a solver that it tells of."""

        def __init__(self) -> None:
            self._first = lists()
            self._left = ["failed", "optimal", "failed"]

        def dispatch(self, problem):
            """Dispatch, and tell of a call."""
            status = self._left.pop()
            call = SolverCall(status, 1, 1, None, None, 0.0, 0.0, 0.0, "it was\ntired")
            return self._first.dispatch(problem)._replace(solver=call)

    jobs = [traced(n, n, 1, 1) for n in range(3)]
    caplog.set_level("INFO", "hpcsched")
    last = follow(alike(1, core=1), jobs, dispatcher=Calls())[-1]
    assert last.solver == {"failed": 2, "optimal": 1}
    assert caplog.messages == [
        f"round {number} at {number - 1} s: the solver had no plan: failed: it was tired"
        for number in (1, 3)
    ]


def test_code_and_python_show_the_same() -> None:
    """Two resource types, days of jobs: after each instant the same counts and amounts."""
    system = System((NodeGroup("n", 3, {"core": 4, "mem": 4096}),), {"mem": 1024})
    jobs = [
        traced(n, n * DAY // 7, 1 + n % 5, DAY // 3 + n * 5077 % DAY, (1 + n % 2, n % 3))
        for n in range(1, 60)
    ]
    python, code = (
        [told(state) for state in follow(system, jobs, most_jobs=400, in_python=in_python)]
        for in_python in (True, False)
    )
    assert python == code
    assert {state["waiting"] for state in code} > {0, 1, 2}


def test_dates_of_simulated_times() -> None:
    """They are by the clock of the log: its second 10 is 10:00:10 in Prague."""
    comments = ("UnixStartTime: 1709283600", "TimeZoneString: Europe/Prague")
    states = follow(alike(1, core=1), [traced(1, 10, 1, 5)], comments=comments)
    assert states[0].date is None
    assert states[1].date == "2024-03-01 10:00:10"
    assert ("simulated time", "2024-03-01 10:00:10 (10 s)") in list(state_rows(states[1]))
    assert "at 2024-03-01 10:00:10" in state_line(states[1])


FAILED = SolverCall("failed", 3, 9, None, None, 0.0, 0.0, 0.0, "ValueError:\n no luck")


def test_slow_rounds_and_solvers_without_a_plan(caplog: pytest.LogCaptureFixture) -> None:
    """A round is logged from one second on, and where its solver had no plan, with the reason."""
    caplog.set_level(logging.INFO, "hpcsched")
    log_round(1, 60, 4, SLOW / 2)
    log_round(2, 90, 4, SLOW / 2, FAILED._replace(status="feasible", why=""))
    assert caplog.messages == []
    log_round(3, 120, 4, 1.5)
    log_round(4, 150, 5, SLOW / 2, FAILED)
    assert caplog.messages == [
        "round 3 at 120 s was slow: 1.50 s with 4 queued jobs",
        "round 4 at 150 s: the solver had no plan: failed: ValueError: no luck",
    ]


def test_the_monitor_logs_rounds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each round of a replay goes through the log."""
    caplog.set_level(logging.INFO, "hpcsched")
    monkeypatch.setattr("hpcsched.runs.monitor.SLOW", 0.0)
    follow(alike(2, core=2), [traced(1, 0, 2, 100), traced(2, 10, 3, 50)])
    assert [message.split(" was slow")[0] for message in caplog.messages] == [
        "round 1 at 0 s",
        "round 2 at 10 s",
        "round 3 at 100 s",
    ]


def test_a_state_that_cannot_be_written_is_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on; the warning is shown without --verbose."""

    def fail(*_: object) -> None:
        raise InputError([])

    monkeypatch.setattr(watching, "write_state", fail)
    view = watching.StateFile(tmp_path)
    (state, *_) = follow(alike(1, core=1), [traced(1, 0, 1, 5)])
    view.show(state)
    view.show(state)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "`hpcsched status` shows an old state" in caplog.messages[0]
