"""What list scheduling would have started in the rounds of a run that asked a solver.

The run is replayed with the starts that it recorded, so that no solver is asked again and each
round meets the problem that the run met. In each of them list plans are made beside: in order of
arrival, of run time and of area, and of area over weight, of the same jobs on the same nodes, as
the run's dispatcher would have them with its default `orders`; and one in order of its priority.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.planning.plan_improver import Improved, PlanningRound, Plans
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.runs.directory import RunDirectory
from hpcsched.scenario import load_scenario
from hpcsched.simulation.event_loop import simulate
from hpcsched.studies.problems.solving import SAME_OBJECTIVE
from hpcsched.system.space import NodeAllocation

WITH_LISTS = ("dispatcher.orders=[fcfs, sjf, saf]",)
"""What makes of the run's scenario one whose dispatcher makes list plans."""


class BesideLists(NamedTuple):
    """Rounds of a run in which a solver was asked, beside the best list plan of each.

    Attributes
    ----------
    asked
        Rounds in which a solver was asked.
    choices
        Those of them with two jobs or more in the model: the others leave nothing to decide.
    proved
        Those of the choices in which the solver proved its plan to be the best.
    better, worse
        Those in which its plan cost less, or more, than the best list plan of the same jobs.
    other_jobs
        Those in which other jobs were started than the best list plan starts.
    other_than_first
        Those in which other jobs were started than the list plan in order of priority starts.
    fails
        The dead ends of its search in all rounds, where it tells.
    """

    asked: int
    choices: int
    proved: int
    better: int
    worse: int
    other_jobs: int
    other_than_first: int
    fails: int


@dataclass
class _Noting:
    """An improver that finds nothing, and keeps the list plans of the round."""

    plans: Plans | None = field(default=None, init=False)

    def improve(self, given: PlanningRound) -> Improved:
        """Keep the plans at hand."""
        self.plans = given.plans
        return Improved()


class _Retracing:
    """Starts what a run started, and has list plans made where it asked a solver."""

    def __init__(self, run: RunDirectory, planning: PlanningDispatcher) -> None:
        self._noting = _Noting()
        self._lists = replace(planning, improver=self._noting)
        self._starts = _starts_of(run)
        self._calls = _calls_of(run)
        self.counts = dict.fromkeys(BesideLists._fields, 0)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the starts that the run has at this instant, of jobs that are queued."""
        recorded = self._starts.get(problem.now, {})
        queued = {job.job_id for job in problem.queue}
        starts = {job: where for job, where in recorded.items() if job in queued}
        call = self._calls.get(problem.round)
        if call is not None:
            self._compare(problem, call, set(starts))
        return Decision(tuple(Start(job, where) for job, where in starts.items()))

    def _compare(
        self, problem: DispatchingProblem, call: Mapping[str, Any], started: set[int]
    ) -> None:
        counts = self.counts
        counts["asked"] += 1
        counts["fails"] += call["fails"] or 0
        if call["jobs"] < 2:
            return
        counts["choices"] += 1
        counts["proved"] += call["status"] == "optimal"
        self._noting.plans = None
        listed = {start.job_id for start in self._lists.dispatch(problem).starts}
        counts["other_jobs"] += listed != started
        plans = self._noting.plans
        if plans is None or plans.best is None:
            return
        jobs = plans.selection.jobs
        first = plans.planner.plan(range(len(jobs))).starts == 0
        counts["other_than_first"] += {jobs[i].job_id for i in first.nonzero()[0]} != started
        if call["objective"] is None or call["jobs"] != len(jobs):
            return
        value = plans.selection.bound(plans.value(plans.best))
        apart = SAME_OBJECTIVE * max(abs(value), abs(call["objective"]))
        counts["better"] += call["objective"] < value - apart
        counts["worse"] += call["objective"] > value + apart


def beside_lists(run: RunDirectory) -> BesideLists:
    """Return how the decisions of a planning dispatcher's run compare with list scheduling.

    Raises InputError where files of the run are damaged or its trace is gone.
    """
    assembly = assemble(load_scenario(run.scenario_path, WITH_LISTS))
    planning = assembly.dispatcher
    assert isinstance(planning, PlanningDispatcher)
    retracing = _Retracing(run, planning)
    # Starts are recorded by node, so no slots are counted.
    parts = parts_of(assembly, ())._replace(dispatcher=retracing, uniform_request=None)
    simulate(parts, assembly.source.jobs())
    return BesideLists(**retracing.counts)


def _starts_of(run: RunDirectory) -> Mapping[int, Mapping[int, NodeAllocation]]:
    """Return where jobs started, by instant and number."""
    found: dict[int, dict[int, NodeAllocation]] = {}
    columns = ("job_id", "start_time", "nodes", "node_units")
    for row in run.jobs.read(*columns).to_pylist():
        if row["start_time"] is not None:
            where = NodeAllocation(tuple(row["nodes"]), tuple(row["node_units"]))
            found.setdefault(row["start_time"], {})[row["job_id"]] = where
    return found


def _calls_of(run: RunDirectory) -> Mapping[int, Mapping[str, Any]]:
    """Return how the solver fared, by number of the round."""
    rows = run.rounds.read("round", "solver").to_pylist()
    return {row["round"]: row["solver"] for row in rows if row["solver"] is not None}
