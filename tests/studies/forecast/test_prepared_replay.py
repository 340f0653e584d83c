"""What forecasts are made from."""

import pytest

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.studies.forecast.prepared_replay import prepare


def test_off_line_plans_have_no_instants() -> None:
    """Such a scenario is refused."""
    scenario = load_scenario("scenarios/small-offline.yaml", ["trace.jobs=3"])
    with pytest.raises(InputError, match="forecasts are about on-line dispatching"):
        prepare(scenario)


def test_observers_are_left_out() -> None:
    """They would write files."""
    changes = ["trace.jobs=3", "observers=[cpu-memory]"]
    prepared = prepare(load_scenario("scenarios/small-easy.yaml", changes))
    assert prepared.scenario.observers == ()
    assert len(prepared.columns.job_id) == 3
