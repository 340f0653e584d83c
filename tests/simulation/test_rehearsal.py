"""Replays of the past are those of the dispatcher by itself."""

from types import SimpleNamespace
from typing import Any

import pytest

from hpcsched.prediction.predictors import RequestedTime
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.simulation.rehearsal import Rehearsals
from hpcsched.workload.job_batches import RequestNumbers, columns_of
from tests.builders import replay, traced

SCENARIO = "scenarios/small-easy.yaml"
JOBS = [
    traced(n, n, 1 + n % 3, 50 + n * 7 % 30, (32, 1 << 30, 0), requested_time=100)
    for n in range(1, 40)
]


def chosen(dispatcher: str) -> tuple[Any, Any]:
    """Return the choice of a dispatcher in the small scenario, and its assembly."""
    scenario = load_scenario(SCENARIO, [f"dispatcher={dispatcher}", "trace.jobs=1"])
    return scenario.dispatcher, assemble(scenario)


@pytest.mark.parametrize(
    "dispatcher", ["easy", "{name: list, order: sjf}", "order-search", "best-of"]
)
def test_starts_are_those_of_a_replay(dispatcher: str) -> None:
    """By requested times, whatever the scenario predicts."""
    choice, context = chosen(dispatcher)
    (columns,) = columns_of(JOBS, RequestNumbers())
    expected = replay(
        context.system, context.make("dispatcher", choice), JOBS, predictor=RequestedTime(),
        objective=context.objective,
    ).start_times  # fmt: skip
    found = Rehearsals(context).starts(choice, columns).tolist()
    assert dict(zip(columns.job_id.tolist(), found, strict=True)) == expected


def test_nothing_else_hears_of_it() -> None:
    """Followers of the scenario are not told of jobs that are replayed."""
    choice, context = chosen("easy")
    told: list[str] = []
    follower = SimpleNamespace(
        job_started=lambda *_: told.append("start"), job_ended=lambda *_: told.append("end")
    )
    context.followers.append(follower)
    (columns,) = columns_of(JOBS, RequestNumbers())
    Rehearsals(context).starts(choice, columns)
    assert told == []
    assert context.followers == [follower]
