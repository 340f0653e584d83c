"""The last workload that was read, kept in memory for other scenarios with the same one."""

from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple

from hpcsched.plugin_faults import HOME
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import Scenario
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, batches_of, records_of
from hpcsched.workload.trace_source import TraceAccount, TraceSource, has_dependencies

MOST_JOBS = 2**17
"""Largest workload that is kept, in jobs: about 40 MB. Longer ones are read for each run."""

_WITHOUT = {
    "name",
    "description",
    "dispatcher",
    "objective",
    "predictor",
    "correction",
    "metrics",
    "observers",
}
"""Keys of a scenario that its jobs do not depend on."""


def workload_key(scenario: Scenario) -> str:
    """Return a text that is equal for scenarios with the same jobs, as long as files stay."""
    return scenario.model_dump_json(exclude=_WITHOUT)


class _Read(NamedTuple):
    """A batch, with the number of distinct requests and the account of the source after it."""

    columns: JobColumns
    requests: int
    account: TraceAccount
    fraction_read: float | None


class KeptSource:
    """Trace source that yields again what another yielded, with the same account at each batch.

    Raises
    ------
    OverflowError
        If there are more than `MOST_JOBS` jobs.
    """

    def __init__(self, source: TraceSource) -> None:
        self.files, self.uniform_request = source.files, source.uniform_request
        self.dependencies = has_dependencies(source)
        self.account, self.fraction_read = deepcopy(source.account), source.fraction_read
        self._read: list[_Read] = []
        jobs = 0
        for columns in batches_of(source):
            account, known = deepcopy(source.account), len(columns.requests)
            self._read.append(_Read(columns, known, account, source.fraction_read))
            jobs += len(columns.job_id)
            if jobs > MOST_JOBS:
                raise OverflowError(f"more than {MOST_JOBS:,} jobs")
        self._end = deepcopy(source.account), source.fraction_read
        self.comments = tuple(source.comments)

    def job_columns(self, numbers: RequestNumbers) -> Iterator[JobColumns]:
        """Yield the batches again."""
        for columns, known, account, fraction_read in self._read:
            # One by one: the list grows from batch to batch, as in the first reading.
            for request in columns.requests[len(numbers.requests) : known]:
                numbers.of(request)
            self.account, self.fraction_read = account, fraction_read
            yield columns._replace(requests=numbers.requests)
        self.account, self.fraction_read = self._end

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs again."""
        return records_of(self.job_columns(RequestNumbers()))


class _Kept(NamedTuple):
    """State of each file of a workload, and the workload; None if it is too long."""

    files: list[tuple[int, int, int]]
    source: KeptSource | None


_kept: dict[str, _Kept] = {}
"""The last workload, by its key; or nothing."""


def keep_workload(scenario: Scenario) -> None:
    """Read the workload of a scenario, unless it is the one that was kept last.

    Raises the errors of reading; then nothing is kept.
    """
    assembly = assemble(scenario)
    # Sources of third parties may do more than read; one without files draws or asks for jobs.
    if set(assembly.distributions(scenario.trace)) != {HOME} or not assembly.source.files:
        return
    key, states = workload_key(scenario), [path.stat() for path in assembly.source.files]
    files = [(state.st_ino, state.st_size, state.st_mtime_ns) for state in states]
    if key not in _kept or _kept[key].files != files:
        _kept.clear()  # first, so that two workloads are never held
        try:
            _kept[key] = _Kept(files, KeptSource(assembly.source))
        except OverflowError:
            _kept[key] = _Kept(files, None)


def kept_source(scenario: Scenario) -> KeptSource | None:
    """Return the jobs of a scenario if they are those that were read last."""
    kept = _kept.get(workload_key(scenario))
    return None if kept is None else kept.source
