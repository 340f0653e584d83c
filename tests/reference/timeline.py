"""A second reference for rounds: a table of what is free on each node in each second ahead.

It shares nothing with `tests.reference.rules` and `promises`, which look at the times at which
something changes: here every second is tried, and the table is made anew for each question. A
shared resource with one capacity is a row of its own. Jobs that start use the first nodes with
room; reservations keep resource types free that they do not ask for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import Job
from tests.reference.events import Around, Replay
from tests.reference.room import Allocated
from tests.reference.rules import BY_WAIT, ORDERS, Rule, Service, Why


class Cap(NamedTuple):
    """A shared resource: its capacity, and what a unit of a job draws."""

    capacity: int
    per_unit: int


UNLIMITED = Cap(0, 0)


class Promise(NamedTuple):
    """A reservation, with the units on each node; none where units are counted."""

    job: Job
    start: int
    end: int
    units: IntArray | None


class Kept:
    """What is known from the round before: starts and nodes, first promises, ends, closed nodes."""

    def __init__(self) -> None:
        self.reserved: dict[int, Promise] = {}
        self.first: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self.down: frozenset[int] = frozenset()


class Table(NamedTuple):
    """What is free from now on: on nodes, `[T, N, R]`, and of the shared resource, `[T]`."""

    nodes: IntArray
    shared: IntArray


class TimelineReplay(Replay):
    """Jobs that are replayed with rounds by the table; events are those of the first reference."""

    def __init__(self, system: System, rule: Rule, around: Around, cap: Cap = UNLIMITED) -> None:
        super().__init__(system, rule, around)
        self.kept, self.cap = Kept(), cap

    def decided(self, able: Sequence[Job], service: Service) -> tuple[list[Allocated], list[Why]]:
        """Return the starts; reasons are not given."""
        if not able:
            return [], []
        one = TimelineRound(self, able, service)
        SECOND[self.rule.name](one)
        return one.started, []


class TimelineRound:
    """A round: `running` are those that run or start, and `promises` are in order of making."""

    def __init__(
        self,
        replay: TimelineReplay,
        queue: Sequence[Job],
        service: Service,
    ) -> None:
        self.rule, self.system, self.cap = replay.rule, replay.system, replay.cap
        self.kept, self.now, self.queue, self.service = replay.kept, replay.now, queue, service
        self.time, self.limited = replay.predicted, replay.may_start
        self.running = [held._replace(end=max(held.end, self.now + 1)) for held in replay.running]
        self.started: list[Allocated] = []
        self.promises: dict[int, Promise] = {}
        longest = max(self.time[job.job_id] for job in queue)
        reach = max([self.now, *(held.end for held in self.running)])
        # All that a job would come to now is over in time.
        for out in service.announced:
            if out.start < self.now + longest:
                reach = max(reach, out.end)
        reach += longest
        self.closed = [out for out in service.announced if out.start < reach]
        # Beyond this nothing runs, is closed or is promised.
        self.length = max([reach, *(out.end for out in self.closed)]) - self.now
        self.length += sum(self.time[job.job_id] for job in queue) + longest + 1
        first, alike = queue[0].request, {job.request._replace(units=1) for job in queue}
        self.counts = len(alike) == 1 and not self.closed and not self.cap.capacity
        self.counts &= not (first.exclusive or first.one_unit_per_node)

    # What is free, and where a job fits.

    def table(self, *promises: Promise) -> Table:
        """Return what running jobs and promises leave."""
        nodes = np.array([self.system.capacity] * self.length, dtype=np.int64)
        shared = np.full(self.length, self.cap.capacity, dtype=np.int64)
        for job, placed, _, end in self.running:
            units = np.array([placed.get(node, 0) for node in range(self.system.node_count)])
            self.take(Table(nodes, shared), job, self.now, end, units)
        for job, start, end, where in promises:
            self.take(Table(nodes, shared), job, start, end, where)
        nodes[:, sorted(self.service.failed)] = 0
        for out in self.closed:
            nodes[max(out.start - self.now, 0) : max(out.end - self.now, 0), list(out.nodes)] = 0
        return Table(nodes, shared)

    def take(self, table: Table, job: Job, start: int, end: int, units: IntArray | None) -> None:
        """Take a job's amounts from a table."""
        seconds = slice(start - self.now, end - self.now)
        table.shared[seconds] -= job.units * self.cap.per_unit
        if units is None:
            return
        whole = self.system.capacity * (units > 0)[:, np.newaxis]
        asked = units[:, np.newaxis] * np.array(job.unit_request)
        table.nodes[seconds] -= whole if job.exclusive else asked

    def seconds(self, rows: IntArray, start: int, end: int) -> IntArray:
        """Return the rows of some seconds; all that are beyond the table are like its last."""
        first = min(start - self.now, self.length - 1)
        return rows[first : max(end - self.now, first + 1)]

    def fitting(self, table: Table, job: Job, start: int, *, until: int | None = None) -> IntArray:
        """Return how many units fit on each node from a second to the job's end."""
        end = start + self.time[job.job_id] if until is None else until
        free = self.seconds(table.nodes, start, end).min(axis=0)
        asked = np.array(job.unit_request)
        fits = np.maximum(free[:, asked > 0] // asked[asked > 0], 0).min(axis=1)
        if job.one_unit_per_node:
            fits = np.minimum(fits, 1)
        if job.exclusive:
            fits = fits * (free == self.system.capacity).all(axis=1)
        for node in range(len(fits)):
            group = self.system.groups[int(self.system.group_of[node])].name
            if job.node_groups is not None and group not in job.node_groups:
                fits[node] = 0
            if job.allowed_nodes is not None and node not in job.allowed_nodes:
                fits[node] = 0
        return cast(IntArray, fits)

    def draws_too_much(self, table: Table, job: Job, start: int, end: int) -> bool:
        """Say whether the shared resource is short."""
        draw = job.units * self.cap.per_unit
        return bool((self.seconds(table.shared, start, end) < draw).any())

    def is_room(self, job: Job, start: int) -> bool:
        """Say whether a job may run from a second on beside all promises."""
        end, table = start + self.time[job.job_id], self.table(*self.promises.values())
        if self.draws_too_much(table, job, start, end):
            return False
        if not self.counts:
            return bool(self.fitting(table, job, start).sum() >= job.units)
        # Any units do, in each second others perhaps.
        for second in range(start, end):
            taken = [p.job.units for p in self.promises.values() if p.start <= second < p.end]
            here = self.fitting(table, job, second, until=second + 1).sum()
            if here - sum(taken) < job.units:
                return False
        return True

    def fits_now(self, job: Job) -> bool:
        """Say whether a job fits in this second, if there were no promises."""
        if self.draws_too_much(self.table(), job, self.now, self.now + 1):
            return False
        return bool(self.fitting_now(job).sum() >= job.units)

    def fitting_now(self, job: Job) -> IntArray:
        """Return how many units fit now on each node that stays in service for a job."""
        job = self.service.open_now[job.job_id]
        return self.fitting(self.table(), job, self.now, until=self.now + 1)

    # Starts and promises.

    def in_order(self, order: str | None, jobs: Sequence[Job]) -> list[Job]:
        """Return jobs in an order, those of one rank as they came."""
        came, name = [job.job_id for job in self.queue], order or self.rule.order

        def rank(job: Job) -> tuple[object, int]:
            demand = self.system.demand(job.units, job.unit_request)
            time, place = self.time[job.job_id], came.index(job.job_id)
            if name in BY_WAIT:
                return BY_WAIT[name](job, time, demand, self.now), place
            return ORDERS[name](job, time, demand), place

        return sorted(jobs, key=rank)

    def first_nodes(self, fits: IntArray, units: int) -> IntArray:
        """Return so many units on the first nodes with room."""
        before = np.concatenate(([0], np.cumsum(fits)))[:-1]
        return np.clip(units - before, 0, fits)

    def start(self, job: Job, units: IntArray | None = None) -> None:
        """Start a job: where it is said, or on the first nodes with room beside all promises."""
        if units is None:
            end = self.now + (1 if self.counts else self.time[job.job_id])
            table = self.table() if self.counts else self.table(*self.promises.values())
            units = self.first_nodes(self.fitting(table, job, self.now, until=end), job.units)
        assert units.sum() == job.units
        placed = {node: int(here) for node, here in enumerate(units) if here}
        held = Allocated(job, placed, self.now, self.now + self.time[job.job_id])
        self.running.append(held)
        self.started.append(held)

    def start_beside(self, job: Job) -> bool:
        """Start a job if it may run now beside all promises."""
        may = self.fits_now(job) and self.is_room(job, self.now)
        if may:
            self.start(job)
        return may

    def promise(self, job: Job, start: int) -> int:
        """Promise a job the first second from another on at which it may run; return it."""
        while not self.is_room(job, start):
            start += 1
        self.hold(job, start)
        return start

    def hold(self, job: Job, start: int, units: IntArray | None = None) -> None:
        """Promise a job a second at which there is room."""
        end = start + self.time[job.job_id]
        if not self.counts and units is None:
            table = self.table(*self.promises.values())
            free = self.seconds(table.nodes, start, end).min(axis=0)
            fits, capacity = self.fitting(table, job, start), self.system.capacity
            totals, ranks = np.array(self.system.totals), []
            for node, row in enumerate(free):
                unasked = [
                    have / total
                    for have, want, total in zip(row, job.unit_request, totals, strict=True)
                    if not want and total
                ]
                shares = [have / of for have, of in zip(row, capacity[node], strict=True) if of]
                ranks.append((sum(unasked), sum(shares) / max(len(shares), 1), node))
            order = sorted(range(len(free)), key=ranks.__getitem__)
            units = np.zeros_like(fits)
            units[order] = self.first_nodes(fits[order], job.units)
        self.promises[job.job_id] = Promise(job, start, end, units)

    # Lists.

    def in_turn(self) -> list[Job]:
        """Start jobs in order while they fit; return the others."""
        waiting = self.in_order(None, self.queue)
        while waiting and (not self.within(waiting[0]) or self.fits_now(waiting[0])):
            job = waiting.pop(0)
            if self.within(job):
                self.start_at_once(job)
        return waiting

    def within(self, job: Job) -> bool:
        """Say whether limits let a job start beside what has been started."""
        return self.limited(job, self.started)

    def start_at_once(self, job: Job) -> None:
        """Start a job on the first nodes that are free in this second."""
        self.start(job, self.first_nodes(self.fitting_now(job), job.units))

    def greedy(self) -> None:
        """Start all jobs that fit, in turn."""
        for job in self.in_turn():
            if self.within(job) and self.fits_now(job):
                self.start_at_once(job)

    def backfill(self) -> None:
        """Start or promise, job by job, as many promises as the depth allows."""
        for job in self.in_turn():
            depth = self.rule.depth
            if not self.within(job):
                continue
            if not self.start_beside(job) and (depth is None or len(self.promises) < depth):
                self.promise(job, self.now)

    # One head job.

    def easy(self) -> None:
        """Let jobs pass that leave the head job its first second."""
        waiting = self.in_turn()
        if waiting:
            self.pass_by(waiting[0], waiting[1:], self.first_second(waiting[0]))

    def relaxed(self) -> None:
        """Let the head job be late by a share of the wait that it was promised."""
        waiting = self.in_turn()
        if waiting:
            head = waiting[0]
            first = self.first_second(head)
            promise = self.kept.first[head.job_id] = min(
                first, self.kept.first.get(head.job_id, first)
            )
            latest = max(first, promise + int(self.rule.share * (promise - head.submit_time)))
            may = self.may_start(self.open_to(head, latest), head, latest)
            self.pass_by(head, waiting[1:], latest if may else first)
        for held in self.started:
            self.kept.first.pop(held.job.job_id, None)

    def open_to(self, head: Job, second: int) -> Table:
        """Return the table without nodes that are closed at any time of a job's run."""
        table = self.table()
        end = second + self.time[head.job_id]
        for out in self.closed:
            if out.start < end and second < out.end:
                table.nodes[:, list(out.nodes)] = 0
        return table

    def may_start(self, table: Table, head: Job, second: int) -> bool:
        """Say whether a head job may run from a second on."""
        end = second + self.time[head.job_id]
        if self.draws_too_much(table, head, second, end):
            return False
        return bool(self.fitting(table, head, second).sum() >= head.units)

    def first_second(self, head: Job) -> int:
        """Return the first second at which a head job may run."""
        second = self.now
        while not self.may_start(self.open_to(head, second), head, second):
            second += 1
        return second

    def pass_by(self, head: Job, others: Sequence[Job], second: int) -> None:
        """Start the other jobs that leave a head job its second."""
        for job in others if self.rule.behind is None else self.in_order(self.rule.behind, others):
            if not self.within(job) or not self.fits_now(job):
                continue
            room = self.fitting_now(job)
            choices = [self.first_nodes(room, job.units)]
            if self.now + self.time[job.job_id] > second:
                choices.append(self.cheapest(job, head, second, room))
            for units in choices:
                self.start(job, units)
                ends = self.running[-1].end <= second
                if ends or self.may_start(self.open_to(head, second), head, second):
                    break
                self.running.pop()
                self.started.pop()

    def cheapest(self, job: Job, head: Job, second: int, room: IntArray) -> IntArray:
        """Return the units of a job where they cost the head job least, on each node."""
        before, cost = self.units_of_head(head, second), []
        free, beside = np.zeros_like(room), self.beside(job, head, second, before)
        for node, here in enumerate(room):
            free[node] = min(here, beside[node])
            units = np.zeros_like(room)
            units[node] = here
            self.running.append(
                Allocated(job, {node: int(here)} if here else {}, self.now, 1 << 40)
            )
            after = self.units_of_head(head, second)
            self.running.pop()
            cost.append((before[node] - after[node]) / here if here else 0.0)
        if free.sum() >= job.units:
            return self.first_nodes(free, job.units)
        order = sorted(range(len(room)), key=lambda node: (cost[node], node))
        rest = np.zeros_like(room)
        rest[order] = self.first_nodes((room - free)[order], job.units - int(free.sum()))
        return cast(IntArray, free + rest)

    def units_of_head(self, head: Job, second: int) -> IntArray:
        """Return how many units of a head job fit on each node at its second."""
        return self.fitting(self.open_to(head, second), head, second)

    def beside(self, job: Job, head: Job, second: int, units: IntArray) -> IntArray:
        """Return how many units of a job fit beside as many of the head job as there may be."""
        table = self.open_to(head, second)
        self.take(table, head, second, second + 1, units)
        return self.fitting(table, job, second, until=second + 1)

    # Promises to all.

    def keep_promises(self) -> None:
        """Take up promises, move them into new room, then promise new jobs, then start."""
        kept, waiting = self.kept, {job.job_id: job for job in self.queue}
        late = False
        for name in sorted(
            (job.job_id for job in self.queue if job.job_id in kept.reserved),
            key=lambda name: kept.reserved[name].start,
        ):
            late |= not self.take_up(waiting[name], kept.reserved[name])
        runs = {held.job.job_id for held in self.running}
        gone = any(end > self.now and name not in runs for name, end in kept.ends.items())
        given_up = set(kept.reserved) - set(waiting)
        if late or gone or given_up or kept.down - self.service.down:
            self.compress()
        for job in self.queue:
            if job.job_id not in self.promises:
                kept.first[job.job_id] = self.promise(job, self.now)
        while self.pass_over_queue():
            pass
        kept.reserved, kept.down = dict(self.promises), self.service.down
        kept.ends = {held.job.job_id: held.end for held in self.running}

    def take_up(self, job: Job, before: Promise) -> bool:
        """Renew a promise, at a later second if needed; say whether it is the same second."""
        start = max(before.start, self.now)
        if before.units is not None and not self.counts:
            table = self.table(*self.promises.values())
            end, units = start + self.time[job.job_id], before.units
            self.take(table, job, start, end, units)
            seconds = slice(start - self.now, end - self.now)
            enough = (table.nodes[seconds, units > 0] >= 0).all()
            if enough and (table.shared[seconds] >= 0).all():
                self.hold(job, start, units)
                return True
        if self.is_room(job, start):
            self.hold(job, start)
            return True
        self.promise(job, start)
        return False

    def compress(self) -> None:
        """Promise each job the first second beside all others, one after the other."""
        jobs = [job for job in self.queue if job.job_id in self.promises]
        if self.rule.compression == "reservation":
            jobs.sort(key=lambda job: self.promises[job.job_id].start)
        for job in jobs:
            del self.promises[job.job_id]
            self.promise(job, self.now)

    def pass_over_queue(self) -> bool:
        """Start jobs where promises allow it; say whether any has started."""
        any_started = sooner = False
        for job in self.queue:
            if job.job_id not in self.promises or not self.within(job) or not self.fits_now(job):
                continue
            mine = self.promises.pop(job.job_id)
            if not self.start_beside(job):
                self.promises[job.job_id] = mine
                if self.rule.name != "slack" or not self.push(job):
                    continue
            any_started = True
            sooner |= mine.start > self.now
        if sooner:
            self.compress()
        return any_started

    def push(self, job: Job) -> bool:
        """Start a job by moving promises, none past its latest second; say whether it has."""
        before = dict(self.promises)
        mine = self.promises.pop(job.job_id)
        end = self.now + self.time[job.job_id]
        others, moved = dict(self.promises), []
        self.promises = {name: p for name, p in others.items() if p.start >= end}
        for name, promised in others.items():
            if promised.start < end:
                self.promises[name] = promised
                if not self.is_room(job, self.now):
                    moved.append(self.promises.pop(name))
        # In the order in which they were made, but for those that are moved.
        self.promises = {name: p for name, p in others.items() if name in self.promises}
        self.hold(job, self.now)
        for other in moved:
            first = self.kept.first[other.job.job_id]
            slack = int(self.rule.share * (first - other.job.submit_time)) + self.rule.least_slack
            if self.promise(other.job, self.now) > first + slack:
                back = {p.job.job_id: p for p in (*moved, mine)}
                stay = {name: p for name, p in before.items() if name not in back}
                self.promises = stay | back
                return False
        del self.promises[job.job_id]
        return self.start_beside(job)


SECOND: Mapping[str, Callable[[TimelineRound], object]] = {
    "strict": TimelineRound.in_turn,
    "greedy": TimelineRound.greedy,
    "backfill": TimelineRound.backfill,
    "easy": TimelineRound.easy,
    "relaxed": TimelineRound.relaxed,
    "conservative": TimelineRound.keep_promises,
    "slack": TimelineRound.keep_promises,
}
"""The rules that this reference knows."""
