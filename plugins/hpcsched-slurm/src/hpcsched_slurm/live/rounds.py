"""One live round: from the state of a cluster to a checked decision with reasons, in time."""

from collections import Counter
from collections.abc import Collection, Mapping
from queue import Empty, Queue
from threading import Thread
from time import perf_counter
from typing import NamedTuple

from hpcsched.dispatching.decision import Decision, Reason, Start
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.errors import PluginError
from hpcsched.plugin_faults import culprit, raised
from hpcsched.simulation.check import BadDecisionError, check_decision
from hpcsched.simulation.records import RoundRecord
from hpcsched.system.cluster import ClusterJob, ClusterState
from hpcsched_slurm.live.snapshot import Asked, snapshot

_CORE = "core"
Used = Counter[tuple[str, str]]
"""Cores in use, by partition and node."""


def cores_in_use(state: ClusterState, starting: Collection[str]) -> Used:
    """Return the cores that jobs hold in partitions with a limit.

    Parameters
    ----------
    starting
        Keys of jobs that were told to start; they hold what they are going to.
    """
    used: Used = Counter()
    for job in state.jobs:
        if job.partition not in state.node_limits:
            continue
        placed: Mapping[str, Mapping[str, int]] = {}
        if job.phase == "running":
            placed = job.placed
        elif job.phase == "waiting" and job.key in starting and not job.held:
            placed = dict.fromkeys(job.wanted, job.amounts)
        for node, amounts in placed.items():
            used[job.partition, node] += amounts.get(_CORE, 0)
    return used


def within_node_limits(state: ClusterState, used: Used, starting: Collection[str]) -> ClusterState:
    """Return a state that limits waiting jobs to nodes with enough cores for their partition.

    A job without enough such nodes is blocked, with the limit as its reason.
    """
    if not state.node_limits:
        return state
    every = frozenset(node.name for node in state.nodes)

    def narrowed(job: ClusterJob) -> ClusterJob:
        most = state.node_limits.get(job.partition)
        if most is None or job.phase != "waiting" or (job.key in starting and not job.held):
            return job
        each = job.amounts.get(_CORE, 0)
        allowed = every if job.allowed is None else job.allowed
        left = frozenset(n for n in allowed if used[job.partition, n] + each <= most)
        if len(left) < job.units:
            return job._replace(phase="blocked", held=False, why=_words(job, most))
        return job if left == allowed else job._replace(allowed=left)

    return state._replace(jobs=tuple(map(narrowed, state.jobs)))


def together(
    starts: Collection[Start],
    jobs: Mapping[int, ClusterJob],
    names: tuple[str, ...],
    limits: Mapping[str, int],
    used: Used,
) -> tuple[tuple[Start, ...], tuple[Reason, ...]]:
    """Return the starts that keep to the limits together, and the reasons of the others.

    A dispatcher does not know of these limits. A start that is left out is decided again in the
    next round, which sees the nodes of the others.

    Parameters
    ----------
    jobs
        The cluster's jobs by number.
    names
        Names of the nodes by number.
    limits
        Maximum number of cores of a node, by partition.
    """
    used = used.copy()
    kept: list[Start] = []
    told: list[Reason] = []
    for start in starts:
        job = jobs[start.job_id]
        most = limits.get(job.partition)
        nodes = zip(start.allocation.nodes, start.allocation.units, strict=True)
        taken = {
            (job.partition, names[node]): units * job.amounts.get(_CORE, 0) for node, units in nodes
        }
        if most is not None and any(used[key] + cores > most for key, cores in taken.items()):
            told.append(Reason(start.job_id, "limit", detail=_words(job, most)))
            continue
        used.update(taken)
        kept.append(start)
    return tuple(kept), tuple(told)


def _words(job: ClusterJob, most: int) -> str:
    return f"partition {job.partition}: its jobs may use {most} cores of a node"


class Answer(NamedTuple):
    """A checked decision.

    Attributes
    ----------
    seconds
        Real seconds that it took.
    trouble
        Reason why it is not the dispatcher's own; empty if it is.
    """

    decision: Decision
    seconds: float
    trouble: str


