"""A round in which every waiting job has a reservation, most of them from rounds before."""

from collections.abc import Mapping
from typing import Literal

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.heuristic.node_level import NodeWorkspace
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob

Compression = Literal["arrival", "reservation"]
"""In which order reservations are moved to earlier times."""


class ReservedRound:
    """Reservations over one round's profile.

    `waiting` has the jobs that have not been started, by number, in order of arrival, and `starts`
    those that have been. `refused` names, for each job that `push_aside` last refused to start, the
    job that would have been delayed past its latest start.
    """

    def __init__(self, problem: DispatchingProblem, allocator: Allocator) -> None:
        self.now = problem.now
        self.workspace = NodeWorkspace(problem, allocator)
        self.profile = self.workspace.profile()
        self.waiting: dict[int, WaitingJob] = {job.job_id: job for job in problem.queue}
        self.starts: list[Start] = []
        self.refused: dict[int, int] = {}

    def take_up(self, held: Mapping[int, Held]) -> bool:
        """Make reservations of an earlier round again; return whether any had to be moved.

        They come in order of their starts. One that cannot be kept, as what runs has outlived its
        prediction or was started late, is moved to the earliest later time beside those before it.
        """
        moved = False
        kept = [job for name, job in self.waiting.items() if name in held]
        for job in sorted(kept, key=lambda job: held[job.job_id].start):
            before = held[job.job_id]
            start = max(before.start, self.now)
            if not self.profile.hold(job, before._replace(start=start)):
                self.profile.reserve(job, start)
                moved = True
        return moved

    def compress(self, compression: Compression) -> None:
        """Move each reservation to the earliest time beside all others, one after the other.

        None becomes later, since its room is free when it is looked for.
        """
        jobs = list(self.waiting.values())
        if compression == "reservation":
            jobs.sort(key=lambda job: self.profile.held(job).start)
        for job in jobs:
            self.profile.cancel(job)
            self.profile.reserve(job)

    def start(self, job: WaitingJob) -> bool:
        """Start the job now if all other reservations stay as they are; return whether it is."""
        before = self.profile.cancel(job)
        if self._start(job):
            return True
        self.profile.hold(job, before)
        return False

    def push_aside(self, job: WaitingJob, latest: Mapping[int, int]) -> bool:
        """Start the job now, moving what is in its way, none past its latest start.

        Returns whether it is started; otherwise nothing changes. There must be room for it now.
        """
        profile = self.profile
        before = profile.cancel(job)
        moved: list[tuple[WaitingJob, Held]] = []
        while not profile.fits(job):
            name = profile.first_conflict(job)
            assert name is not None
            other = self.waiting[name]
            moved.append((other, profile.cancel(other)))
        profile.hold(job, Held(self.now))
        late = None
        replaced: list[WaitingJob] = []
        for other, _ in moved:
            replaced.append(other)
            if profile.reserve(other) > latest[other.job_id]:
                late = other
                break
        profile.cancel(job)
        if late is None:
            return self._start(job)
        self.refused[job.job_id] = late.job_id
        for other in replaced:
            profile.cancel(other)
        for other, where in [*moved, (job, before)]:
            profile.hold(other, where)
        return False

    def in_the_way(self, job: WaitingJob) -> int | None:
        """Return the first job, in order of arrival, whose reservation keeps this one waiting."""
        before = self.profile.cancel(job)
        other = self.profile.first_conflict(job, tuple(self.waiting))
        self.profile.hold(job, before)
        return other

    def held(self) -> dict[int, Held]:
        """Return the reservations of the jobs that still wait, by job number."""
        return {name: self.profile.held(job) for name, job in self.waiting.items()}

    def _start(self, job: WaitingJob) -> bool:
        """Start a job that has no reservation, if it keeps clear of all there are."""
        allocation = self.profile.start_now(job)
        if allocation is None:
            return False
        self.starts.append(Start(job.job_id, allocation))
        del self.waiting[job.job_id]
        return True
