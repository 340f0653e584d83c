"""The monitor of a replay in compiled code shows what that of single events shows."""

from typing import Any

from hpcsched.monitoring.column_monitor import ColumnMonitor
from hpcsched.monitoring.monitor import Monitor
from hpcsched.monitoring.run_state import RunState
from hpcsched.monitoring.state_board import DAY, StateBoard
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, OpenJobs, RequestNumbers, columns_of
from tests.builders import alike, lists, parts, replay, traced
from tests.monitoring.test_monitor import Shown, progress


def states(system: System, jobs: list[TracedJob]) -> list[RunState]:
    """Return the states that are shown of a replay in compiled code, after each instant."""
    view = Shown()
    replaying = EventLoop(parts(system, lists(), predictor=RequestedTime()), seconds=0)
    monitor = ColumnMonitor(StateBoard("followed", system, progress(0.5, 400), [view]), replaying)
    opened = OpenJobs()

    def read(columns: JobColumns) -> JobColumns:
        opened.add(columns)
        monitor.read(columns)
        return columns

    for left, held, *_ in replaying.run(map(read, columns_of(jobs, RequestNumbers(), 7))):
        monitor.replayed(opened.take(left.sequence), left, held)
    monitor.close()
    assert view.closed
    return view.states


def told(state: RunState) -> dict[str, Any]:
    """Return what a state tells, but for what a clock measured."""
    content = state.model_dump()
    for name in ("process", "written", "elapsed", "decision_time", "remaining"):
        del content[name]
    return content


def test_as_event_by_event() -> None:
    """Two resource types, days of jobs: after each instant the same counts and amounts."""
    system = System((NodeGroup("n", 3, {"core": 4, "mem": 4096}),), {"mem": 1024})
    jobs = [
        traced(n, n * DAY // 7, 1 + n % 5, DAY // 3 + n * 5077 % DAY, (1 + n % 2, n % 3))
        for n in range(1, 60)
    ]
    view = Shown()
    monitor = Monitor(StateBoard("followed", system, progress(0.5, 400), [view]))
    replay(system, lists(), jobs, [monitor], predictor=RequestedTime())
    monitor.close()
    by_now = {(state.phase, state.now): told(state) for state in view.states}
    seen = {(state.phase, state.now): told(state) for state in states(system, jobs)}
    # Where jobs only end, nothing is shown event by event, but in the end.
    both = seen.keys() & by_now.keys()
    assert {phase for phase, _ in both} == {"preparing", "replaying", "summarizing"}
    assert len(both) > 50
    assert {key: seen[key] for key in both} == {key: by_now[key] for key in both}
    assert {state["waiting"] for state in seen.values()} > {0, 1, 2}


def test_decision_times() -> None:
    """There are none before the first round; then mean, last and longest go together."""
    before, *_, last = states(alike(2, core=2), [traced(n, n, 1, 5) for n in range(1, 20)])
    assert before.decision_time.mean is None
    times = last.decision_time
    assert times.mean and times.last and times.longest
    assert 0 < times.mean <= times.longest
