"""The prediction of run times from a user's last similar jobs, as MOD 2017, section 3, has it.

For tests alone: it forgets nothing. Rules, the first that finds a job wins: the same name, queue,
requested time and resources; the same but for the number at the end of the name; as these two with
any resources; the same name; the same but for the number at its end. Without any, and as an upper
bound, the requested time.
"""

import heapq

from hpcsched.workload.job import Job

Key = tuple[object, ...]


def keys(job: Job) -> list[Key]:
    """Return what a job is found by, a key for each rule."""
    assert job.name is not None
    name, prefix = job.name, job.name.rstrip("0123456789")
    profile = (job.queue, job.requested_time)
    resources = (job.units, job.unit_request)
    parts: list[Key] = [
        (name, profile, resources),
        (prefix, profile, resources),
        (name, profile),
        (prefix, profile),
        (name,),
        (prefix,),
    ]
    return [(job.user, rule, *part) for rule, part in enumerate(parts)]


class DataDriven:
    """Predicts run times; jobs are shown as they are submitted, and start at once."""

    def __init__(self) -> None:
        self._run_times: dict[Key, int] = {}
        self._running: list[tuple[int, int, list[Key], int]] = []

    def predict(self, job: Job, run_time: int) -> int:
        """Return what is predicted of a job; its run time is known from its end on."""
        while self._running and self._running[0][0] <= job.submit_time:
            _, _, known_by, ran = heapq.heappop(self._running)
            for key in known_by:
                self._run_times[key] = ran
        found = keys(job)
        heapq.heappush(self._running, (job.submit_time + run_time, job.job_id, found, run_time))
        for key in found:
            if key in self._run_times:
                return min(self._run_times[key], job.requested_time)
        return job.requested_time
