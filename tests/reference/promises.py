"""Rules that keep promises from round to round, by the book: relaxed, conservative, with slack.

All is worked out anew for each question. The loop around it has neither outages nor limits.
"""

from collections.abc import Sequence

from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from tests.reference.room import Free, Held, Placed, fill, fits, free_at, held_on, preference
from tests.reference.rules import Asked, Round, Rule


class Memory:
    """What is kept: first promises, reservations, and when jobs that ran were to end."""

    def __init__(self) -> None:
        self.promised: dict[int, int] = {}
        self.reserved: dict[int, tuple[int, Placed]] = {}
        self.ends: dict[int, int] = {}


class PromiseRound(Round):
    """One round; `kept` are the reservations, in the order in which they were made."""

    def __init__(self, system: System, rule: Rule, asked: Asked, memory: Memory) -> None:
        super().__init__(system, rule, asked)
        self.memory = memory
        self.before = list(self.holding)
        self.counts = self.countable()
        self.kept: dict[int, Held] = {}

    def relax(self) -> None:
        """EASY, but the head job may be late by a share of the wait that it was promised."""
        waiting = self.sorted(self.rule.order, self.queue)
        while waiting and self.fits_now(waiting[0]):
            self.memory.promised.pop(waiting[0].job_id, None)
            self.start(waiting.pop(0))
        if not waiting:
            return
        head, others = waiting[0], waiting[1:]
        times = {self.now, *(held.end for held in self.holding)}
        shadow = min(time for time in times if self.holds(self.free_for(head, time), head))
        promise = min(shadow, self.memory.promised.get(head.job_id, shadow))
        self.memory.promised[head.job_id] = promise
        latest = promise + int(self.rule.share * (promise - head.submit_time))
        self.pass_head_job_by(head, others, max(shadow, latest))
        for held in self.started:
            self.memory.promised.pop(held.job.job_id, None)

    def keep(self) -> None:
        """Conservative backfilling, with slack or without."""
        names = {job.job_id for job in self.queue}
        reserved = {name: at for name, at in self.memory.reserved.items() if name in names}
        known = [job for job in self.queue if job.job_id in reserved]
        moved = False
        for job in sorted(known, key=lambda job: reserved[job.job_id][0]):
            start, placed = reserved[job.job_id]
            if not self.hold(job, max(start, self.now), placed):
                self.reserve(job, max(start, self.now))
                moved = True
        for job in self.queue:
            if job.job_id not in reserved:
                self.memory.promised[job.job_id] = self.reserve(job, self.now)
        runs = {held.job.job_id for held in self.before}
        if moved or any(e > self.now and n not in runs for n, e in self.memory.ends.items()):
            self.compress()
        while self.start_some():
            pass
        self.memory.reserved = {n: (held.start, held.placed) for n, held in self.kept.items()}
        self.memory.ends = {held.job.job_id: held.end for held in self.holding}

    def start_some(self) -> bool:
        """Start what may start; return whether anything does."""
        started = left_room = False
        for job in self.queue:
            if job.job_id not in self.kept or not self.fits_now(job):
                continue
            mine = self.kept.pop(job.job_id)
            if self.start_beside(job):
                done = True
            else:
                self.kept[job.job_id] = mine
                done = self.rule.name == "slack" and self.push_aside(job)
            started = started or done
            left_room = left_room or (done and mine.start > self.now)
        if left_room:
            self.compress()
        return started

    def push_aside(self, job: Job) -> bool:
        """Start a job by moving reservations, if none gets later than it may."""
        end = self.now + self.predicted[job.job_id]
        mine, moved = self.kept.pop(job.job_id), dict[int, Held]()
        while not self.room_for(job, self.now):
            others, self.kept = self.kept, {}
            for name, held in others.items():
                self.kept[name] = held
                if held.start < end and not self.room_for(job, self.now):
                    moved[name] = held
                    break
            self.kept = {name: held for name, held in others.items() if name not in moved}
        self.hold(job, self.now, {})
        late = False
        for name, held in moved.items():
            promise = self.memory.promised[name]
            share = int(self.rule.share * (promise - held.job.submit_time))
            late = self.reserve(held.job, self.now) > promise + self.rule.least_slack + share
            if late:
                break
        self.kept.pop(job.job_id)
        if not late:
            return self.start_beside(job)
        for name in moved:
            self.kept.pop(name, None)
        self.kept.update(moved)
        self.kept[job.job_id] = mine
        return False

    def compress(self) -> None:
        """Move reservations to earlier times, one after the other."""
        jobs = [job for job in self.queue if job.job_id in self.kept]
        if self.rule.compression == "reservation":
            jobs.sort(key=lambda job: self.kept[job.job_id].start)
        for job in jobs:
            self.kept.pop(job.job_id)
            self.reserve(job, self.now)

    def room_for(self, job: Job, start: int) -> bool:
        """Say whether a job could run from a time on beside all reservations."""
        end = start + self.predicted[job.job_id]
        if not self.counts:
            return self.holds(self.least(start, end), job)
        taken = [*self.started, *self.kept.values()]
        times = {start, *(held.end for held in self.before)}
        times |= {time for held in taken for time in (held.start, held.end)}
        for time in times:
            if start <= time < end:
                free = free_at(self.system, time, self.now, self.before)
                kept = sum(h.job.units for h in taken if h.start <= time < h.end)
                if sum(fits(self.system, free, job)) - kept < job.units:
                    return False
        return True

    def least(self, begin: int, end: int) -> Free:
        """Return the least that is free on each node beside all reservations."""
        holding = self.holding
        self.holding = [*holding, *self.kept.values()]
        least = self.lowest(begin, end)
        self.holding = holding
        return least

    def hold(self, job: Job, start: int, placed: Placed) -> bool:
        """Reserve room from a time on, if there is any: where it was, or anywhere."""
        end = start + self.predicted[job.job_id]
        if self.counts:
            placed = {}
            if not self.room_for(job, start):
                return False
        else:
            least = self.least(start, end)
            if not placed or not all(
                want <= have
                for node, units in placed.items()
                for want, have in zip(
                    held_on(self.system, job, node, units), least[node], strict=True
                )
            ):
                if not self.holds(least, job):
                    return False
                everywhere = [1.0] * len(self.system.totals)
                order = preference("keep_scarce", self.system, least, job, everywhere)
                placed = fill(job.units, fits(self.system, least, job), order)
        self.kept[job.job_id] = Held(job, placed, start, end)
        return True

    def reserve(self, job: Job, release: int) -> int:
        """Reserve room at the earliest time from another on, and return it."""
        held = [*self.holding, *self.kept.values()]
        times = sorted({release, *(h.end for h in held if h.end > release)})
        start = next(time for time in times if self.room_for(job, time))
        assert self.hold(job, start, {})
        return start

    def start_beside(self, job: Job) -> bool:
        """Start a job now if it keeps clear of all reservations."""
        if not self.fits_now(job) or not self.room_for(job, self.now):
            return False
        end = self.now + self.predicted[job.job_id]
        self.start(job, None if self.counts else self.chosen(job, self.least(self.now, end)))
        return True


