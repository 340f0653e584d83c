"""Records of jobs from slurmdbd's JSON, in the terms of `sacct --parsable2`.

The answer of `/slurmdb/v0.0.4x/jobs` and what `sacct --json` prints have the same form. Source: a
recorded answer of v0.0.38. In later versions, numbers that may be missing are objects.
"""

import grp
import pwd
from collections.abc import Callable, Mapping
from typing import Any

from hpcsched_slurm.reading_jobs import number_of
from hpcsched_slurm.versions import FAULTS, plain_value

NO_RECORD = "expected a record of a job as slurmdbd gives it, found another value"
"""Why there is no record."""

_NO_NUMBER = 2**32 - 2
"""From here on, numbers of v0.0.38 stand for none."""


def record_of(job: object) -> Mapping[str, str] | None:
    """Return a record of slurmdbd as the fields of a line of sacct; None if it is none.

    Times are in seconds since 1970. `array` and `task` are added for tasks of arrays.
    """
    try:
        return _record(job) if isinstance(job, Mapping) else None
    except FAULTS:
        return None


def _record(job: Mapping[str, Any]) -> Mapping[str, str]:
    times, array = job["time"], job.get("array") or {}
    # Energy is listed without a count.
    counted = (one for one in job["tres"]["allocated"] if one["count"] is not None)
    allocated = {_tres_name(one): int(one["count"]) for one in counted}
    user = str(job.get("user") or job["association"]["user"])
    state = job["state"]["current"]
    limit = plain_value(times["limit"])
    record = {
        "JobIDRaw": str(int(job["job_id"])),
        "User": user,
        "UID": str(_number(user, lambda name: pwd.getpwnam(name).pw_uid)),
        "GID": str(_number(str(job["group"]), lambda name: grp.getgrnam(name).gr_gid)),
        "JobName": str(job["name"]),
        "Partition": str(job["partition"]),
        "State": " ".join([state] if isinstance(state, str) else map(str, state)),
        "Submit": _instant(times["submission"]),
        "Start": _instant(times["start"]),
        "End": _instant(times["end"]),
        "Suspended": _duration(times.get("suspended")),
        "TimelimitRaw": str(limit) if isinstance(limit, int) and 0 < limit < _NO_NUMBER else "",
        "NNodes": str(allocated.get("node", 0)),
        "NCPUS": str(allocated.get("cpu", 0)),
        "AllocTRES": ",".join(_tres(name, count) for name, count in allocated.items()),
    }
    first, task = plain_value(array.get("job_id")), plain_value(array.get("task_id"))
    if first and task is not None and task < _NO_NUMBER:
        record |= {"array": str(int(first)), "task": str(int(task))}
    return record


def _number(name: str, look_up: Callable[[str], int]) -> int:
    """Return the number of a user or a group, or one that always stands for its name."""
    try:
        return look_up(name)
    except KeyError:
        return number_of(name)


def _tres_name(one: Mapping[str, Any]) -> str:
    name = one.get("name")
    return f"{one['type']}/{name}" if name else str(one["type"])


def _tres(name: str, count: int) -> str:
    return f"{name}={count}M" if name == "mem" else f"{name}={count}"


def _instant(value: Any) -> str:
    """Return an instant in seconds since 1970; empty if it is none."""
    seconds = plain_value(value)
    return str(int(seconds)) if seconds else ""


def _duration(value: Any) -> str:
    """Return seconds as sacct prints them; empty for none."""
    seconds = plain_value(value)
    if not isinstance(seconds, int) or not 0 < seconds < _NO_NUMBER:
        return ""
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
