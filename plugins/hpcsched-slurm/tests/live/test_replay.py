"""A live run is simulated again, and start times are compared."""

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.system.cluster import ClusterLimit
from hpcsched.system.group_limits import LimitedJob, SeenLimits, limits_line
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


LIMIT = ClusterLimit("QOS small", "jobs", 1, "QOS small: GrpJobs=1")


def record(folder: Path, *jobs: int, limits: tuple[ClusterLimit, ...] = (LIMIT,)) -> None:
    """Write the limits that jobs had, and the licences that they drew."""
    lines = (
        limits_line(number, SeenLimits(
            LimitedJob(str(number), ("QOS small",), limits, {"jobs": 1}), {"license_a": 2}
        ))
        for number in jobs
    )  # fmt: skip
    (folder / "limits.jsonl").write_text("".join(lines))


def starts(folder: Path) -> dict[int, int]:
    """Return the starts of a run, by number of the job."""
    table = RunDirectory.open(folder).jobs.read("job_id", "start_time").to_pydict()
    return dict(zip(table["job_id"], table["start_time"], strict=True))


def test_limits_of_the_live_run(scenario: Path, tmp_path: Path) -> None:
    """Of the jobs 2 to 4 one runs at a time: each of 100 s begins as the one before it ends.

    Of the two nodes one has job 1 up to second 101, and then job 5, which has no limit either.
    """
    record(tmp_path / "run", 2, 3, 4)
    found = replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=0)
    assert starts(tmp_path / "again") == {1: 1, 2: 2, 3: 102, 4: 202, 5: 101}
    assert not any("limits" in line for line in difference_lines(found))
    assert main(["verify", str(tmp_path / "again")]) == 0


def test_reasons_of_limits(scenario: Path, tmp_path: Path) -> None:
    """The simulation names the limit, as the live run does."""
    record(tmp_path / "run", 2, 3)
    replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=0,
                overrides=["observers=[reasons]"])  # fmt: skip
    told = pq.read_table(tmp_path / "again" / "reasons.parquet").to_pylist()
    assert {one["job_id"] for one in told if one["detail"] == LIMIT.name} == {3}


def test_jobs_that_were_blocked(scenario: Path, tmp_path: Path) -> None:
    """Job 1 waited up to second 50 for its partition: jobs 2 and 3 have the nodes, it is next."""
    why = "partition main: its state is DOWN"
    seen = SeenLimits(LimitedJob("1", (), (), {}, 50, why), {})
    (tmp_path / "run" / "limits.jsonl").write_text(limits_line(1, seen))
    replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=0,
                overrides=["observers=[reasons]"])  # fmt: skip
    assert starts(tmp_path / "again") == {1: 102, 2: 2, 3: 3, 4: 103, 5: 202}
    told = pq.read_table(tmp_path / "again" / "reasons.parquet").to_pylist()
    assert {one["job_id"] for one in told if one["detail"] == why} == {1}
    assert {one["now"] for one in told if one["detail"] == why} <= set(range(1, 50))


def test_licences_of_the_live_run(scenario: Path, tmp_path: Path) -> None:
    """Of 3 licences each job draws 2: one runs at a time."""
    shared = ", shared_resources: [{name: license_a, capacity: 3, draw: as_the_trace_says}]}\ntrace"
    scenario.write_text(scenario.read_text().replace("}\ntrace", shared))
    record(tmp_path / "run", 1, 2, 3, limits=())
    found = replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=0)
    assert found.not_drawn == ()
    again = starts(tmp_path / "again")
    assert [again[number] for number in (1, 2, 3)] == [1, 101, 201]


def test_a_run_without_recorded_limits(scenario: Path, tmp_path: Path) -> None:
    """The last line says so."""
    found = replay_live(scenario, tmp_path / "run", tmp_path / "again", latency=0)
    *_, last = difference_lines(found)
    assert last == "  the run recorded no limits of the cluster, and the simulation keeps none"


@pytest.mark.usefixtures("scenario")
def test_limits_of_partitions_too(tmp_path: Path) -> None:
    """One of both must be left out."""
    record(tmp_path / "run", 1)
    recorded = "source: run, path: run/jobs.parquet, limits: run/limits.jsonl"
    text = SCENARIO.replace("source: swf, path: log.swf, unit: {core: 4}", recorded)
    plain = tmp_path / "both.yaml"
    plain.write_text(text + "partitions: [{name: p, running_jobs_per_user: 1}]\n")
    with pytest.raises(InputError, match="those of the live run, found both"):
        run(load_scenario(plain), tmp_path / "both")


def test_a_scenario_without_a_cluster(scenario: Path, tmp_path: Path) -> None:
    """Nothing says what was live."""
    with pytest.raises(InputError, match="no 'live:'"):
        replay_live(scenario.with_name("plain.yaml"), tmp_path / "run", latency=0)
