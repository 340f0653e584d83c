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

from hpcsched._core import Verdict
from hpcsched.system.system import Request, System
from hpcsched.workload.job import NUMBERED
from hpcsched.workload.readers.log_source import REASONS, NamesSeen, Record, RecordSource
from hpcsched.workload.readers.policies import AccountingLogParams, UnusableError
from hpcsched.workload.readers.quantities import EqualUnits, divided, smallest
from hpcsched.workload.readers.text_files import TextLines

JOBS = 10**9
"""Upper bound of job numbers that stay as they are, excluded."""

FEDERATED_JOBS = 2**32
"""Upper bound of job numbers of federated clusters, excluded."""

TASKS, FEDERATED_TASKS = 4_000_001, 199_999
"""Upper bounds of array tasks, excluded; of jobs below `JOBS`, and of others."""

COMPONENTS, FEDERATED_COMPONENTS = 1_000_000, 90_000
"""Upper bounds of components of a heterogeneous job, excluded; likewise."""

_FEDERATED = 10**10


def job_number(job: int) -> int:
    """Return the number of a whole job: itself, or 6000001234567890 for 1234567890."""
    return _part(job, 0, (1, 1), (0, 600_000))


def task_number(job: int, task: int) -> int:
    """Return the number of an array task, from 0: `123_4` is 5000000123."""
    return _part(job, task, (TASKS, FEDERATED_TASKS), (1, 600_001))


def component_number(job: int, component: int) -> int:
    """Return the number of a component of a heterogeneous job: `123+1` is 5000001000000123."""
    return _part(job, component, (COMPONENTS, FEDERATED_COMPONENTS), (5_000_000, 810_000))


def _part(job: int, part: int, bounds: tuple[int, int], first: tuple[int, int]) -> int:
    """Return the number of a part of a job; bounds and first parts are of short and long jobs."""
    is_long = job >= JOBS
    if not (0 <= job < FEDERATED_JOBS and 0 <= part < bounds[is_long]):
        raise ValueError(
            f"expected a job below {FEDERATED_JOBS} and a part of it below {bounds[is_long]}"
        )
    return (first[is_long] + part) * (_FEDERATED if is_long else JOBS) + job


def repeat_number(count: int) -> int:
    """Return the number of a repeated record of a job, from 1: the first is 8000000000000001."""
    return 8_000_000 * JOBS + count


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
        super().__init__(params, system, lines)
        self._log_params = params
        self.text_lines = lines
        self._last_ran: dict[int, int] | None = None  # position of each job's last record that ran
        if params.duplicate in ("keep", "last"):
            self.renumber_from = repeat_number(1)

    @property
    def files(self) -> list[Path]:
        """Files of the log."""
        return list(self.text_lines.files)

    def begin(self) -> None:
        """Prepare for reading the log from its first record."""
        super().begin()
        titles = {"user": "User", "group": "Group", "queue": "Queue", "partition": "Partition"}
        self.names = {NUMBERED.index(name): NamesSeen(title) for name, title in titles.items()}
        if self._log_params.duplicate == "last":
            self._last_ran = None
            self._last_ran = self._find_last()

    def _find_last(self) -> dict[int, int]:
        """Return the position of the last record of each job that can be used, from 1.

        A record without length counts only if no record of the job has any: a requeued job that was
        cancelled in the queue ran before.
        """
        last: dict[int, tuple[bool, int]] = {}
        before = 0
        for block in self.blocks(None):
            refused = np.array([one.fault is not None for one in block.requests] + [False])
            usable = (block.verdicts == Verdict.JOB) & ~refused[block.request]
            usable &= block.run_time >= (self._log_params.zero_run_time == "skip")
            if self._log_params.missing_requested_time in ("skip", "error"):
                usable &= block.requested_time > 0
            for k in np.flatnonzero(usable).tolist():
                ran = bool(
                    block.run_time[k] > 0 and (block.patience is None or block.patience[k] < 0)
                )
                number, found = int(block.job_id[k]), (ran, before + k + 1)
                last[number] = max(found, last.get(number, found))
            before += len(usable)
        return {number: record for number, (_, record) in last.items()}

    @abstractmethod
    def record_of(self, line: str) -> Record:
        """Return the content of a line, and record in `changes` the policies that changed it."""

    def parse(self, line: str) -> Record:
        """Return the content of a line."""
        record = self.record_of(line)
        last = (self._last_ran or {}).get(record.job_id, self.position)
        problem = UnusableError("duplicate", f"there is another record of job {record.job_id}")
        if self.position < last:
            raise problem

        def request() -> Request:
            record.request()
            raise problem

        # A later record has a fault of its own, or no length.
        return record._replace(request=request) if self.position > last else record

    def units_of(self, totals: Mapping[str, int], nodes: int) -> EqualUnits:
        """Return the units of a job from its total request.

        The policies decide on resource types that the system lacks, and on rounding: both are noted
        in `changes`, or refused.
        """
        params, types = self._log_params, self.system.resource_types
        asked = {name: amount for name, amount in totals.items() if amount}
        lacking = [name for name in asked if name not in types]
        if lacking and params.unknown_resource_type == "error":
            message = (
                f"the job asks for {', '.join(lacking)}, which no node group has; there are:"
                f" {', '.join(types)}"
            )
            raise UnusableError("unknown_resource_type", message)
        asked = {name: amount for name, amount in asked.items() if name not in lacking}
        if "mem" in types and "mem" not in asked and params.missing_memory != "zero":
            raise UnusableError("missing_memory", "no memory is given")
        if not asked.keys() - {"mem"}:
            raise ValueError("expected a job to ask for cores or devices that nodes have")
        found = (
            smallest(asked)
            if params.mapping == "one_each"
            else divided(asked, nodes, params.uneven_nodes, "nodes")
        )
        self.changes += ["unknown_resource_type"] * bool(lacking) + ["uneven_nodes"] * found.uneven
        return found

    def request_for(self, found: EqualUnits, *, one_unit_per_node: bool) -> Request:
        """Return the request of a job."""
        unit_request = self.system.request(found.amounts)
        request = Request(found.units, unit_request, one_unit_per_node=one_unit_per_node)
        self.check_room(request, found.amounts)
        return request
