r"""Trace source `slurm-history`: jobs that Slurm has completed.

It reads three kinds of file, and tells them apart by their first line. One is what Slurm's plugin
`jobcomp/filetxt` writes (`JobCompLoc`): a line a job, without generic resources. Another is what
slurmdbd answers as JSON, which `hpcsched-slurm-history` saves and `sacct --json` prints. The third
is what `sacct` prints:

    sacct --allusers --allocations --parsable2 --starttime=now-30days --format=JobIDRaw,UID,GID,\
    JobName,Partition,State,Submit,Start,End,TimelimitRaw,NNodes,NCPUS,AllocTRES
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import Field

from hpcsched import (
    Finding,
    InputError,
    InputPath,
    Job,
    Params,
    Place,
    PositiveDuration,
    Request,
    System,
    TraceAccount,
    TracedJob,
    room_for,
)
from hpcsched.slurm.resource_types import resource_type
from hpcsched.slurm.tres import GRES, counted_in_total, parse_tres
from hpcsched.slurm.values import NOT_GIVEN, parse_time_limit
from hpcsched_slurm.accounting_records import record_of
from hpcsched_slurm.arrays import first_array_number
from hpcsched_slurm.reading_jobs import number_of
from hpcsched_slurm.reservations import local_instant
from hpcsched_slurm.versions import check_version

_COMPLETED = re.compile(
    r"JobId=(?P<JobIDRaw>\d+) UserId=.*?\((?P<UID>\d+)\) GroupId=.*?\((?P<GID>\d+)\)"
    r" Name=(?P<JobName>.*?) JobState=(?P<State>\w+) Partition=(?P<Partition>\S+)"
    r" TimeLimit=(?P<TimelimitRaw>\S+) StartTime=(?P<Start>\S+) EndTime=(?P<End>\S+)"
    r" NodeList=\S* NodeCnt=(?P<NNodes>\d+) ProcCnt=(?P<NCPUS>\d+) WorkDir=.*?"
    r" Tres=(?P<AllocTRES>\S*) .*?SubmitTime=(?P<Submit>\S+)"
    r"(?:.*? ArrayJobId=(?P<array>\d+) ArrayTaskId=(?P<task>\d+))?.*"
)
_NEEDED = frozenset(
    {"JobIDRaw", "UID", "GID", "JobName", "Partition", "State", "Submit", "Start", "End",
     "TimelimitRaw", "NNodes", "NCPUS", "AllocTRES"}
)  # fmt: skip


class SlurmHistoryParams(Params):
    """Which history to read."""

    path: InputPath = Field(
        description="The file of `jobcomp/filetxt`, what sacct printed, or slurmdbd's answer as"
        " JSON; ${VAR} is filled in."
    )
    last: PositiveDuration | None = Field(
        default=None,
        description="Only jobs that were submitted so long before the last one; all if not given.",
    )
    no_limit: PositiveDuration = Field(
        default="365d",  # type: ignore[assignment]
        description="What is taken as the requested time of a job without a time limit.",
    )


class SlurmHistory:
    """The jobs of a history that ran, by submit time and number, in seconds since 1970.

    A job has a unit for each of its nodes, on nodes of their own.

    Skipped are `malformed` lines, jobs that `never_ran`, and those `larger_than_system`.
    """

    uniform_request: tuple[int, ...] | None = None
    comments: Sequence[str] = ()
    fraction_read: float | None = None

    def __init__(self, params: SlurmHistoryParams, system: System) -> None:
        self._params = params
        self._path = Path(params.path)
        self._system = system
        self.account = TraceAccount()

    @property
    def files(self) -> Sequence[Path]:
        """The history."""
        return [self._path]

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs; raises InputError where the file cannot be read or is of no such kind."""
        self.account = account = TraceAccount()
        found = []
        for record in self._records():
            account.read += 1
            reason, traced = ("malformed", None) if record is None else self._job(record)
            if traced is None:
                account.skipped[reason] += 1
            else:
                found.append(traced)
        found.sort(key=lambda traced: (traced.job.submit_time, traced.job.job_id))
        if self._params.last is not None and found:
            first = found[-1].job.submit_time - self._params.last
            early = sum(traced.job.submit_time < first for traced in found)
            account.skipped["before_last"] += early
            found = found[early:]
        seen: set[int] = set()
        for traced in found:  # a job that was requeued is there once for each time that it ran
            if traced.job.job_id in seen:
                account.skipped["repeated"] += 1
                continue
            seen.add(traced.job.job_id)
            account.submitted += 1
            yield traced

    def _records(self) -> Iterator[Mapping[str, str | None] | None]:
        """Yield the fields of each line by their names in sacct; None for one that is no record."""
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            message = f"it cannot be read: {error.strerror}"
            raise InputError(Finding("unreadable-file", message, Place(str(self._path)))) from error
        if text.lstrip().startswith("{"):
            yield from map(record_of, self._listed(text))
            return
        lines = text.splitlines()
        if lines and "|" in lines[0] and not lines[0].startswith("JobId="):
            names = lines[0].split("|")
            missing = sorted(_NEEDED - set(names))
            if missing:
                message = f"the columns {', '.join(missing)} of sacct are missing"
                raise InputError(Finding("malformed", message, Place(str(self._path), 1)))
            for line in lines[1:]:
                values = line.split("|")
                yield dict(zip(names, values, strict=True)) if len(values) == len(names) else None
            return
        for line in lines:
            match = _COMPLETED.fullmatch(line.rstrip())
            yield None if match is None else match.groupdict()

    def _listed(self, text: str) -> Sequence[object]:
        """Return the jobs of an answer of slurmdbd."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            message = f"expected slurmdbd's answer as JSON, found {error}"
            raise InputError(Finding("malformed", message, Place(str(self._path)))) from error
        check_version(content, str(self._path))
        listed = content.get("jobs")
        if not isinstance(listed, list):
            message = "the answer of slurmdbd has no list of jobs"
            raise InputError(Finding("malformed", message, Place(str(self._path))))
        return listed

    def _job(self, record: Mapping[str, str | None]) -> tuple[str, TracedJob | None]:
        """Return a job, or the reason why there is none."""
        text = {name: value or "" for name, value in record.items()}
        if text["Start"].lower() in NOT_GIVEN or text["End"].lower() in NOT_GIVEN:
            return "never_ran", None
        try:
            submit, start, end = (_instant(text[name]) for name in ("Submit", "Start", "End"))
            units = max(1, int(text["NNodes"]))
            amounts = _amounts(text["AllocTRES"], int(text["NCPUS"]), units)
            limit = parse_time_limit(text["TimelimitRaw"])
            number = int(text["JobIDRaw"])
            if text.get("array"):
                number = first_array_number(int(text["array"])) + int(text["task"])
            request = Request(
                units=units,
                unit_request=self._system.request(
                    {k: v for k, v in amounts.items() if k in self._system.resource_types}
                ),
                one_unit_per_node=units > 1,
            )
            job = Job(
                number,
                submit,
                request,
                limit or self._params.no_limit,
                user=int(text["UID"]),
                group=int(text["GID"]),
                application=number_of(text["JobName"]),
                partition=number_of(text["Partition"]),
                name=text["JobName"],
            )
        except (ValueError, KeyError):
            return "malformed", None
        if start < submit or end <= start:
            return "never_ran", None
        if not any(job.unit_request):
            return "larger_than_system", None
        if (
            room_for(self._system, job.unit_request, one_unit_per_node=job.one_unit_per_node)
            < units
        ):
            return "larger_than_system", None
        return "", TracedJob(job, end - start)


def _instant(text: str) -> int:
    """Return a time in seconds since 1970; Slurm prints it so, or as that of this machine."""
    return int(text) if text.isdecimal() else local_instant(text)


def _amounts(tres: str, processors: int, units: int) -> dict[str, int]:
    """Return what a job had on each of its nodes, rounded up."""
    totals = {"core": processors}
    listed = parse_tres(tres)
    for name, amount in listed.items():
        if name == "mem":
            totals[name] = amount
        elif name.startswith(GRES) and not counted_in_total(name, listed):
            kind = resource_type(name.removeprefix(GRES).partition(":")[0])
            totals[kind] = totals.get(kind, 0) + amount
    return {name: -(-amount // units) for name, amount in totals.items()}
