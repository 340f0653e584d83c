"""Admission of submitted jobs by their partitions, batch by batch."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from hpcsched._core import NEVER, NumbersSeen
from hpcsched.arrow_arrays import numpy_array
from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import REFUSALS
from hpcsched.simulation.replay_limits import ReplayLimits, as_numbers
from hpcsched.system.shared_resources import longest_stay
from hpcsched.system.space import Amounts, most_draw, own_draw
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload.job import LARGEST_SUM, LONGEST, WAITING_TIMES
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, not_replayable, records_of
from hpcsched.workload.preemption import Preemption

LARGEST_AMOUNT = 1 << 61
"""Largest sum of requests of all jobs in the system, of any resource type."""


class ColumnChecks:
    """Checks of batches of jobs, one after another.

    A job may begin again at `again` at the latest.
    """

    def __init__(self, again: int = 0) -> None:
        self._seen = NumbersSeen()
        self._again = again
        self._lasting = 0
        self._last_submit = 0

    def check_amounts(self, columns: JobColumns, asked: IntArray, present: IntArray) -> None:
        """Check the sum of requests of the jobs in the system.

        Parameters
        ----------
        asked
            Amounts per unit of each request, `[S, R]`.
        present
            Amounts that jobs in the system ask for before the batch, `[R]`.
        """
        units = columns.units.astype(np.float64)[:, None]
        amounts = (asked[columns.request] * units).sum(axis=0)
        if (amounts + present > LARGEST_AMOUNT).any():
            raise not_replayable("amounts that need more than 61 bits in all")

    def check(self, columns: JobColumns) -> None:
        """Check a batch and count it."""
        if not len(columns.job_id):
            return
        submit, think_time = columns.submit_time, numpy_array(columns.details.column("think_time"))
        begin_delay, patience = (_filled(columns.details.column(name), 0) for name in WAITING_TIMES)
        lasting = columns.run_time, columns.requested_time, think_time, begin_delay
        times = submit, *lasting, patience
        for column in times:
            wrong = np.flatnonzero((column < 0) | (column > LONGEST))
            if len(wrong):
                job = columns.job_id[wrong[0]]
                raise not_replayable(f"job {job}: expected times of 0 to {LONGEST} s")
        before = np.concatenate(([self._last_submit], submit[:-1]))
        wrong = np.flatnonzero(submit < before)
        if len(wrong):
            raise PluginError(
                f"trace source: job {columns.job_id[wrong[0]]} is submitted at {submit[wrong[0]]},"
                f" before a job that was submitted at {before[wrong[0]]}"
            )
        self._last_submit = int(submit[-1])
        self.lasting(int(np.maximum(columns.run_time, columns.requested_time).sum()))
        self.lasting(int((think_time + begin_delay).sum()))
        if (columns.units < 1).any():
            raise not_replayable("jobs without units")
        if not self._seen.add_all(columns.job_id):
            raise PluginError("trace source: expected each job number once, found one twice")

    def lasting(self, seconds: int) -> None:
        """Add run times, in seconds, to the sum so far."""
        self._lasting += seconds
        if max(self._last_submit, self._again) + self._lasting > LARGEST_SUM:
            raise not_replayable("times that are too large in all")


def _filled(column: Any, none: int) -> IntArray:
    """Return numbers with another for null; without nulls, quickly."""
    if column.null_count == len(column):
        return np.full(len(column), none)
    return numpy_array(column.fill_null(none) if column.null_count else column)


def waiting_times(columns: JobColumns, *, takes_time: bool) -> IntArray:
    """Return begin time and withdrawal of each job, in seconds, `[B, 2]`; empty without any.

    Parameters
    ----------
    takes_time
        Whether decisions take simulated time.

    Raises
    ------
    InputError
        If there are any where decisions take time.
    """
    begin_delay, patience = (columns.details.column(name) for name in WAITING_TIMES)
    begin, leave = _filled(begin_delay, 0), _filled(patience, NEVER)
    if not begin.any() and patience.null_count == len(patience):
        return np.empty((len(begin), 0), dtype=np.int64)
    if takes_time:
        message = "begin times and jobs that are withdrawn go with decisions that take no time"
        raise InputError(Finding("bad-value", message, key="simulation.dispatch_latency"))
    submit = columns.submit_time
    return np.stack([submit + begin, np.where(leave == NEVER, NEVER, submit + leave)], axis=1)


_OVER_SHARED_RESOURCE = REFUSALS.index("over_shared_resource")

_Asked = tuple[int, int, tuple[tuple[str, int], ...]]
"""Number of a job's request, its units, and the draws that the trace states."""


