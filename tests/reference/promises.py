"""Rules that remember, by the book: committed lists, relaxed, conservative, and with slack.

All is worked out anew for each question.
"""

from hpcsched.system.system import System
from hpcsched.workload.job import Job
from tests.reference.room import Allocated, Placed, allocated_on
from tests.reference.rules import Asked, Round, Rule, Why


class Memory:
    """First promises, reservations, ends of what ran, and nodes out of service, of the last round.

    Committed lists promise a job something when they choose it: the start that it may expect.
    """

    def __init__(self) -> None:
        self.promised: dict[int, int] = {}
        self.reserved: dict[int, tuple[int, Placed]] = {}
        self.ends: dict[int, int] = {}
        self.down: frozenset[int] = frozenset()


class PromiseRound(Round):
    """One round, of any rule."""

    def __init__(self, system: System, rule: Rule, asked: Asked, memory: Memory) -> None:
        super().__init__(system, rule, asked)
        self.memory = memory
        self.before = list(self.holding)
        self.late: dict[int, int] = {}
        self.committed_to = list(memory.promised) if rule.name.startswith("committed") else []

    def decide(self) -> list[Allocated]:
        """Return the starts."""
        if self.rule.name == "relaxed":
            self.relax()
        elif self.rule.name in ("committed", "committed-backfill"):
            self.commit()
        elif self.rule.name in ("conservative", "slack"):
            self.keep()
            self.explain()
        else:
            super().decide()
        return self.started

    def in_turn(self) -> list[Job]:
        """Return the jobs in order, those first that were chosen before."""
        return sorted(super().in_turn(), key=lambda job: job.job_id not in self.committed_to)

    def commit(self) -> None:
        """Start what is next, and choose the first that does not fit to be next until it starts."""
        waiting = self.in_turn()
        self.start_first(waiting)
        for held in self.started:
            self.memory.promised.pop(held.job.job_id, None)
        if not waiting:
            return
        head, others = waiting[0], waiting[1:]
        if self.rule.name == "committed":
            self.memory.promised[head.job_id] = self.now
            for job in others:
                self.note(job, "behind", head.job_id)
            return
        shadow = self.shadow_time(head)
        self.note(head, "no_room", None, shadow)
        promise = self.memory.promised.setdefault(head.job_id, shadow)
        for job in self.sorted("fcfs", self.queue):
            if job not in others or not self.within(job) or not self.fits_now(job):
                continue
            if self.now + self.predicted[job.job_id] < promise:
                self.memory.promised.pop(job.job_id, None)
                self.start(job)
            else:
                self.note(job, "reserved_for", head.job_id)

    def relax(self) -> None:
        """EASY, but the head job may be late by a share of the wait that it was promised."""
        waiting = self.sorted(self.rule.order, self.queue)
        self.start_first(waiting)
        for held in self.started:
            self.memory.promised.pop(held.job.job_id, None)
        if not waiting:
            return
        head, others = waiting[0], waiting[1:]
        shadow = self.shadow_time(head)
        promise = min(shadow, self.memory.promised.get(head.job_id, shadow))
        self.memory.promised[head.job_id] = promise
        latest = max(shadow, promise + self.share_of_wait(head, promise))
        # An outage may begin in between.
        may_slip = self.holds(self.free_for(head, latest), head)
        self.pass_head_job_by(head, others, latest if may_slip else shadow)
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
            if not self.hold_again(job, max(start, self.now), placed):
                self.reserve(job, max(start, self.now))
                moved = True
        # Room that was not foreseen is for those that wait already.
        runs = {held.job.job_id for held in self.before}
        ended = any(e > self.now and n not in runs for n, e in self.memory.ends.items())
        held_back = self.memory.reserved.keys() - names
        if moved or ended or held_back or self.memory.down - self.service.down:
            self.compress()
        for job in self.queue:
            if job.job_id not in reserved:
                self.memory.promised[job.job_id] = self.reserve(job, self.now)
        while self.start_some():
            pass
        self.memory.reserved = {n: (held.start, held.placed) for n, held in self.kept.items()}
        self.memory.ends = {held.job.job_id: held.end for held in self.holding}
        self.memory.down = self.service.down

    def start_some(self) -> bool:
        """Start what may start; return whether anything does."""
        started = left_room = False
        for job in self.queue:
            if job.job_id not in self.kept or not self.within(job) or not self.fits_now(job):
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
        mine, moved = self.kept.pop(job.job_id), dict[int, Allocated]()
        while not self.room_for(job, self.now):
            others, self.kept = self.kept, {}
            for name, held in others.items():
                self.kept[name] = held
                if held.start < end and not self.room_for(job, self.now):
                    moved[name] = held
                    break
            self.kept = {name: held for name, held in others.items() if name not in moved}
        self.hold(job, self.now)
        late = False
        for name, held in moved.items():
            promise = self.memory.promised[name]
            latest = promise + self.rule.least_slack + self.share_of_wait(held.job, promise)
            late = self.reserve(held.job, self.now) > latest
            if late:
                self.late[job.job_id] = name
                break
        self.kept.pop(job.job_id)
        if not late:
            return self.start_beside(job)
        for name in moved:
            self.kept.pop(name, None)
        self.kept.update(moved)
        self.kept[job.job_id] = mine
        return False

    def share_of_wait(self, job: Job, promise: int) -> int:
        """Return a share of the wait that a job was promised."""
        return int(self.rule.share * (promise - job.submit_time))

    def hold_again(self, job: Job, start: int, placed: Placed) -> bool:
        """Reserve room from a time on, if there is any: where it was, or anywhere."""
        end = start + self.predicted[job.job_id]
        if placed and not self.counts:
            least = self.least(start, end)
            if all(
                want <= have
                for node, units in placed.items()
                for want, have in zip(
                    allocated_on(self.system, job, node, units), least[node], strict=True
                )
            ):
                self.kept[job.job_id] = Allocated(job, placed, start, end)
                return True
        if not self.room_for(job, start):
            return False
        self.hold(job, start)
        return True

    def explain(self) -> None:
        """Note for when jobs are planned, and what keeps those waiting that have room."""
        for job in self.queue:
            name = job.job_id
            if name not in self.kept:
                continue
            mine = self.kept.pop(name)
            others = [other.job_id for other in self.queue if other.job_id in self.kept]
            other = self.late.get(name) if self.fits_now(job) else None
            if self.rule.name == "conservative":
                other = self.in_the_way(job, others)
            self.kept[name] = mine
            kind = "reserved_for" if self.fits_now(job) else "no_room"
            promise = self.memory.promised[name]
            at_first = promise if mine.start > promise else None
            self.notes[name] = Why(name, kind, other, mine.start, at_first)

    def compress(self) -> None:
        """Move reservations to earlier times, one after the other."""
        jobs = [job for job in self.queue if job.job_id in self.kept]
        if self.rule.compression == "reservation":
            jobs.sort(key=lambda job: self.kept[job.job_id].start)
        for job in jobs:
            self.kept.pop(job.job_id)
            self.reserve(job, self.now)
