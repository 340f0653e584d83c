"""Loading gives a validated scenario, and says where everything stands."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario, read_scenario
from hpcsched.scenario.choices import Choice
from tests.fake_plugins import ListParams, fake_registry
from tests.scenario.samples import GOOD, write

SMALL = Path(__file__).parents[2] / "scenarios" / "small-easy.yaml"


def test_choices_are_the_parameters_of_plugins(tmp_path: Path) -> None:
    """A choice is an instance of the plugin's parameters and knows its name; defaults too."""
    scenario = read_scenario(write(tmp_path), (), fake_registry()).scenario
    dispatcher = scenario.dispatcher
    assert isinstance(dispatcher, ListParams)
    assert isinstance(dispatcher, Choice)
    assert (dispatcher.plugin_kind, dispatcher.plugin_name) == ("dispatcher", "list")
    assert dispatcher.order.name == "fcfs"
    assert dispatcher.allocator.name == "first-fit"
    assert scenario.trace.source == "synthetic"
    assert scenario.predictor.name == "requested-time"
    assert scenario.objective.model_dump() == {"name": "bounded_slowdown", "tau": 10}
    assert scenario.metrics.parameters("mean_bounded_slowdown").model_dump() == {"tau": 10}
    assert scenario.metrics.parameters("makespan").model_dump() == {}


def test_a_bare_name_is_a_choice_with_defaults(tmp_path: Path) -> None:
    """`order: weighted` means the same as `order: {name: weighted}`."""
    bare = write(tmp_path, GOOD.replace("order: fcfs", "order: weighted"), "bare.yaml")
    full = write(tmp_path, GOOD.replace("order: fcfs", "order: {name: weighted}"), "full.yaml")
    registry = fake_registry()
    assert read_scenario(bare, (), registry).scenario == read_scenario(full, (), registry).scenario


def test_the_system_is_built(tmp_path: Path) -> None:
    """The declaration makes a system, with amounts in bytes."""
    system = read_scenario(write(tmp_path), (), fake_registry()).scenario.system.build()
    assert system.resource_types == ("core", "mem")
    assert system.totals == (32, 4 * 16 * 2**30)


def test_scenarios_are_frozen(tmp_path: Path) -> None:
    """A scenario cannot be changed once it is there."""
    scenario = read_scenario(write(tmp_path), (), fake_registry()).scenario
    with pytest.raises(ValidationError):
        scenario.seed = 3


def test_places(tmp_path: Path) -> None:
    """A key path has the place of its value, or of the nearest one above that is written."""
    path = write(tmp_path)
    loaded = read_scenario(path, ["dispatcher.depth=2"], fake_registry())
    assert str(loaded.place("trace.length")) == f"{path}:10:11"
    assert str(loaded.place(("system", "groups", 0, "count"))) == f"{path}:6:14"
    assert str(loaded.place("dispatcher.order.weight")) == f"{path}:13:10"
    assert str(loaded.place("dispatcher.depth")) == "--set dispatcher.depth=2"
    assert str(loaded.place("seed")) == f"{path}:2:7"


def test_paths_start_at_the_scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative paths start at the scenario's folder; set variables are filled in."""
    monkeypatch.setenv("HPCSCHED_LOGS", "/traces")
    monkeypatch.delenv("HPCSCHED_NOT_SET", raising=False)
    for written, resolved in [
        ("../a.swf", str(tmp_path.parent / "a.swf")),
        ("${HPCSCHED_LOGS}/a.swf", "/traces/a.swf"),
        ("${HPCSCHED_NOT_SET}/a.swf", "${HPCSCHED_NOT_SET}/a.swf"),
    ]:
        text = GOOD.replace(
            "source: synthetic\n  length: 30min", f"source: file\n  path: {written}"
        )
        path = write(tmp_path, text.replace("path:", "unit: {core: 1}\n  path:"))
        trace = read_scenario(path, (), fake_registry()).scenario.trace
        assert trace.model_dump()["path"] == resolved


def test_a_log_is_no_scenario(tmp_path: Path) -> None:
    """It is said that it is one, and what replays it, as on the command line."""
    log = tmp_path / "log.swf"
    log.write_text("; Version: 2.2\n1 0 -1 9 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n")
    with pytest.raises(InputError) as refused:
        load_scenario(log)
    assert str(refused.value) == (
        f"{log}: error: this is a trace (Standard Workload Format), and a scenario is expected;"
        f" 'hpcsched try {log}' replays it [trace-not-scenario]"
    )


@pytest.mark.parametrize(
    ("written", "own"),
    [("awf", "area_weighted_response_time"), ("psf", "p2sf"), ("af", "mean_response_time")],
)
def test_short_names_of_objectives(written: str, own: str) -> None:
    """The papers' names are as good, alone and as a term of a sum."""
    overrides = [f"objective={{name: weighted_sum, terms: [{{objective: {written}}}]}}"]
    scenario = load_scenario(SMALL, overrides)
    (term,) = scenario.objective.terms
    assert term.objective.plugin_name == own
    assert load_scenario(SMALL, [f"objective={written}"]).objective.plugin_name == own
