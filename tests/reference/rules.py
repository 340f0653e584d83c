"""EASY and list scheduling by the book, with the reasons of each decision."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hpcsched.system.system import System
from hpcsched.workload.job import Job
from tests.reference.room import (
    Allocated,
    Closed,
    Free,
    Placed,
    fill,
    fits,
    free_at,
    preference,
    take,
)

Order = Callable[[Job, int, int], Any]
"""By what jobs are sorted: a function of a job, its predicted run time and its demand."""

BY_WAIT: dict[str, Callable[[Job, int, int, int], Any]] = {
    "slowdown": lambda job, time, _demand, now: -((now - job.submit_time) / time),
    "slowdown_then_area": lambda job, time, demand, now: (
        -((now - job.submit_time) / time),
        demand * time,
    ),
    "expected-wait": lambda job, time, demand, now: (
        -((now - job.submit_time) / (3 if job.queue == 1 else 2)),
        demand * time,
    ),
}
"""Orders that change with time; 3 s are expected of jobs in queue 1, 2 s of others."""

ORDERS: dict[str, Order] = {
    "fcfs": lambda _job, _time, _demand: 0,
    "sjf": lambda _job, time, demand: (time, demand),
    "ljf": lambda _job, time, demand: (-time, -demand),
    "saf": lambda _job, time, demand: demand * time,
    "laf": lambda _job, time, demand: -demand * time,
    "spf": lambda job, time, demand: (demand * time * time, demand * time, job.submit_time),
}


class Rule(NamedTuple):
    """What is followed, and in which orders.

    It is `easy`, `strict`, `greedy` or `backfill`; or, of `promises`, `committed`,
    `committed-backfill`, `relaxed`, `conservative` or `slack`: by which share of its wait, and by
    how much beside it, a job may be late. Some allocators know of scarce resource types.
    """

    name: str
    order: str = "fcfs"
    behind: str | None = None
    depth: int | None = None
    allocator: str = "first-fit"
    compression: str = "arrival"
    share: float = 0.0
    least_slack: int = 0
    scarce_resources: Sequence[str] | None = None


class Service(NamedTuple):
    """What is known of nodes: announced outages that are not over, and nodes out of service.

    On those of the latter that have failed nothing is planned. `open_now` has each job as one that
    may only use the nodes that stay in service for it if it starts now.
    """

    announced: Sequence[Closed]
    down: frozenset[int]
    failed: frozenset[int]
    open_now: Mapping[int, Job]


class Asked(NamedTuple):
    """What a round is about: who waits, who runs, and how long each is predicted to run."""

    now: int
    queue: Sequence[Job]
    running: Sequence[Allocated]
    predicted: dict[int, int]
    service: Service
    may_start: Callable[[Job, Sequence[Allocated]], bool] = lambda _job, _started: True


class Why(NamedTuple):
    """Why a job starts or waits, the job that this speaks of, and for when the job is planned.

    `at_first` is the start that it was promised, if it is planned for a later one.
    """

    job_id: int
    kind: str
    other: int | None = None
    time: int | None = None
    at_first: int | None = None


class Round:
    """One instant at which jobs wait: who starts, and where.

    `notes` say why others wait, and `kept` are reservations, in the order in which they were made.
    """

    def __init__(self, system: System, rule: Rule, asked: Asked) -> None:
        self.system, self.rule = system, rule
        self.now, queue, running, self.predicted, self.service, self.may_start = asked
        self.queue, self.holding = queue, list(running)
        self.started: list[Allocated] = []
        self.notes: dict[int, Why] = {}
        self.kept: dict[int, Allocated] = {}
        wanted = [0] * len(system.totals)
        for job in [*queue, *(held.job for held in running)]:
            for r, amount in enumerate(job.unit_request):
                wanted[r] += amount * job.units
        pairs = zip(wanted, system.totals, strict=True)
        self.pressure = [amount / total if total else 0.0 for amount, total in pairs]
        self.last_end = max([self.now, *(held.end for held in running)])
        self.look_ahead(queue)

    def look_ahead(self, queue: Sequence[Job]) -> None:
        """Look no further than the last job that runs, and then the longest of these.

        Or than the last outage that one of them could reach if it started now, and then the
        longest.
        """
        longest, known = max(self.predicted[job.job_id] for job in queue), self.service.announced
        near = [out.end for out in known if out.start < self.now + longest]
        reach = max([self.last_end, *near]) + longest
        self.closed = [out for out in known if out.start < reach]
        # Nothing is planned for the return of nodes that have failed.
        self.shut = [*self.closed, Closed(self.now, 1 << 62, sorted(self.service.failed))]
        # Units of one shape are counted only where no outage is looked at.
        self.counts = self.countable()

    def decide(self) -> list[Allocated]:
        """Return the starts."""
        waiting = self.in_turn()
        self.start_first(waiting)
        if waiting and self.rule.name == "strict":
            for job in waiting[1:]:
                self.note(job, "behind", waiting[0].job_id)
        elif waiting and self.rule.name == "greedy":
            for job in waiting:
                if self.within(job) and self.fits_now(job):
                    self.start(job)
        elif waiting and self.rule.name == "easy":
            self.pass_head_job(waiting[0], waiting[1:])
        elif waiting and self.rule.name == "backfill":
            self.reserve_for_all(waiting)
        return self.started

    def within(self, job: Job) -> bool:
        """Say whether limits let a job start beside what has been started."""
        return self.may_start(job, self.started)

    def start_first(self, waiting: list[Job]) -> None:
        """Take the first jobs out, up to one without room: they start, or are beyond a limit."""
        while waiting and (not self.within(waiting[0]) or self.fits_now(waiting[0])):
            job = waiting.pop(0)
            if self.within(job):
                self.start(job)

    def note(self, job: Job, kind: str, other: int | None = None, time: int | None = None) -> None:
        """Note why a job waits."""
        self.notes[job.job_id] = Why(job.job_id, kind, other, time)

    def reasons(self) -> list[Why]:
        """Return why each job starts or waits, in the order in which they were considered."""
        started = {held.job.job_id for held in self.started}
        first: int | None = None
        found = []
        for job in self.in_turn():
            name = job.job_id
            if name in started:
                kind = "in_order" if first is None else "backfilled"
                found.append(Why(name, kind, first))
            elif not self.within(job):
                found.append(Why(name, "limit"))
                first = name if first is None else first
            else:
                found.append(self.notes.get(name, Why(name, "no_room")))
                first = name if first is None else first
        return found

    def in_turn(self) -> list[Job]:
        """Return the jobs in the order in which they are considered."""
        return self.sorted(self.rule.order, self.queue)

    def sorted(self, order: str, jobs: Sequence[Job]) -> list[Job]:
        """Return jobs in an order, ties by arrival."""

        def key(job: Job) -> Any:
            demand = self.system.demand(job.units, job.unit_request)
            if order in BY_WAIT:
                return BY_WAIT[order](job, self.predicted[job.job_id], demand, self.now)
            return ORDERS[order](job, self.predicted[job.job_id], demand)

        return sorted(jobs, key=key)

    def fits_now(self, job: Job) -> bool:
        """Say whether a job fits on what is free now."""
        return self.holds(self.free(), self.service.open_now[job.job_id])

    def free(self) -> Free:
        """Return what is free now."""
        return free_at(self.system, self.now, self.now, self.holding, self.shut)

    def chosen(self, job: Job, free: Free) -> Placed:
        """Return where the allocator places a job that starts now."""
        rule, job = self.rule, self.service.open_now[job.job_id]
        order = preference(
            rule.allocator,
            self.system,
            free,
            job,
            self.pressure,
            scarce_resources=rule.scarce_resources,
        )
        return fill(job.units, fits(self.system, free, job), order)

    def start(self, job: Job, placed: Placed | None = None) -> None:
        """Start a job now."""
        placed = self.chosen(job, self.free()) if placed is None else placed
        held = Allocated(job, placed, self.now, self.now + self.predicted[job.job_id])
        self.holding.append(held)
        self.started.append(held)

    def pass_head_job(self, head: Job, others: Sequence[Job]) -> None:
        """EASY: start what does not delay the head job."""
        self.pass_head_job_by(head, others, self.shadow_time(head))

    def shadow_time(self, head: Job) -> int:
        """Return the earliest time at which a head job fits."""
        times = {self.now, *(held.end for held in [*self.holding, *self.closed])}
        return min(time for time in times if self.holds(self.free_for(head, time), head))

    def pass_head_job_by(self, head: Job, others: Sequence[Job], shadow: int) -> None:
        """Start what leaves a head job its room at a time."""
        system, then = self.system, self.free_for(head, shadow)
        self.note(head, "no_room", None, shadow)
        if self.rule.behind is not None:
            known = {job.job_id for job in others}
            others = [j for j in self.sorted(self.rule.behind, self.queue) if j.job_id in known]
        for job in others:
            if not self.within(job) or not self.fits_now(job):
                continue
            choices = [self.chosen(job, self.free())]
            if self.now + self.predicted[job.job_id] > shadow:
                choices.append(self.least_loss(job, head, then))
                lefts = [take(system, then, job, placed) for placed in choices]
                good = [k for k, left in enumerate(lefts) if self.holds(left, head)]
                if not good:
                    self.note(job, "reserved_for", head.job_id)
                    continue
                then, choices = lefts[good[0]], choices[good[0] :]
            self.start(job, choices[0])

    def free_for(self, head: Job, time: int) -> Free:
        """Return what is free for a job that starts at a time, on nodes that stay in service."""
        end = time + self.predicted[head.job_id]
        closed = [
            out._replace(start=time, end=end)
            for out in self.shut
            if out.start < end and time < out.end
        ]
        return free_at(self.system, time, self.now, self.holding, closed)

    def holds(self, free: Free, job: Job) -> bool:
        """Say whether a job fits on what is free."""
        return sum(fits(self.system, free, job)) >= job.units

    def least_loss(self, job: Job, head: Job, then: Free) -> Placed:
        """Return the placement that costs the head job little: first what costs it nothing."""
        system, job = self.system, self.service.open_now[job.job_id]
        room = fits(system, self.free(), job)
        of_head = fits(system, then, head)
        everywhere = {node: count for node, count in enumerate(of_head) if count}
        beside = fits(system, take(system, then, head, everywhere), job)
        free_of_cost = [min(a, b) for a, b in zip(room, beside, strict=True)]
        order = range(len(room))
        if sum(free_of_cost) >= job.units:
            return fill(job.units, free_of_cost, order)
        cost = {}
        for node, count in enumerate(room):
            if count:
                left = fits(system, take(system, then, job, {node: count}), head)
                cost[node] = (of_head[node] - left[node]) / count
        rest = fill(
            job.units - sum(free_of_cost),
            [a - b for a, b in zip(room, free_of_cost, strict=True)],
            sorted(cost, key=lambda node: (cost[node], node)),
        )
        return {
            node: free_of_cost[node] + rest.get(node, 0)
            for node in order
            if free_of_cost[node] + rest.get(node, 0)
        }

    def countable(self) -> bool:
        """Say whether all that wait ask for the same, of which any unit is as good as any other."""
        shapes = {
            (j.unit_request, j.node_groups, j.allowed_nodes, j.exclusive, j.one_unit_per_node)
            for j in self.queue
        }
        return (
            len(shapes) == 1
            and not self.closed
            and not (self.queue[0].exclusive or self.queue[0].one_unit_per_node)
        )

    def reserve_for_all(self, waiting: Sequence[Job]) -> None:
        """List scheduling with reservations, up to a depth."""
        for job in waiting:
            if not self.within(job) or self.start_beside(job):
                continue
            within = self.rule.depth is None or len(self.kept) < self.rule.depth
            other = self.in_the_way(job, list(self.kept))
            kind = "no_room" if within else "beyond_depth"
            time = self.reserve(job, self.now) if within else None
            self.note(job, kind if other is None else "reserved_for", other, time)

    def start_beside(self, job: Job) -> bool:
        """Start a job now if it keeps clear of all reservations."""
        if not self.fits_now(job) or not self.room_for(job, self.now):
            return False
        end = self.now + self.predicted[job.job_id]
        self.start(job, None if self.counts else self.chosen(job, self.least(self.now, end)))
        return True

    def in_the_way(self, job: Job, names: Sequence[int]) -> int | None:
        """Return whose reservation keeps a job waiting for which there is room; None if none does.

        It is the first that leaves too little for a start now, with those before it.
        """
        kept, self.kept = self.kept, {}
        found = None
        for name in names if self.fits_now(job) else ():
            self.kept[name] = kept[name]
            if not self.room_for(job, self.now):
                found = name
                break
        self.kept = kept
        return found

    def room_for(self, job: Job, start: int) -> bool:
        """Say whether a job could run from a time on beside all reservations."""
        end = start + self.predicted[job.job_id]
        if not self.counts:
            return self.holds(self.least(start, end), job)
        for time in self.changes(start, end, [*self.holding, *self.kept.values()]):
            free = free_at(self.system, time, self.now, self.holding)
            kept = sum(h.job.units for h in self.kept.values() if h.start <= time < h.end)
            if sum(fits(self.system, free, job)) - kept < job.units:
                return False
        return True

    def least(self, begin: int, end: int) -> Free:
        """Return the least that is free on each node beside all reservations."""
        holding = [*self.holding, *self.kept.values()]
        free = [
            free_at(self.system, time, self.now, holding, self.shut)
            for time in self.changes(begin, end, holding)
        ]
        nodes = zip(*free, strict=True)
        return [[min(of_type) for of_type in zip(*rows, strict=True)] for rows in nodes]

    def changes(self, begin: int, end: int, holding: Sequence[Allocated]) -> list[int]:
        """Return the times from one on to before another at which anything may change."""
        times = {begin, *(held.start for held in holding), *(held.end for held in holding)}
        times |= {time for out in self.closed for time in (out.start, out.end)}
        return [time for time in times if begin <= time < end]

    def reserve(self, job: Job, release: int) -> int:
        """Reserve room at the earliest time from another on, and return it."""
        ends = [held.end for held in [*self.holding, *self.kept.values(), *self.closed]]
        times = sorted({release, *(end for end in ends if end > release)})
        start = next(time for time in times if self.room_for(job, time))
        self.hold(job, start)
        return start

    def hold(self, job: Job, start: int) -> None:
        """Reserve room from a time on, at which there is some: where scarce resources are kept."""
        end, placed = start + self.predicted[job.job_id], {}
        if not self.counts:
            least, everywhere = self.least(start, end), [1.0] * len(self.system.totals)
            order = preference("keep-scarce", self.system, least, job, everywhere)
            placed = fill(job.units, fits(self.system, least, job), order)
        self.kept[job.job_id] = Allocated(job, placed, start, end)
