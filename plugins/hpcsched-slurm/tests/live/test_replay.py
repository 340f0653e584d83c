"""A live run is simulated again, and start times are compared."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched_slurm.live.replay import StartDifferences, difference_lines, replay_live

SCENARIO = """name: live
system: {groups: [{name: a, count: 2, resources: {core: 4}}]}
trace: {source: swf, path: log.swf, unit: {core: 4}}
dispatcher: easy
"""
LIVE = """live:
  workload_manager: {name: state-file, path: state.json}
  partitions: [main]
  nodes: {a: "a[1-2]"}
"""
LOG = "".join(f"{n} {n} 0 100 1 -1 -1 1 200 -1 1 1 1 1 1 1 -1 -1\n" for n in range(1, 6))


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A scenario of a cluster, and a run that stands for a live one."""
    (tmp_path / "log.swf").write_text(LOG)
    (tmp_path / "plain.yaml").write_text(SCENARIO)
    (tmp_path / "live.yaml").write_text(SCENARIO + LIVE)
    run(load_scenario(tmp_path / "plain.yaml"), tmp_path / "run")
    return tmp_path / "live.yaml"


def test_equal_starts(scenario: Path, tmp_path: Path) -> None:
    """The same jobs under the same rule start when they did, but for the first second."""
    found = replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=0)
    assert sorted(found.seconds) == [1, 2, 3, 4, 5]
    assert set(found.seconds.values()) == {0}
    assert found.simulated == tmp_path / "again"


def test_a_latency_delays_the_simulation(scenario: Path, tmp_path: Path) -> None:
    """Each arrival and end is noticed a second later: the live starts are the earlier ones."""
    found = replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=1)
    assert max(found.seconds.values()) <= 0
    assert min(found.seconds.values()) < 0


def test_the_summary_by_hand() -> None:
    """Differences of −3, 0, 1, 2 and 10 s: the median of their sizes is 2 s, the mean 2 s."""
    found = StartDifferences(Path("a"), Path("b"), dict(enumerate([-3, 0, 1, 2, 10])))
    assert found.median_absolute == 2
    first, *lines = difference_lines(found)
    assert first == "5 jobs, live and simulated"
    assert [line.split()[-2] for line in lines] == ["2", "3", "10", "2.00"]


def test_licences_are_not_simulated(scenario: Path, tmp_path: Path) -> None:
    """The last line says so: a run directory does not have what jobs draw."""
    shared = ", shared_resources: [{name: license_a, capacity: 3, draw: as_the_trace_says}]}\ntrace"
    scenario.write_text(scenario.read_text().replace("}\ntrace", shared))
    found = replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=0)
    *_, last = difference_lines(found)
    assert last == "  nothing is drawn from license_a in the simulation"


def test_a_scenario_without_a_cluster(scenario: Path, tmp_path: Path) -> None:
    """Nothing says what was live."""
    with pytest.raises(InputError, match="no 'live:'"):
        replay_live(scenario.with_name("plain.yaml"), tmp_path / "run", latency=0)
