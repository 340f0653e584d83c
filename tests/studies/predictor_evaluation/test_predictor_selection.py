"""Which predictors are asked, and by which titles they go."""

from pathlib import Path

import pytest

from hpcsched.prediction.inflated import InflatedOracle
from hpcsched.prediction.predictors import Actual, LastTwo, RequestedTime
from hpcsched.scenario import load_scenario
from hpcsched.studies.predictor_evaluation.predictor_selection import choose, title

SCENARIO = Path(__file__).parents[3] / "scenarios" / "small-easy.yaml"


@pytest.mark.parametrize(
    ("choice", "shown"),
    [
        ("last-two", "last-two"),
        ("{name: last-two, memory: 10000}", "last-two"),
        ("{name: last-two, memory: 5}", "last-two(memory=5)"),
        ("{name: inflated, of: last-two, factor: 1.5}", "inflated(of=last-two, factor=1.5)"),
        (
            "{name: inflated, cap: true, of: {name: last-two, memory: 5}, quantile: 0.9}",
            "inflated(of=last-two(memory=5), quantile=0.9, cap=true)",
        ),
    ],
)
def test_title(choice: str, shown: str) -> None:
    """The name, with what is not as by default."""
    assert title(load_scenario(SCENARIO, [f"predictor={choice}"]).predictor) == shown


def test_what_is_chosen_by_default_is_not_shown() -> None:
    """A default that selects a plugin is its name; with parameters of its own it is shown."""
    own = load_scenario(SCENARIO, ["dispatcher=easy"])
    assert title(own.dispatcher) == "easy"
    other = load_scenario(SCENARIO, ["dispatcher={name: easy, allocator: best-fit}"])
    assert title(other.dispatcher) == "easy(allocator=best-fit)"


def test_order_and_no_repetition() -> None:
    """The scenario's own, those that are named, and the baseline, each choice once."""
    named = "requested-time, {name: inflated, of: actual, factor: 2}, last-two, last-two"
    chosen = choose(SCENARIO, ["predictor=actual"], named)
    assert chosen.scenario.predictor.plugin_name == "actual"
    assert [(name, type(one)) for name, one in chosen.predictors.items()] == [
        ("actual", Actual),
        ("requested-time", RequestedTime),
        ("inflated(of=actual, factor=2.0)", InflatedOracle),
        ("last-two", LastTwo),
    ]
    assert next(chosen.source.jobs()).job.job_id == 1


def test_nothing_named() -> None:
    """The scenario's own and the baseline, which may be the same."""
    assert list(choose(SCENARIO).predictors) == ["requested-time"]
    assert list(choose(SCENARIO, ["predictor=last-two"]).predictors) == [
        "last-two", "requested-time",
    ]  # fmt: skip
