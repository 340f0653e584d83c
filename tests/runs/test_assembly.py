"""The parts of a scenario are built when they are first asked for, in one way for all commands."""

import re
from pathlib import Path

import pytest

from hpcsched import Scenario, cli, load_scenario
from hpcsched.errors import InputError
from hpcsched.runs.assembly import assemble, build_faults, seed_matters
from hpcsched.scenario import read_scenario
from tests.runs.small_scenario import write_scenario

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
    maintenance = "outages={maintenance: [{start: 0, duration: 10, groups: [node]}]}"
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


WRONG = {
    "an objective without a planned cost": (
        "dispatcher: {name: list, order: fcfs}",
        "dispatcher: hcp19\nobjective: psf",
        "expected an objective with a method 'planned_cost'",
    ),
    "a unit of a type that no node has": (
        "path: log.swf",
        "path: log.swf, unit: {gpu: 1}",
        "trace.unit: a unit asks for gpu, which no node group has",
    ),
    "a source that makes jobs up, for another system": (
        "trace: {source: swf, path: log.swf}",
        "trace: {source: eurora-like}",
        "trace: the trace source 'eurora-like' asks for mem, which no node group has",
    ),
    "a folder in place of a log": (
        "path: log.swf",
        "path: ./",
        "expected a file, found the folder",
    ),
    "a log of another format": (
        "source: swf, path: log.swf",
        "source: slurm-sacct, path: log.swf",
        "trace.source: expected a log that slurm-sacct reads, found Standard Workload Format",
    ),
}


@pytest.mark.parametrize(("old", "new", "said"), WRONG.values(), ids=WRONG)
def test_what_run_refuses(
    old: str, new: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both commands end with 1 and say the same."""
    path = write_scenario(tmp_path)
    assert path.read_text().count(old) == 1
    path.write_text(path.read_text().replace(old, new))
    assert cli.main(["validate", str(path)]) == 1
    found = capsys.readouterr().out
    assert said in found
    # A line and a column of the scenario, whatever part complains.
    assert re.match(rf"{re.escape(str(path))}:\d+:\d+: error: ", found)
    assert cli.main(["run", str(path), "--out", str(tmp_path / "run")]) == 1
    refused = capsys.readouterr().err.splitlines()
    assert refused[-1] in found.splitlines()


def test_a_cell_of_an_experiment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The fault of one cell is told, and told once."""
    write_scenario(tmp_path)
    file = tmp_path / "matrix.yaml"
    file.write_text(
        "name: matrix\nscenario: small.yaml\n"
        "matrix:\n  - dispatcher: [easy, hcp19]\n  - objective: [af, psf]\n"
        "  - trace.jobs: [1, 2]\n"
    )
    assert cli.main(["validate", str(file)]) == 1
    assert capsys.readouterr().out.count("expected an objective with a method 'planned_cost'") == 1


def test_nothing_wrong(tmp_path: Path) -> None:
    """What can be built has no faults."""
    assert build_faults(read_scenario(write_scenario(tmp_path))) == ()


def test_files_of_variants_and_ranges(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Variants and ranges are built too; without a scenario only their own keys are checked."""
    scenario, vary, space = write_scenario(tmp_path), tmp_path / "vary.yaml", tmp_path / "s.yaml"
    vary.write_text("variants:\n  - {name: a, set: {dispatcher: hcp19, objective: psf}}\n")
    assert cli.main(["whatif", str(scenario), "--vary", str(vary)]) == 1
    assert f"{vary}:2:51: error: objective: " in capsys.readouterr().err
    space.write_text("parameters:\n  dispatcher.order: {values: [fcfs, sjff]}\n")
    assert cli.main(["tune", str(scenario), "--space", str(space)]) == 1
    assert f"{space}:2:21: error: dispatcher.order: no queue order" in capsys.readouterr().err
    for file, option in ((vary, "whatif SCENARIO --vary"), (space, "tune SCENARIO --space")):
        assert cli.main(["validate", str(file)]) == 0
        said = f"{file}:1:1: warning: its values .*: hpcsched {option} {file}"
        assert re.match(said, capsys.readouterr().out)
    vary.write_text("variants:\n  - {nam: a}\n")
    assert cli.main(["validate", str(vary)]) == 1
    assert "did you mean 'name'?" in capsys.readouterr().out
