"""Dispatchers as a scenario declares them, and what they decide in a round."""

from collections.abc import Iterable
from pathlib import Path

from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem
from hpcsched.plugins.manager import build_registry
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.loading import check_document
from hpcsched.system.system import System

REGISTRY = build_registry(external=False)
EMPTY = Path(__file__).with_name("empty.swf")


def assembled(system: System, dispatcher: str, *more: str) -> Assembly:
    """Return the parts of a scenario; the dispatcher and further keys are written in YAML."""
    groups = ", ".join(
        f"{{name: {group.name}, count: {group.count}, resources: {{"
        + ", ".join(f"{name}: {amount}" for name, amount in group.resources.items())
        + "}}"
        for group in system.groups
    )
    lines = (
        "name: declared",
        f"system: {{groups: [{groups}]}}",
        f"trace: {{source: swf, path: {EMPTY}}}",
        f"dispatcher: {dispatcher}",
        *more,
    )
    document = parse_document("\n".join(lines))
    scenario = check_document(document, "declared.yaml", registry=REGISTRY).scenario
    return assemble(scenario, REGISTRY).build_all()


def declared(system: System, dispatcher: str, *more: str) -> Dispatcher:
    """Return a dispatcher as a scenario declares it."""
    return assembled(system, dispatcher, *more).dispatcher


def started(dispatcher: Dispatcher, problem: DispatchingProblem) -> list[int]:
    """Return the jobs that start, ascending."""
    return sorted(start.job_id for start in dispatcher.dispatch(problem).starts)


def placed(dispatcher: Dispatcher, problem: DispatchingProblem) -> dict[int, dict[int, int]]:
    """Return how many units of each job that starts go to which node."""
    return {
        job_id: dict(zip(allocation.nodes, allocation.units, strict=True))
        for job_id, allocation in dispatcher.dispatch(problem).starts
    }


def in_turn(dispatcher: Dispatcher, problem: DispatchingProblem) -> list[int]:
    """Return the jobs in order of the starts that they are promised.

    One core must be free or become so, and every job ask for it, so that they come one by one.
    """
    decision = dispatcher.dispatch(problem._replace(explain=True))
    return [job_id for _, job_id in sorted(_times(decision.reasons, problem.now))]


def _times(reasons: Iterable, now: int) -> Iterable[tuple[int, int]]:
    for reason in reasons:
        yield (now if reason.time is None else reason.time), reason.job_id
