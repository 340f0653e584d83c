"""EASY and list scheduling by the book, and the loop of events around them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from hpcsched.system.outages import NO_OUTAGES, Outage, Outages
from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from tests.reference.room import (
    Closed,
    Held,
    Placed,
    fill,
    fits,
    free_at,
    idle,
    preference,
    take,
)

Order = Callable[[Job, int, int], Any]
"""By what jobs are sorted: a function of a job, its predicted run time and its demand."""

BY_WAIT: dict[str, Callable[[Job, int, int, int], Any]] = {
    "slowdown": lambda job, time, _demand, now: -((now - job.submit_time) / time),
    "expected_wait": lambda job, time, demand, now: (
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

    It is `easy`, `strict`, `greedy` or `backfill`; or, of `promises`, `relaxed`, `conservative` or
    `slack`: by which share of its wait, and by how much beside it, a job may be late.
    """

    name: str
    order: str = "fcfs"
    behind: str | None = None
    depth: int | None = None
    allocator: str = "first_fit"
    compression: str = "arrival"
    share: float = 0.0
    least_slack: int = 0


class Asked(NamedTuple):
    """What a round is about: who waits, who runs, and how long each is predicted to run.

    Beside that, the outages that are known of and have not begun.
    """

    now: int
    queue: Sequence[Job]
    running: Sequence[Held]
    predicted: dict[int, int]
    ahead: Sequence[Closed] = ()


