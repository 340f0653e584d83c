"""Check of the protocol of dispatchers, on sample workloads."""

from collections.abc import Callable, Iterable

from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.plugins.product_check import product_fault
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord
from hpcsched.testing.audit import audit_replay
from hpcsched.testing.reason_check import ReasonCheck
from hpcsched.testing.replaying import replay
from hpcsched.testing.sample_replays import expect, told
from hpcsched.testing.workloads import SampleWorkload, sample_workloads


def check_dispatcher(
    make: Callable[[], Dispatcher], *, seeds: Iterable[int] = range(3), reproducible: bool = True
) -> None:
    """Replay sample workloads under dispatchers, and audit every replay.

    Jobs with equal units are replayed twice, with free resources stated as nodes and as slots.
    Reasons must fit the starts; none need be given.

    Parameters
    ----------
    reproducible
        True: the dispatcher must decide equally when asked again, and when asked for reasons.

    Raises
    ------
    DecisionError
        If a decision cannot be carried out or jobs wait for ever.
    AssertionError
        If an audit finds a violation; a note names the workload.
    """
    expect(product_fault(make(), "dispatcher"))
    for seed in seeds:
        for workload in sample_workloads(seed):
            # Both forms, since a dispatcher meets either in scenarios.
            for aggregated in (False, True) if workload.uniform else (False,):
                try:
                    _check(make, workload, aggregated, reproducible)
                except Exception as error:
                    form = "slots" if aggregated else "nodes"
                    error.add_note(f"on sample workload {workload.name!r}, seed {seed}, as {form}")
                    raise


def _check(
    make: Callable[[], Dispatcher], workload: SampleWorkload, aggregated: bool, reproducible: bool
) -> None:
    def run(*observers: Observer) -> list[JobRecord]:
        dispatcher = make()
        heard = (*told(dispatcher), *observers)
        return replay(
            dispatcher, workload.jobs, workload.system, aggregated=aggregated, observers=heard
        )

    records = run()
    audit_replay(records, workload.jobs, workload.system)
    if reproducible:
        expect_equal(records, run(), "the second time")
    # Reasons are asked for in explained runs only, and asking must not change a start.
    explained = run(ReasonCheck())
    if reproducible:
        expect_equal(records, explained, "when asked for reasons")


def expect_equal(records: list[JobRecord], others: list[JobRecord], when: str) -> None:
    """Raise an AssertionError if two replays of the same jobs differ."""
    for first, second in zip(records, others, strict=True):
        if _outcome(first) != _outcome(second):
            raise AssertionError(
                f"two replays differ, first in job {first.job.job_id}: it {_told(first)}, and"
                f" job {second.job.job_id} {_told(second)} {when}"
            )


def _outcome(record: JobRecord) -> tuple[object, ...]:
    allocation = record.allocation
    where = allocation and (allocation.nodes, allocation.units)
    return record.job.job_id, record.start_time, record.end_time, where


def _told(record: JobRecord) -> str:
    if record.allocation is None:
        return "is rejected"
    return f"starts at {record.start_time} on nodes {record.allocation.nodes}"
