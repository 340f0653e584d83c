"""Forecasts on a cluster in a file, by hand."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from hpcsched.cli import main
from hpcsched.errors import InputError
from hpcsched.scenario import load_scenario
from hpcsched.studies.forecast.forecast_file import read_forecast
from hpcsched_slurm.live.live_forecast import ClusterForecaster

SCENARIO = """name: live
system:
  groups:
    - {name: a, count: 2, resources: {core: 4}}
trace: {source: swf, path: history.swf}
dispatcher: easy
live:
  workload_manager: {name: state-file, path: state.json}
  partitions: [main]
  nodes: {a: "a[1-2]"}
"""
HISTORY = "".join(
    f"{n} {n * 10} 0 {time_} 1 -1 -1 1 1000 -1 1 7 1 1 1 1 -1 -1\n"
    for n, time_ in enumerate([500] * 20, start=1)
)
"""Twenty jobs of user 7, each of which took half of the 1000 s that it had asked for; long ago."""


def job(number: int, cores: int, **more: Any) -> dict[str, Any]:
    """Return a job of user 7 that waits."""
    return {
        "key": f"{number}_0", "job_id": number, "phase": "waiting", "partition": "main",
        "requested_time": 1000, "units": 1, "amounts": {"core": cores}, "user": 7, **more,
    }  # fmt: skip


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> int:
    """The present second, which stays so however slow the machine is."""
    second = int(time.time())
    monkeypatch.setattr(time, "time", lambda: float(second))
    return second


def cluster(folder: Path, jobs: list[dict[str, Any]], **more: Any) -> Path:
    """Write a cluster of two nodes with four cores each, and return its scenario."""
    nodes = [
        {"name": name, "resources": {"core": 4}, **more.get(name, {})} for name in ("a1", "a2")
    ]
    (folder / "state.json").write_text(json.dumps({"nodes": nodes, "jobs": jobs}))
    (folder / "history.swf").write_text(HISTORY)
    (folder / "live.yaml").write_text(SCENARIO)
    return folder / "live.yaml"


def running(number: int, node: str, cores: int, since: int) -> dict[str, Any]:
    """Return a job that has been running on a node since an instant."""
    return job(
        number, cores, phase="running", submit_time=since, start_time=since,
        placed={node: {"core": cores}},
    )  # fmt: skip


def waits(path: Path, samples: int = 20) -> dict[str, int]:
    """Return the median time until the start of each waiting job, in seconds."""
    found = ClusterForecaster(load_scenario(path)).forecast(None, (0.5,), samples)
    return {str(one.job_id): one.starts[0] - found.now for one in found.jobs}


def test_starts_by_hand(tmp_path: Path, now: int) -> None:
    """Both nodes are full; jobs take 500 s, and have been running for 100 s and 300 s.

    The first waiting job gets the node that is free after 200 s, the second the one that is free
    after 400 s, and the third follows the first.
    """
    state = [
        running(1, "a1", 4, now - 100), running(2, "a2", 4, now - 300),
        job(3, 4, submit_time=now - 50), job(4, 4, submit_time=now - 40),
        job(5, 4, submit_time=now - 30),
    ]  # fmt: skip
    found = waits(cluster(tmp_path, state))
    assert {key: round(wait, -1) for key, wait in found.items()} == {
        "3_0": 200, "4_0": 400, "5_0": 700,
    }  # fmt: skip


def test_half_of_the_time_limit(tmp_path: Path, now: int) -> None:
    """Job 1 ends after 400 s, and might run for 900 s; job 3 waits for its node and the free one.

    Job 4 would take 1000 s on the free node, too long for job 3, and so waits for its end after
    900 s. With half of its limit it starts now. The same is true of job 5, which comes after it.
    """
    state = [
        running(1, "a1", 4, now - 100), job(3, 4, units=2, submit_time=now - 50),
        job(4, 4, submit_time=now - 40), job(5, 4, submit_time=now - 30),
    ]  # fmt: skip
    path = cluster(tmp_path, state)
    found = ClusterForecaster(load_scenario(path)).to_publish((0.5,), 20)
    told = {one.job: (round(one.middle - now, -1), round(one.gain, -1)) for one in found.jobs}
    assert told == {"3_0": (400, 0), "4_0": (900, 900), "5_0": (900, 900)}


def test_running_jobs_keep_their_places(tmp_path: Path, now: int) -> None:
    """One core is free on a1 and three on a2, so a job of three cores starts at once."""
    state = [running(1, "a1", 3, now - 100), running(2, "a2", 1, now - 100)]
    state += [job(3, 3, submit_time=now - 50), job(4, 4, submit_time=now - 40)]
    found = waits(cluster(tmp_path, state))
    assert found["3_0"] == 0
    assert round(found["4_0"], -1) == 400


def test_a_node_that_is_down(tmp_path: Path, now: int) -> None:
    """It comes back when the cluster says, and no sample has it earlier."""
    state = [job(3, 4, submit_time=now - 50), job(4, 4, submit_time=now - 40)]
    found = waits(cluster(tmp_path, state, a2={"usable": False, "back": now + 3600}))
    assert found["3_0"] == 0
    assert round(found["4_0"], -1) == 500


def test_licences_of_running_jobs(tmp_path: Path, now: int) -> None:
    """Of four licences the cluster has three now, and two are drawn.

    The job that needs two waits for the end of the running one, 400 s from now, though there is
    room on the nodes; the job that needs one starts.
    """
    state = [
        running(1, "a1", 1, now - 100) | {"shared": {"license_x": 2}},
        job(3, 1, submit_time=now - 50, shared={"license_x": 2}),
        job(4, 1, submit_time=now - 40, shared={"license_x": 1}),
    ]
    path = cluster(tmp_path, state)
    content = json.loads((tmp_path / "state.json").read_text())
    (tmp_path / "state.json").write_text(json.dumps(content | {"shared": {"license_x": 3}}))
    resource = "shared_resources: [{name: license_x, capacity: 4, draw: as_the_trace_says}]"
    path.write_text(SCENARIO.replace("trace:", f"  {resource}\ntrace:"))
    found = waits(path)
    assert {key: round(wait, -1) for key, wait in found.items()} == {"3_0": 400, "4_0": 0}


def test_nothing_waits(tmp_path: Path, now: int) -> None:
    """There is nothing to forecast, and the running jobs are counted."""
    path = cluster(tmp_path, [running(1, "a1", 4, now - 9)])
    found = ClusterForecaster(load_scenario(path)).forecast()
    assert (found.jobs, found.running) == ((), 1)


def test_a_dispatcher_in_python(tmp_path: Path, now: int) -> None:
    """It is asked in each future."""
    state = [running(1, "a1", 4, now - 100), running(2, "a2", 4, now - 300)]
    path = cluster(tmp_path, [*state, job(3, 4, submit_time=now - 50)])
    path.write_text(SCENARIO.replace("dispatcher: easy", "dispatcher: order-search"))
    assert round(waits(path, 3)["3_0"], -1) == 200


def test_the_command(tmp_path: Path, now: int, capsys: pytest.CaptureFixture[str]) -> None:
    """Jobs have the cluster's names."""
    path = cluster(tmp_path, [running(1, "a1", 4, now - 100), job(3, 4, submit_time=now - 50)])
    assert main(["live", "forecast", str(path), "--samples", "5"]) == 0
    text = capsys.readouterr().out
    assert "with 1 jobs running" in text
    assert "3_0" in text
    assert main(["live", "forecast", str(path), "--samples", "5", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["jobs"][0]["job_id"] == "3_0"


def test_a_scenario_without_a_cluster(tmp_path: Path) -> None:
    """It says how to reach none."""
    path = cluster(tmp_path, [])
    path.write_text(SCENARIO.partition("live:")[0])
    with pytest.raises(InputError, match="how the cluster is reached"):
        ClusterForecaster(load_scenario(path))


def test_a_job_that_might_be_submitted(
    tmp_path: Path, now: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """The job that waits takes the free node; the other one is free after 400 s."""
    state = [running(1, "a1", 4, now - 100), job(3, 4, submit_time=now - 50)]
    path = cluster(tmp_path, state)
    supposed = {"units": 1, "core": 4, "time": "1000s", "user": 7}
    found = ClusterForecaster(load_scenario(path)).forecast(supposed, (0.5,), 10)
    assert [one.job_id for one in found.jobs] == ["3_0", None]
    assert round(found.jobs[1].starts[0] - found.now, -1) == 400
    assert main(["live", "forecast", str(path), "--if", "{units: 3, core: 4, time: 1h}"]) == 1
    assert "does not fit on the system" in capsys.readouterr().err


def test_forecasts_that_are_published(
    tmp_path: Path, now: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is that of the moment; while the cluster cannot be read, the last one stays.

    Job 3 waits for the end of job 1, 400 s from now; job 4 comes after it.
    """
    state = [running(1, "a1", 4, now - 100), running(2, "a2", 4, now)]
    path = cluster(tmp_path, [*state, job(3, 4, submit_time=now - 50, group=5)])
    manager, out, metrics = tmp_path / "state.json", tmp_path / "f.json", tmp_path / "f.prom"
    states = [manager.read_text(), "{", manager.read_text()]
    more = json.loads(states[0])
    more["jobs"].append(job(4, 4, submit_time=now - 40, group=5))
    states[2] = json.dumps(more)
    found = []

    def next_state(_seconds: float) -> None:
        found.append(json.loads(out.read_text()))
        manager.write_text(states[len(found)])

    monkeypatch.setattr(time, "sleep", next_state)
    given = ["live", "forecast", str(path), "--samples", "5", "--publish", str(out)]
    page = tmp_path / "f.html"
    more_files = ["--prometheus", str(metrics), "--page", str(page), "--serve", "127.0.0.1:0"]
    assert main([*given, "--rounds", "3", *more_files]) == 0
    assert found[0] == found[1]
    assert [one["job"] for one in found[0]["jobs"]] == ["3_0"]
    last = read_forecast(out)
    assert [one.job for one in last.jobs] == ["3_0", "4_0"]
    assert [round(one.starts[2] - last.time, -1) for one in last.jobs] == [400, 500]
    assert 'hpcsched_waiting_jobs{partition="main"} 2.0' in metrics.read_text()
    assert "<td>4_0</td>" in page.read_text()
    told = capsys.readouterr().err
    assert "no forecast this time" in told
    assert "serving http://127.0.0.1:" in told
    assert main(["when", "4_0", "--forecast", str(out)]) == 0
    assert "before it: 1 jobs, of which 1 of its group" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--every", "5min", "--rounds", "2"], "--every, --rounds: of no use without --publish"),
        (["--serve", "h:1", "--page", "p"], "--page, --serve: of no use without --publish"),
        (["--publish", "f.json", "--if", "{time: 1h}"], "--if: of no use with --publish"),
    ],
)
def test_options_that_do_not_go_together(
    given: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """None is taken and ignored."""
    assert main(["live", "forecast", str(cluster(tmp_path, [])), *given]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