class Round:
    """One instant at which jobs wait: who starts, and where."""

    def __init__(self, system: System, rule: Rule, asked: Asked) -> None:
        self.system, self.rule = system, rule
        self.now, queue, running, self.predicted, ahead = asked
        self.queue, self.holding = queue, list(running)
        self.started: list[Held] = []
        wanted = [0] * len(system.totals)
        for job in [*queue, *(held.job for held in running)]:
            for r, amount in enumerate(job.unit_request):
                wanted[r] += amount * job.units
        # Plans look no further than the last job that runs, and then the longest that waits.
        reach = max([self.now, *(held.end for held in running)])
        reach += max(self.predicted[job.job_id] for job in queue)
        self.closed = [out for out in ahead if out.start < reach]
        pairs = zip(wanted, system.totals, strict=True)
        self.pressure = [amount / total if total else 0.0 for amount, total in pairs]

    def decide(self) -> list[Held]:
        """Return the starts."""
        waiting = self.sorted(self.rule.order, self.queue)
        while waiting and self.fits_now(waiting[0]):
            self.start(waiting.pop(0))
        if waiting and self.rule.name == "greedy":
            for job in waiting:
                if self.fits_now(job):
                    self.start(job)
        elif waiting and self.rule.name == "easy":
            self.pass_head_job(waiting[0], waiting[1:])
        elif waiting and self.rule.name == "backfill":
            if self.countable():
                self.reserve_by_number(waiting)
            else:
                self.reserve_on_nodes(waiting)
        return self.started

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
        return self.holds(self.free(), job)

    def free(self) -> list[list[int]]:
        """Return what is free now."""
        started = [held for held in self.holding if held.start <= self.now]
        free = idle(self.system)
        for held in started:
            free = take(self.system, free, held.job, held.placed)
        return free

    def chosen(self, job: Job, free: list[list[int]]) -> Placed:
        """Return where the allocator places a job."""
        order = preference(self.rule.allocator, self.system, free, job, self.pressure)
        return fill(job.units, fits(self.system, free, job), order)

    def start(self, job: Job, placed: Placed | None = None) -> None:
        """Start a job now."""
        placed = self.chosen(job, self.free()) if placed is None else placed
        held = Held(job, placed, self.now, self.now + self.predicted[job.job_id])
        self.holding.append(held)
        self.started.append(held)

    def pass_head_job(self, head: Job, others: Sequence[Job]) -> None:
        """EASY: start what does not delay the head job."""
        times = {self.now, *(held.end for held in self.holding), *(out.end for out in self.closed)}
        shadow = min(time for time in times if self.holds(self.free_for(head, time), head))
        self.pass_head_job_by(head, others, shadow)

    def pass_head_job_by(self, head: Job, others: Sequence[Job], shadow: int) -> None:
        """Start what leaves a head job its room at a time."""
        system, then = self.system, self.free_for(head, shadow)
        if self.rule.behind is not None:
            known = {job.job_id for job in others}
            others = [j for j in self.sorted(self.rule.behind, self.queue) if j.job_id in known]
        for job in others:
            if not self.fits_now(job):
                continue
            choices = [self.chosen(job, self.free())]
            if self.now + self.predicted[job.job_id] > shadow:
                choices.append(self.least_loss(job, head, then))
                lefts = [take(system, then, job, placed) for placed in choices]
                good = [k for k, left in enumerate(lefts) if self.holds(left, head)]
                if not good:
                    continue
                then, choices = lefts[good[0]], choices[good[0] :]
            self.start(job, choices[0])

    def free_for(self, head: Job, time: int) -> list[list[int]]:
        """Return what is free for a job that starts at a time, on nodes that stay in service."""
        end = time + self.predicted[head.job_id]
        closed = [
            out._replace(start=time, end=end)
            for out in self.closed
            if out.start < end and time < out.end
        ]
        return free_at(self.system, time, self.now, self.holding, closed)

    def holds(self, free: list[list[int]], job: Job) -> bool:
        """Say whether a job fits on what is free."""
        return sum(fits(self.system, free, job)) >= job.units

    def least_loss(self, job: Job, head: Job, then: list[list[int]]) -> Placed:
        """Return the placement that costs the head job little: first what costs it nothing."""
        system, room = self.system, fits(self.system, self.free(), job)
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
            (j.unit_request, j.node_groups, j.allowed_nodes, j.exclusive, j.scatter)
            for j in self.queue
        }
        return (
            len(shapes) == 1
            and not self.closed
            and not (self.queue[0].exclusive or self.queue[0].scatter)
        )

    def reserve_by_number(self, waiting: Sequence[Job]) -> None:
        """List scheduling with reservations of units, whatever nodes they are on."""
        running = list(self.holding)
        taken: list[tuple[int, int, int]] = []

        def left(time: int) -> int:
            free = free_at(self.system, time, self.now, running)
            kept = sum(units for start, end, units in taken if start <= time < end)
            return sum(fits(self.system, free, waiting[0])) - kept

        def holds(job: Job, start: int) -> bool:
            end = start + self.predicted[job.job_id]
            times = {start, *(held.end for held in running)}
            times |= {time for s, e, _ in taken for time in (s, e)}
            return all(left(time) >= job.units for time in times if start <= time < end)

        reservations = 0
        for job in waiting:
            starts = sorted({self.now, *(h.end for h in running), *(e for _, e, _ in taken)})
            if holds(job, self.now):
                self.start(job)
                start = self.now
            elif self.rule.depth is None or reservations < self.rule.depth:
                start = next(time for time in starts if holds(job, time))
                reservations += 1
            else:
                continue
            taken.append((start, start + self.predicted[job.job_id], job.units))

    def lowest(self, begin: int, end: int) -> list[list[int]]:
        """Return the least that is free on each node from one time to before another."""
        times = {begin, *(held.start for held in self.holding)}
        times |= {held.end for held in self.holding}
        times |= {time for out in self.closed for time in (out.start, out.end)}
        free = [
            free_at(self.system, time, self.now, self.holding, self.closed)
            for time in times
            if begin <= time < end
        ]
        nodes = zip(*free, strict=True)
        return [[min(of_type) for of_type in zip(*rows, strict=True)] for rows in nodes]

    def reserve_on_nodes(self, waiting: Sequence[Job]) -> None:
        """List scheduling with reservations, each on the same nodes throughout."""
        system, reservations = self.system, 0
        for job in waiting:
            run_time = self.predicted[job.job_id]
            ends = *(held.end for held in self.holding), *(out.end for out in self.closed)
            starts = sorted({self.now, *ends})
            earliest = None
            for time in starts:
                least = self.lowest(time, time + run_time)
                if self.holds(least, job):
                    earliest = time
                    break
            assert earliest is not None
            if earliest == self.now:
                self.start(job, self.chosen(job, least))
            elif self.rule.depth is None or reservations < self.rule.depth:
                everywhere = [1.0] * len(system.totals)
                order = preference("keep_scarce", system, least, job, everywhere)
                placed = fill(job.units, fits(system, least, job), order)
                self.holding.append(Held(job, placed, earliest, earliest + run_time))
                reservations += 1


