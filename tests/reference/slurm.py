"""The rounds of Slurm's two schedulers, written down plainly, and a replay with them."""

from collections.abc import Sequence

from hpcsched.dispatching.rules.rule_params import SlurmBackfillParams
from hpcsched.system.system import System
from hpcsched.workload.job import Job
from tests.reference.events import Around, Replay
from tests.reference.room import Allocated, fits, idle
from tests.reference.rules import Asked, Round, Rule, Service, Why


class SlurmRound(Round):
    """A round of the main scheduler, and of backfilling if that is due."""

    def hold_slurm(self, params: SlurmBackfillParams, *, backfills: bool) -> list[Allocated]:
        """Return the starts."""
        failed: list[Job] = []
        for job in self.in_turn()[: params.default_queue_depth]:
            if job.partition in {other.partition for other in failed} or not self.within(job):
                continue
            free = self.free()
            # The nodes that those may use are left to them.
            for other in failed:
                for node, count in enumerate(fits(self.system, idle(self.system), other)):
                    free[node] = [0] * len(free[node]) if count else free[node]
            if self.holds(free, self.service.open_now[job.job_id]):
                self.start(job, self.chosen(job, free))
            elif not self.fits_now(job):
                failed.append(job)
        if backfills:
            self.backfill(params)
        return self.started

    def backfill(self, params: SlurmBackfillParams) -> None:
        """Start or reserve, job by job."""
        started = {held.job.job_id for held in self.started}
        waiting = [job for job in self.in_turn() if job.job_id not in started]
        users: list[int | None] = []
        tested: list[Job] = []
        outages = [closed.start for closed in self.service.announced]
        for job in waiting:
            if len(tested) == params.bf_max_job_test:
                break
            if not self.within(job):
                continue
            known = params.bf_max_job_user and job.user is not None
            if known and users.count(job.user) >= params.bf_max_job_user:
                continue
            users.append(job.user)
            tested.append(job)
            end = self.now + self.predicted[job.job_id]
            while end % params.bf_resolution and end not in outages:
                end += 1
            self.predicted = {**self.predicted, job.job_id: end - self.now}
        if not tested:
            return
        self.look_ahead([*(held.job for held in self.started), *tested])
        for job in tested:
            if not self.within(job) or self.start_beside(job):
                continue
            self.reserve(job, self.now)
            if self.kept[job.job_id].start > self.now + params.bf_window:
                del self.kept[job.job_id]


class SlurmReplay(Replay):
    """Jobs that are replayed with Slurm's two schedulers."""

    def __init__(
        self, system: System, rule: Rule, around: Around, params: SlurmBackfillParams
    ) -> None:
        super().__init__(system, rule, around)
        self.params = params
        self.last: int | None = None
        self.again: int | None = None

    def instants(self) -> list[int]:
        """Return the instants to come, among them that of the next backfilling."""
        times = super().instants()
        if self.again is not None and self.queue:
            times.append(max(self.again, self.now + 1))
        return times

    def decided(self, able: Sequence[Job], service: Service) -> tuple[list[Allocated], list[Why]]:
        """Return what is started; no reasons are given."""
        self.again = None
        if not able:
            return [], []
        seen = [held._replace(end=max(held.end, self.now + 1)) for held in self.running]
        asked = Asked(self.now, able, seen, self.predicted, service, self.may_start)
        due = self.now if self.last is None else self.last + self.params.bf_interval
        backfills = due <= self.now
        started = SlurmRound(self.system, self.rule, asked).hold_slurm(
            self.params, backfills=backfills
        )
        if not backfills and len(started) < len(able):
            self.again = due
        # The main scheduler alone may start all, and then nothing is left to backfill.
        main = SlurmRound(self.system, self.rule, asked).hold_slurm(self.params, backfills=False)
        if backfills and len(main) < len(able):
            self.last = self.now
        return started, []
