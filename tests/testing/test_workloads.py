"""The sample workloads."""

import pytest

from hpcsched.system.space import units_that_fit
from hpcsched.testing import SampleWorkload, sample_workloads

WORKLOADS = [workload for seed in range(3) for workload in sample_workloads(seed)]


def test_the_same_for_a_seed() -> None:
    """A seed always gives the same jobs, and another seed other ones."""
    assert sample_workloads(5) == sample_workloads(5)
    assert sample_workloads(5)[0].jobs != sample_workloads(6)[0].jobs


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_can_be_replayed(workload: SampleWorkload) -> None:
    """Jobs come in order, and each fits on the idle system."""
    system = workload.system
    times = [job.submit_time for job, _ in workload.jobs]
    assert times == sorted(times)
    for job, _ in workload.jobs:
        assert 1 <= job.units <= units_that_fit(system, system.capacity.T, job).sum()


def test_bring_out_what_goes_wrong() -> None:
    """Among few jobs there is everything that dispatchers get wrong."""
    mixed = [traced for workload in WORKLOADS for traced in workload.jobs if not workload.uniform]
    assert any(job.exclusive for job, _ in mixed)
    assert any(job.one_unit_per_node and job.units > 1 for job, _ in mixed)
    assert any(job.node_groups for job, _ in mixed)
    assert any(run_time == 0 for _, run_time in mixed)
    assert any(run_time > job.requested_time for job, run_time in mixed)
    assert len({job.unit_request for job, _ in mixed}) > 4
    assert len({job.submit_time for job, _ in mixed}) < len(mixed)
