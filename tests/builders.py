"""Small systems, jobs and replays, for tests that need one and not its details."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args

from hpcsched._core import Compression, Rule
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import (
    Dispatcher,
    DispatchingProblem,
    RunningJob,
    WaitingJob,
    plans_past_outages,
)
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit, KeepScarce
from hpcsched.dispatching.rules.core_rules import (
    CarriedBackfill,
    CarriedPromises,
    CarriedReservations,
    CoreRule,
    Option,
    list_rule,
)
from hpcsched.dispatching.rules.orders import KEYS, ArrivalOrder, ColumnKeyOrder, QueueOrder
from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.prediction.predictors import Actual
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import JobRecord, RoundRecord
from hpcsched.system.limits import LimitSet, SiteLimits
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.site_partitions import Partition

ORDERS: Mapping[str, QueueOrder] = {
    "fcfs": ArrivalOrder(),
    "sjf": ColumnKeyOrder(KEYS["sjf"]),
    "ljf": ColumnKeyOrder(KEYS["ljf"]),
    "saf": ColumnKeyOrder(KEYS["saf"]),
    "laf": ColumnKeyOrder(KEYS["laf"]),
    "spf": ColumnKeyOrder(KEYS["spf"]),
}
ALLOCATORS = {"first-fit": FirstFit(), "best-fit": BestFit(), "keep-scarce": KeepScarce()}


def per_user(jobs: int | None = None, nodes: int | None = None) -> SiteLimits:
    """Return limits of the running jobs of each user, and of their nodes; None: no limit."""
    amounts = {"jobs": jobs, "nodes": nodes}
    given = {name: amount for name, amount in amounts.items() if amount is not None}
    return SiteLimits(LimitSet(user=given))


def per_user_of(partition: Partition) -> tuple[int | None, int | None]:
    """Return the limits of the running jobs of each user, and of their nodes."""
    amounts = partition.limits.amounts.user
    return amounts.get("jobs"), amounts.get("nodes")


class NoObjective:
    """An objective that measures nothing."""

    def measure(self, jobs: Any) -> None:
        """Return nothing."""


class Told:
    """A predictor that is told beforehand what to say of each job."""

    def __init__(self, predictions: Mapping[int, int]) -> None:
        self._predictions = predictions

    def predict(self, job: Job) -> int:
        """Return what was told."""
        return self._predictions[job.job_id]

    def observe(self, job: Job, run_time: int) -> None:
        """Learn nothing."""


class Recorder(Observer):
    """Keeps all that a simulation tells."""

    def __init__(self) -> None:
        self.events: list[tuple[str, int]] = []
        self.jobs: dict[int, JobRecord] = {}
        self.rounds: list[RoundRecord] = []

    def job_submitted(self, job: WaitingJob) -> None:
        """Note a submission."""
        self.events.append(("submitted", job.job_id))

    def job_started(self, job: RunningJob) -> None:
        """Note a start."""
        self.events.append(("started", job.job_id))

    def job_ended(self, record: JobRecord) -> None:
        """Keep the record, of which there must be one a job."""
        assert record.job.job_id not in self.jobs
        self.jobs[record.job.job_id] = record
        self.events.append((record.state, record.job.job_id))

    def round_ended(self, record: RoundRecord) -> None:
        """Keep the record."""
        self.rounds.append(record)
        self.events.append(("round", record.now))

    @property
    def start_times(self) -> dict[int, int | None]:
        """The start time of each job."""
        return {job_id: record.start_time for job_id, record in sorted(self.jobs.items())}


class Spy:
    """A dispatcher that passes on to another, and shows each problem and decision to a function."""

    def __init__(self, dispatcher: Dispatcher, look: Any) -> None:
        self._dispatcher = dispatcher
        self._look = look
        self.plans_past_outages = plans_past_outages(dispatcher)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the other's decision."""
        decision = self._dispatcher.dispatch(problem)
        self._look(problem, decision)
        return decision


