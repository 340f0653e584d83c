"""Policies for records that cannot be used as they are, and the errors that invoke them."""

from typing import Literal

from pydantic import Field

from hpcsched.parameters import InputPath, Params, PositiveDuration


class RecordPolicies(Params):
    """Parameters that all sources of records share: the log, and policies."""

    path: InputPath = Field(description="The log, plain or gzip; ${VAR} is filled in.")
    jobs: int | None = Field(
        None, ge=1, description="Maximum number of jobs, from the beginning; all by default."
    )
    zero_run_time: Literal["skip", "keep"] = Field(
        "skip", description="Policy for a job that ran for 0 seconds."
    )
    over_requested_time: Literal["clip", "keep"] = Field(
        "clip",
        description="Policy for a run time over the requested time: cut it, or keep it.",
    )
    missing_run_time: Literal["skip", "error"] = Field(
        "skip", description="Policy for a job without a run time."
    )
    missing_requested_time: Literal["run_time", "skip", "error"] | PositiveDuration = Field(
        "error",
        description="Replacement for a requested time that is not given: the run time, or a"
        " duration in seconds or with a unit.",
    )
    larger_than_system: Literal["skip", "error"] = Field(
        "skip", description="Policy for a job that does not fit on the idle system."
    )
    unsorted: Literal["error", "skip", "sort"] = Field(
        "error",
        description="Policy for a record submitted before its predecessor; to sort, the whole"
        " trace is read into memory first.",
    )
    malformed: Literal["error", "skip"] = Field(
        "error",
        description="Policy for a line that is no record: wrong number of fields, not numbers,"
        " no submit time, a time that no job can have, a job number seen before.",
    )


class UnusableError(Exception):
    """Record that gives no job.

    A record without a policy of its reason's name always ends the reading with an error.

    Parameters
    ----------
    reason
        Name of the policy that decides on the record.
    message
        Sentence for the user.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class SetAsideError(UnusableError):
    """Record of something else than a job that ran; it is counted, and never an error."""