def start_times_with_promises(
    system: System, rule: Rule, jobs: Sequence[TracedJob], predicted: dict[int, int]
) -> dict[int, tuple[int, Placed]]:
    """Replay jobs in order of submission; return when and where each one starts."""
    run_times = {traced.job.job_id: traced.run_time for traced in jobs}
    coming, queue = [job for job, _ in jobs], []
    running: list[Held] = []
    found: dict[int, tuple[int, Placed]] = {}
    memory = Memory()
    while coming or running:
        ends = [held.start + run_times[held.job.job_id] for held in running]
        now = min([*ends, *(job.submit_time for job in coming)])
        running = [held for held, end in zip(running, ends, strict=True) if end > now]
        queue += [job for job in coming if job.submit_time == now]
        coming = [job for job in coming if job.submit_time > now]
        again = True
        while queue and again:
            shown = [held._replace(end=max(held.end, now + 1)) for held in running]
            held_round = PromiseRound(system, rule, Asked(now, queue, shown, predicted), memory)
            if rule.name == "relaxed":
                held_round.relax()
            else:
                held_round.keep()
            started = held_round.started
            found.update({held.job.job_id: (now, held.placed) for held in started})
            queue = [job for job in queue if job.job_id not in found]
            lasting = [held for held in started if run_times[held.job.job_id] > 0]
            again = len(lasting) < len(started)
            running += lasting
    return found