def one_type(*cores: int) -> System:
    """Return a system of nodes with these numbers of cores, each node a group of its own."""
    return System(tuple(NodeGroup(f"n{k}", 1, {"core": amount}) for k, amount in enumerate(cores)))


def alike(count: int, **resources: int) -> System:
    """Return a system of identical nodes."""
    return System((NodeGroup("node", count, resources),))


def traced(
    job_id: int,
    submit_time: int,
    units: int,
    run_time: int,
    unit_request: tuple[int, ...] = (1,),
    *,
    requested_time: int | None = None,
    **more: Any,
) -> TracedJob:
    """Return a job that requests its run time if nothing else is said."""
    requested = run_time if requested_time is None else requested_time
    asked = {name: more.pop(name) for name in Request._fields if name in more}
    request = Request(units, unit_request, **asked)
    return TracedJob(Job(job_id, submit_time, request, requested, **more), run_time)


def changed_request(job: Job, **changes: Any) -> Job:
    """Return a job that asks for something else."""
    return job._replace(request=job.request._replace(**changes))


OPTIONS: tuple[Option, ...] = get_args(Option)


def easy_rule(allocator: Any, *orders: QueueOrder | None) -> CoreRule:
    """Return EASY with a queue order and one behind the head job, or with those by default."""
    return CoreRule(Rule.EASY, allocator, *orders)


def relaxed_rule(allocator: Any, relaxation: float, *orders: QueueOrder | None) -> CoreRule:
    """Return relaxed backfilling."""
    carried = CarriedPromises()
    return CoreRule(Rule.RELAXED, allocator, *orders, carried=carried, relaxation=relaxation)


def conservative_rule(allocator: Any, compression: str = "arrival") -> CoreRule:
    """Return conservative backfilling."""
    return reserving(Rule.CONSERVATIVE, allocator, compression)


def slack_rule(
    allocator: Any, share: float, least_slack: int, compression: str = "arrival"
) -> CoreRule:
    """Return slack-based backfilling."""
    slack = {"slack_share": share, "least_slack": least_slack}
    return reserving(Rule.SLACK, allocator, compression, **slack)


def reserving(rule: Rule, allocator: Any, compression: str, **options: Any) -> CoreRule:
    """Return a rule that keeps reservations."""
    turns = Compression[f"BY_{compression.upper()}"]
    return CoreRule(rule, allocator, carried=CarriedReservations(), compression=turns, **options)


def slurm_backfill_rule(order: QueueOrder, allocator: Any, params: SlurmBackfillParams) -> CoreRule:
    """Return the rule of Slurm's two schedulers."""
    numbers = params.model_dump(exclude={"name", "order", "allocator", "bf_window"})
    carried, window = CarriedBackfill(), params.bf_window
    rule = Rule.SLURM_BACKFILL
    return CoreRule(rule, allocator, order, carried=carried, window=window, **numbers)


def lists(
    order: str = "fcfs",
    option: Option = "backfill",
    depth: int | None = None,
    allocator: str = "first-fit",
) -> CoreRule:
    """Return a list scheduler."""
    return list_rule(ORDERS[order], option, ALLOCATORS[allocator], depth)


def easy(allocator: str = "first-fit") -> CoreRule:
    """Return EASY."""
    return easy_rule(ALLOCATORS[allocator])


def parts(system: System, dispatcher: Dispatcher, **more: Any) -> Parts:
    """Return the parts of a simulation: the run times are foreseen if nothing else is said."""
    given = {"predictor": Actual(), "dispatcher_name": "tested", "objective": NoObjective(), **more}
    return Parts(system=system, dispatcher=dispatcher, **given)


def replay(
    system: System,
    dispatcher: Dispatcher,
    jobs: Iterable[TracedJob],
    observers: Sequence[Observer] = (),
    **more: Any,
) -> Recorder:
    """Replay jobs to the end and return what was told of them."""
    recorder = Recorder()
    simulation = EventLoop(
        parts(system, dispatcher, observers=(recorder, *observers), **more),
        places=False,
        in_python=True,
    )
    simulation.replay(jobs)
    assert simulation.state.waiting == simulation.state.running == 0
    return recorder
