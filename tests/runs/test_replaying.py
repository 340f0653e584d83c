"""Replays in memory come to what `hpcsched run` writes, in compiled code or event by event."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import hpcsched
from hpcsched import cli
from hpcsched.errors import InputError
from tests.runs.small_scenario import LOG, write_scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SMALL = SCENARIOS / "small-easy.yaml"
JOBS = "trace.jobs=300"


def scenario(dispatcher: str, more: Sequence[str] = (), path: Path = SMALL) -> hpcsched.Scenario:
    """Return a scenario with another dispatcher, of the first jobs of its trace."""
    return hpcsched.load_scenario(path, [JOBS, f"dispatcher={dispatcher}", *more])


@pytest.mark.parametrize(
    ("dispatcher", "more", "needs"),
    [
        ("{name: easy, order: sjf, backfill_order: laf}", [], ()),
        ("{name: list, order: saf, depth: 3}", [], ()),
        (
            "{name: list, order: fcfs, allocator: keep-scarce}",
            ["simulation.aggregate_nodes=false"],
            (),
        ),
        (
            "{name: list, option: greedy}",
            ["predictor=actual", "simulation.kill_at_requested_time=true"],
            (),
        ),
        ("{name: easy}", ["predictor=last-two"], ()),
        ("{name: relaxed, order: slowdown}", [], ()),
        ("{name: prb, allocator: hybrid}", [], ()),
        ("{name: easy, order: multifactor}", [], ()),
        ("order-search", ["trace.jobs=150"], ()),
        ("cp", ["trace.jobs=20"], ("the dispatcher cp",)),
    ],
)
def test_as_a_run(dispatcher: str, more: list[str], needs: tuple[str, ...], tmp_path: Path) -> None:
    """Jobs, rounds (but for what a clock measures), objective and metrics are those of a run."""
    chosen = scenario(dispatcher, more)
    run = hpcsched.run(chosen, tmp_path / "run")
    replay = hpcsched.replay(chosen, places=True)
    assert replay.in_python == needs
    assert replay.jobs.equals(run.jobs)
    clock = ["decision_time"]
    assert replay.rounds.drop_columns(clock).equals(run.rounds.drop_columns(clock))
    assert replay.objective == run.summary["objective"]["value"]
    assert dict(replay.metrics) == run.summary["metrics"]
    numbers, starts = run.jobs["job_id"].to_pylist(), run.jobs["start_time"].to_pylist()
    assert replay.start_times == dict(zip(numbers, starts, strict=True))


def test_cores_memory_and_gpus(tmp_path: Path) -> None:
    """Unlike nodes and unlike units: the same tables as a run writes."""
    path = SCENARIOS / "eurora-day-easy.yaml"
    chosen = scenario("{name: list, order: sjf}", ["trace.jobs=100"], path=path)
    run = hpcsched.run(chosen, tmp_path / "run")
    replay = hpcsched.replay(chosen, places=True)
    assert replay.in_python == ()
    assert replay.jobs.equals(run.jobs)


def test_outages(tmp_path: Path) -> None:
    """What nodes are out of service counts in the figures as it does in those of a run."""
    path = SCENARIOS / "small-maintenance.yaml"
    chosen = scenario("easy", path=path)
    run, replay = hpcsched.run(chosen, tmp_path / "run"), hpcsched.replay(chosen)
    assert replay.in_python == ()
    assert dict(replay.metrics) == run.summary["metrics"]


@pytest.mark.parametrize("predictor", ["requested-time", "last-two"])
def test_without_places(predictor: str) -> None:
    """Unless they are asked for, nodes are missing, and nothing else is."""
    chosen = scenario("easy", [f"predictor={predictor}"])
    replay, with_places = hpcsched.replay(chosen), hpcsched.replay(chosen, places=True)
    nodes = ["nodes", "node_units"]
    assert all(replay.jobs[name].null_count == 300 for name in nodes)
    assert all(with_places.jobs[name].null_count == 0 for name in nodes)
    assert replay.jobs.drop_columns(nodes).equals(with_places.jobs.drop_columns(nodes))


def test_threads() -> None:
    """Replays at the same time, over one workload, are those made one after the other."""
    workload = hpcsched.read_workload(scenario("easy"))
    orders = ("fcfs", "sjf", "ljf", "saf", "laf", "spf")
    chosen = [scenario(f"{{name: list, order: {order}}}") for order in orders]
    alone = [hpcsched.replay(one, workload).start_times for one in chosen]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda one: hpcsched.replay(one, workload), chosen))
    assert [replay.start_times for replay in together] == alone
    assert len({tuple(starts.items()) for starts in alone}) > 1


def test_an_account_is_kept() -> None:
    """A workload says what became of each record."""
    workload = hpcsched.read_workload(scenario("easy"))
    assert len(workload.jobs) == workload.account.submitted == 300


def test_jobs_that_wait_for_others(tmp_path: Path) -> None:
    """Job 2 would start at once beside job 1, but waits for its end, and 7 s longer."""
    lines = [f"{n} 0 -1 5 1 -1 -1 1 9{' -1' * 7} {n - 1 or -1} 7\n" for n in (1, 2)]
    (tmp_path / "log.swf").write_text("".join(lines))
    (tmp_path / "scenario.yaml").write_text(
        "name: linked\nsystem: {groups: [{name: node, count: 1, resources: {core: 2}}]}\n"
        "trace: {source: swf, path: log.swf, dependencies: honour}\ndispatcher: easy\n"
    )
    replay = hpcsched.replay(hpcsched.load_scenario(tmp_path / "scenario.yaml"))
    assert replay.in_python == ()
    assert replay.start_times == {1: 0, 2: 12}


def test_a_workload_of_another_trace_is_refused() -> None:
    """Jobs that were read for other records, or for another system, are not replayed."""
    workload = hpcsched.read_workload(scenario("easy"))
    with pytest.raises(InputError, match="read for a scenario with another system, trace"):
        hpcsched.replay(scenario("easy", ["trace.jobs=200"]), workload)


def test_planning_off_line_is_refused() -> None:
    """A whole trace is planned by `run`."""
    chosen = hpcsched.load_scenario(SCENARIOS / "small-offline.yaml")
    with pytest.raises(InputError, match="on-line; use run"):
        hpcsched.replay(chosen)


def test_a_replay_is_printed(tmp_path: Path) -> None:
    """The counts and the objective are on one line."""
    done = hpcsched.replay(write_scenario(tmp_path))
    assert (
        str(done)
        == f"Replay(jobs that ran: 4, rounds: {done.rounds.num_rows}, objective: {done.objective})"
    )


def two(folder: Path) -> tuple[Path, Path]:
    """Write two scenarios that differ in name and order."""
    return write_scenario(folder), write_scenario(folder, "short", "sjf")


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has a run directory below --out; a comparison ends what is printed."""
    first, second = two(tmp_path)
    assert cli.main(["run", str(first), str(second), "--out", str(tmp_path / "runs")]) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "runs/small/summary.json").is_file()
    assert (tmp_path / "runs/short/summary.json").is_file()
    assert out.index("small:\n") < out.index("short:\n") < out.index("metric  ")
    assert "By the objective, mean_bounded_slowdown (tau = 10); * is the best." in out


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder stands for the YAML files in it; one without any is refused."""
    two(tmp_path / "scenarios")
    assert cli.main(["validate", str(tmp_path / "scenarios")]) == 0
    assert capsys.readouterr().out.startswith("2 files, 0 errors")
    given = ["run", str(tmp_path / "scenarios"), "--out", str(tmp_path / "runs"), "--quiet"]
    assert cli.main(given) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["short", "small"]
    (tmp_path / "empty").mkdir()
    assert cli.main(["run", str(tmp_path / "empty")]) == 1
    assert "empty: error: the folder holds no YAML file" in capsys.readouterr().err


def test_faults_of_all_before_any_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is replayed if one of the scenarios is not valid."""
    first, _ = two(tmp_path)
    bad = write_scenario(tmp_path, "bad")
    bad.write_text(bad.read_text().replace("system", "sytsem"))
    assert cli.main(["run", str(first), str(bad), "--out", str(tmp_path / "runs")]) == 1
    assert "sytsem" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_two_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their runs would be one folder, so they are refused."""
    first = write_scenario(tmp_path)
    copy = tmp_path / "copy.yaml"
    copy.write_text(first.read_text())
    assert cli.main(["run", str(first), str(copy), "--out", str(tmp_path / "runs")]) == 1
    err = capsys.readouterr().err
    assert f"{copy}:1:7: error: name: {first} has the name 'small' too" in err


def test_a_run_that_failed_at_its_begin_leaves_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once the log is mended, the same command runs; a run with results is not replaced."""
    log = tmp_path / "log.swf"
    log.write_text("this is no record\n")
    given = ["run", str(write_scenario(tmp_path)), "--out", str(tmp_path / "run")]
    assert cli.main(given) == 1
    assert (tmp_path / "run/manifest.json").is_file()
    log.write_text(LOG)
    assert cli.main(given) == 0
    assert cli.main(given) == 1
    assert "--force" in capsys.readouterr().err


def test_all_errors_in_one_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing log is told beside misspelt keys and names, in the order of the file."""
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "name: x\nsede: 1\n"
        "system:\n  groups:\n    - {name: n, count: 2, resources: {core: 1}}\n"
        "trace: {source: swf, path: none.swf}\n"
        "dispatcher: {name: easy, depht: 3}\n"
        "objective: bestest\n"
    )
    assert cli.main(["validate", str(path)]) == 1
    out = capsys.readouterr().out.splitlines()
    expected = ["[unknown-key]", "[path-not-found]", "[unknown-key]", "[unknown-plugin]"]
    assert [line.rpartition(" ")[2] for line in out[:-1]] == expected
    assert cli.main(["run", str(path)]) == 1
    rules = [line.rpartition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert rules == expected
    text = path.read_text()
    path.write_text(text.replace("count: 2", "count: 0"))
    assert cli.main(["validate", str(path)]) == 1
    assert "4 errors" in capsys.readouterr().out
