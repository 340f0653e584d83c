"""Jobs to be predicted, and a job that must not be asked when it ended."""

from typing import Any

from hpcsched.system.system import Request
from hpcsched.workload.job import Job

_FATE = ("run_time", "start_time", "end_time", "wait_time", "response_time", "time_limit")


class GuardedJob(Job):
    """A job of which whatever becomes of it cannot be asked: that raises AssertionError."""

    def __getattr__(self, name: str) -> Any:
        if name in _FATE:
            raise AssertionError(f"a predictor asked job {self.job_id} for its {name}")
        raise AttributeError(name)


def job(job_id: int = 1, requested_time: int = 1000, **more: Any) -> GuardedJob:
    """Return a job of one unit of user 7, unless something else is said."""
    asked = {"units": 1, "unit_request": (1,)}
    asked |= {name: more.pop(name) for name in Request._fields if name in more}
    given = {"submit_time": 0, "request": Request(**asked), "user": 7, **more}
    return GuardedJob(job_id=job_id, requested_time=requested_time, **given)
