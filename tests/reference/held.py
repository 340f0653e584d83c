"""The loop of events: jobs that wait for others, limits of users, a predictor that learns."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from tests.reference.room import Held, Placed, fits, idle
from tests.reference.rules import Asked, Round, Rule


class Limit(NamedTuple):
    """How many jobs a user may run in a partition, and on how many nodes together; None: any."""

    jobs: int | None
    nodes: int | None


class Replay:
    """Jobs that are replayed in order of submission; `found` has start and place of each.

    At each instant jobs end, by number, then jobs are submitted, then rounds are held until in one
    no job ends at once and none is freed. A job that has outlived its prediction is said to end in
    a second. `limits` are by the numbers of partitions.
    """

    def __init__(self, system: System, rule: Rule, limits: Mapping[int, Limit]) -> None:
        self.system, self.rule, self.limits = system, rule, limits
        self.queue: list[Job] = []
        self.running: list[Held] = []
        self.run_times: dict[int, int] = {}
        self.predicted: dict[int, int] = {}
        # Whom each job waits for, when each job ended, and what each user's jobs ran.
        self.others: dict[int, list[int]] = {}
        self.left: dict[int, int] = {}
        self.learnt: dict[int, list[int]] = {}
        self.found: dict[int, tuple[int, Placed]] = {}

    def run(self, jobs: Sequence[TracedJob]) -> None:
        """Replay the jobs."""
        coming = list(jobs)
        now = -1
        while coming or self.running or self.queue:
            times = [self.end(held) for held in self.running]
            times += [job.submit_time for job, _ in coming]
            times += [release for job in self.queue if (release := self.release(job) or 0) > now]
            now = min(times)
            self.end_all(now)
            while coming and coming[0].job.submit_time == now:
                self.submit(coming.pop(0))
            while self.queue and self.hold_round(now):
                pass

    def end(self, held: Held) -> int:
        """Return when a job ends."""
        return held.start + self.run_times[held.job.job_id]

    def end_all(self, now: int) -> bool:
        """End jobs; the predictor remembers the run times of each user's jobs."""
        ended = [held for held in self.running if self.end(held) == now]
        self.running = [held for held in self.running if held not in ended]
        for held in sorted(ended, key=lambda held: held.job.job_id):
            job = held.job
            self.left[job.job_id] = now
            if job.user is not None:
                self.learnt.setdefault(job.user, []).append(now - held.start)
        return bool(ended)

    def submit(self, traced: TracedJob) -> None:
        """Predict the mean of the user's last two jobs, or else what was requested."""
        job, run_time = traced
        last = self.learnt.get(-1 if job.user is None else job.user, [])[-2:]
        mean = sum(last) // 2 if len(last) == 2 else job.requested_time
        self.predicted[job.job_id] = max(1, min(mean, job.requested_time))
        self.others[job.job_id] = [other for other in job.after if other in self.run_times]
        self.run_times[job.job_id] = run_time
        self.queue.append(job)

    def release(self, job: Job) -> int | None:
        """Return when a job has waited for others long enough; None if that is not known yet."""
        others = self.others[job.job_id]
        if any(other not in self.left for other in others):
            return None
        return max((self.left[other] + job.think_time for other in others), default=0)

    def held_back(self, now: int) -> set[int]:
        """Return the jobs that wait for others, and those that limits do not let start."""
        waiting = {job.job_id for job in self.queue if (self.release(job) or 0) > now}
        waiting |= {job.job_id for job in self.queue if self.release(job) is None}
        over: set[tuple[int | None, int | None]] = set()
        limited = set()
        counted: dict[object, tuple[int, int]] = {}
        for held in self.running:
            account = held.job.partition, held.job.user
            count, nodes = counted.get(account, (0, 0))
            counted[account] = count + 1, nodes + len(held.placed)
        for job in self.queue:
            limit = self.limits.get(-1 if job.partition is None else job.partition)
            if limit is None or job.user is None or job.job_id in waiting:
                continue
            account = job.partition, job.user
            count, nodes = counted.get(account, (0, 0))
            room = sum(fit > 0 for fit in fits(self.system, idle(self.system), job))
            count, nodes = count + 1, nodes + min(job.units, room)
            too_many = limit.jobs is not None and count > limit.jobs
            if account in over or too_many or (limit.nodes is not None and nodes > limit.nodes):
                over.add(account)
                limited.add(job.job_id)
            else:
                counted[account] = count, nodes
        return waiting | limited

    def hold_round(self, now: int) -> bool:
        """Start what the rule starts; say whether another round is due."""
        held_back = self.held_back(now)
        shown = [job for job in self.queue if job.job_id not in held_back]
        seen = [held._replace(end=max(held.end, now + 1)) for held in self.running]
        started: list[Held] = []
        if shown:
            started = Round(
                self.system, self.rule, Asked(now, shown, seen, self.predicted)
            ).decide()
        for held in started:
            self.found[held.job.job_id] = now, held.placed
        names = {held.job.job_id for held in started}
        self.queue = [job for job in self.queue if job.job_id not in names]
        self.running += started
        freed = bool((held_back - names) - self.held_back(now))
        return self.end_all(now) or freed
