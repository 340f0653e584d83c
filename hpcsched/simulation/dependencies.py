"""Dependencies between jobs: the instant from which each may start.

A dependent job is in the system from its submission on, and counts as waiting. Dispatchers are
shown it once it may start. Any end of the other job will do, also by being killed or rejected; a
job that is submitted later, or never, is not waited for.

Source: Chapin and others, *Benchmarks and standards for the evaluation of parallel job schedulers*,
1999, for the preceding job and the think time; here they bind the replay instead of describing the
log.
"""

from collections.abc import Iterable

from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.workload.job import Job


class Dependencies:
    """Jobs that wait for others to end, and the instants of their release.

    Times are in seconds. Memory grows with the trace: the end of each job is kept, since any later
    job may depend on it.
    """

    def __init__(self) -> None:
        self._ends: dict[int, int] = {}
        self._present: set[int] = set()
        # Of each held job, those that it still waits for; and who waits for each job.
        self._missing: dict[int, set[int]] = {}
        self._waiting_for: dict[int, list[Job]] = {}
        # Of each job whose others have ended, when the think time is over and who ended last.
        self._released: dict[int, tuple[int, int]] = {}

    def submitted(self, job: Job, now: int) -> None:
        """Add a job that has joined the queue, or was refused on its way there."""
        self._present.add(job.job_id)
        if not job.after:
            return
        missing = {other for other in job.after if other in self._present and other != job.job_id}
        for other in missing:
            self._waiting_for.setdefault(other, []).append(job)
        if missing:
            self._missing[job.job_id] = missing
        else:
            self._release(job, now)

    def left(self, job_id: int, now: int) -> list[Job]:
        """Record a job that has left; return the jobs that waited for it and for no other."""
        released = []
        self._present.discard(job_id)
        self._ends[job_id] = now
        self._missing.pop(job_id, None)
        self._released.pop(job_id, None)
        for job in self._waiting_for.pop(job_id, ()):
            missing = self._missing.get(job.job_id)
            if missing is not None:
                missing.discard(job_id)
                if not missing:
                    del self._missing[job.job_id]
                    self._release(job, now)
                    released.append(job)
        return released

    def started(self, job_id: int) -> None:
        """Record a job that has started and waits no longer."""
        self._released.pop(job_id, None)

    def held_until(self, job_id: int) -> int | None:
        """Return the second from which a queued job may start; None while it waits for others."""
        if job_id in self._missing:
            return None
        return self._released[job_id][0] if job_id in self._released else 0

    def held_back(self, queue: Iterable[WaitingJob], now: int) -> dict[int, Reason]:
        """Return the queued jobs that may not start yet, with their reasons, by number."""
        held = {}
        for job in queue:
            job_id = job.job_id
            missing = self._missing.get(job_id)
            if missing is not None:
                held[job_id] = Reason(job_id, "dependency", min(missing))
            elif job_id in self._released and self._released[job_id][0] > now:
                time, last = self._released[job_id]
                held[job_id] = Reason(
                    job_id, "dependency", last, detail=f"think time, until second {time}"
                )
        return held

    def _release(self, job: Job, now: int) -> None:
        """Set the second from which a job may start, after the jobs that it depends on."""
        ends = [(self._ends[other], other) for other in job.after if other in self._ends]
        if not ends:
            return
        end, last = max(ends)
        self._released[job.job_id] = end + job.think_time, last
