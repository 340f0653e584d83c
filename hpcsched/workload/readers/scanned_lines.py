"""Lines of a log as columns, and the requests in them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched._core import Verdict
from hpcsched.system.system import IntArray, Request
from hpcsched.workload.readers.policies import UnusableError

if TYPE_CHECKING:
    from hpcsched.workload.job_batches import JobColumns, RequestNumbers

VerdictArray = npt.NDArray[np.int8]


@dataclass(slots=True)
class Lines:
    """Lines of a log that are neither blank nor comments, `[L]`, and the numbers in their fields.

    Attributes
    ----------
    numbers
        Numbers in the fields that are read, `[F, L]`; -1 where none is given.
    odd
        Lines that were read by themselves, in UTF-8.
    faults
        Why lines are no records, or have requests that cannot be read.
    changes
        Clippings of odd lines, by name.
    """

    text: bytes
    begins: IntArray
    ends: IntArray
    line: IntArray
    numbers: IntArray
    verdicts: VerdictArray
    odd: dict[int, bytes] = field(default_factory=dict)
    faults: dict[int, UnusableError] = field(default_factory=dict)
    changes: dict[int, list[str]] = field(default_factory=dict)

    def __getitem__(self, k: int) -> bytes:
        """Return line `k`, in UTF-8."""
        line = self.odd.get(k)
        return self.text[self.begins[k] : self.ends[k]] if line is None else line

    def refuse(self, k: int, problem: UnusableError, verdict: Verdict) -> None:
        """Note that line `k` gives no job."""
        self.faults[k] = problem
        self.verdicts[k] = verdict


class LineRequest(NamedTuple):
    """Request of lines of a log.

    Attributes
    ----------
    fault
        Why lines with it give no job; None if they do.
    changes
        Clippings of jobs with this request, by name.
    """

    request: Request
    fault: UnusableError | None = None
    changes: Sequence[str] = ()


@dataclass(slots=True)
class ScannedLines:
    """Lines of a log as columns, `[L]`, times in seconds; -1 where a number is not given.

    Attributes
    ----------
    request
        The request of each line, as an index of `requests`; -1 where it has none.
    details
        Numbers of user, group, application, queue and partition, `[5, L]`.
    think_time
        Time after the end of the preceding job; 0 without one.
    preceding
        Number of the preceding job, below 1 for none; None where no job has any.
    names
        Name of a line's job; None where no job has a name.
    """

    job_id: IntArray
    submit_time: IntArray
    run_time: IntArray
    requested_time: IntArray
    request: IntArray
    requests: Sequence[LineRequest]
    details: IntArray
    think_time: IntArray
    preceding: IntArray | None = None
    names: Callable[[int], str | None] | None = None

    def columns(self, rows: IntArray, numbers: "RequestNumbers") -> "JobColumns":
        """Return the jobs of some of the lines.

        Parameters
        ----------
        numbers
            Numbering of the unit requests of the whole trace.
        """
        # Here and below: it takes its time, and to check a scenario needs no columns.
        import pyarrow as pa  # noqa: PLC0415

        from hpcsched.arrow_arrays import arrow_array, python_array  # noqa: PLC0415
        from hpcsched.workload.job_batches import DETAILS, JobColumns, numbered  # noqa: PLC0415

        request = self.request[rows]
        asked = [one.request for one in self.requests]
        details = {
            name: arrow_array(row, row < 0)
            for name, row in zip(DETAILS.names, self.details[:, rows], strict=False)
        }
        if self.names is not None:
            names = [self.names(k) for k in rows.tolist()]
            details["name"] = python_array(names, pa.string())
        if self.preceding is not None:
            after = [[number] if number > 0 else None for number in self.preceding[rows].tolist()]
            details["after"] = python_array(after, DETAILS.field("after").type)
        details["think_time"] = arrow_array(self.think_time[rows])
        if any(one.shared_requests for one in asked):
            drawn = [asked[k].shared_requests or None for k in request.tolist()]
            details["shared_requests"] = pa.array(drawn, DETAILS.field("shared_requests").type)
        return JobColumns(
            self.job_id[rows],
            self.submit_time[rows],
            self.run_time[rows],
            self.requested_time[rows],
            np.array([one.units for one in asked], dtype=np.int64)[request],
            numbered(request, asked, numbers),
            numbers.requests,
            pa.RecordBatch.from_arrays(
                [
                    details[one.name] if one.name in details else pa.nulls(len(rows), one.type)
                    for one in DETAILS
                ],
                schema=DETAILS,
            ),
        )


def distinct(columns: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct columns of an array of numbers.

    Parameters
    ----------
    columns
        Numbers, `[A, L]`; with A = 0 all columns are equal.

    Returns
    -------
    tuple
        Index of the first occurrence of each distinct column, `[D]`, and the distinct column of
        each column, `[L]`.
    """
    which = np.zeros(columns.shape[1], dtype=np.int64)
    for numbers in columns:
        _, place = np.unique(numbers, return_inverse=True)
        which = np.unique(which * (len(numbers) + 1) + place, return_inverse=True)[1]
    _, first, place = np.unique(which, return_index=True, return_inverse=True)
    return first, place