class Replayed(NamedTuple):
    """When and where each job started at last, and attempts to run one that were lost.

    An attempt is a job, its start and its end.
    """

    starts: dict[int, tuple[int, Placed]]
    lost: list[tuple[int, int, int]]


def start_times(
    system: System,
    rule: Rule,
    jobs: Sequence[TracedJob],
    predicted: dict[int, int],
    outages: Outages = NO_OUTAGES,
) -> Replayed:
    """Replay jobs in order of submission.

    At each instant jobs end, then nodes go out of service, then jobs are submitted, then rounds are
    held until none ends at once. One that has outlived its prediction is said to end in a second.
    """
    run_times = {traced.job.job_id: traced.run_time for traced in jobs}
    arrival = {traced.job.job_id: k for k, traced in enumerate(jobs)}
    coming, queue = [job for job, _ in jobs], []
    running: list[Held] = []
    found = Replayed({}, [])
    now = -1
    while coming or running or queue:
        ends = [held.start + run_times[held.job.job_id] for held in running]
        changes = [time for out in outages.all for time in (out.start, out.end) if time > now]
        now = min([*ends, *(job.submit_time for job in coming), *changes])
        running = [held for held, end in zip(running, ends, strict=True) if end > now]
        down = {node for out in outages.all if out.start <= now < out.end for node in out.nodes}
        broken = [held for held in running if down & set(held.placed)]
        # By predicted end, as the first to be expected are looked at first.
        broken.sort(key=lambda held: (held.end, held.job.job_id))
        running = [held for held in running if held not in broken]
        found.lost.extend((held.job.job_id, held.start, now) for held in broken)
        if outages.requeue:
            queue += [held.job for held in broken]
        queue += [job for job in coming if job.submit_time == now]
        coming = [job for job in coming if job.submit_time > now]
        queue.sort(key=lambda job: arrival[job.job_id])
        ahead = [out for out in outages.all if out.kind != "failure" and out.start > now]
        again = True
        while queue and again:
            shown = [narrowed(system, job, now + predicted[job.job_id], down, ahead)
                     for job in queue]  # fmt: skip
            able = [job for job in shown if sum(fits(system, idle(system), job)) >= job.units]
            seen = [held._replace(end=max(held.end, now + 1)) for held in running]
            closed = [Closed(out.start, out.end, out.nodes) for out in ahead]
            asked = Asked(now, able, seen, predicted, closed)
            started = Round(system, rule, asked).decide() if able else []
            names = {held.job.job_id for held in started}
            found.starts.update({held.job.job_id: (now, held.placed) for held in started})
            unnarrowed = {job.job_id: job for job in queue}
            queue = [job for job in queue if job.job_id not in names]
            started = [held._replace(job=unnarrowed[held.job.job_id]) for held in started]
            lasting = [held for held in started if run_times[held.job.job_id] > 0]
            again = len(lasting) < len(started)
            running += lasting
    return found


def narrowed(system: System, job: Job, end: int, down: set[int], ahead: Sequence[Outage]) -> Job:
    """Return a job as one that may only use nodes that stay in service up to its end."""
    taken = {node for out in ahead if out.start < end for node in out.nodes}
    shut = down | taken
    if not shut:
        return job
    nodes = range(system.node_count) if job.allowed_nodes is None else job.allowed_nodes
    open_to_it = frozenset(nodes) - shut
    return job._replace(request=job.request._replace(allowed_nodes=open_to_it))
