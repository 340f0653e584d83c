"""Parameters of the workload manager `slurm`."""

import re
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from hpcsched import Params, PositiveDuration

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
