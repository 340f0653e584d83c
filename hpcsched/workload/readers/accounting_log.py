"""Common part of the sources of accounting logs: job numbers, requests by totals, repeated records.

A job number stays as it is. The number of a part of a job, such as `123_4`, has the job's number in
its last nine digits and the part before them, so that people can read both. Federated Slurm
clusters give job numbers of ten digits: the number of the cluster is in their upper bits. They and
their parts have ranges of their own, with the job's number in the last ten digits. All numbers are
below 2^53, so that every program reads them exactly.
"""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from hpcsched._core import NumbersSeen, RecordChecks, Verdict
from hpcsched.system.system import Request, System
from hpcsched.workload.job_columns import NUMBERED
from hpcsched.workload.readers.equal_units import (
    EqualUnits,
    largest_on_a_node,
    on_nodes,
    smallest,
)
from hpcsched.workload.readers.log_source import REASONS, NamesSeen, checked
from hpcsched.workload.readers.policies import AccountingLogParams, UnusableError
from hpcsched.workload.readers.record_source import Record, RecordSource
from hpcsched.workload.readers.text_files import TextLines

JOBS = 10**9
"""Upper bound of job numbers that stay as they are, excluded."""

FEDERATED_JOBS = 2**32
"""Upper bound of job numbers of federated clusters, excluded."""

TASKS = 4_000_001
"""Upper bound of array tasks, excluded; counted from 0, as in Slurm."""

_COMPONENTS_FROM = 5_000_000
COMPONENTS = 1_000_000
"""Upper bound of components of a heterogeneous job, excluded; counted from 0."""

_FEDERATED = 10**10
_FEDERATED_FROM = 600_000
FEDERATED_TASKS = 199_999
"""Upper bound of array tasks of jobs of ten digits, excluded."""

_REPEATS_FROM = 8_000_000 * JOBS
_RECYCLED_FROM = 8_010_000 * JOBS
_FEDERATED_COMPONENTS_FROM = 810_000
FEDERATED_COMPONENTS = 90_000
"""Upper bound of components of jobs of ten digits, excluded."""


def job_number(job: int) -> int:
    """Return the number of a whole job: itself, or 6000001234567890 for 1234567890.

    Examples
    --------
    >>> job_number(123), job_number(1234567890)
    (123, 6000001234567890)
    """
    if not 0 <= job < FEDERATED_JOBS:
        raise ValueError(f"expected a job below {FEDERATED_JOBS}, found {job}")
    return job if job < JOBS else _FEDERATED_FROM * _FEDERATED + job


def task_number(job: int, task: int) -> int:
    """Return the number of an array task: `123_4` is 5000000123.

    Examples
    --------
    >>> task_number(123, 4)
    5000000123
    """
    if _is_federated(job, task, FEDERATED_TASKS, "task"):
        return (_FEDERATED_FROM + task + 1) * _FEDERATED + job
    if not (0 <= job < JOBS and 0 <= task < TASKS):
        raise ValueError(f"expected a job below {JOBS} and a task below {TASKS}")
    return (task + 1) * JOBS + job


def component_number(job: int, component: int) -> int:
    """Return the number of a component of a heterogeneous job: `123+1` is 5000001000000123."""
    if _is_federated(job, component, FEDERATED_COMPONENTS, "component"):
        return (_FEDERATED_COMPONENTS_FROM + component) * _FEDERATED + job
    if not (0 <= job < JOBS and 0 <= component < COMPONENTS):
        raise ValueError(f"expected a job below {JOBS} and a component below {COMPONENTS}")
    return (_COMPONENTS_FROM + component) * JOBS + job


def _is_federated(job: int, part: int, parts: int, what: str) -> bool:
    """Return whether a job has ten digits; raises ValueError if its part is out of range."""
    if not JOBS <= job < FEDERATED_JOBS:
        return False
    if not 0 <= part < parts:
        raise ValueError(f"expected a {what} below {parts} of a job of ten digits, found {part}")
    return True


def repeat_number(count: int) -> int:
    """Return the number of a repeated record of a job.

    Parameters
    ----------
    count
        Position among the repeated records of the log, from 1; the first gets 8000000000000001.
    """
    if not 1 <= count < JOBS:
        raise ValueError(f"expected a count from 1 on and below {JOBS}")
    return _REPEATS_FROM + count


