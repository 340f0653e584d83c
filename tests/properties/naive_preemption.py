"""A naive replay with preemption, limits, outages and checkpoints: plain Python, nothing else.

It knows one rule, a greedy list: jobs in order of rank, then of submission, each on the first nodes
that have room. Nodes have cores and nothing else.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

FOR_EVER = 10**12


class Case(NamedTuple):
    """A workload; jobs are (number, submit time, cores, work, tier, user); tiers give the mode.

    Outages are (start, end, node); checkpoints (every, cost, restart), or none. Limits are those of
    the jobs of a tier, and, by -user, of a user: of `jobs`, `nodes`, `core`; in core seconds of
    what running jobs may still take (`left`), and of what all have taken and may take (`taken`).
    What a tier limits is not limited for its jobs by the user's limits.
    """

    nodes: list[int]
    jobs: list[tuple[int, int, int, int, int, int]]
    modes: dict[int, str]
    exempt: int
    grace: int
    outages: list[tuple[int, int, int]]
    checkpoints: tuple[int, int, int] | None
    limits: dict[int, dict[str, int]]


@dataclass
class _Job:
    number: int
    submit: int
    cores: int
    work: int
    tier: int
    user: int
    places: dict[int, int] = field(default_factory=dict)
    start: int = -1
    end: int = FOR_EVER
    paused: int = 0
    paused_since: int = -1
    by: int = -1
    claims_until: int = -1
    done: int = 0

    @property
    def requested(self):
        """Requested time."""
        return max(self.work, 1)


class Naive:
    """A replay; `jobs` and `rows` are its results, as in the tests of the core."""

    def __init__(self, case: Case):
        self.case, self.now = case, -1
        self.waiting, self.running = [], []
        self.down = [0] * len(case.nodes)
        self.jobs, self.rows = {}, []
        self.ran, self.releases = [], []

    def run(self):
        """Replay all jobs."""
        coming = sorted((_Job(*job) for job in self.case.jobs), key=lambda job: job.number)
        coming.sort(key=lambda job: job.submit)
        changes = sorted(
            [(start, 1, node) for start, _, node in self.case.outages]
            + [(end, -1, node) for _, end, node in self.case.outages]
        )
        while coming or self.running or self.waiting:
            instants = [job.submit for job in coming[:1]] + [job.end for job in self.running]
            if self.waiting:
                instants += [t for t in self.expiries() if t > self.now]
            if changes and (self.waiting or instants):
                instants.append(changes[0][0])
            instants += [t for t in self.releases if t < FOR_EVER] if self.waiting else []
            if not instants:
                assert not any(self.within(job, [], self.ran) for job in self.waiting)
                self.jobs |= {job.number: "used up" for job in self.waiting}
                break
            self.now = min(instants)
            self.end_jobs()
            altered = False
            while changes and changes[0][0] <= self.now:
                _, sign, node = changes.pop(0)
                self.down[node] += sign
                altered = True
            if altered:
                for job in sorted(self.running, key=lambda job: (job.planned, job.number)):
                    if any(self.down[node] for node in job.places):
                        if job.paused_since < 0:
                            job.by = -1
                        self.lose(job, "requeued")
            while coming and coming[0].submit == self.now:
                self.submit(coming.pop(0))
            again = True
            while again:
                again = self.round()
                self.releases = [self.release(job) for job in self.waiting]
                again |= self.end_jobs()
        return self

    def submit(self, job):
        """Put a job into the queue, unless limits never let it start on the idle system."""
        down, self.down = self.down, [0] * len(self.down)
        if self.within(job, [], []):
            self.waiting.append(job)
        else:
            self.jobs[job.number] = "refused"
        self.down = down

    def bounds(self, job):
        """Yield the limits of a job: whose jobs count, of what, and how much at most."""
        own = self.case.limits.get(job.tier, {})
        for name, most in own.items():
            yield lambda other: other.tier == job.tier, name, most
        for name, most in self.case.limits.get(-job.user, {}).items():
            if name not in own:
                yield lambda other: other.user == job.user, name, most

    def over(self, job, bound, running, ran):
        """Return by how much a job would exceed a limit beside what runs and what has run."""
        counts, name, most = bound
        same = [other for other in running if counts(other)]
        if name == "jobs":
            return len(same) + 1 - most
        if name == "nodes":
            used = {node for other in same for node in other.places}
            return len(used) + min(job.cores, self.down.count(0)) - most
        if name == "core":
            return sum(other.cores for other in same) + job.cores - most
        level = job.cores * job.requested
        if name == "left":
            left = [max(other.start + other.requested - self.now, 0) for other in same]
            return sum(o.cores * t for o, t in zip(same, left, strict=True)) + level - most
        level += sum(o.cores * max(o.requested, self.now - o.start) for o in same)
        return level + sum(o.cores * time for o, time in ran if counts(o)) - most

    def within(self, job, running, ran):
        """Whether limits let a job start."""
        return all(self.over(job, bound, running, ran) <= 0 for bound in self.bounds(job))

    def release(self, job):
        """Return when a job may be within limits of what running jobs may still take."""
        wait = 0
        for bound in self.bounds(job):
            over = self.over(job, bound, self.running, self.ran)
            rate = sum(other.cores for other in self.running if bound[0](other))
            if over > 0 and (bound[1] != "left" or not rate):
                return FOR_EVER
            wait = max(wait, -(-over // rate) if rate else 0)
        return self.now + wait if wait else FOR_EVER

    def order(self):
        """Return the queue."""
        return sorted(self.waiting, key=lambda job: (-job.tier, job.submit, job.number))

    def expiries(self):
        """Yield the ends of exempt times."""
        for job in self.running:
            ending = job.by >= 0 and job.paused_since < 0
            if not ending and any(self.may(other, job) for other in self.waiting):
                yield job.start + job.paused + self.case.exempt

    def may(self, job, other):
        """Whether a waiting job may preempt a running one."""
        return job.tier > other.tier and self.case.modes[other.tier] != "off"

    def free(self, without=(), lent=()):
        """Return the free cores of each node, maybe less than none."""
        free = [
            0 if down else cores for cores, down in zip(self.case.nodes, self.down, strict=True)
        ]
        for job in self.running:
            if job not in without and job not in lent:
                for node, cores in job.places.items():
                    free[node] -= cores
        return free

    def place(self, job, free):
        """Return the first nodes with room; none if there is too little."""
        left, places = job.cores, {}
        for node, room in enumerate(free):
            taken = min(max(room, 0), left)
            if taken:
                places[node], left = taken, left - taken
        return places if left == 0 else None

    def time_left(self, job):
        """Return how long an attempt takes."""
        work = job.work - job.done
        if self.case.checkpoints is None:
            return work
        every, cost, restart = self.case.checkpoints
        return (restart if job.done else 0) + work + max(work - 1, 0) // every * cost

    def start(self, job, free):
        """Start a job."""
        job.places = self.place(job, free)
        job.start, job.paused, job.by = self.now, 0, -1
        job.end = self.now + self.time_left(job)
        job.planned = self.now + max(job.work, 1)
        self.waiting.remove(job)
        self.running.append(job)

    def round(self):
        """Hold a round; return whether another one is due at once."""
        self.resume()
        shown = [job for job in self.waiting if self.within(job, self.running, self.ran)]
        for job in self.order():
            within = self.within(job, self.running, self.ran)
            if within and self.place(job, self.free()) is not None:
                self.start(job, self.free())
        ended, requeued = False, []
        for job in [job for job in self.order() if job in shown]:
            if job.claims_until > self.now or not self.within(job, self.running, self.ran):
                continue
            if self.place(job, self.free()) is not None:
                continue
            victims = self.victims(job)
            if not victims or not self.would_start(job, victims, shown):
                continue
            job.claims_until, suspended = self.now, []
            for other in victims:
                mode = self.case.modes[other.tier]
                if mode == "suspend":
                    suspended.append(other)
                    continue
                other.by = job.number
                if self.case.grace:
                    other.end = min(other.end, self.now + self.case.grace)
                    other.planned = min(other.planned, self.now + self.case.grace)
                    job.claims_until = max(job.claims_until, other.end)
                    continue
                ended = True
                self.lose(other, "requeued" if mode == "requeue" else "ended", wait=False)
                if mode == "requeue":
                    requeued.append(other)
            if job.claims_until > self.now:
                continue
            self.start(job, self.free(lent=suspended))
            for other in suspended:
                self.pause(other, job)
        self.waiting += requeued
        return ended

    def pause(self, other, job):
        """Suspend a job for another, unless it is suspended."""
        if other.paused_since < 0:
            other.paused_since, other.by, other.end = self.now, job.number, FOR_EVER
            other.paused_rank = len(self.rows), self.count()

    def count(self):
        """Return a number that grows."""
        self._count = getattr(self, "_count", 0) + 1
        return self._count

    def resume(self):
        """Resume the suspended jobs beside which nobody runs, in order of their suspension."""
        paused = sorted(
            (job for job in self.running if job.paused_since >= 0),
            key=lambda job: job.paused_rank[1],
        )
        for job in paused:
            others = [other for other in self.running if other.paused_since >= 0]
            free = self.free(lent=[other for other in others if other is not job])
            if all(free[node] >= 0 for node in job.places):
                self.stop_pause(job)
                job.end = job.start + job.paused + self.time_left(job)
                job.planned = job.start + job.paused + max(job.work, 1)

    def stop_pause(self, job):
        """End a suspension."""
        self.rows.append((job.number, job.paused_since, self.now, "suspended", job.by, 0))
        job.paused += self.now - job.paused_since
        job.paused_since = job.by = -1

    def victims(self, job):
        """Return whom Slurm would preempt."""
        candidates = [
            other
            for other in self.running
            if self.may(job, other)
            and (other.by < 0 or other.paused_since >= 0)
            and other.start + other.paused + self.case.exempt <= self.now
        ]
        candidates.sort(
            key=lambda other: (other.tier, len(other.places), other.submit, other.number)
        )
        # With Slurm's gang scheduler a job is placed over all that it may preempt.
        paused = candidates if "suspend" in self.case.modes.values() else []
        candidates = [other for other in candidates if other not in paused]
        number, tries = len(candidates), 0
        while True:
            gone = []
            while self.place(job, self.free(lent=[*paused, *gone])) is None:
                if len(gone) == number:
                    return []
                gone.append(candidates[len(gone)])
            used = self.place(job, self.free(lent=[*paused, *gone]))
            overlap = {
                other.number: len(used.keys() & other.places.keys()) for other in [*gone, *paused]
            }
            if not gone or tries == 2 or number <= tries + 1:
                return [other for other in [*gone, *paused] if overlap[other.number]]
            overlap[gone[-1].number] = FOR_EVER
            gone.sort(key=lambda other: -overlap[other.number])
            candidates[: len(gone)] = gone
            tries += 1

    def would_start(self, job, victims, shown):
        """Whether the rule starts a job once its victims are gone."""
        free = self.free(without=victims)
        gone = [other for other in victims if self.case.modes[other.tier] != "suspend"]
        again = [other for other in gone if self.case.modes[other.tier] == "requeue"]
        running = [other for other in self.running if other not in gone]
        ran = [*self.ran, *((other, self.now - other.start) for other in gone)]
        queue = [*(other for other in self.waiting if other in shown), *again]
        queue.sort(key=lambda other: (-other.tier, other.submit, other.number))
        for other in queue:
            places = self.place(other, free)
            if places is None or not self.within(other, running, ran):
                continue
            if other is job:
                return True
            started = replace(other, places=places, start=self.now)
            running.append(started)
            for node, cores in places.items():
                free[node] -= cores
        return False

    def lose(self, job, how, wait=True):
        """End an attempt early."""
        if job.paused_since >= 0:
            self.stop_pause(job)
        ran, saved = self.now - job.start - job.paused, 0
        if how == "requeued" and self.case.checkpoints is not None:
            every, cost, restart = self.case.checkpoints
            left = job.work - job.done
            written = (ran - (restart if job.done else 0)) // (every + cost)
            saved = every * min(max(written, 0), max(left - 1, 0) // every)
        self.rows.append((job.number, job.start, self.now, how, job.by, ran - saved))
        self.ran.append((job, self.now - job.start))
        self.running.remove(job)
        job.places, job.by, job.claims_until = {}, -1, -1
        if how != "requeued":
            self.jobs[job.number] = job.start, self.now, "preempted"
            return
        job.done += saved
        if wait:
            self.waiting.append(job)

    def end_jobs(self):
        """End the jobs whose time has come; return whether there were any."""
        ending = sorted(
            (job for job in self.running if job.end == self.now), key=lambda j: j.number
        )
        for job in ending:
            if job.by >= 0 and self.now - job.start - job.paused < self.time_left(job):
                requeues = self.case.modes[job.tier] == "requeue"
                self.lose(job, "requeued" if requeues else "ended")
            else:
                self.running.remove(job)
                self.ran.append((job, self.now - job.start))
                self.jobs[job.number] = job.start, self.now, "completed"
        return bool(ending)
