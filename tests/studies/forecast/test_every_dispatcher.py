"""Every built-in dispatcher and order is forecast, or refused by name."""

import json
from pathlib import Path
from typing import TextIO

import numpy as np
import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from hpcsched.dispatching.decision import NOTHING, Decision
from hpcsched.errors import InputError
from hpcsched.plugins import manager
from hpcsched.runs.replaying import replay
from hpcsched.scenario import Scenario, load_scenario
from hpcsched.simulation.replay_branches import LaterJobs, branches
from hpcsched.studies.forecast import forecasting as arrival_samples
from hpcsched.studies.forecast.forecasting import forecast, prepare

ROOT = Path(__file__).parents[3]
SCENARIO = str(ROOT / "scenarios" / "small-easy.yaml")
RULES = ("conservative", "easy", "list", "prb", "relaxed", "slack", "slurm-backfill")
SEARCHES = (
    "best-of", "cp", "hcp19", "hyper", "joint-now", "order-search",
    "pcp19", "pcp20", "pcp21", "pcp4",
)  # fmt: skip
"""Dispatchers with a solver or a search."""
REFUSED = {"recorded": "repeats the log's own starts", "reject": "never starts a job that waits"}


def builtin_names(kind: str) -> set[str]:
    """Return the names of the plugins of a kind that come with hpcsched."""
    return {
        one.plugin.name
        for one in manager.registry().of_kind(kind)
        if one.distribution == "hpcsched"
    }


def scenario_of(dispatcher: str, *, alike: bool = False) -> Scenario:
    """Return a scenario of 40 jobs on four nodes, or on three whose cores are all alike."""
    groups = "[{name: thin, count: 3, resources: {core: 8, mem: 32 GiB}},"
    groups += " {name: gpu, count: 1, resources: {core: 8, mem: 64 GiB, gpu: 2}}]"
    unit = []
    if alike:
        groups = "[{name: thin, count: 3, resources: {core: 8}}]"
        unit = ["trace.unit={core: 1}"]
    return load_scenario(
        SCENARIO,
        ["trace.jobs=40", f"dispatcher={dispatcher}", f"system.groups={groups}", *unit],
    )


def check_futures(scenario: Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the real future is the replay, however often it is gone through."""
    monkeypatch.setattr(arrival_samples, "HORIZON", 0)  # sampled jobs would be many
    prepared = prepare(scenario)
    parts, columns = prepared.parts, prepared.columns
    starts = replay(scenario, prepared.workload).start_times
    checked = 0
    for submitted, branch, _ in branches(parts, columns, [12, 25, 33]):
        waiting = np.sort(branch.present.sequence[branch.present.waits])
        rest = columns.take(np.arange(submitted, len(columns.job_id)))
        run_times = columns.run_time[branch.present.sequence]
        for _ in range(2):
            (found,) = branch.start_times(run_times[np.newaxis], [LaterJobs([rest])], waiting)
            expected = [starts[number] for number in columns.job_id[waiting].tolist()]
            assert found.tolist() == expected
        checked += len(waiting)
    assert checked > 3
    found = forecast(prepared, int(columns.submit_time[-1]), samples=2)
    assert found.jobs
    assert all(job.starts[0] >= found.now for job in found.jobs)


def test_all_are_there() -> None:
    """A dispatcher that is added is added here."""
    names = builtin_names("dispatcher")
    assert names == {*RULES, *SEARCHES, *REFUSED}


@pytest.mark.parametrize("alike", [False, True])
@pytest.mark.parametrize("name", RULES)
def test_rules(name: str, monkeypatch: pytest.MonkeyPatch, *, alike: bool) -> None:
    """Nothing that a future changes is seen by another one."""
    check_futures(scenario_of(name, alike=alike), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", SEARCHES)
def test_searches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Futures share the solver's process, and nothing else."""
    check_futures(scenario_of(name), monkeypatch)


@pytest.mark.parametrize("dispatcher", ["easy", "list"])
@pytest.mark.parametrize("order", sorted(builtin_names("queue_order")))
def test_orders(order: str, dispatcher: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Orders that Python works out as well."""
    chosen = "{name: expected-wait, other: 1h}" if order == "expected-wait" else order
    check_futures(scenario_of(f"{{name: {dispatcher}, order: {chosen}}}"), monkeypatch)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_forecast_is_refused_by_name(name: str) -> None:
    """The message says why."""
    with pytest.raises(InputError, match=f"the dispatcher {name} cannot be forecast") as caught:
        prepared = prepare(scenario_of(name))
        forecast(prepared, int(prepared.columns.submit_time[-1]), samples=2)
    assert REFUSED[name] in str(caught.value)


class Holds:
    """A dispatcher that starts nothing and holds a file."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def dispatch(self, _: object) -> Decision:
        """Start nothing."""
        return NOTHING


def test_a_dispatcher_that_cannot_be_copied_is_refused_by_name(tmp_path: Path) -> None:
    """It would remember all futures at once."""
    prepared = prepare(scenario_of("easy"))
    with (tmp_path / "held").open("w") as file:
        parts = prepared.parts._replace(dispatcher=Holds(file), dispatcher_name="holds-file")
        held = prepared._replace(parts=parts)
        with pytest.raises(InputError, match="the dispatcher holds-file cannot be forecast: it"):
            forecast(held, int(prepared.columns.submit_time[-1]), samples=1)


@pytest.mark.parametrize("dispatcher", ["slurm-backfill", "{name: easy, order: multifactor}"])
def test_the_command(dispatcher: str) -> None:
    """It answers for each waiting job, with times in ascending order."""
    options = ["--set", "trace.jobs=60", "--samples", "3", "--format", "json"]
    arguments = ["forecast", "starts", SCENARIO, *options, "--set", f"dispatcher={dispatcher}"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    content = json.loads(result.stdout)
    assert all(job["starts"] == sorted(job["starts"]) for job in content["jobs"])