_BLOCK = 64
_APART = 365 * 86_400


class RecycledNumbers:
    """Numbers of jobs of a workload manager that counted to its largest number, and began again.

    Jobs with neighbouring numbers are submitted at about the same time. Submissions more than a
    year apart are of several rounds of counting; a requeued job, or a record that overlapping logs
    have, is of the same round.
    """

    def __init__(self) -> None:
        self._spans: dict[int, list[tuple[int, int]]] = {}
        self._seen: list[tuple[NumbersSeen, NumbersSeen]] = []  # of whole jobs, of parts
        self._given: dict[tuple[int, int], int] = {}

    def number(self, number: int, submit_time: int) -> int:
        """Return the number of a job, or a new one if it was another job's in another round.

        The first new number is 8010000000000001.

        Parameters
        ----------
        number
            The number in the log.
        submit_time
            In seconds.

        Examples
        --------
        >>> numbers = RecycledNumbers()
        >>> [numbers.number(7, day * 86_400) for day in (0, 300, 600, 4000, 4001, 300)]
        [7, 7, 7, 8010000000000001, 8010000000000001, 7]
        """
        part, job = divmod(number, JOBS)
        current = self._round(job // _BLOCK, submit_time)
        # Tasks of an array, and jobs, mostly follow one another: so that they do here.
        key = job * JOBS + part if part else job
        others = (seen[part > 0] for k, seen in enumerate(self._seen) if k != current)
        if (current, number) not in self._given and any(key in seen for seen in others):
            self._given[current, number] = _RECYCLED_FROM + len(self._given) + 1
        if (current, number) in self._given:
            return self._given[current, number]
        self._seen[current][part > 0].add(key)
        return number

    def _round(self, block: int, submit_time: int) -> int:
        """Return which round of counting a submission belongs to, from 0."""
        spans = self._spans.setdefault(block, [])
        for k, (first, last) in enumerate(spans):
            if first - _APART <= submit_time <= last + _APART:
                spans[k] = min(first, submit_time), max(last, submit_time)
                return k
        spans.append((submit_time, submit_time))
        while len(self._seen) < len(spans):
            self._seen.append((NumbersSeen(), NumbersSeen()))
        return len(spans) - 1


class AccountingLogSource(RecordSource):
    """Source of an accounting log, without the format of its records.

    Parameters
    ----------
    params
        The log and its policies.
    lines
        The records of the log.
    system
        The system that requests are expressed for.
    """

    numbers_jobs = True
    reasons: ClassVar = {
        **REASONS,
        Verdict.REPEATED_NUMBER: (
            "duplicate",
            "there was a record of job {job_id} before: requeued, or logs that overlap",
        ),
    }

    def __init__(self, params: AccountingLogParams, lines: TextLines, system: System) -> None:
        super().__init__(params, system, lines, lines.encoding)
        self._batch = params
        self.text_lines = lines
        self._number = 0  # of the present record's job
        self._last_ran: dict[int, int] | None = None  # position of each job's last record that ran

    @property
    def files(self) -> list[Path]:
        """Files of the log."""
        return list(self.text_lines.files)

    def begin(self) -> None:
        """Prepare for reading the log from its first record."""
        super().begin()
        self._recycled = RecycledNumbers()
        titles = {"user": "User", "group": "Group", "queue": "Queue", "partition": "Partition"}
        self.names = {NUMBERED.index(name): NamesSeen(title) for name, title in titles.items()}
        self._last_ran = self._find_last() if self._batch.duplicate == "last" else None
        self._recycled = RecycledNumbers()

    def checks(self) -> RecordChecks:
        """Return the checks of the records, from the first on."""
        renumbers = self._batch.duplicate in ("keep", "last")
        return self.own_checks(renumber_from=repeat_number(1) if renumbers else None)

    def _find_last(self) -> dict[int, int]:
        """Return the position of the last record of each job that can be used, from 1.

        A record without length counts only if no record of the job has any: a requeued job that was
        cancelled in the queue ran before.
        """
        last: dict[int, tuple[bool, int]] = {}
        self._last_ran = None
        checks = self.own_checks(sorts=True, renumber_from=repeat_number(1))
        before = 0
        for block in self.blocks(None):
            numbers = block.job_id.tolist()
            checked(block, checks)
            for k in np.flatnonzero(block.verdicts == Verdict.JOB).tolist():
                found = bool(block.run_time[k] > 0), before + k + 1
                last[numbers[k]] = max(found, last.get(numbers[k], found))
            before += len(numbers)
        return {number: record for number, (_, record) in last.items()}

    @abstractmethod
    def record_of(self, line: bytes) -> Record:
        """Return the content of a line, and record in `changes` the policies that changed it."""

    def parse(self, line: bytes) -> Record:
        """Return the content of a line."""
        try:
            record = self.record_of(line)
        except ValueError as error:
            raise UnusableError("malformed", str(error)) from None
        ran = None if self._last_ran is None else self._last_ran.get(self._number)
        if self._last_ran is None or record.refused is not None or ran == self.position:
            return record
        ran_before = f"job {self._number} ran before, for longer than 0 s"
        return record.refused_for(UnusableError("duplicate", ran_before))

    def number_of(self, number: int, submit_time: int) -> int:
        """Return the number of a job: its own, or a new one if another job had it years apart."""
        self._number = self._recycled.number(number, submit_time)
        self.changes += ["recycled_number"] * (self._number != number)
        if self._last_ran is not None and self.position < self._last_ran.get(self._number, 0):
            raise UnusableError("duplicate", f"there is a later record of job {self._number}")
        return self._number

    def units_of(self, totals: Mapping[str, int], nodes: int) -> EqualUnits:
        """Return the units of a job from its total request.

        The policies decide on resource types that the system lacks, and on rounding: both are noted
        in `changes`, or refused.

        Parameters
        ----------
        totals
            Declared amounts of the whole job, by resource type.
        nodes
            Number of its nodes.
        """
        asked = {name: amount for name, amount in totals.items() if amount}
        lacking = [name for name in asked if name not in self.system.resource_types]
        if lacking:
            if self._batch.unknown_resource_type == "error":
                raise UnusableError(
                    "unknown_resource_type",
                    f"the job asks for {', '.join(lacking)}, which no node group has; there are:"
                    f" {', '.join(self.system.resource_types)}",
                )
            asked = {name: amount for name, amount in asked.items() if name not in lacking}
        lacks_memory = "mem" in self.system.resource_types and "mem" not in asked
        if lacks_memory and self._batch.missing_memory != "zero":
            raise UnusableError("missing_memory", "no memory is given")
        try:
            found = self._mapped(asked, nodes)
        except ValueError:
            raise UnusableError(
                "malformed", "expected a job to ask for cores or devices that nodes have"
            ) from None
        if lacking:
            self.changes.append("unknown_resource_type")
        if found.uneven:
            self.changes.append("uneven_nodes")
        return found

    def request_for(self, found: EqualUnits, *, one_unit_per_node: bool) -> Request:
        """Return the request of a job.

        Parameters
        ----------
        found
            The units of a job.
        one_unit_per_node
            Whether each unit needs a node of its own.
        """
        request = Request(
            found.units,
            self.system.request(found.amounts),
            one_unit_per_node=one_unit_per_node,
        )
        self.check_room(request, found.amounts)
        return request

    def _mapped(self, asked: Mapping[str, int], nodes: int) -> EqualUnits:
        if self._batch.mapping == "one_each":
            return smallest(asked)
        if self._batch.mapping == "whole_nodes":
            return largest_on_a_node(asked, self.system)
        found = on_nodes(asked, nodes)
        if not any(amount for name, amount in asked.items() if name != "mem"):
            raise ValueError("expected amounts of more than memory")
        if not found.uneven or self._batch.uneven_nodes == "up":
            return found
        if self._batch.uneven_nodes == "spread":
            return smallest(asked)._replace(uneven=True)
        parts = ", ".join(f"{amount} {name}" for name, amount in asked.items() if name != "mem")
        raise UnusableError("uneven_nodes", f"{parts} cannot be shared equally among {nodes} nodes")
