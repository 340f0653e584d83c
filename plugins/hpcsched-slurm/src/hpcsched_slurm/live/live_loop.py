"""Loop of a live run: a driver, and the tables of the run directory."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hpcsched.runs.assembly import Assembly
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.reason_records import ReasonRecorder
from hpcsched.runs.recorder import RunRecorder
from hpcsched.runs.run_lifecycle import LoopEnd
from hpcsched.runs.summary import Left
from hpcsched.runs.tables import RunRecords
from hpcsched.simulation.observer import Observer, close_observers
from hpcsched_slurm.live.driver import Driver, Limits
from hpcsched_slurm.live.following import Following


def live_observers(
    assembly: Assembly, recorder: RunRecorder, listed: Sequence[Observer]
) -> list[Observer]:
    """Return the observers of a live run: the tables, the reasons, and those of the scenario.

    Parameters
    ----------
    assembly
        The parts of the scenario, with the run directory.
    listed
        Observers that the scenario lists.
    """
    own: list[Observer] = [recorder]
    # Reasons are recorded always: an operator asks afterwards why a job waited.
    if not any(isinstance(observer, ReasonRecorder) for observer in listed):
        own.append(ReasonRecorder(assembly.folder))
    return [*own, *listed]


class LiveLoop:
    """Loop of a driver, and the files that it fills.

    Parameters
    ----------
    driver
        The driver.
    limits
        Limits of its loop.
    following
        The jobs that it follows.
    records
        Records of the tables.
    observers
        Observers to be closed in the end.
    files
        Functions that write further files, given the starts and nodes of the jobs by number.
    """

    def __init__(
        self,
        driver: Driver,
        limits: Limits,
        following: Following,
        records: RunRecords,
        observers: Sequence[Observer],
        *,
        files: Sequence[Callable[[Mapping[int, int], Mapping[int, tuple[str, ...]]], None]],
    ) -> None:
        self._driver, self._limits = driver, limits
        self._following, self._records, self._observers = following, records, observers
        self._files = files
        self._not_closed: Mapping[str, str] = {}

    def run(self) -> None:
        """Read and answer until stopped, or until a limit is reached."""
        self._driver.run(self._limits)

    def stop(self) -> None:
        """End the loop before the next look."""
        self._driver.stop()

    def close(self) -> None:
        """Write all files and finish all tables."""
        # Before the manifest is finished, which holds the hash of every file.
        for write in self._files:
            write(self._following.started_at, self._following.nodes_of)
        self._not_closed = close_observers(self._observers)

    @property
    def complete(self) -> bool:
        """True if no followed job is left, however the loop ended."""
        return not (self._following.waiting or self._following.running)

    @property
    def end(self) -> LoopEnd:
        """State of the loop."""
        left = Left(self._following.waiting, self._following.running)
        # The trace is the history here: its header is not that of the jobs in the tables.
        account, records = self._following.account, self._records
        return LoopEnd(left, account, (), (ON_A_CLUSTER,), {}, records, self._not_closed)

    def more_figures(self, _summary: Mapping[str, Any], *, complete: bool) -> dict[str, Any]:
        """Return no further figures: a cluster is not known as closely as a simulated system."""
        return {}
