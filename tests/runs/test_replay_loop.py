"""The loop of a replay: its records, its early end, and the plan of a whole trace."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.runs.assembly import Assembly, assemble, parts_of
from hpcsched.runs.run_status import read_state
from hpcsched.runs.runner import ReplayLoop, planned_offline
from hpcsched.runs.tables import ParquetTable
from hpcsched.scenario import load_scenario
from hpcsched.simulation.observer import Observer
from tests.builders import easy
from tests.workload.readers.swf_files import record, write

SCENARIO = """\
name: four-cores
system: {groups: [{name: node, count: 4, resources: {core: 1}}]}
trace: {source: swf, path: log.swf}
dispatcher: easy
predictor: actual
objective: af
"""
OFFLINE = SCENARIO.replace("easy", "order-search") + "simulation: {mode: offline}\n"

# Of three cores until 100; of all four for 50 s; of one for 60 s, which is backfilled at 20.
THREE = [record(1, 0, 100, 3), record(2, 10, 50, 4, 50), record(3, 20, 60, 1, 60)]
# Both need all cores, and job 2 is short.
LONG_BEFORE_SHORT = [record(1, 0, 100, 4), record(2, 1, 10, 4, 10)]


def assembled(folder: Path, lines: list[str], text: str = SCENARIO) -> Assembly:
    """Return a scenario over a log, with a folder for its run."""
    write(folder, lines)
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    (folder / "run").mkdir()
    return assemble(load_scenario(folder / "scenario.yaml"), folder=folder / "run")


def begun(assembly: Assembly, *observers: Observer) -> ReplayLoop:
    """Return the run of a scenario."""
    return ReplayLoop(assembly, observers)


def starts(assembly: Assembly) -> dict[int, int]:
    """Return the starts that were recorded, by job."""
    table = ParquetTable(assembly.folder / "jobs.parquet").whole()
    return dict(zip(*(table[name].to_pylist() for name in ("job_id", "start_time")), strict=True))


def test_all_jobs_are_recorded(tmp_path: Path) -> None:
    """Jobs start at 0, 100 and 20, and the last state says that all have ended."""
    assembly = assembled(tmp_path, THREE)
    run = begun(assembly)
    run.run()
    run.close()
    assert starts(assembly) == {1: 0, 2: 100, 3: 20}
    assert run.complete
    assert run.end.remaining == (0, 0)
    assert run.end.in_python == []
    state = read_state(assembly.folder)
    assert state is not None
    assert (state.submitted, state.ended, state.now) == (3, 3, 150)


class StopsAtStartOf(Observer):
    """Stops a run when a job starts."""

    def __init__(self, job_id: int) -> None:
        self.job_id = job_id
        self.run: ReplayLoop | None = None

    def job_started(self, job: RunningJob) -> None:
        """Stop the run if it is this job."""
        if job.job_id == self.job_id:
            assert self.run is not None
            self.run.stop()


def test_it_stops_after_the_instant(tmp_path: Path) -> None:
    """When job 3 starts, at 20, job 2 waits, job 1 runs, and no job has ended."""
    # Another observer takes the place of the log.
    assembly = assembled(tmp_path, THREE, SCENARIO + "observers: [event-log]\n")
    stops = StopsAtStartOf(3)
    run = stops.run = begun(assembly, stops)
    run.run()
    run.close()
    assert not run.complete
    assert run.end.remaining == (1, 2)
    assert starts(assembly) == {}
    rounds = ParquetTable(assembly.folder / "rounds.parquet").whole()
    assert rounds["now"].to_pylist() == [0, 10, 20]


class Planned:
    """EASY on-line; off-line, a plan that was made by hand: job 2 first."""

    allocator = FirstFit()

    def __init__(self) -> None:
        self._easy = easy()
        self.while_planning: Callable[[], None] = lambda: None
        self.online: Mapping[int, int] | None = None

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return EASY's decision."""
        return self._easy.dispatch(problem)

    def plan_offline(self, problem: OfflineProblem) -> OfflinePlan:
        """Note the schedule that planning begins with, and return the plan."""
        self.while_planning()
        self.online = problem.online
        starts = {1: 11, 2: 1}
        return OfflinePlan(starts, {}, None, "by hand")


def test_a_plan_of_the_whole_trace(tmp_path: Path) -> None:
    """It is carried out.

    Planning begins with the starts on-line, where job 1 goes first: 2 is not yet known at 0.
    """
    assembly = assembled(tmp_path, LONG_BEFORE_SHORT, OFFLINE)
    dispatcher = assembly.dispatcher = Planned()
    run = begun(assembly)
    run.run()
    run.close()
    assert dispatcher.online == {1: 0, 2: 100}
    assert starts(assembly) == {1: 11, 2: 1}
    summary = {"objective": {"value": 20.0}}
    assert run.more_figures(summary, complete=True)["offline"]["bound_by"] == "by hand"
    rounds = ParquetTable(assembly.folder / "rounds.parquet").whole()
    assert rounds["now"].to_pylist() == [0, 1, 11]


def test_planning_leaves_no_records(tmp_path: Path) -> None:
    """The schedule on-line is nobody's to follow; the dispatcher that comes back is another."""
    assembly = assembled(tmp_path, LONG_BEFORE_SHORT, OFFLINE)
    dispatcher = assembly.dispatcher = Planned()
    stops = StopsAtStartOf(1)  # fails if it is told of a start, as it has no run to stop
    parts = parts_of(assembly, [stops])
    plan, following = planned_offline(assembly, parts)
    assert plan.starts == {1: 11, 2: 1}
    assert following.dispatcher is not dispatcher
    assert following.observers == [stops]


def test_planning_is_interrupted(tmp_path: Path) -> None:
    """There is no instant to stop after while the trace is planned."""
    assembly = assembled(tmp_path, LONG_BEFORE_SHORT, OFFLINE)
    dispatcher = assembly.dispatcher = Planned()
    run = begun(assembly)
    dispatcher.while_planning = run.stop
    with pytest.raises(KeyboardInterrupt):
        run.run()
    run.close()
    assert starts(assembly) == {}
