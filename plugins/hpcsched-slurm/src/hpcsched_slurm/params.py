"""What a scenario says about a cluster that Slurm runs."""

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
"""Where slurmrestd listens: a socket in the file system, or a port of the loopback interface."""


class SlurmParams(Params):
    """How Slurm is reached: through slurmrestd, or by its commands where `rest` is not given."""

    rest: RestAddress | None = Field(
        default=None,
        description="Where slurmrestd listens: unix:/path/to/socket, or http://127.0.0.1:PORT."
        " Without it, the commands squeue, sinfo and scontrol are used.",
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
    config: str | None = Field(
        default=None,
        description="Slurm's slurm.conf for the commands, which also change tasks of arrays where"
        " 'rest' is given; SLURM_CONF or Slurm's own if not given.",
    )
    mark: str = Field(
        default="hpcsched",
        min_length=1,
        description="The admin comment by which the submit hook marks the jobs that it holds.",
    )
    limits: bool = Field(
        default=True,
        description="Whether jobs are kept within the limits of QOS and associations; false leaves"
        " these to Slurm. Not read where scontrol tells that Slurm does not enforce them.",
    )
    timeout: PositiveDuration = Field(
        default=10, description="Seconds after which a call is given up."
    )
    no_limit: PositiveDuration = Field(
        default="365d",  # type: ignore[assignment]
        description="What is taken as the requested time of a job without a time limit.",
    )

    @model_validator(mode="after")
    def _check_use(self) -> Self:
        if self.rest is None and (self.token_file is not None or self.user is not None):
            raise ValueError("'token_file' and 'user' are for 'rest', which is not given")
        return self

    @property
    def socket(self) -> str | None:
        """The path of slurmrestd's socket, if that is where it listens."""
        match = _UNIX.fullmatch(self.rest or "")
        return match[1] if match else None

    @property
    def address(self) -> tuple[str, int] | None:
        """Host and port of slurmrestd, if that is where it listens."""
        match = _LOOPBACK.fullmatch(self.rest or "")
        return (match[1].strip("[]"), int(match[2])) if match else None
