"""The parts of a scenario are built when they are first asked for, in one way for all commands."""

from pathlib import Path

import pytest

from hpcsched import Scenario, load_scenario
from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble, seed_matters

TEXT = """\
name: lazy
system: {groups: [{name: node, count: 2, resources: {core: 4}}]}
trace: {source: swf, path: absent.swf}
dispatcher: {name: easy, allocator: first-fit}
objective: af
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """A scenario whose trace is not there."""
    path = tmp_path / "scenario.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return load_scenario(path)


def test_parts_need_no_trace(scenario: Scenario) -> None:
    """Objective and dispatcher are built without reading the trace, and only once."""
    parts = assemble(scenario)
    assert parts.dispatcher is parts.dispatcher
    assert parts.objective is parts.objective
    with pytest.raises(InputError, match=r"absent\.swf"):
        _ = parts.source


def test_a_run_builds_all_before_it_writes(scenario: Scenario) -> None:
    """What cannot be built is an error at once."""
    with pytest.raises(InputError, match=r"absent\.swf"):
        assemble(scenario).build_all()


def test_a_seed_that_matters(tmp_path: Path, scenario: Scenario) -> None:
    """Chance is in a part that asks for a seed, in drawn failures, and in a clock."""
    (tmp_path / "absent.swf").write_text("1 0 0 9 1 -1 -1 1 9 -1 1 1 1 1 1 1 -1 -1\n")
    path = tmp_path / "scenario.yaml"
    failures = "outages={failures: [{mean_up_time: 3d, mean_repair_time: 3h, end: 20d}]}"
    maintenance = "outages={maintenance: [{start: 0, end: 10, groups: [node]}]}"
    measured = "simulation.dispatch_latency={measured: 1.0}"
    assert not seed_matters(load_scenario(path))
    assert not seed_matters(load_scenario(path, [maintenance]))
    for chance in ("dispatcher=order-search", failures, measured):
        assert seed_matters(load_scenario(path, [chance])), chance
    # What cannot be built says so itself.
    (tmp_path / "absent.swf").unlink()
    assert seed_matters(scenario)


def test_a_seed_of_its_own(scenario: Scenario) -> None:
    """Whatever is built first, each plugin has the seed that it always has."""
    one, other = assemble(scenario), assemble(scenario)
    _ = one.objective
    _ = one.dispatcher
    _ = other.dispatcher
    assert one.seed == other.seed == scenario.seed
