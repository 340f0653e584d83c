"""Observer `cpu-memory`: the CPU time and memory of the simulating process, round by round.

Source: Galleguillos, thesis 2020, section 3.5.2, table 3.3 and figure 3.9.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import NamedTuple

import pyarrow as pa

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.results.files import USAGE
from hpcsched.results.record_file import RecordFile, transposed, whole
from hpcsched.results.schema import usage_schema
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord
from hpcsched.workload.job import TracedJob

_STATM = Path("/proc/self/statm")
"""Where Linux tells the memory of a process, in pages; the second number is what is resident."""


class UsageRow(NamedTuple):
    """A row of `usage.parquet`: what was spent from the round before to the end of this one.

    Times are in seconds of CPU time of the process and all its threads. `memory` is what is
    resident at the end of the round, in bytes; None where the operating system does not tell.
    """

    round: int
    now: int
    queued: int
    loading_time: float
    dispatching_time: float
    other_time: float
    memory: int | None


class ProcessUsage(Observer):
    """Writes `usage.parquet` into a folder: a row a round.

    What reads the trace and what decides have to be handed over, to be timed: see `timed_jobs` and
    `timed_dispatcher`. Raises InputError where the file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._file: RecordFile[UsageRow] = RecordFile(folder / USAGE, usage_schema(), _columns)
        self._loading = self._dispatching = 0.0
        self._since: float | None = None

    def timed_jobs(self, jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
        """Yield the jobs, counting the CPU time until each is there as loading."""
        self._since = process_time()
        while True:
            began = process_time()
            traced = next(jobs, None)
            self._loading += process_time() - began
            if traced is None:
                return
            yield traced

    def timed_dispatcher(self, dispatcher: Dispatcher) -> Dispatcher:
        """Return a dispatcher that decides as another, counting its CPU time as dispatching."""
        return _Timed(self, dispatcher)

    def decide(self, dispatcher: Dispatcher, problem: DispatchingProblem) -> Decision:
        """Return a dispatcher's decision, counting its CPU time as dispatching."""
        began = process_time()
        try:
            return dispatcher.dispatch(problem)
        finally:
            self._dispatching += process_time() - began

    def round_ended(self, record: RoundRecord) -> None:
        """Write what has been spent since the round before."""
        now = process_time()
        loading, dispatching = self._loading, self._dispatching
        spent = now - (now if self._since is None else self._since)
        self._file.add(
            UsageRow(
                record.round,
                record.now,
                record.queued,
                loading,
                dispatching,
                max(0.0, spent - loading - dispatching),
                resident_memory(),
            )
        )
        self._loading = self._dispatching = 0.0
        self._since = now

    def close(self) -> None:
        """Write what is left and finish the file."""
        self._file.close()


class _Timed(NamedTuple):
    """A dispatcher whose decisions are timed."""

    usage: ProcessUsage
    dispatcher: Dispatcher

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the dispatcher's decision."""
        return self.usage.decide(self.dispatcher, problem)


def resident_memory() -> int | None:
    """Return the resident memory of this process, in bytes; None where that is not told."""
    try:
        pages = int(_STATM.read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def _columns(rows: Sequence[UsageRow], _schema: pa.Schema) -> list[pa.Array]:
    """Return the columns of `usage_schema`."""
    rounds, instants, queued, loading, dispatching, other, memory = transposed(rows)
    times = (pa.array(times, pa.float64()) for times in (loading, dispatching, other))
    return [whole(rounds), whole(instants), whole(queued), *times, pa.array(memory, pa.int64())]