class SharedResourceAdmission:
    """Refusal of jobs that could never run to their predicted end, for all shared resources."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._traced = any(resource.draw.traced for resource in system.shared_resources)
        self._stays: dict[Amounts, int] = {}
        self._of_batch = np.empty(0, dtype=np.int64)

    def begin(self, columns: JobColumns) -> IntArray:
        """Begin a batch; return the amounts that its jobs draw wherever they run, `[B, P]`."""
        if not self._system.shared_resources:
            return np.empty((len(columns.units), 0), dtype=np.int64)
        place: dict[_Asked, int] = {}
        places = [place.setdefault(asked, len(place)) for asked in self._asked(columns)]
        requests = [
            columns.requests[number]._replace(units=units, shared_requests=drawn)
            for number, units, drawn in place
        ]
        stays = np.array(list(map(self._stay, requests)), dtype=np.int64)
        draws = [own_draw(self._system, request) for request in requests]
        self._of_batch = stays[places]
        return np.array(draws, dtype=np.int64).reshape(-1, len(self._system.shared_resources))[
            places
        ]

    def _asked(self, columns: JobColumns) -> Iterable[_Asked]:
        drawn: Iterable[tuple[tuple[str, int], ...]] = repeat((), len(columns.units))
        if self._traced:
            told = columns.details.column("shared_requests").to_pylist()
            drawn = (tuple(requests or ()) for requests in told)
        return zip(columns.request.tolist(), columns.units.tolist(), drawn, strict=True)

    def refuse(self, refused: IntArray, predicted: IntArray) -> None:
        """Refuse the jobs of the batch that could never run, given their predictions."""
        if self._system.shared_resources:
            refused[(predicted > self._of_batch) & (refused < 0)] = _OVER_SHARED_RESOURCE

    def refusal(self, k: int, predicted: int) -> int:
        """Return why job `k` of the batch is refused, given its prediction; -1 if it is not."""
        never = bool(self._system.shared_resources) and predicted > self._of_batch[k]
        return _OVER_SHARED_RESOURCE if never else -1

    def _stay(self, request: Request) -> int:
        draw = most_draw(self._system, request)
        if max(draw) > LARGEST_AMOUNT:
            raise not_replayable("jobs that draw amounts of more than 61 bits")
        if draw not in self._stays:
            self._stays[draw] = longest_stay(self._system.shared_resources, draw)
        return self._stays[draw]


_WHERE = ("partition", "queue", "group", "application", "partition_name", "queue_name")
"""Columns by which a job belongs to a partition or QOS."""


def admitted(batches: Iterable[JobColumns], parts: Parts) -> Iterator[JobColumns]:
    """Yield batches with jobs restricted to the nodes of their partitions, and refusals marked.

    Without partitions and limits batches are unchanged.
    """
    limits, numbers = ReplayLimits(parts.system, parts.partitions, parts.policies), RequestNumbers()
    if not (parts.partitions or limits.any):
        yield from batches
        return
    for columns in batches:
        yield _admitted(columns, limits, numbers, parts)


def _admitted(
    columns: JobColumns, limits: ReplayLimits, numbers: RequestNumbers, parts: Parts
) -> JobColumns:
    asked = columns.request, columns.units, columns.requested_time
    first, place = _alike(columns, limits.columns, asked)
    of_each = [limits.admit(job) for job, _ in records_of([columns.take(first)])]
    request = [numbers.of(job.request) for job, _ in of_each]
    refused = [-1 if by is None else REFUSALS.index(by) for _, by in of_each]
    for (job, _), by in zip(of_each, refused, strict=True):
        # Others fit on the system.
        if by >= 0 and parts.system.demand(job.units, job.unit_request) > LARGEST_AMOUNT:
            raise not_replayable("amounts that need more than 61 bits in all")
    return columns._replace(
        request=np.array(request, dtype=np.int64)[place],
        requests=numbers.requests,
        refused=np.array(refused, dtype=np.int64)[place],
    )


def precedences(columns: JobColumns, preemption: Preemption | None) -> IntArray:
    """Return rank and class in preemption of each job of a batch, `[B, 2]`; empty without any."""
    if preemption is None or not len(columns.job_id):
        return np.empty((0, 0 if preemption is None else 2), dtype=np.int64)
    first, place = _alike(columns, _WHERE)
    found = [preemption.precedence(job) for job, _ in records_of([columns.take(first)])]
    return np.array(found, dtype=np.int64)[place]


def _alike(
    columns: JobColumns, names: Sequence[str], more: Sequence[IntArray] = ()
) -> tuple[IntArray, IntArray]:
    """Return one job of each set of equal ones, and the set of each job.

    They are equal in some columns, and in some more numbers.
    """
    told = [as_numbers(columns.details.column(name)) for name in names]
    _, first, place = np.unique(
        np.stack([*more, *told]), axis=1, return_index=True, return_inverse=True
    )
    return first, place.reshape(-1)
