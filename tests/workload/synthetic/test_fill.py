"""Jobs that arrive one by one and stay, until they ask for a part of the system."""

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.synthetic.fill import FillParams, FillSource
from tests.builders import alike, traced


class _Context:
    def __init__(self, jobs, system, seed=1):
        self.jobs, self.system, self.seed = jobs, system, seed

    def make(self, kind, of):
        """Return the original."""
        assert (kind, of) == ("trace_source", "original")
        jobs = self.jobs

        class _Original:
            files, comments, uniform_request = (), (), None

            def jobs(self):
                """Yield the jobs."""
                yield from jobs

        return _Original()


def fill(jobs, load, seed=1, cores=10):
    """Return the jobs of a fill of a node."""
    params = FillParams(of="original", resource="core", load=load)
    return list(FillSource(params, _Context(jobs, alike(1, core=cores), seed)).jobs())


SIZES = {1: 1, 2: 2, 3: 3}
JOBS = [traced(number, 100, units, 7) for number, units in SIZES.items()]


def test_jobs_arrive_one_by_one_and_stay_until_all_have_come():
    """They come a second apart, and run until one second after the last."""
    made = fill(JOBS, 2.5)
    assert [job.submit_time for job, _ in made] == list(range(1, len(made) + 1))
    assert {job.submit_time + run_time for job, run_time in made} == {len(made) + 1}
    assert all(job.requested_time == run_time for job, run_time in made)


@pytest.mark.parametrize("seed", range(20))
def test_they_ask_for_the_load(seed):
    """Jobs are drawn again while they stay within it; all of the original come first."""
    made = fill(JOBS, 2.5, seed)
    asked = sum(job.units for job, _ in made)
    assert 25 - max(SIZES.values()) < asked <= 25
    assert sorted(job.units for job, _ in made[:3]) == [1, 2, 3]


@pytest.mark.parametrize("seed", range(20))
def test_too_many_jobs_lose_some(seed):
    """Of jobs that ask for more than the load, enough are left out and none is drawn again."""
    made = fill(JOBS, 0.4, seed)
    units = [job.units for job, _ in made]
    assert sum(units) <= 4
    assert len(units) == len(set(units))


def test_orders_differ_by_seed():
    """The same seed gives the same jobs, and another one others."""
    orders = {tuple(job.units for job, _ in fill(JOBS, 2.5, seed)) for seed in range(20)}
    assert fill(JOBS, 2.5, 3) == fill(JOBS, 2.5, 3)
    assert len(orders) > 10


def test_an_unknown_resource_is_told():
    """The load is of a resource type of the system."""
    with pytest.raises(InputError, match="gpu"):
        FillSource(
            FillParams(of="original", resource="gpu", load=1.0), _Context(JOBS, alike(1, core=1))
        )
