"""Slurmdbd's answer on completed jobs, in the terms of sacct, and the time that is asked for."""

import grp
import json
import pwd
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from hpcsched import Finding, InputError, Place, TraceAnswer
from hpcsched.system.cluster import UnavailableError
from hpcsched_slurm.params import DAYS, SlurmHistoryParams, SlurmParams, instant_of
from hpcsched_slurm.reading_jobs import number_of
from hpcsched_slurm.versions import FAULTS, plain_value

_DAY = 86_400


class AccountingAnswer(NamedTuple):
    """Answer of slurmdbd.

    Attributes
    ----------
    records
        Records of jobs in the terms of sacct; None for one that is none.
    """

    records: Sequence[Mapping[str, str] | None]
    hashed: TraceAnswer


def ask_accounting(rest: str, question: SlurmHistoryParams) -> AccountingAnswer:
    """Ask slurmdbd for the jobs of a time.

    Raises
    ------
    InputError
        If there is no answer, or the token or the version is not accepted.
    """
    from hpcsched_slurm.rest import Rest  # noqa: PLC0415 (a history in a file asks nobody)

    params = SlurmParams(
        rest=rest,
        token_file=question.token_file,
        user=question.user,
        timeout=question.timeout,
    )
    until = None if question.until is None else instant_of(question.until)
    if question.since is not None:
        begin = instant_of(question.since)
    else:
        days = DAYS if question.days is None else question.days
        begin = int((time.time() if until is None else until) - days * _DAY)
    try:
        jobs = Rest(params).accounting(begin, until)
    except UnavailableError as error:
        raise InputError(Finding("no-answer", str(error))) from error
    records = list(map(record_of, jobs))
    # Other parts of the answer differ at each call, also of jobs that have ended.
    content = json.dumps(records, sort_keys=True, separators=(",", ":")).encode()
    return AccountingAnswer(records, TraceAnswer(f"{rest}/slurmdb/jobs", content))


def earlier_answer(answer: TraceAnswer) -> AccountingAnswer:
    """Return the answer that an earlier run was made from.

    Raises
    ------
    InputError
        If it is no list of records.
    """
    try:
        records = json.loads(answer.content)
    except (ValueError, RecursionError):
        records = None
    if not isinstance(records, list) or not all(map(_is_record, records)):
        message = "the kept answer of slurmdbd is damaged: expected a list of records of jobs"
        raise InputError(Finding("malformed", message, Place(answer.name)))
    return AccountingAnswer(records, answer)


def _is_record(found: object) -> bool:
    if found is None:
        return True
    return isinstance(found, dict) and all(isinstance(value, str) for value in found.values())


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
