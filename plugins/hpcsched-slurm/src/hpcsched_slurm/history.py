r"""Trace source `slurm-history`: jobs that Slurm has completed.

It asks slurmdbd through slurmrestd, or reads a file. Of files there are three kinds, which it tells
apart by their first line. One is what Slurm's plugin
`jobcomp/filetxt` writes (`JobCompLoc`): a line a job, without generic resources. Another is what
slurmdbd answers as JSON, which `hpcsched-slurm-history` saves and `sacct --json` prints. The third
is what `sacct` prints:

    sacct --allusers --allocations --parsable2 --starttime=now-30days --format=JobIDRaw,User,UID,\
    GID,JobName,Partition,State,Submit,Start,End,TimelimitRaw,NNodes,NCPUS,AllocTRES
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from hpcsched import (
    Finding,
    InputError,
    InputPath,
    Job,
    NotReproducible,
    Params,
    Place,
    PositiveDuration,
    Request,
    System,
    TraceAccount,
    TraceAnswer,
    TracedJob,
    room_for,
)
from hpcsched.slurm.resource_types import resource_type
from hpcsched.slurm.tres import GRES, counted_in_total, parse_tres
from hpcsched.slurm.values import NOT_GIVEN, parse_time_limit
from hpcsched_slurm.accounting_answer import (
    DAYS,
    TIMEOUT,
    AccountingAnswer,
    Instant,
    PositiveDays,
    ask_accounting,
    earlier_answer,
    instant_of,
)
from hpcsched_slurm.accounting_records import record_of
from hpcsched_slurm.arrays import first_array_number
from hpcsched_slurm.params import RestAddress
from hpcsched_slurm.reading_jobs import number_of
from hpcsched_slurm.reservations import local_instant
from hpcsched_slurm.versions import check_version

_COMPLETED = re.compile(
    r"JobId=(?P<JobIDRaw>\d+) UserId=(?P<User>.*?)\((?P<UID>\d+)\) GroupId=.*?\((?P<GID>\d+)\)"
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

    path: InputPath | None = Field(
        default=None,
        description="The file of `jobcomp/filetxt`, what sacct printed, or slurmdbd's answer as"
        " JSON; ${VAR} is filled in.",
    )
    rest: Annotated[RestAddress | None, NotReproducible("the trace is what slurmdbd answers")] = (
        Field(
            default=None,
            description="Where slurmrestd listens, to ask slurmdbd instead of reading a file:"
            " unix:/path/to/socket, or http://127.0.0.1:PORT.",
        )
    )
    token_file: str | None = Field(
        default=None,
        description="A file with a token for slurmrestd that only its owner may read; without it,"
        " the environment variable SLURM_JWT.",
    )
    user: str | None = Field(
        default=None,
        description="The user whom the token is for; the one who runs hpcsched if not given.",
    )
    days: PositiveDays | None = Field(
        default=None,
        description=f"Days before now from which on jobs are asked for; {DAYS} if neither this nor"
        " `since` is given.",
    )
    since: Instant | None = Field(
        default=None,
        description="Begin of the time that is asked for, such as 2024-03-01 or"
        " 2024-03-01T12:00:00; without an offset it is a time of this machine's place.",
    )
    until: Instant | None = Field(
        default=None, description="End of the time that is asked for; now if not given."
    )
    timeout: PositiveDuration = Field(
        default=TIMEOUT, description="Seconds to wait for the answer of slurmrestd."
    )
    last: PositiveDuration | None = Field(
        default=None,
        description="Only jobs that were submitted so long before the last one; all if not given.",
    )
    no_limit: PositiveDuration = Field(
        default="365d",  # type: ignore[assignment]
        description="What is taken as the requested time of a job without a time limit.",
    )

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if (self.path is None) == (self.rest is None):
            found = "neither" if self.path is None else "both"
            raise ValueError(f"expected 'path', or 'rest' in its place; found {found}")
        asked = ("token_file", "user", "days", "since", "until", "timeout")
        unused = [name for name in asked if name in self.model_fields_set]
        if self.rest is None and unused:
            raise ValueError(f"'{unused[0]}' is for 'rest', which is not given")
        if self.days is not None and (self.since is not None or self.until is not None):
            raise ValueError("expected 'days', or 'since' and 'until' in its place; found both")
        if self.since is not None and self.until is not None:
            begin, end = instant_of(self.since), instant_of(self.until)
            if end <= begin:
                raise ValueError(f"expected 'until' after 'since', found {self.until}")
        return self


class SlurmHistory:
    """The jobs of a history that ran, by submit time and number, in seconds since 1970.

    A job has a unit for each of its nodes, on nodes of their own.

    Skipped are `malformed` lines, jobs that `never_ran`, and those `larger_than_system`.
    """

    uniform_request: tuple[int, ...] | None = None
    fraction_read: float | None = None

    def __init__(self, params: SlurmHistoryParams, system: System) -> None:
        self._params = params
        self._path = None if params.path is None else Path(params.path)
        self._system = system
        self._answer: AccountingAnswer | None = None
        self._names: dict[int, str] = {}
        self.account = TraceAccount()

    @property
    def comments(self) -> Sequence[str]:
        """Names of the users seen so far, as comments of the Parallel Workloads Archive."""
        return [f"User: {number} {name}" for number, name in self._names.items()]

    @property
    def files(self) -> Sequence[Path]:
        """The history, if it is a file."""
        return [] if self._path is None else [self._path]

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return slurmdbd's answer, if it is asked: the fields of jobs that are used."""
        if self._params.rest is None:
            return []
        if self._answer is None:
            self._answer = ask_accounting(self._params.rest, self._params)
        return [self._answer.hashed]

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Read the jobs of an earlier run's answer; slurmdbd is not asked."""
        if self._params.rest is not None:
            (answer,) = answers
            self._answer = earlier_answer(answer)

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs; raises InputError where the file cannot be read or is of no such kind."""
        self.account = account = TraceAccount()
        self._names = {}
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
        self.read_answers()
        if self._path is None:
            yield from () if self._answer is None else self._answer.records
            return
        try:
            text = self._path.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            message = f"it cannot be read: {error.strerror}"
            raise InputError(Finding("unreadable-file", message, Place(str(self._path)))) from error
        if text.lstrip().startswith("{"):
            yield from map(record_of, _listed(text, self._path))
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
        if text.get("User"):
            self._names[int(text["UID"])] = text["User"]
        if not any(job.unit_request):
            return "larger_than_system", None
        if (
            room_for(self._system, job.unit_request, one_unit_per_node=job.one_unit_per_node)
            < units
        ):
            return "larger_than_system", None
        return "", TracedJob(job, end - start)


def _listed(text: str, path: Path) -> Sequence[object]:
    """Return the jobs of an answer of slurmdbd in a file."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"expected slurmdbd's answer as JSON, found {error}"
        raise InputError(Finding("malformed", message, Place(str(path)))) from error
    check_version(content, str(path))
    listed = content.get("jobs")
    if not isinstance(listed, list):
        message = "the answer of slurmdbd has no list of jobs"
        raise InputError(Finding("malformed", message, Place(str(path))))
    return listed


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
