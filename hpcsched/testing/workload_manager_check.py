"""Check of the protocol of workload managers."""

from collections.abc import Callable
from typing import Any

from hpcsched.plugins.product_check import product_fault
from hpcsched.system.cluster import (
    ClusterJob,
    ClusterState,
    RefusedError,
    WorkloadManager,
    state_fault,
)
from hpcsched.testing.sample_replays import expect


def check_workload_manager(make: Callable[[], WorkloadManager]) -> None:
    """Read a cluster, start and hold its held jobs, and check the states in between.

    Every state must be complete: nodes and jobs once each, running jobs with their start and their
    place. A held job that is started must be held no more, and be bound to its nodes or run there;
    a job that is not held, or is not there, must be refused; a job that has not started can be
    held again.

    Parameters
    ----------
    make
        Function that returns a manager of a cluster with a job that waits, is held, and fits on
        the first usable nodes. It is changed: never a cluster in use.

    Raises
    ------
    AssertionError
        If the manager is wrong.
    """
    manager = make()
    expect(product_fault(manager, "workload_manager"))
    state = _read(manager)
    held = [job for job in state.jobs if job.held and job.phase == "waiting"]
    if not held:
        raise AssertionError("expected a cluster with a held job that waits, found none")
    job = held[0]
    usable = [node.name for node in state.nodes if node.usable]
    nodes = usable[: job.units if job.one_unit_per_node else 1]
    unknown = job._replace(key=f"{job.key}-unknown", job_id=job.job_id + 10**6)
    _expect_refused(manager.start, "start of a job that is not there", unknown, nodes)
    _expect_refused(manager.hold, "hold of a job that is not there", unknown)

    manager.start(job, nodes)
    started = _job(_read(manager), job)
    runs = started.phase == "running"
    if started.held:
        raise AssertionError(f"job {job.key}: expected it held no more after start, found it held")
    bound = set(started.placed) if runs else set(started.wanted)
    if bound != set(nodes):
        raise AssertionError(f"job {job.key}: expected it on {nodes}, found {sorted(bound)}")
    _expect_refused(manager.start, "start of a job that is not held", job, nodes)
    if runs:
        _expect_refused(manager.hold, "hold of a job that runs", job)
        return
    manager.hold(job)
    again = _job(_read(manager), job)
    if not again.held or again.wanted:
        raise AssertionError(
            f"job {job.key}: expected it held, and bound to no node, after hold; found"
            f" held={again.held}, wanted={again.wanted}"
        )


def _read(manager: WorkloadManager) -> ClusterState:
    state = manager.read()
    expect(state_fault(state), "read")
    return state


def _job(state: ClusterState, job: ClusterJob) -> ClusterJob:
    found = [other for other in state.jobs if other.key == job.key]
    if not found:
        raise AssertionError(f"job {job.key}: expected it still there, found it gone")
    return found[0]


def _expect_refused(change: Callable[..., object], what: str, *arguments: Any) -> None:
    try:
        change(*arguments)
    except RefusedError:
        return
    raise AssertionError(f"{what}: expected RefusedError, found none")
