"""The loop of events: one for all rules, with outages, held back jobs and decisions that take time.

Told or learnt predictions, jobs that wait for others, limits of users, outages and decisions that
take time go together.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from hpcsched.system.outages import NO_OUTAGES, Outage, Outages
from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob
from tests.reference.promises import Memory, PromiseRound
from tests.reference.room import Allocated, Closed, Placed, fits, idle
from tests.reference.rules import Asked, Rule, Service, Why


class Limit(NamedTuple):
    """What a partition lets jobs do; None: anything.

    How many jobs a user may run in it, and on how many nodes together; the node groups that its
    jobs may use, and how long a run time they may request.
    """

    jobs: int | None
    nodes: int | None
    groups: frozenset[str] | None = None
    longest: int | None = None


class Bound(NamedTuple):
    """Limit of a group of jobs: `jobs`, `nodes`, or a resource type, maybe `core left` or `taken`.

    These count amounts times the seconds that jobs may still take, or have taken and may take. A
    job for which the limit is `replaced` counts, and need not keep to it.
    """

    group: Callable[[Job], Hashable]
    counted: str
    most: int
    replaced: Callable[[Job], bool] = lambda _job: False


def _user(job: Job) -> Hashable:
    return None if job.user is None else ("user", job.partition, job.user)


class Around(NamedTuple):
    """What there is around the rule.

    Predictions by number of the job; if there are none, the mean of a user's last two jobs, or else
    what was requested. Limits by number of the partition, if there are partitions. Seconds that a
    round takes, and seconds for each job that it is shown. Further limits.
    """

    predicted: Mapping[int, int] | None = None
    limits: Mapping[int, Limit] | None = None
    outages: Outages = NO_OUTAGES
    base: Fraction = Fraction(0)
    per_job: Fraction = Fraction(0)
    bounds: Sequence[Bound] = ()


class Replay:
    """Jobs that are replayed in order of submission.

    `found` has start and place of each job at last, `refused` what refused a job at submission, and
    `lost` the attempts that outages ended, with their starts and ends. `rounds` has for each round
    when it was asked for, how many jobs were in the queue, ran, were started, and waited then, and
    how many seconds it took; `told` has its reasons. `withdrawn` has when jobs left the queue, and
    `backfilled` those that started before one that had come earlier and waited on.

    At each instant jobs end, by number, then nodes go out of service, then jobs are submitted, then
    rounds are held until in one no job ends at once and none is freed. A job that has outlived its
    prediction is said to end in a second.
    """

    def __init__(self, system: System, rule: Rule, around: Around) -> None:
        self.system, self.rule, self.around = system, rule, around
        self.memory = Memory()
        self.now = -1
        self.coming: list[TracedJob] = []
        self.queue: list[Job] = []
        self.running: list[Allocated] = []
        self.run_times: dict[int, int] = {}
        self.predicted: dict[int, int] = {}
        # Whom each job waits for, when each job left, and what each user's jobs ran.
        self.others: dict[int, list[int]] = {}
        self.left: dict[int, int] = {}
        self.learnt: dict[int, list[int]] = {}
        self.carried = Fraction(0)
        self.found: dict[int, tuple[int, Placed]] = {}
        self.refused: dict[int, str] = {}
        self.releases: list[int | None] = []
        self.lost: list[tuple[int, int, int]] = []
        self.rounds: list[tuple[int, int, int, int, int, int]] = []
        self.told: list[list[Why]] = []
        # Attempts that have ended, with the seconds that they ran.
        self.ran: list[tuple[Job, int]] = []
        self.withdrawn: dict[int, int] = {}
        self.backfilled: set[int] = set()
        self.withdrew = False

    def run(self, jobs: Sequence[TracedJob]) -> None:
        """Replay the jobs."""
        self.coming = list(jobs)
        while self.coming or self.running or self.queue:
            times = self.instants()
            if times:
                self.pass_to(min(times))
            else:
                self.reject_used_up()
            while (self.queue or self.withdrew) and self.hold_round():
                pass

    def reject_used_up(self) -> None:
        """Reject what waits for a limit, or for such jobs, when nothing else is left to happen."""
        others = self.waiting_for_others()
        limited = {job.job_id for job in self.queue if not self.may_start(job, ())}
        assert limited
        assert {job.job_id for job in self.queue} == limited | others
        for job in self.queue:
            self.refused[job.job_id] = "used_up_limit"
            # It may have lost an attempt.
            self.found.pop(job.job_id, None)
        self.queue = []

    def instants(self) -> list[int]:
        """Return the instants to come at which something is known to happen."""
        times = [self.end(held) for held in self.running]
        times += [job.submit_time for job, _ in self.coming]
        times += [self.release(job) or 0 for job in self.queue]
        times += [self.leave(job) or 0 for job in self.queue]
        times += [job.submit_time + job.begin_delay for job in self.queue]
        times += [time for time in self.releases if time is not None] if self.queue else []
        times += [time for out in self.around.outages.all for time in (out.start, out.end)]
        return [time for time in times if time > self.now]

    def pass_to(self, now: int) -> None:
        """Have all happen that happens at an instant before rounds are held."""
        self.now = now
        self.end_all()
        self.lose(self.nodes_down())
        while self.coming and self.coming[0].job.submit_time == now:
            self.submit(self.coming.pop(0))
        for job in [job for job in self.queue if self.leave(job) == now]:
            self.queue.remove(job)
            self.left[job.job_id] = self.withdrawn[job.job_id] = now
            self.withdrew = True

    def leave(self, job: Job) -> int | None:
        """Return when a waiting job is withdrawn; None if it is not, or has been started before."""
        if job.patience is None or job.job_id in {number for number, *_ in self.lost}:
            return None
        return job.submit_time + job.patience

    def end(self, held: Allocated) -> int:
        """Return when a job ends."""
        return held.start + self.run_times[held.job.job_id]

    def end_all(self) -> bool:
        """End jobs, of which run times are learnt; return whether there were any."""
        ended = [held for held in self.running if self.end(held) == self.now]
        self.running = [held for held in self.running if held not in ended]
        for held in sorted(ended, key=lambda held: held.job.job_id):
            job = held.job
            self.left[job.job_id] = self.now
            self.ran.append((job, self.now - held.start))
            if job.user is not None:
                self.learnt.setdefault(job.user, []).append(self.now - held.start)
        return bool(ended)

    def nodes_down(self) -> set[int]:
        """Return the nodes that are out of service."""
        outages = [out for out in self.around.outages.all if out.start <= self.now < out.end]
        return {node for out in outages for node in out.nodes}

    def announced(self) -> list[Outage]:
        """Return the outages that are known of and not over."""
        outages = self.around.outages.all
        return [out for out in outages if out.kind != "failure" and out.end > self.now]

    def failed(self) -> set[int]:
        """Return the nodes of which it is not known when they are back."""
        outages = [out for out in self.around.outages.all if out.start <= self.now < out.end]
        return {node for out in outages if out.kind == "failure" for node in out.nodes}

    def service(self) -> Service:
        """Return what is known of nodes, and the jobs bound to those that stay in service."""
        open_now = {job.job_id: self.bound_now(job) for job in self.queue}
        closed = [Closed(out.start, out.end, out.nodes) for out in self.announced()]
        return Service(closed, frozenset(self.nodes_down()), frozenset(self.failed()), open_now)

    def bound_now(self, job: Job) -> Job:
        """Return a job as one that may only use the nodes that stay in service if it starts now."""
        end = self.now + self.predicted[job.job_id]
        taken = {node for out in self.announced() if out.start < end for node in out.nodes}
        return without(self.system, job, self.nodes_down() | taken)

    def lose(self, down: set[int]) -> None:
        """End what runs on nodes that are out of service, first what was predicted to end first."""
        broken = [held for held in self.running if down & set(held.placed)]
        self.running = [held for held in self.running if held not in broken]
        for held in sorted(broken, key=lambda held: (held.end, held.job.job_id)):
            self.lost.append((held.job.job_id, held.start, self.now))
            self.ran.append((held.job, self.now - held.start))
            if self.around.outages.requeue:
                self.queue.append(held.job)
            else:
                self.left[held.job.job_id] = self.now
        arrived = list(self.run_times)
        self.queue.sort(key=lambda job: arrived.index(job.job_id))

    def submit(self, traced: TracedJob) -> None:
        """Put a job into the queue, with its predicted run time, unless it is refused."""
        job, run_time = traced
        last = self.learnt.get(-1 if job.user is None else job.user, [])[-2:]
        mean = sum(last) // 2 if len(last) == 2 else job.requested_time
        if self.around.predicted is None:
            self.predicted[job.job_id] = max(1, min(mean, job.requested_time))
        else:
            self.predicted[job.job_id] = self.around.predicted[job.job_id]
        self.others[job.job_id] = [other for other in job.after if other in self.run_times]
        self.run_times[job.job_id] = run_time
        job = self.bound(job)
        refusal = self.refusal(job)
        if refusal is None:
            self.queue.append(job)
        else:
            self.refused[job.job_id] = refusal
            self.left[job.job_id] = self.now

    def limit(self, job: Job) -> Limit | None:
        """Return the limits of a job's partition, if it has one."""
        limits = self.around.limits or {}
        return None if job.partition is None else limits.get(job.partition)

    def bound(self, job: Job) -> Job:
        """Return a job as one that may only use the node groups of its partition."""
        limit = self.limit(job)
        groups = None if limit is None else limit.groups
        if groups is None or groups == {group.name for group in self.system.groups}:
            return job
        groups &= groups if job.node_groups is None else job.node_groups
        return job._replace(request=job.request._replace(node_groups=groups))

    def refusal(self, job: Job) -> str | None:
        """Return what refuses a job that is bound to its node groups; None if nothing does."""
        limit = self.limit(job)
        if limit is None and self.around.limits is not None:
            return "no_partition"
        if limit is not None:
            if limit.longest is not None and job.requested_time > limit.longest:
                return "over_partition_time"
            if sum(fits(self.system, idle(self.system), job)) < job.units:
                return "larger_than_partition"
        # What ended jobs have used does not refuse a job: it waits, and is rejected at the end.
        ran, self.ran = self.ran, []
        never = any(self.over(job, bound, ()) for bound in self.bounds(job))
        self.ran = ran
        nodes = None if limit is None else limit.nodes
        too_many = nodes is not None and self.most_nodes(job) > nodes
        return "over_limit" if never or too_many else None

    def most_nodes(self, job: Job) -> int:
        """Return on how many nodes a job could at most be placed."""
        return min(job.units, sum(fit > 0 for fit in fits(self.system, idle(self.system), job)))

    def release(self, job: Job) -> int | None:
        """Return when a job has waited for others long enough; None if that is not known yet."""
        others = self.others[job.job_id]
        if any(other not in self.left for other in others):
            return None
        return max((self.left[other] + job.think_time for other in others), default=0)

    def waiting_for_others(self) -> set[int]:
        """Return the jobs that wait for others, or for their begin times."""
        releases = {job.job_id: self.release(job) for job in self.queue}
        early = {j.job_id for j in self.queue if j.submit_time + j.begin_delay > self.now}
        return early | {n for n, time in releases.items() if time is None or time > self.now}

    def bounds(self, job: Job) -> list[Bound]:
        """Return the limits of a job: those of its user in its partition, and others."""
        limit, found = self.limit(job), list(self.around.bounds)
        if limit is not None and job.user is not None:
            of_user = [("jobs", limit.jobs), ("nodes", limit.nodes)]
            found += [Bound(_user, name, most) for name, most in of_user if most is not None]
        own = [bound for bound in found if bound.group(job) is not None]
        return [bound for bound in own if not bound.replaced(job)]

    def amount(self, job: Job, counted: str) -> int:
        """Return what a job counts by, without its nodes and times."""
        name = counted.removesuffix(" left").removesuffix(" taken")
        types = self.system.resource_types
        return 1 if name == "jobs" else job.units * job.unit_request[types.index(name)]

    def over(self, job: Job, bound: Bound, running: Sequence[Allocated]) -> int:
        """Return by how much a limit would be exceeded if a job started; 0: it is kept."""
        same = [held for held in running if bound.group(held.job) == bound.group(job)]
        if bound.counted == "nodes":
            added = self.most_nodes(job)
            used = len({node for held in same for node in held.placed})
        else:
            added = self.amount(job, bound.counted)
            amounts = [self.amount(held.job, bound.counted) for held in same]
            if bound.counted.endswith(" left"):
                added *= job.requested_time
                ends = [held.start + held.job.requested_time for held in same]
                left = [max(0, end - self.now) for end in ends]
                amounts = [a * t for a, t in zip(amounts, left, strict=True)]
            if bound.counted.endswith(" taken"):
                added *= job.requested_time
                times = [max(held.job.requested_time, self.now - held.start) for held in same]
                amounts = [a * t for a, t in zip(amounts, times, strict=True)]
                amounts += [
                    self.amount(other, bound.counted) * seconds
                    for other, seconds in self.ran
                    if bound.group(other) == bound.group(job)
                ]
            used = sum(amounts)
        return max(0, used + added - bound.most) if added else 0

    def may_start(self, job: Job, started: Sequence[Allocated]) -> bool:
        """Say whether limits let a job start beside all that runs and has just been started."""
        running, job = [*self.running, *started], self.bound_now(job)
        return not any(self.over(job, bound, running) for bound in self.bounds(job))

    def within_limits_at(self, job: Job) -> int | None:
        """Return when a job may be within its limits if nothing ends; None: never, or now."""
        waits, job = [], self.bound_now(job)
        for bound in self.bounds(job):
            over = self.over(job, bound, self.running)
            same = [held for held in self.running if bound.group(held.job) == bound.group(job)]
            if over and not bound.counted.endswith(" left"):
                return None
            rate = sum(self.amount(held.job, bound.counted) for held in same) if over else 0
            if over and not rate:
                return None
            waits += [-(-over // rate)] if over else []
        return self.now + max(waits) if waits else None

    def held_back(self, able: Sequence[Job]) -> set[int]:
        """Return the jobs that wait for others, and those beyond a limit."""
        over = {job.job_id for job in able if not self.may_start(job, ())}
        return self.waiting_for_others() | over

    def hold_round(self) -> bool:
        """Start what the rule starts; say whether another round is due."""
        asked_at, queued, running = self.now, len(self.queue), len(self.running)
        self.withdrew = False
        system, service = self.system, self.service()
        shown = list(service.open_now.values())
        # Rules that reserve plan past announced outages, and are shown who waits for their end.
        if self.rule.name not in ("strict", "greedy", "committed"):
            shown = [without(system, job, self.failed()) for job in self.queue]
        able = [job for job in shown if sum(fits(system, idle(system), job)) >= job.units]
        waiting = self.waiting_for_others()
        held_back = self.held_back(able)
        able = [job for job in able if job.job_id not in held_back]
        started, told = self.decided(able, service)
        going = {held.job.job_id for held in started}
        staying = [k for k, job in enumerate(able) if job.job_id not in going]
        passing = {job.job_id for job in able[min(staying, default=len(able)) :]} & going
        # That they wait for the end of an outage is no reason of the rule.
        barred = {
            job.job_id
            for job in service.open_now.values()
            if sum(fits(system, idle(system), job)) < job.units
        }
        told = [why for why in told if why.kind != "no_room" or why.job_id not in barred]
        seconds = self.charge(len(able))
        changed = self.pass_seconds(seconds)
        started = [held for held in started if held.job.job_id not in self.withdrawn]
        told = [why for why in told if why.job_id not in self.withdrawn]
        # That they cannot start is no reason of the rule.
        shut = {held.job.job_id for held in started if self.is_shut(held)}
        started = [held for held in started if held.job.job_id not in shut]
        told = [why for why in told if why.job_id not in shut]

        names = {held.job.job_id for held in started}
        of_name = {job.job_id: job for job in self.queue}
        self.queue = [job for job in self.queue if job.job_id not in names]
        for held in started:
            name = held.job.job_id
            self.found[name] = self.now, held.placed
            (self.backfilled.add if name in passing else self.backfilled.discard)(name)
            end = self.now + self.predicted[name]
            self.running.append(Allocated(of_name[name], held.placed, self.now, end))
        self.releases = [self.within_limits_at(job) for job in self.queue]
        self.told.append(told)
        self.rounds.append((asked_at, queued, running, len(started), len(self.queue), seconds))
        freed = bool((waiting - names) - self.waiting_for_others())
        return self.end_all() or changed or freed

    def decided(self, able: Sequence[Job], service: Service) -> tuple[list[Allocated], list[Why]]:
        """Return what the rule starts of the jobs that it is shown, and its reasons."""
        if not able:
            return [], []
        seen = [held._replace(end=max(held.end, self.now + 1)) for held in self.running]
        asked = Asked(self.now, able, seen, self.predicted, service, self.may_start)
        held_round = PromiseRound(self.system, self.rule, asked, self.memory)
        return held_round.decide(), held_round.reasons()

    def is_shut(self, held: Allocated) -> bool:
        """Say whether a node of a job to start is out of service, or will be before its end."""
        end = self.now + self.predicted[held.job.job_id]
        ahead = {node for out in self.announced() if out.start < end for node in out.nodes}
        return bool((self.nodes_down() | ahead) & set(held.placed))

    def charge(self, shown: int) -> int:
        """Return the whole seconds that a round takes; what is left is charged to the next."""
        if shown:
            self.carried += self.around.base + self.around.per_job * shown
        seconds = int(self.carried)
        self.carried -= seconds
        return seconds

    def pass_seconds(self, seconds: int) -> bool:
        """Have all happen that happens until a decision is due; return whether anything does."""
        due, changed = self.now + seconds, False
        while times := [time for time in self.instants() if time <= due]:
            self.pass_to(min(times))
            changed = True
        self.now = due
        return changed


def without(system: System, job: Job, nodes: set[int]) -> Job:
    """Return a job as one that may not use some nodes."""
    if not nodes:
        return job
    may_use = range(system.node_count) if job.allowed_nodes is None else job.allowed_nodes
    return job._replace(request=job.request._replace(allowed_nodes=frozenset(may_use) - nodes))
