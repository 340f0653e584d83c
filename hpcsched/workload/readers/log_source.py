"""Common part of sources that read a log and account for each of its records."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from hpcsched._core import Verdict
from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.system import System
from hpcsched.workload.readers.policies import RecordPolicies, SetAsideError, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.readers.sorted_account import Place as RecordPlace
from hpcsched.workload.readers.sorted_account import SortedAccount
from hpcsched.workload.readers.text_files import TextEncoding
from hpcsched.workload.trace_source import TraceAccount

REASONS: Mapping[Verdict, tuple[str, str]] = {
    Verdict.NO_NUMBER: ("malformed", "expected a job number and a submit time, found -1"),
    Verdict.REPEATED_NUMBER: ("malformed", "job number {job_id} was seen before"),
    Verdict.UNSORTED: (
        "unsorted",
        "expected a submit time of at least {earliest}, as the job before has, found {submit_time}",
    ),
    Verdict.MISSING_RUN_TIME: ("missing_run_time", "no run time is given"),
    Verdict.ZERO_RUN_TIME: ("zero_run_time", "the run time is 0"),
    Verdict.MISSING_PROCESSORS: ("missing_processors", "no requested processors are given"),
    Verdict.MISSING_REQUESTED_TIME: ("missing_requested_time", "no requested time is given"),
}
"""Reason and message of each verdict that follows from a record's numbers alone."""


def unusable(verdict: Verdict, **found: int) -> UnusableError:
    """Return the error of a record by its verdict; `found` are the numbers that the message has."""
    reason, message = REASONS[verdict]
    return UnusableError(reason, message.format(**found))


class LogReader(Protocol):
    """Reader of the file of a log."""

    @property
    def path(self) -> Path:
        """File of the log."""

    @property
    def comments(self) -> Sequence[str]:
        """Header comments read so far."""

    @property
    def fraction_read(self) -> float:
        """Fraction of the log that has been read, from 0 to 1."""


class LogSource:
    """Trace source without the format of its log, and without the way it is read.

    Every record counts once in the account: submitted, or skipped for the first reason that
    applies. A reason is the name of a policy; or the kind of a record that is no job, in formats
    with other records; or `after_first_jobs` in a log that had to be sorted before its first jobs
    were known. Every record behind the last of these jobs has this reason, whatever it is: the
    other counts are those of the sorted log, read as far as that job. A record without a submit
    time has the place of the record before it.

    Attributes
    ----------
    seconds
        Reader of times, with the policy for fractions.
    finished
        Whether the last job has been yielded.
    """

    uniform_request: tuple[int, ...] | None = None
    """The unit request of every job, where it is one and unconstrained."""

    def __init__(
        self,
        policies: RecordPolicies,
        system: System,
        lines: LogReader,
        encoding: TextEncoding,
    ) -> None:
        self.account = TraceAccount()
        self.system = system
        self.encoding = encoding
        self.seconds = WholeSeconds(policies.fractional_seconds)
        self.lines = lines
        self.finished = False
        self._policies = policies
        self._waits: dict[int, int] | None = None
        self._sorted: SortedAccount | None = None  # only if the first jobs follow from sorting

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the log."""
        return self.lines.comments

    @property
    def files(self) -> Sequence[Path]:
        """Files of the log."""
        return [self.lines.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the log that has been read, from 0 to 1; 1 if no more of it is needed."""
        return 1.0 if self.finished else self.lines.fraction_read

    def keep_waits(self) -> dict[int, int]:
        """Return the mapping of recorded wait times; see `RecordsWaits`."""
        if self._waits is None:
            self._waits = {}
        return self._waits

    @property
    def keeps_waits(self) -> bool:
        """True if recorded wait times were requested."""
        return self._waits is not None

    def note_wait(self, job_id: int, wait: int) -> None:
        """Record the wait time of a job if wait times were requested.

        Parameters
        ----------
        wait
            Seconds; a negative number means not given.
        """
        if self._waits is not None and wait >= 0:
            self._waits[job_id] = wait

    def _start(self) -> None:
        """Reset the account and all checks."""
        self.account = TraceAccount()
        self.finished = False
        first = self._policies.unsorted == "sort" and self._policies.jobs is not None
        self._sorted = SortedAccount() if first else None
        if self._waits is not None:
            self._waits.clear()

    def _count_skipped(self, reason: str, place: RecordPlace) -> None:
        """Count a record that gives no job."""
        if self._sorted is None:
            self.account.skipped[reason] += 1
        else:
            self._sorted.note(reason, place)

    def _is_error(self, problem: UnusableError) -> bool:
        """Return whether the policy calls a record an error."""
        # The reason is the policy's field name: a new policy needs no table of reasons.
        policy = getattr(self._policies, problem.reason, None)
        return policy in (None, "error") and not isinstance(problem, SetAsideError)

    def check_room(
        self,
        units: int,
        room: int,
        amounts: Mapping[str, int],
        allowed: frozenset[int] | None = None,
    ) -> None:
        """Raise UnusableError if a job's units do not fit on the idle system.

        Parameters
        ----------
        amounts
            Declared amounts of a unit.
        allowed
            Numbers of the nodes that it may use; None: all.
        """
        if units <= room:
            return
        if room == 0 and self.system.loses(amounts, allowed):
            raise UnusableError(
                "lost_to_units",
                "a node could hold what a unit asks for, but not once it is counted in the units"
                " that the system declares; expected smaller units",
            )
        raise UnusableError(
            "larger_than_system", f"{units} units are requested, and at most {room} fit"
        )

    def _skip(self, problem: UnusableError, number: int, place: RecordPlace) -> None:
        """Count a record that gives no job."""
        reason = problem.reason
        if self._is_error(problem):
            hint = f"; the policy {reason!r} of the trace source says what else to do"
            raise InputError(
                Finding(
                    reason.replace("_", "-"),
                    f"{problem}{hint if hasattr(self._policies, reason) else ''}",
                    Place(str(self.lines.path), number),
                )
            )
        if reason == "malformed":
            self.account.note_fault(f"{self.lines.path.name}:{number}", str(problem))
        self._count_skipped(reason, place)
