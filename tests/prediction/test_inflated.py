"""`inflated`: what another predictor says, multiplied."""

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.prediction.predictors import (
    Actual,
    ConstantFactor,
    Inflated,
    InflatedOracle,
    QuantileOfRatios,
    RequestedTime,
)
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario, read_scenario
from hpcsched.scenario.review import review
from tests.prediction.jobs import job
from tests.strategies import tries

SCENARIO = Path(__file__).parents[2] / "scenarios" / "small-easy.yaml"


class Says100:
    """Predicts 100 s, and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, int]] = []

    def predict(self, job) -> int:
        """Return 100."""
        return 100

    def observe(self, job, run_time: int) -> None:
        """Note it."""
        self.told.append((job.job_id, run_time))


@pytest.mark.parametrize(
    ("factor", "cap", "predicted"),
    [
        (1.5, False, 150),
        (1.1, False, 110),
        (1.001, False, 101),
        (0.001, False, 1),
        (20, False, 2000),
        (20, True, 1000),
    ],
)
def test_factor(factor: float, cap: bool, predicted: int) -> None:
    """Exact, rounded up, at least 1 s, and capped only if wanted."""
    learns = Inflated(Says100(), ConstantFactor(factor), cap=cap)
    assert learns.predict(job()) == predicted


def test_the_other_learns() -> None:
    """Completions are passed on, in their order."""
    inner = Says100()
    learns = Inflated(inner, ConstantFactor(2), cap=False)
    learns.observe(job(2), 20)
    learns.observe(job(1), 10)
    assert inner.told == [(2, 20), (1, 10)]


def test_quantile_by_hand() -> None:
    """Ratios 0.5, 3, 1, 2: three quarters of them are not above 2; without the first, not above 3.

    The third and the fourth job complete in the other order, and what is multiplied is not what
    was predicted in the end.
    """
    learns = Inflated(Says100(), QuantileOfRatios(0.75, 4, 100), cap=False)
    said = [learns.predict(job(1))]
    for number, run_time in ((1, 50), (2, 300), (4, 100), (3, 200)):
        for new in {2: (2,), 4: (3, 4)}.get(number, ()):
            said.append(learns.predict(job(new)))
        learns.observe(job(number), run_time)
    said.append(learns.predict(job(5)))
    learns.observe(job(5), 301)
    said.append(learns.predict(job(6)))
    # 1; of 0.5; of 0.5, 3 twice; of 0.5, 1, 2, 3; of 1, 2, 3, 3.01
    assert said == [100, 50, 300, 300, 200, 300]


def test_quantile_of_one_is_the_largest() -> None:
    """And one job's ratio is enough."""
    learns = Inflated(Says100(), QuantileOfRatios(1, 10, 100), cap=True)
    for number, run_time in enumerate((120, 110)):
        learns.predict(job(number))
        learns.observe(job(number), run_time)
    assert learns.predict(job(9)) == 120


def test_quantile_is_bounded() -> None:
    """Neither ratios nor predictions of jobs that never complete are kept beyond the bounds."""
    multiplier = QuantileOfRatios(0.5, 3, 2)
    learns = Inflated(Says100(), multiplier, cap=False)
    for number in range(10):
        learns.predict(job(number))
        assert len(multiplier) <= 2
    learns.observe(job(0), 900)  # forgotten: adds nothing
    assert learns.predict(job(10)) == 100
    for number in range(20, 30):
        learns.predict(job(number))
        learns.observe(job(number), 200)
        assert len(multiplier) <= 5
    assert learns.predict(job(30)) == 200


def test_an_oracle_within() -> None:
    """It is still shown run times, and what is around it can learn from how wrong it is not."""
    doubled = InflatedOracle(Actual(), ConstantFactor(2), cap=False)
    assert doubled.foresee(job(), 300) == 600
    right = InflatedOracle(Actual(), QuantileOfRatios(0.9, 5, 5), cap=True)
    assert right.foresee(job(), 300) == 300
    right.observe(job(), 300)
    assert right.foresee(job(2), 40) == 40


@pytest.mark.parametrize(
    ("choice", "made"),
    [
        ("{name: inflated, of: requested-time, factor: 2}", Inflated),
        ("{name: inflated, of: {name: profile, memory: 5}, quantile: 0.9, window: 7}", Inflated),
        ("{name: inflated, of: actual, factor: 2}", InflatedOracle),
        (
            "{name: inflated, of: {name: inflated, of: actual, factor: 2}, quantile: 0.9}",
            InflatedOracle,
        ),
    ],
)
def test_from_a_scenario(choice: str, made: type) -> None:
    """What is around an oracle is one; a review says so at the oracle's own place."""
    loaded = read_scenario(SCENARIO, [f"predictor={choice}"])
    assert type(assemble(loaded.scenario).predictor) is made
    warned = [finding.key for finding in review(loaded) if finding.rule == "sees-run-time"]
    depth = choice.count("of:")
    assert warned == (["predictor" + depth * ".of"] if "actual" in choice else [])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("of: last-two", "expected either 'factor' or 'quantile'"),
        ("of: last-two, factor: 2, quantile: 0.5", "expected either 'factor' or 'quantile'"),
        ("of: last-two, factor: 2, window: 5", "'window' goes with 'quantile'"),
        ("of: last-two, factor: 0", "predictor.factor"),
        ("of: last-two, quantile: 1.1", "predictor.quantile"),
        ("of: nobody, factor: 2", "predictor.of: no predictor is called 'nobody'"),
        ("factor: 2", "predictor.of"),
    ],
)
def test_refused(given: str, message: str) -> None:
    """Each mistake gets one message."""
    with pytest.raises(InputError) as caught:
        load_scenario(SCENARIO, [f"predictor={{name: inflated, {given}}}"])
    assert len(caught.value.findings) == 1
    assert message in str(caught.value)


def test_of_requested_time() -> None:
    """A predictor that never learns can be made shorter: half of what is requested."""
    half = Inflated(RequestedTime(), ConstantFactor(0.5), cap=True)
    assert half.predict(job(requested_time=7)) == 4


@tries(200)
@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=25),
    st.integers(1, 6),
    st.sampled_from([0.1, 0.25, 0.5, 0.75, 0.9, 1.0]),
)
def test_quantile_by_counting(run_times: list[int], window: int, quantile: float) -> None:
    """It is the smallest of the window's ratios that enough of them do not exceed."""
    multiplier = QuantileOfRatios(quantile, window, 100)
    for number, run_time in enumerate(run_times, start=1):
        multiplier.predicted(job(number), 100)
        multiplier.completed(job(number), run_time)
        last = [Fraction(one, 100) for one in run_times[max(0, number - window) : number]]
        enough = [r for r in last if sum(one <= r for one in last) >= quantile * len(last)]
        assert multiplier.value == min(enough)