class GuardedDispatcher:
    """Dispatcher with a limit on its decisions, in real seconds.

    It works in a thread of its own, which cannot be interrupted: while a late decision goes on, the
    following rounds are answered by list scheduling, first come, first served.
    """

    def __init__(self, dispatcher: Dispatcher, limit: float) -> None:
        self._dispatcher = dispatcher
        self._limit = limit
        self._substitute = list_rule(ArrivalOrder(), "backfill", FirstFit(), None)
        self._problems: Queue[DispatchingProblem] = Queue()
        self._answers: Queue[Decision | Exception] = Queue()
        self._late = False
        # A daemon: a decision that never ends must not keep the driver from ending.
        Thread(target=self._work, name="dispatcher", daemon=True).start()

    def warm_up(self, problem: DispatchingProblem, limit: float) -> None:
        """Answer a problem and drop the answer, so that all modules are loaded."""
        if not problem.queue:
            return
        usual, self._limit = self._limit, limit
        try:
            self.ask(problem)
        finally:
            self._limit = usual

    def ask(self, problem: DispatchingProblem) -> Answer:
        """Return an answer within the limit and the moment that list scheduling takes."""
        began = perf_counter()
        try:
            found = self._own_answer(problem)
            return Answer(found, perf_counter() - began, "")
        except (TimeoutError, BadDecisionError) as error:
            decision = self._substitute.dispatch(problem)._replace(fallback=True)
            check_decision(problem, decision)
            return Answer(decision, perf_counter() - began, str(error))

    def _own_answer(self, problem: DispatchingProblem) -> Decision:
        if self._late:
            try:
                # The late answer is about an earlier round, so it is dropped.
                self._answers.get_nowait()
            except Empty:
                raise TimeoutError("the dispatcher still thinks about an earlier round") from None
            self._late = False
        self._problems.put(problem)
        try:
            answer = self._answers.get(timeout=self._limit)
        except Empty:
            self._late = True
            raise TimeoutError(f"the dispatcher took more than {self._limit:g} s") from None
        if isinstance(answer, Exception):
            origin = culprit(answer) or "the dispatcher"
            told = str(answer) if isinstance(answer, PluginError) else f"{origin} {raised(answer)}"
            raise BadDecisionError(told)
        check_decision(problem, answer)
        return answer

    def _work(self) -> None:
        while True:
            problem = self._problems.get()
            try:
                self._answers.put(self._dispatcher.dispatch(problem))
            except Exception as error:  # whatever it is, the cluster goes on
                self._answers.put(error)


class Round(NamedTuple):
    """Result of a round.

    Attributes
    ----------
    jobs
        The cluster's jobs of the queue, by number.
    trouble
        Reason why the answer is not the dispatcher's own; empty if it is.
    beyond
        Held jobs that only the cluster's own scheduler can place.
    again
        Whether starts were left out that the next round may decide otherwise.
    """

    problem: DispatchingProblem
    jobs: Mapping[int, ClusterJob]
    starts: tuple[Start, ...]
    reasons: tuple[Reason, ...]
    record: RoundRecord
    trouble: str
    beyond: tuple[ClusterJob, ...] = ()
    again: bool = False


def hold_round(
    state: ClusterState,
    asked: Asked,
    asking: GuardedDispatcher,
    *,
    now: int,
    number: int,
) -> Round:
    """Ask a dispatcher about a cluster, at `now` in seconds since the site's origin."""
    began = perf_counter()
    used = cores_in_use(state, asked.starting)
    within = within_node_limits(state, used, asked.starting)
    problem, jobs, left_out, beyond = snapshot(within, asked, now, number)
    answer = asking.ask(problem)
    starts, late = together(answer.decision.starts, jobs, asked.site.names, state.node_limits, used)
    told = {reason.job_id for reason in late}
    own = tuple(reason for reason in answer.decision.reasons if reason.job_id not in told)
    answer = answer._replace(decision=answer.decision._replace(starts=starts))
    reasons = (*own, *late, *left_out)
    record = _record(problem, answer, perf_counter() - began)
    return Round(problem, jobs, starts, reasons, record, answer.trouble, beyond, bool(late))


def _record(problem: DispatchingProblem, answer: Answer, seconds: float) -> RoundRecord:
    """Return the record of a round; decisions take no time of the cluster's."""
    starts = answer.decision.starts
    types = range(len(problem.system.resource_types))
    starting = {start.job_id for start in starts}
    free = problem.availability.sum(axis=0).tolist()
    waited = [0 for _ in types]
    for job in problem.queue:
        sign = -1 if job.job_id in starting else 0
        for r in types:
            amount = job.units * job.unit_request[r]
            free[r] += sign * amount
            waited[r] += 0 if sign else amount
    return RoundRecord(
        problem.round,
        problem.now,
        len(problem.queue),
        # Negative numbers stand in for nodes that are down; a job on unlike nodes has several
        # entries.
        len({job.job_id for job in problem.running if job.job_id >= 0}),
        len(starts),
        0,
        len(problem.queue) - len(starts),
        tuple(waited),
        tuple(max(0, amount) for amount in free),
        0,
        tuple(0 for _ in types),
        seconds,
        answer.decision.fallback,
        answer.decision.solver,
        answer.decision.chosen,
        answer.decision.because,
    )
