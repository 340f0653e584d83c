"""Replays of sample workloads for checks of plugins, and notes about where a check failed."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.job_events import JobEventObserver
from hpcsched.dispatching.problem import RunningJob
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.list_scheduling import ListScheduler
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder
from hpcsched.errors import HpcschedError
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord
from hpcsched.testing.workloads import SampleWorkload, sample_workloads

SEEDS = range(3)
"""Seeds of the sample workloads of a check."""


class Told(Observer):
    """Observer that tells a dispatcher, an order or an allocator of starts and ends."""

    def __init__(self, follower: JobEventObserver) -> None:
        self._follower = follower
        self._running: dict[int, RunningJob] = {}

    def job_started(self, job: RunningJob) -> None:
        """Pass on the start."""
        self._running[job.job_id] = job
        self._follower.job_started(job)

    def job_ended(self, record: JobRecord) -> None:
        """Pass on the end, unless the job was rejected."""
        running = self._running.pop(record.job.job_id, None)
        if running is not None and record.end_time is not None:
            self._follower.job_ended(running, record.end_time)


def told(*plugins: object) -> Sequence[Observer]:
    """Return observers that pass starts and ends on to the plugins that follow jobs."""
    return [Told(plugin) for plugin in plugins if isinstance(plugin, JobEventObserver)]


def backfilling(
    order: QueueOrder | None = None, allocator: Allocator | None = None
) -> ListScheduler:
    """Return a list scheduler that starts each job that fits, by default as jobs arrive."""
    return ListScheduler(order or ArrivalOrder(), "backfill", allocator or FirstFit())


def workloads(seeds: Iterable[int]) -> Iterator[tuple[SampleWorkload, str]]:
    """Yield the sample workloads of some seeds, with their names for notes."""
    for seed in seeds:
        for workload in sample_workloads(seed):
            yield workload, f"on sample workload {workload.name!r}, seed {seed}"


@contextmanager
def noted(where: str) -> Iterator[None]:
    """Add a note to errors of the block, and raise the assertion behind an error of hpcsched."""
    try:
        yield
    except HpcschedError as error:
        cause = error.__cause__
        if not isinstance(cause, AssertionError):
            error.add_note(where)
            raise
        # The assertion of a check, which hpcsched took for the plugin's own exception.
        cause.add_note(where)
        raise cause from None
    except Exception as error:
        error.add_note(where)
        raise


def expect(fault: str | None, whose: str = "") -> None:
    """Raise an AssertionError if there is a fault."""
    if fault is not None:
        raise AssertionError(f"{whose}: {fault}" if whose else fault)
