"""Trace source `run`: the jobs of an earlier run, live or simulated, as they ran.

Submit times, requests, eligible nodes and run times come from the run directory's `jobs.parquet`.
Rejected and withdrawn jobs never ran, and are skipped.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import Duration, OneInputFile, Params
from hpcsched.registration import RECORDS_WAITS, builtin
from hpcsched.system.system import System
from hpcsched.workload.job import BOUNDS, NUMBERED, Job, TracedJob, bounded_request
from hpcsched.workload.trace_source import TraceAccount

_COLUMNS = (
    "job_id",
    "submit_time",
    "units",
    "unit_request",
    "requested_time",
    *NUMBERED,
    "name",
    *(column.name for column in BOUNDS),
    "run_time",
    "start_time",
    "state",
)


class RunSourceParams(Params):
    """Parameters of `run`: the earlier run, and a delay."""

    path: OneInputFile
    """The jobs.parquet of a run directory; ${VAR} is filled in. Its system must have had the same
    resource types, in the same units."""
    noticed_after: Duration = 0
    """Delay, in seconds, of the notice of submissions and ends, as a live run does not notice them
    at once."""


@builtin("trace_source", "run", RunSourceParams, capabilities={RECORDS_WAITS})
class RunSource:
    """Trace source: the jobs of an earlier run, live or simulated, as they ran.

    They come by submit time and number.
    """

    uniform_request: tuple[int, ...] | None = None
    comments: Sequence[str] = ()

    def __init__(self, params: RunSourceParams, system: System) -> None:
        self._path = Path(params.path)
        self._system = system
        self._noticed_after = params.noticed_after
        self.account = TraceAccount()
        self.fraction_read: float | None = None
        self._waits: dict[int, int] | None = None

    @property
    def files(self) -> Sequence[Path]:
        """The file of jobs."""
        return [self._path]

    def keep_waits(self) -> dict[int, int]:
        """Return the mapping of wait times in the run; see `RecordsWaits`."""
        if self._waits is None:
            self._waits = {}
        return self._waits

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs by submit time and number."""
        self.account = TraceAccount()
        for row in self._rows():
            self.account.read += 1
            if row["run_time"] is None:
                self.account.skipped[row["state"]] += 1
                continue
            if set(row["unit_request"]) != set(self._system.resource_types):
                theirs = ", ".join(row["unit_request"])
                raise self._fault(f"its jobs ask for {theirs}; the system has others")
            self.account.submitted += 1
            if self._waits is not None:
                self._waits[row["job_id"]] = row["start_time"] - row["submit_time"]
            # A live run learns of submissions and ends at its next poll, later by this time.
            row["run_time"] += self._noticed_after
            row["submit_time"] += self._noticed_after
            yield _traced(row, self._system)

    def _rows(self) -> list[dict[str, Any]]:
        import pyarrow as pa  # noqa: PLC0415 (it takes its time, and few traces need it)
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            table = pq.read_table(self._path, columns=list(_COLUMNS))
            order = [("submit_time", "ascending"), ("job_id", "ascending")]
            rows: list[dict[str, Any]] = table.sort_by(order).to_pylist()
        except OSError as error:
            raise self._fault(f"it cannot be read: {error}") from error
        except (pa.ArrowException, KeyError) as error:
            raise self._fault(f"it is no jobs.parquet of a run: {error}") from error
        if rows and set(rows[0]) != set(_COLUMNS):
            raise self._fault("it is no jobs.parquet of a run: it lacks columns")
        return rows

    def _fault(self, message: str) -> InputError:
        return InputError(Finding("damaged-file", message, Place(str(self._path))))


def _traced(row: dict[str, Any], system: System) -> TracedJob:
    request = tuple(row["unit_request"][name] for name in system.resource_types)
    job = Job(
        row["job_id"],
        row["submit_time"],
        bounded_request(row["units"], request, row, ()),
        row["requested_time"],
        *(row[name] for name in (*NUMBERED, "name")),
    )
    return TracedJob(job, row["run_time"])
