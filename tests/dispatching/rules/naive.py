"""Conservative backfilling without tricks: in single seconds, for slots that are all alike.

It shares nothing with the code under test but `tests.properties.brute_force`, as it plans anew
whatever it needs to know.
"""

from collections import Counter
from collections.abc import Sequence

from tests.properties.brute_force import Running, Waiting


class NaiveConservative:
    """Keeps a planned start for each job, by number."""

    def __init__(self, compression: str) -> None:
        self._compression = compression
        self._planned: dict[int, int] = {}
        self._ran: Counter[Running] = Counter()

    def __call__(
        self, now: int, queue: Sequence[Waiting], running: Sequence[Running], slots: int
    ) -> list[int]:
        """Return the numbers of the jobs that start now, in turn."""
        jobs = {job.job_id: job for job in queue}
        before, self._planned = self._planned, {}
        fixed = [(now, end, units) for units, end in running]
        compress = any(run.predicted_end > now for run in (self._ran - Counter(running)).elements())
        for job in sorted((j for j in queue if j.job_id in before), key=lambda j: before[j.job_id]):
            start = self._earliest(job, max(now, before[job.job_id]), fixed, jobs, slots)
            compress |= start > before[job.job_id]
            self._planned[job.job_id] = start
        if compress:
            self._compress(now, fixed, jobs, slots)
            compress = False
        for job in queue:
            if job.job_id not in before:
                self._planned[job.job_id] = self._earliest(job, now, fixed, jobs, slots)
        started: list[int] = []
        while True:
            if compress:
                self._compress(now, fixed, jobs, slots)
            compress, any_started = False, False
            for job in queue:
                if job.job_id in self._planned and self._may_start(job, now, fixed, jobs, slots):
                    compress |= self._planned.pop(job.job_id) > now
                    fixed.append((now, now + job.predicted, job.units))
                    started.append(job.job_id)
                    any_started = True
            if not any_started:
                break
        new = [Running(jobs[name].units, now + jobs[name].predicted) for name in started]
        self._ran = Counter([*running, *new])
        return started

    def _compress(self, now, fixed, jobs, slots) -> None:
        names = [name for name in jobs if name in self._planned]
        if self._compression == "reservation":
            names.sort(key=lambda name: self._planned[name])
        for name in names:
            self._planned.pop(name)
            self._planned[name] = self._earliest(jobs[name], now, fixed, jobs, slots)

    def _may_start(self, job, now, fixed, jobs, slots) -> bool:
        planned = self._planned.pop(job.job_id)
        earliest = self._earliest(job, now, fixed, jobs, slots)
        self._planned[job.job_id] = planned
        return earliest == now

    def _earliest(self, job, start, fixed, jobs, slots) -> int:
        """Return the first second from which on there is room beside runs and plans."""
        taken = fixed + [
            (planned, planned + jobs[name].predicted, jobs[name].units)
            for name, planned in self._planned.items()
        ]
        while any(
            job.units + sum(units for begin, end, units in taken if begin <= second < end) > slots
            for second in range(start, start + job.predicted)
        ):
            start += 1
        return start
