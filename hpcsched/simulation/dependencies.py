"""Jobs that wait for others to end: when each of them may start.

Such a job is in the system from its submission on, and counts as waiting. Dispatchers are shown it
once it may start. Any end of the other job will do, also one by being killed or rejected; and what
has not been submitted before, or never is, is not waited for.

Source: Chapin and others, *Benchmarks and standards for the evaluation of parallel job schedulers*,
1999, for the preceding job and the think time; here they bind the replay instead of describing the
log.
"""

from collections.abc import Iterable

from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.reasons import Reason
from hpcsched.workload.job import Job


class Dependencies:
    """Which jobs are held back until others have ended, and until when.

    Times are in seconds. What is kept grows with the trace: the end of each job that has left,
    since any later job may ask for it.
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
        """Take note of a job that has joined the queue, or was refused on its way there."""
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
        """Take note of a job that has left the system, however it did.

        Return those that waited for it and wait for no other.
        """
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
        """Take note of a job that has started, and waits for nobody any more."""
        self._released.pop(job_id, None)

    def held_until(self, job_id: int) -> int | None:
        """Return from when on a job in the queue may start; None while it waits for others."""
        if job_id in self._missing:
            return None
        return self._released[job_id][0] if job_id in self._released else 0

    def held_back(self, queue: Iterable[WaitingJob], now: int) -> dict[int, Reason]:
        """Return the jobs of a queue that may not start yet, each with the reason, by number."""
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
        """Note from when on a job may start, all that it waits for having ended."""
        ends = [(self._ends[other], other) for other in job.after if other in self._ends]
        if not ends:
            return
        end, last = max(ends)
        self._released[job.job_id] = end + job.think_time, last
