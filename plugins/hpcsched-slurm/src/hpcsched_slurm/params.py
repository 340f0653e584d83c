"""Parameters of the plugins; nothing here takes long to import."""

import re
from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, field_validator, model_validator

from hpcsched import InputPath, NotReproducible, Params, PositiveDuration
from hpcsched.workload.readers.policies import AccountingLogParams
from hpcsched.workload.trace_calendar import TimeZoneName

_TRES = re.compile(r"cpu|mem|gres/[^\s,=|]+")
_RESOURCE_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_UNIX = re.compile(r"unix:(/.+)")
_LOOPBACK = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):(\d+)")


def _checked_address(rest: str) -> str:
    if not (_UNIX.fullmatch(rest) or _LOOPBACK.fullmatch(rest)):
        raise ValueError(
            "expected unix:/path/to/socket or http://127.0.0.1:PORT, as tokens are not to be"
            f" sent to other machines; found {rest!r}"
        )
    return rest


RestAddress = Annotated[str, AfterValidator(_checked_address)]
"""Address of slurmrestd: a socket in the file system, or a port of the loopback interface."""


class SlurmParams(Params):
    """Access to Slurm: through slurmrestd, or by its commands where `rest` is not given."""

    rest: RestAddress | None = Field(
        default=None,
        description="Address of slurmrestd: unix:/path/to/socket, or http://127.0.0.1:PORT."
        " Without it, the commands squeue, sinfo and scontrol are used.",
    )
    token_file: str | None = Field(
        default=None,
        description="File with a token for slurmrestd, readable by its owner alone; the environment"
        " variable SLURM_JWT by default.",
    )
    user: str | None = Field(
        default=None,
        description="User of the token; the user who runs hpcsched by default.",
    )
    config: str | None = Field(
        default=None,
        description="Path of slurm.conf for the commands, which also change tasks of arrays where"
        " 'rest' is given; SLURM_CONF or Slurm's own by default.",
    )
    mark: str = Field(
        default="hpcsched",
        min_length=1,
        description="Admin comment by which the submit hook marks the jobs that it holds.",
    )
    limits: bool = Field(
        default=True,
        description="Keep jobs within the limits of QOS and associations; false leaves these to"
        " Slurm. Not read where scontrol tells that Slurm does not enforce them.",
    )
    timeout: PositiveDuration = Field(default=10, description="Time limit of a call, in seconds.")
    no_limit: PositiveDuration = Field(
        default="365d",  # type: ignore[assignment]
        description="Requested time of a job without a time limit.",
    )

    @model_validator(mode="after")
    def _check_use(self) -> Self:
        if self.rest is None and (self.token_file is not None or self.user is not None):
            raise ValueError("'token_file' and 'user' are for 'rest', which is not given")
        return self

    @property
    def socket(self) -> str | None:
        """Path of slurmrestd's socket; None if it listens on a port."""
        match = _UNIX.fullmatch(self.rest or "")
        return match[1] if match else None

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port of slurmrestd; None if it listens on a socket."""
        match = _LOOPBACK.fullmatch(self.rest or "")
        return (match[1].strip("[]"), int(match[2])) if match else None


DAYS = 30
"""Days before now that are asked for by default."""
TIMEOUT = 600
"""Seconds to wait by default: slurmdbd may take minutes for months of jobs."""


def instant_of(text: str) -> int:
    """Return an ISO 8601 time in seconds since 1970; without an offset, of this machine's place.

    Raises
    ------
    ValueError
        If the text is no such time.
    """
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp())
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"expected a time such as 2024-03-01 or 2024-03-01T12:00:00, found {text!r}"
        ) from None


def _checked_instant(text: str) -> str:
    instant_of(text)
    return text


Instant = Annotated[str, AfterValidator(_checked_instant)]
"""An ISO 8601 time as text."""

PositiveDays = Annotated[float, Field(gt=0, le=36_500)]
"""A number of days."""


class SlurmHistoryParams(Params):
    """Parameters of `slurm-history`: a file, or a question to slurmdbd."""

    path: InputPath | None = Field(
        default=None,
        description="File of `jobcomp/filetxt`, or output of `sacct --json`; ${VAR} is filled in.",
    )
    rest: Annotated[RestAddress | None, NotReproducible("the trace is what slurmdbd answers")] = (
        Field(
            default=None,
            description="Address of slurmrestd, to ask slurmdbd instead of reading a file:"
            " unix:/path/to/socket, or http://127.0.0.1:PORT.",
        )
    )
    token_file: str | None = Field(
        default=None,
        description="File with a token for slurmrestd, readable by its owner alone; the environment"
        " variable SLURM_JWT by default.",
    )
    user: str | None = Field(
        default=None,
        description="User of the token; the user who runs hpcsched by default.",
    )
    days: PositiveDays | None = Field(
        default=None,
        description=f"Begin of the requested time, in days before now; {DAYS} if neither this nor"
        " `since` is given.",
    )
    since: Instant | None = Field(
        default=None,
        description="Begin of the requested time, such as 2024-03-01 or 2024-03-01T12:00:00;"
        " without an offset it is a local time of this machine.",
    )
    until: Instant | None = Field(
        default=None, description="End of the requested time; now by default."
    )
    timeout: PositiveDuration = Field(
        default=TIMEOUT, description="Time limit of a call of slurmrestd, in seconds."
    )
    last: PositiveDuration | None = Field(
        default=None,
        description="Longest time before the last submission, in seconds; earlier jobs are left"
        " out. All jobs by default.",
    )
    no_limit: PositiveDuration = Field(
        default="365d",  # type: ignore[assignment]
        description="Requested time of a job without a time limit.",
    )

    @model_validator(mode="after")
    def _check_origin(self) -> Self:
        if (self.path is None) == (self.rest is None):
            found = "neither" if self.path is None else "both"
            raise ValueError(f"expected 'path', or 'rest' in its place; found {found}")
        asked = ("token_file", "user", "days", "since", "until", "timeout")
        # A resolved scenario has all keys, most of them with their defaults.
        fields = type(self).model_fields
        unused = [name for name in asked if getattr(self, name) != fields[name].default]
        if self.rest is None and unused:
            raise ValueError(f"'{unused[0]}' is for 'rest', which is not given")
        if self.days is not None and (self.since is not None or self.until is not None):
            raise ValueError("expected 'days', or 'since' and 'until' in its place; found both")
        if self.since is not None and self.until is not None:
            begin, end = instant_of(self.since), instant_of(self.until)
            if end <= begin:
                raise ValueError(f"expected 'until' after 'since', found {self.until}")
        return self


class SlurmSacctParams(AccountingLogParams):
    """Parameters of `slurm-sacct`: the dump, and policies for records."""

    time_zone: TimeZoneName | None = Field(
        None,
        description="The zone of the local times that `sacct` prints, such as Europe/Prague; not"
        " needed where times are Unix times or have an offset.",
    )
    amounts: Literal["allocated", "requested"] = Field(
        "allocated",
        description="Amounts to read: allocated or requested; if one is not in the dump, the other"
        " is used.",
    )
    resource_types: dict[str, str | None] = Field(
        default_factory=dict,
        description="Resource types of TRES other than the defaults (cpu is core, mem is mem,"
        " gres/NAME is NAME); null: ignored. A type that is listed here (`gres/gpu:a100`) counts"
        " in addition to its total (`gres/gpu`).",
    )

    @field_validator("resource_types")
    @classmethod
    def _names(cls, named: dict[str, str | None]) -> dict[str, str | None]:
        for tres, name in named.items():
            if not _TRES.fullmatch(tres):
                raise ValueError(f"expected cpu, mem or gres/NAME, found {tres!r}")
            if name is not None and not _RESOURCE_TYPE.fullmatch(name):
                raise ValueError(f"expected a resource type such as gpu, found {name!r}")
        return named
