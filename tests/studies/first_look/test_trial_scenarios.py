"""Scenarios made for a log are commented, and run."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.plugins import manager
from hpcsched.scenario import load_scenario
from hpcsched.scenario.document import parse_document
from hpcsched.studies.first_look.machine import Machine
from hpcsched.studies.first_look.trial_scenarios import (
    Configuration,
    TrialLog,
    configurations,
    scenario_text,
    trace_values,
)
from hpcsched.workload.log_recognition import format_of_log
from tests.studies.first_look import samples


def test_dispatchers_and_orders() -> None:
    """The name of an order means a list."""
    found = configurations(["easy", "sjf"], manager.registry())
    assert found == [
        Configuration("easy", "easy"),
        Configuration("sjf", "{name: list, order: sjf}"),
    ]


@pytest.mark.parametrize(
    ("names", "message"),
    [(["EASY"], "did you mean 'easy'"), (["zzz"], "called 'zzz'"), (["easy", "easy"], "twice")],
)
def test_bad_names(names: list[str], message: str) -> None:
    """The nearest right one is told."""
    with pytest.raises(InputError, match=message):
        configurations(names, manager.registry())


@pytest.mark.parametrize("text", [samples.SWF, samples.SACCT, samples.PBS, samples.BATSIM])
@pytest.mark.parametrize("jobs", [None, 7])
def test_the_text_is_a_scenario(tmp_path: Path, text: str, jobs: int | None) -> None:
    """Its trace has the values that the machine was found with."""
    path = samples.written(tmp_path, text, "a 'log': of jobs")
    log = TrialLog(path, format_of_log(path), jobs)
    made = scenario_text(Configuration("easy", "easy"), log, Machine(3, 4, "as given"), "af")
    assert parse_document(made).value["trace"] == trace_values(log)
    (tmp_path / "made.yaml").write_text(made)
    scenario = load_scenario(tmp_path / "made.yaml")
    assert scenario.objective.plugin_name == "mean_response_time"
    (group,) = scenario.system.groups
    assert (group.count, group.resources) == (3, {"core": 4})
    assert "# as given" in made
