"""Policies for records that cannot be used as they are, and the errors that invoke them."""

from typing import Literal

from pydantic import Field

from hpcsched.parameters import InputPath, OneInputFile, Params, PositiveDuration

FractionalSeconds = Literal["error", "skip", "outward"]
FRACTIONS = (
    "Policy for a time that is no whole number of seconds; `outward` rounds instants down and"
    " durations up, which is counted as a clipping."
)


class RecordPolicies(Params):
    """Parameters that all sources of records share: the log, and policies."""

    path: OneInputFile
    """The log, plain or compressed; ${VAR} is filled in."""
    jobs: int | None = Field(None, ge=1)
    """Maximum number of jobs, from the beginning; all by default."""
    zero_run_time: Literal["skip", "keep"] = "skip"
    """Policy for a job that ran for 0 seconds."""
    over_requested_time: Literal["clip", "keep"] = "clip"
    """Policy for a run time over the requested time: cut it, or keep it."""
    missing_run_time: Literal["skip", "error"] = "skip"
    """Policy for a job without a run time."""
    missing_requested_time: Literal["run_time", "skip", "error"] | PositiveDuration = "error"
    """Replacement for a requested time that is not given: the run time, or a duration in seconds or
    with a unit."""
    larger_than_system: Literal["skip", "error"] = "skip"
    """Policy for a job that does not fit on the idle system."""
    unsorted: Literal["error", "skip", "sort"] = "error"
    """Policy for a record submitted before its predecessor; to sort, the whole trace is read into
    memory first."""
    malformed: Literal["error", "skip"] = "error"
    """Policy for a line that is no record: wrong number of fields, not numbers, no submit time, a
    time that no job can have, a job number seen before."""
    fractional_seconds: FractionalSeconds = Field("error", description=FRACTIONS)


class WithdrawnPolicy(RecordPolicies):
    """Parameters of sources whose logs have jobs that were withdrawn while they waited."""

    withdrawn: Literal["skip", "keep", "never_leave"] = "skip"
    """Policy for a job that was withdrawn while it waited: leave it out, have it leave after as
    long a wait as recorded, or have it wait until it starts."""


class AccountingLogParams(WithdrawnPolicy):
    """Parameters that the sources of accounting logs share."""

    path: InputPath
    """The log, or a folder of its parts, plain or compressed; ${VAR} is filled in."""
    unsorted: Literal["error", "skip", "sort"] = "sort"
    """Policy for a record submitted before its predecessor. Such logs are not in order of
    submission; to sort, the whole trace is read into memory first."""
    mapping: Literal["as_requested", "one_each"] = "as_requested"
    """Units of a job: its nodes, with equal parts of the request; or the smallest equal parts, on
    any nodes."""
    uneven_nodes: Literal["spread", "up", "skip", "error"] = "spread"
    """Policy for cores or devices that cannot be divided equally among the nodes: smallest equal
    parts on any nodes, rounding up on every node (both counted as clippings), or an error."""
    missing_memory: Literal["zero", "skip", "error"] = "zero"
    """Policy for memory that is not given, where nodes have `mem`; `zero` reads 0."""
    unknown_resource_type: Literal["error", "ignore"] = "error"
    """Policy for a request for a resource type that no node group has; ignoring it is counted as a
    clipping."""
    begin_times: Literal["ignore", "honour"] = "ignore"
    """Let a job start no sooner than the log calls it eligible (Eligible, etime): at the begin time
    that it asked for, or after a hold."""
    duplicate: Literal["error", "skip", "last", "keep"] = "error"
    """Policy for several records of a job that was requeued, or that overlapping logs have: `skip`
    takes the first that gives a job, `last` the last that ran, for which the log is read twice, and
    `keep` takes each as a job of its own."""


class UnusableError(Exception):
    """Record that gives no job.

    A record without a policy of its reason's name always ends the reading with an error.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class SetAsideError(UnusableError):
    """Record of something else than a job that ran; it is counted, and never an error."""
