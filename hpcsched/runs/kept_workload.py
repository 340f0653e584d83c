"""The last workload that was read, kept in memory for other scenarios with the same one."""

from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple

from hpcsched.paths import FileState, file_state
from hpcsched.plugin_faults import HOME
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import Scenario
from hpcsched.scenario.resolved import workload_key
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, batches_of, records_of
from hpcsched.workload.trace_source import TraceAccount, TraceSource, has_dependencies

MOST_JOBS = 2**17
"""Largest workload that is kept, in jobs: about 40 MB. Longer ones are read for each run."""


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
        # Batches, each with the number of distinct requests, the account and the progress after it.
        self._read: list[tuple[JobColumns, int, TraceAccount, float | None]] = []
        for columns in batches_of(source):
            known, account = len(columns.requests), deepcopy(source.account)
            self._read.append((columns, known, account, source.fraction_read))
            if account.submitted > MOST_JOBS:
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
    """The seed that jobs depend on, if any; the state of their files; the jobs if they are few."""

    seed: int | None
    files: list[FileState]
    source: KeptSource | None


_kept: dict[str, _Kept] = {}
"""The last workload, by its key."""


def keep_workload(scenario: Scenario) -> None:
    """Read the workload of a scenario, unless it is the one that was kept last.

    Raises the errors of reading; then nothing is kept.
    """
    assembly = assemble(scenario)
    # Sources of third parties may do more than read; one without files draws or asks for jobs.
    if set(assembly.distributions(scenario.trace)) != {HOME} or not assembly.source.files:
        return
    key, files = workload_key(scenario), [file_state(path) for path in assembly.source.files]
    last = _last(scenario)
    if last is None or last.files != files:
        _kept.clear()  # first, so that two workloads are never held
        try:
            source = KeptSource(assembly.source)
        except OverflowError:
            source = None
        _kept[key] = _Kept(scenario.seed if assembly.seed_read else None, files, source)


def kept_source(scenario: Scenario) -> KeptSource | None:
    """Return the jobs of a scenario if they are those that were read last."""
    last = _last(scenario)
    return None if last is None else last.source


def _last(scenario: Scenario) -> _Kept | None:
    last = _kept.get(workload_key(scenario))
    return last if last is not None and last.seed in (None, scenario.seed) else None
