"""The transform `scale-load`, by hand."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import tries
from tests.workload.transforms.chains import Given, chain, read, submitted, times


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
