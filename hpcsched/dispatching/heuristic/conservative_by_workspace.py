"""Conservative backfilling over a workspace, for problems that the core does not know."""

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.heuristic.held import Held
from hpcsched.dispatching.heuristic.reserved_round import Compression, ReservedRound
from hpcsched.dispatching.heuristic.round_reasons import RoundReasons
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.reasons import Reason


class ConservativeByWorkspace:
    """Promises every job a start, and keeps its promises; see `conservative`."""

    def __init__(self, allocator: Allocator, compression: Compression = "arrival") -> None:
        self.allocator = allocator
        self.compression = compression
        self._held: dict[int, Held] = {}
        self.promised: dict[int, int] = {}
        # When the jobs that ran after the last round were to end.
        self._ends: dict[int, int] = {}

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        current = ReservedRound(problem, self.allocator)
        ended_early = self._have_ended_early(problem)
        moved = current.take_up(self._held)
        self._make_promises(current)
        if moved or ended_early:
            current.compress(self.compression)
        while self._start_jobs(current):
            pass
        self._held = current.held()
        self._ends = {job.job_id: job.predicted_end_time for job in problem.running}
        for job in problem.queue:
            if job.job_id not in current.waiting:
                self._ends[job.job_id] = problem.now + job.predicted_run_time
        reasons = self._reasons(problem, current) if problem.explain else ()
        return Decision(tuple(current.starts), reasons=reasons)

    def _have_ended_early(self, problem: DispatchingProblem) -> bool:
        """Say whether a job has ended before it was predicted to, which leaves room."""
        running = {job.job_id for job in problem.running}
        return any(end > problem.now and name not in running for name, end in self._ends.items())

    def _make_promises(self, current: ReservedRound) -> None:
        """Give each job that has none a reservation, and forget the promises of jobs that left."""
        waiting = current.waiting
        self.promised = {name: t for name, t in self.promised.items() if name in waiting}
        for name, job in waiting.items():
            if name not in self._held:
                self.promised[name] = current.profile.reserve(job)

    def _start_jobs(self, current: ReservedRound) -> bool:
        """Start what can be started; return whether anything was.

        Where a job has given up a later reservation, others are moved into its room.
        """
        started = left_room = False
        for job in current.workspace.fitting(current.waiting.values()):
            reserved = current.profile.held(job).start
            if current.workspace.fits(job) and self._start(job, current):
                started = True
                left_room |= reserved > current.now
        if left_room:
            current.compress(self.compression)
        return started

    def _start(self, job: WaitingJob, current: ReservedRound) -> bool:
        """Start a job for which there is room, if it may start; return whether it does."""
        return current.start(job)

    def _reasons(self, problem: DispatchingProblem, current: ReservedRound) -> tuple[Reason, ...]:
        reasons = RoundReasons(current.workspace)
        for job in problem.queue:
            if job.job_id not in current.waiting:
                reasons.starts(job)
                continue
            time, promised = self._held[job.job_id].start, self.promised[job.job_id]
            detail = "" if time <= promised else f"at first promised for {promised} s"
            if current.workspace.fits(job):
                other = self._in_the_way(job, current)
                reasons.waits(job, "reserved_for", other=other, time=time, detail=detail)
            else:
                reasons.waits(job, "no_room", time=time, detail=detail)
        return tuple(reasons.noted)

    def _in_the_way(self, job: WaitingJob, current: ReservedRound) -> int | None:
        """Return the first job in order of arrival whose reservation keeps this one waiting."""
        return current.in_the_way(job)
