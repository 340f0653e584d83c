"""Decisions of the CP dispatchers: what each step takes, and what it brings over list plans.

Dispatching problems come from replays under EASY of made-up workloads on Eurora and ForHLR II, with
the queue cut to its first J jobs. Each formulation decides on the same problems, with its default
parameters. Usage: `python -m benchmarks.cp [FORMULATION...]`
"""

import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.cp.cp_improver import CpImprover
from hpcsched.dispatching.cp.solver_process import Answer, Solver, Task
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.planning.plan_improver import ListPlanner
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem, RunningJob, waiting_job
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.scenario import load_scenario
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, Request, System

SCENARIOS = Path(__file__).parents[1] / "scenarios"
WORKLOADS = {
    "eurora": ("eurora-day-easy.yaml", ["trace.load=6"]),
    "kit": ("kit-week-easy.yaml", ["trace.load=6"]),
}
FORMULATIONS = ("hcp19", "joint-now", "pcp21", "pcp20", "pcp4", "pcp19")
QUEUES = (10, 30, 50, 100)
PROBLEMS = 25
LARGE = 158_976


class Recording:
    """Decides as another dispatcher, and keeps problems with a queue of at least so many jobs."""

    def __init__(self, dispatcher: Dispatcher, jobs: int) -> None:
        self._dispatcher = dispatcher
        self._jobs = jobs
        self._seen = 0
        self.stop: Callable[[], None] = lambda: None
        self.problems: list[DispatchingProblem] = []

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Keep every tenth such problem where something can start, cut to so many jobs."""
        if len(self.problems) == PROBLEMS:
            self.stop()
        decision = self._dispatcher.dispatch(problem)
        if len(problem.queue) >= self._jobs and decision.starts:
            if self._seen % 10 == 0:
                self.problems.append(problem._replace(queue=problem.queue[: self._jobs]))
            self._seen += 1
        return decision


class Comparing:
    """Passes tasks on, and notes how the plans made of the answers compare with the list plan."""

    def __init__(self, solver: Solver) -> None:
        self._solver = solver
        self.gains: list[float] = []

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Return the answer; a gain is the share by which the best list plan costs more."""
        answer = self._solver.solve(task, seconds)
        data = task.data
        assert task.hint is not None
        at_hand = best = data.cost(task.hint.starts)
        if answer.plan is not None:
            order = np.lexsort((np.arange(data.job_count), answer.plan.starts))
            best = min(best, data.cost(ListPlanner(data).plan(order, answer.plan).starts))
            if task.formulation.binds == "plan":
                best = min(best, data.cost(answer.plan.starts))
        self.gains.append((at_hand - best) / at_hand if at_hand else 0.0)
        return answer

    def close(self) -> None:
        """Close the solver."""
        self._solver.close()


class Row(NamedTuple):
    """The figures of a formulation on some problems; times in milliseconds."""

    build: float
    transform: float
    solve: float
    total: float
    total_p99: float
    variables: float
    gain: float
    asked: int
    statuses: str


def recorded(workload: str, jobs: int) -> list[DispatchingProblem]:
    """Return problems with `jobs` jobs in the queue."""
    name, settings = WORKLOADS[workload]
    assembly = assemble(load_scenario(SCENARIOS / name, settings))
    recording = Recording(assembly.dispatcher, jobs)
    simulation = EventLoop(
        parts_of(assembly, [])._replace(dispatcher=recording), places=False, in_python=True
    )
    recording.stop = simulation.stop
    simulation.replay(assembly.source.jobs())
    return recording.problems


def enlarged(problem: DispatchingProblem, nodes: int) -> DispatchingProblem:
    """Return the same problem on a system with more nodes, all of which are taken for long."""
    system = problem.system
    group = system.groups[0]
    more = nodes - system.node_count
    larger = System((*system.groups, NodeGroup("more", more, group.resources)), system.units)
    request = system.request(group.resources)
    model = problem.running[0].waiting
    job = model.job._replace(job_id=1 << 40, request=Request(more, request))
    waiting = waiting_job(job, model.predicted_run_time, larger)
    where = NodeAllocation(tuple(range(system.node_count, nodes)), (1,) * more)
    end = problem.now + 10**7
    blocker = RunningJob(end, 1 << 40, problem.now, more, where, waiting)
    free = np.pad(problem.free_amounts, ((0, 0), (0, more)))
    return problem._replace(system=larger, running=(*problem.running, blocker), free_amounts=free)


def measured(formulation: str, problems: list[DispatchingProblem], workload: str) -> Row | None:
    """Decide on each problem and return the figures; None if no solver was asked."""
    name, settings = WORKLOADS[workload]
    chosen = [*settings, f"dispatcher={formulation}"]
    dispatcher = assemble(load_scenario(SCENARIOS / name, chosen)).dispatcher
    assert isinstance(dispatcher, PlanningDispatcher)
    improver = dispatcher.improver
    assert isinstance(improver, CpImprover)
    comparing = Comparing(improver.client.solver)
    improver.client = improver.client._replace(solver=comparing)
    for problem in problems:
        if dispatcher.dispatch(problem).solver is not None:
            break  # the solver's process has started
    comparing.gains.clear()
    calls, totals, statuses = [], [], {}
    for problem in problems:
        began = perf_counter()
        decision = dispatcher.dispatch(problem)
        total = perf_counter() - began
        if decision.solver is not None:
            calls.append(decision.solver)
            totals.append(total)
            statuses[decision.solver.status] = statuses.get(decision.solver.status, 0) + 1
        dispatcher.dispatch(problem._replace(queue=problem.queue[:1]))  # all jobs again next time
    comparing.close()
    if not calls:
        return None
    return Row(
        *(
            1e3 * median(getattr(call, f"{step}_time") for call in calls)
            for step in ("build", "transform", "solve")
        ),
        1e3 * median(totals),
        1e3 * sorted(totals)[min(int(0.99 * len(totals)), len(totals) - 1)],
        median(call.variables for call in calls),
        100 * sum(comparing.gains) / len(comparing.gains),
        len(calls),
        ", ".join(f"{count} {status}" for status, count in sorted(statuses.items())),
    )


def show(title: str, row: Row | None) -> None:
    """Print a row of the table."""
    if row is None:
        print(f"| {title} | no solver was asked | | | | | | |", flush=True)
        return
    print(
        f"| {title} | {row.build:.1f} | {row.transform:.1f} | {row.solve:.1f} |"
        f" {row.total:.0f} ({row.total_p99:.0f}) | {row.variables:.0f} | {row.gain:.2f} % |"
        f" {row.statuses} |",
        flush=True,
    )


def main() -> None:
    """Print the tables."""
    formulations = sys.argv[1:] or FORMULATIONS
    print("| problems | build ms | transform ms | solve ms | total ms (p99) | variables | gain | |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for workload in WORKLOADS:
        for jobs in QUEUES:
            problems = recorded(workload, jobs)
            for formulation in formulations:
                show(
                    f"{workload}, J = {jobs}, `{formulation}`",
                    measured(formulation, problems, workload),
                )
    problems = recorded("kit", 30)
    larger = [enlarged(problem, LARGE) for problem in problems]
    for formulation in formulations:
        for asked in (problems, larger):
            nodes = asked[0].system.node_count
            show(f"{nodes:,} nodes, J = 30, `{formulation}`", measured(formulation, asked, "kit"))


if __name__ == "__main__":
    main()
