"""The transforms `scale-load` and `scale-sizes`, by hand."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.workload.job import TracedJob
from tests.builders import traced
from tests.strategies import tries
from tests.workload.transforms.chains import SYSTEM, Given, chain, read, submitted, times


def test_denser() -> None:
    """After the first at 100: 1, 2, 3 and 1000 s divided by 1.25 are 0.8, 1.6, 2.4 and 800."""
    source = chain(Given(submitted([100, 101, 102, 103, 1100])), ("scale-load", {"factor": 1.25}))
    assert times(read(source)) == [100, 101, 102, 102, 900]
    assert source.account.changed == {"submit_time_scaled": 2}


def test_half_as_dense() -> None:
    """Times between submissions are twice what they were."""
    source = chain(Given(submitted([3, 4, 6])), ("scale-load", {"factor": 0.5}))
    assert times(read(source)) == [3, 5, 9]


@tries(200)
@given(st.lists(st.integers(0, 1000), min_size=1, max_size=60), st.floats(0.01, 100))
def test_rounding_does_not_drift(gaps: list[int], factor: float) -> None:
    """No submission is further than half a second from where it would be without rounding."""
    instants = [sum(gaps[: k + 1]) for k in range(len(gaps))]
    scaled = times(read(chain(Given(submitted(instants)), ("scale-load", {"factor": factor}))))
    for before, after in zip(instants, scaled, strict=True):
        assert abs(after - gaps[0] - (before - gaps[0]) / factor) <= 0.5 + 1e-9
    assert all(one <= other for one, other in pairwise(scaled))


def sized(*units: int, request: tuple[int, ...] = (1, 0, 0)) -> list[TracedJob]:
    """Return jobs of so many units."""
    return [traced(k, k, count, 60, request) for k, count in enumerate(units, 1)]


def units(jobs: list[TracedJob]) -> list[int]:
    """Return how many units jobs ask for."""
    return [one.job.units for one in jobs]


def test_sizes_that_do_not_fit_are_clipped() -> None:
    """Twice 1, 2, 10 and 16 units; 16 cores are all there are."""
    source = chain(Given(sized(1, 2, 10, 16)), ("scale-sizes", {"factor": 2}))
    assert units(read(source)) == [2, 4, 16, 16]
    assert source.account.changed == {"size_scaled": 3}
    assert source.account.clipped == {"scaled_too_large": 2}


def test_what_is_drawn_from_shared_resources_follows_the_units() -> None:
    """2 units that draw 6 licences draw 9 as 3 units, and 3 as one; 5 for 2 are 8 for 3."""
    drawing = (("licence", 6), ("power", 5))
    jobs = [traced(1, 0, 2, 60, (1, 0, 0), shared_requests=drawing), *sized(1, 2)[1:]]
    for factor, expected in ((1.5, (3, 9, 8)), (0.5, (1, 3, 3)), (1, (2, 6, 5))):
        first, other = read(chain(Given(jobs), ("scale-sizes", {"factor": factor})))
        assert (first.job.units, *dict(first.job.shared_requests).values()) == expected
        assert other.job.shared_requests == ()


def test_sizes_on_some_nodes_only() -> None:
    """A job bound to one node of 2 cores grows no further than that."""
    jobs = [traced(1, 0, 1, 60, (1, 0, 0), allowed_nodes=frozenset({3}))]
    assert units(read(chain(Given(jobs), ("scale-sizes", {"factor": 5})))) == [2]


def test_smaller_sizes_are_at_least_one() -> None:
    """A tenth of a unit is one still."""
    assert units(read(chain(Given(sized(1, 4, 20)), ("scale-sizes", {"factor": 0.1})))) == [1, 1, 2]


def test_sizes_that_are_whole_are_not_drawn() -> None:
    """Twice as many is twice as many."""
    assert units(read(chain(Given(sized(1, 3)), ("scale-sizes", {"factor": 2})))) == [2, 6]


def test_drawn_sizes_are_right_on_average() -> None:
    """Of 4000 jobs of one unit, a quarter have two: 3.7 standard deviations are 100 jobs."""
    jobs = sized(*[1] * 4000)
    first, second = (
        read(chain(Given(jobs), ("scale-sizes", {"factor": 1.25}), seed=seed)) for seed in (1, 2)
    )
    assert abs(sum(units(first)) - 5000) < 100
    assert set(units(first)) == {1, 2}
    assert units(first) != units(second)


def test_a_size_follows_from_the_job_s_number() -> None:
    """Whatever comes before it."""
    scale = ("scale-sizes", {"factor": 1.3})
    assert (
        read(chain(Given(sized(*[1] * 50)[20:]), scale))
        == (read(chain(Given(sized(*[1] * 50)), scale))[20:])
    )


def test_a_job_that_did_not_fit_before_does_not_become_smaller() -> None:
    """Whether it is used is for the source to say."""
    assert SYSTEM.totals[0] == 16
    assert units(read(chain(Given(sized(20)), ("scale-sizes", {"factor": 1.5})))) == [20]
