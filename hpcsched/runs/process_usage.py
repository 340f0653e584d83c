"""Observer `cpu-memory`: the CPU time and memory of the simulating process, round by round.

Source: Galleguillos, thesis 2020, section 3.5.2, table 3.3 and figure 3.9.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import NamedTuple

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import Dispatcher, DispatchingProblem
from hpcsched.plugin_faults import origin_of, remember
from hpcsched.registration import builtin
from hpcsched.runs.columns import usage_schema
from hpcsched.runs.files import USAGE
from hpcsched.runs.record_file import RecordFile
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord
from hpcsched.workload.job import TracedJob


def resident_memory() -> int | None:
    """Return the resident memory of this process, in bytes; None without `/proc`."""
    try:
        # Sizes in pages; the second one is the resident part.
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


class UsageRow(NamedTuple):
    """A row of `usage.parquet`: CPU time since the round before, and memory.

    Attributes
    ----------
    loading_time, dispatching_time, other_time
        CPU seconds of the process and all its threads.
    memory
        Resident memory at the end of the round, in bytes; None if the operating system does not
        say.
    """

    round: int
    now: int
    queued: int
    loading_time: float
    dispatching_time: float
    other_time: float
    memory: int | None


@builtin(
    "observer",
    "cpu-memory",
    summary="measures CPU time and memory of the simulation, round by round; writes usage.parquet",
)
class ProcessUsage(Observer):
    """Observer that writes `usage.parquet`: a row for each round.

    Trace and dispatcher are timed by `timed_jobs` and `timed_dispatcher`.
    """

    def __init__(self, folder: Path) -> None:
        self._file: RecordFile[UsageRow] = RecordFile(folder / USAGE, usage_schema())
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
        """Wrap a dispatcher so that its CPU time counts as dispatching."""
        timed = _Timed(self, dispatcher)
        origin = origin_of(dispatcher)
        if origin is not None:
            remember(timed, origin)
        return timed

    def decide(self, dispatcher: Dispatcher, problem: DispatchingProblem) -> Decision:
        """Return a dispatcher's decision, counting its CPU time as dispatching."""
        began = process_time()
        try:
            return dispatcher.dispatch(problem)
        finally:
            self._dispatching += process_time() - began

    def round_ended(self, record: RoundRecord) -> None:
        """Write the CPU time since the round before."""
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
                # Clocks of different resolution may leave a negative rest.
                max(0.0, spent - loading - dispatching),
                resident_memory(),
            )
        )
        self._loading = self._dispatching = 0.0
        self._since = now

    def close(self) -> None:
        """Write the remaining rows and finish the file."""
        self._file.close()


@dataclass(frozen=True)
class _Timed:
    """Dispatcher with timed decisions."""

    usage: ProcessUsage
    dispatcher: Dispatcher

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the dispatcher's decision."""
        return self.usage.decide(self.dispatcher, problem)
