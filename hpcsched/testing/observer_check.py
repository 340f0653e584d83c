"""Check of the protocol of observers, on sample workloads."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from hpcsched.dispatching.additional import DataProvider
from hpcsched.plugins.product_check import product_fault
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import RoundRecord
from hpcsched.testing.dispatcher import expect_equal
from hpcsched.testing.replaying import replay
from hpcsched.testing.sample_replays import SEEDS, backfilling, expect, noted, workloads
from hpcsched.testing.workloads import SampleWorkload


class _Asks(Observer):
    """Observer that asks another for its data after each round, twice."""

    def __init__(self, provider: DataProvider) -> None:
        self._provider = provider

    def round_ended(self, record: RoundRecord) -> None:
        """Ask, and compare."""
        first, again = (self._provider.additional_data(record.now) for _ in range(2))
        for data in (first, again):
            if not isinstance(data, Mapping) or not all(isinstance(name, str) for name in data):
                raise AssertionError(
                    f"second {record.now}: expected a mapping of names to additional data,"
                    f" found {data!r}"
                )
        if repr(first) != repr(again):
            raise AssertionError(
                f"second {record.now}: expected the same data when asked again, found {first!r}"
                f" and {again!r}"
            )


def check_observer(
    make: Callable[[Path], Observer], *, seeds: Iterable[int] = SEEDS, reproducible: bool = True
) -> None:
    """Replay sample workloads under observers, and check their data.

    An observer must have all methods of its base class; must leave the replay as it is without it;
    must write the same files when the replay is repeated; must be able to close after a simulation
    without an event; and must give the same additional data when asked again.

    Parameters
    ----------
    make
        Function that returns an observer; given the folder in which it writes, an empty one.
    reproducible
        True: the files must be the same when the replay is repeated, as they are unless they hold
        times of the real clock.

    Raises
    ------
    AssertionError
        If the observer is wrong; a note names the workload.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        observer = make(folder)
        expect(product_fault(observer, "observer"))
        with noted("in a simulation without an event"):
            observer.close()
    for workload, where in workloads(seeds):
        with noted(where):
            _check(make, workload, reproducible)


def _check(make: Callable[[Path], Observer], workload: SampleWorkload, reproducible: bool) -> None:
    alone = replay(backfilling(), workload.jobs, workload.system)
    written = []
    for _ in range(2):
        with TemporaryDirectory() as name:
            folder = Path(name)
            observer = make(folder)
            asks = [_Asks(observer)] if isinstance(observer, DataProvider) else []
            observers = [observer, *asks]
            records = replay(backfilling(), workload.jobs, workload.system, observers=observers)
            observer.close()
            expect_equal(alone, records, "under the observer")
            files = sorted(path for path in folder.rglob("*") if path.is_file())
            written.append({str(path.relative_to(folder)): path.read_bytes() for path in files})
    first, again = written
    for name in sorted(first.keys() | again.keys()):
        if reproducible and first.get(name) != again.get(name):
            raise AssertionError(f"expected the same {name} when replayed again, found another")
