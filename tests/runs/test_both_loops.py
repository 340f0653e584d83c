"""A run where the core decides writes the directory that one writes where Python does."""

import json
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hpcsched
import hpcsched.runs.runner
from hpcsched.cli import main
from hpcsched.errors import HpcschedError, PluginError
from hpcsched.prediction.predictors import LastTwo
from hpcsched.runs import recorder, runner
from hpcsched.runs.assembly import assemble
from hpcsched.runs.monitor import Monitor
from hpcsched.runs.observers import EventLog
from hpcsched.runs.runner import replay_into_folder
from hpcsched.simulation import decision_requests, records
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.records import JobRecord, ReplayedRounds
from hpcsched.workload.job import Job, TracedJob
from tests.builders import alike, traced
from tests.runs.both_loops import FORCED, ListedJobs, check_equal, in_both_loops, manifest
from tests.simulation.test_against_events import dispatchers, requesting
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

SCENARIOS = Path(__file__).parents[2] / "scenarios"
SMALL = SCENARIOS / "small-easy.yaml"


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("small-easy", ["trace.jobs=200"]),
        ("small-fcfs", ["trace.jobs=150", "simulation.kill_at_requested_time=true"]),
        (
            "small-sjf",
            ["trace.jobs=150", "simulation.aggregate_nodes=false", "dispatcher.allocator=best-fit"],
        ),
        ("eurora-day-easy", ["trace.start=9d", "trace.jobs=80"]),
        ("kit-week-easy", ["trace.start=10d", "trace.jobs=40"]),
        ("lublin99-easy", ["trace.jobs=300"]),
        ("small-easy", ["trace.jobs=200", "predictor=last-two", "correction=doubling"]),
        ("small-easy", ["trace.jobs=200", "observers=[event-log]", "predictor=last-two"]),
        ("eurora-day-easy", ["trace.start=9d", "trace.jobs=50", "observers=[event-log]"]),
        (
            "small-easy",
            ["trace.jobs=200", "simulation.dispatch_latency={base: 100, per_queued_job: 7}"],
        ),
        ("small-sjf", ["trace.jobs=100", "predictor=profile", "simulation.aggregate_nodes=false"]),
        ("small-fcfs", ["trace.jobs=150", "predictor=profile-confidence"]),
        ("small-easy", ["trace.jobs=200", "dispatcher.order={name: spf, run_times: expected}"]),
        (
            "small-maintenance",
            ["trace.jobs=100", "dispatcher={name: list, order: {name: sjf, run_times: expected}}"],
        ),
        (
            "small-easy",
            [
                "trace.jobs=200",
                "predictor=last-two",
                "dispatcher.backfill_order={name: sjf, ties: arrival, run_times: expected}",
                "simulation.dispatch_latency={base: 100, per_queued_job: 7}",
            ],
        ),
        ("small-easy", ["trace.jobs=200", "predictor=expected", "dispatcher.order=saf"]),
        ("small-maintenance", ["trace.jobs=100"]),
        ("small-easy", ["trace.jobs=200", "dispatcher=order-search"]),
        ("small-easy", ["trace.jobs=200", "dispatcher=order-search", "objective=psf"]),
        ("small-power", ["trace.jobs=100", "dispatcher=order-search", "objective=awf"]),
        ("small-maintenance", ["trace.jobs=100", "dispatcher=order-search"]),
        ("small-power", ["trace.jobs=100"]),
        ("small-maintenance", ["trace.jobs=100", "outages.requeue=false", "dispatcher=list"]),
    ],
)
def test_scenarios(name: str, overrides: list[str], tmp_path: Path) -> None:
    """Jobs, rounds, summary and scenario are the same; the directory passes the audit."""
    scenario = hpcsched.load_scenario(SCENARIOS / f"{name}.yaml", overrides)

    def run(folder: Path) -> None:
        hpcsched.run(scenario, folder)

    columns, python = in_both_loops(run, tmp_path)
    check_equal(columns, python)
    assert main(["verify", str(columns)]) == 0


def test_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a clock that stands still, the files are equal byte for byte.

    Row groups are small here, and parts of a replay end wherever they like.
    """
    monkeypatch.setattr(recorder, "BATCH", 8)
    monkeypatch.setattr(recorder, "ROW_GROUP", 24)
    monkeypatch.setattr(decision_requests, "perf_counter", lambda: 0.0)
    monkeypatch.setattr(records, "ReplayedRounds", _TimelessRounds)
    monkeypatch.setattr(runner, "EventLoop", partial(EventLoop, seconds=0))
    scenario = hpcsched.load_scenario(SMALL, ["trace.jobs=200"])
    columns, python = in_both_loops(lambda folder: hpcsched.run(scenario, folder), tmp_path)
    check_equal(columns, python)
    for name in ("rounds.parquet", "timing.json"):
        assert (columns / name).read_bytes() == (python / name).read_bytes()


class _TimelessRounds(ReplayedRounds):
    """Rounds that took no time."""

    @classmethod
    def _make(cls, fields: Any) -> ReplayedRounds:
        *columns, times = fields
        return ReplayedRounds(*columns, 0 * times)


def assembled(
    workload: Uniform | Workload,
    dispatcher: Any,
    jobs: list[TracedJob],
    folder: Path,
    *,
    resource: bool,
) -> None:
    """Run jobs that were drawn, on the system that was drawn."""
    scenario = hpcsched.load_scenario(SMALL)
    if not resource:
        scenario = hpcsched.load_scenario(SMALL, ["simulation.aggregate_nodes=false"])
    assembly = assemble(scenario, folder=folder)
    assembly.system, assembly.dispatcher = workload.system, dispatcher
    request = workload.request if isinstance(workload, Uniform) else None
    assembly.source = ListedJobs(jobs, request)
    replay_into_folder(assembly)


@tries(60)
@given(
    workload=uniform_workloads(max_jobs=20) | mixed_workloads(max_jobs=12),
    dispatcher=dispatchers(),
    resource=st.booleans(),
)
def test_drawn_workloads(
    workload: Uniform | Workload,
    dispatcher: Any,
    resource: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Jobs of all kinds under all rules and orders: the same directories."""
    jobs = requesting(workload)

    def run(folder: Path) -> None:
        assembled(workload, dispatcher, jobs, folder, resource=resource)

    check_equal(*in_both_loops(run, tmp_path_factory.mktemp("runs")))


def test_an_observer_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that had happened before that instant is written, whoever decides."""
    ended = EventLog.job_ended

    def fail(log: EventLog, record: JobRecord) -> None:
        if record.job.job_id == 61:
            raise KeyError(61)
        ended(log, record)

    monkeypatch.setattr(EventLog, "job_ended", fail)
    scenario = hpcsched.load_scenario(SMALL, ["trace.jobs=200", "observers=[event-log]"])

    def run(folder: Path) -> None:
        with pytest.raises(KeyError):
            hpcsched.run(scenario, folder)

    run(tmp_path / "compiled")
    with monkeypatch.context() as patch:
        patch.setattr(hpcsched.runs.runner, "obstacles", lambda _: [FORCED])
        run(tmp_path / "python")
    # Python is told before the round of the instant, and the core after it.
    check_equal(tmp_path / "compiled", tmp_path / "python", but="summary.json")


def linked_log(folder: Path) -> Path:
    """Write a scenario of jobs of three users, each third of which waits for the one before."""
    lines = [
        f"{n} {n * 5} -1 {20 + n % 7 * 10} {1 + n % 3} -1 -1 {1 + n % 3} 90 -1 1 {n % 3} -1 -1 -1"
        f" {n % 2} {n - 1 if n % 3 == 0 else -1} {n % 4 * 10}"
        for n in range(1, 200)
    ]
    (folder / "log.swf").write_text("\n".join(lines) + "\n")
    (folder / "scenario.yaml").write_text(
        "name: linked\nsystem: {groups: [{name: node, count: 2, resources: {core: 2}}]}\n"
        "partitions:\n"
        "  - {name: odd, jobs: {partition: [1]}, limits: {per_user: {jobs: 1}}}\n"
        "  - {name: even, limits: {per_user: {nodes: 3}}}\n"
        "trace: {source: swf, path: log.swf, dependencies: honour}\n"
        "predictor: last-two\ndispatcher: {name: easy, order: sjf}\n"
    )
    return folder / "scenario.yaml"


def test_jobs_that_are_held_back(tmp_path: Path) -> None:
    """Jobs that wait for others, users that may run one job or use three nodes at a time."""
    scenario = hpcsched.load_scenario(linked_log(tmp_path))
    columns, python = in_both_loops(lambda folder: hpcsched.run(scenario, folder), tmp_path)
    check_equal(columns, python)
    assert main(["verify", str(columns)]) == 0


def test_jobs_that_are_held_back_beside_outages(tmp_path: Path) -> None:
    """Nodes go out of service, and decisions take time; the log of events tells of all."""
    changed = [
        "outages={maintenance: [{name: weekly, nodes: [node-0], start: 200, duration: 90}],"
        " failures: [{groups: [node], mean_up_time: 300, mean_repair_time: 60, end: 4000}]}",
        "simulation.dispatch_latency={base: 2, per_queued_job: 1}",
        "observers=[event-log]",
    ]
    scenario = hpcsched.load_scenario(linked_log(tmp_path), changed)
    compiled, python = in_both_loops(lambda folder: hpcsched.run(scenario, folder), tmp_path)
    check_equal(compiled, python)
    assert main(["verify", str(compiled)]) == 0
    assert pq.read_metadata(compiled / "interruptions.parquet").num_rows > 3


def test_jobs_that_are_refused(tmp_path: Path) -> None:
    """Partitions that refuse jobs, and let others use some nodes only; the log tells of all.

    Of three jobs one asks for three units, each of which needs a node of its own. Odd ones may use
    two nodes, and even ones of a user two at a time.
    """
    changed = [
        "system={groups: [{name: thin, count: 2, resources: {core: 1}},"
        " {name: fat, count: 2, resources: {core: 1, gpu: 1}}]}",
        "partitions=[{name: odd, jobs: {partition: [1]}, groups: [fat]},"
        " {name: even, limits: {per_user: {nodes: 2}}}]",
        "observers=[event-log]",
    ]
    scenario = hpcsched.load_scenario(linked_log(tmp_path), changed)
    compiled, python = in_both_loops(lambda folder: hpcsched.run(scenario, folder), tmp_path)
    check_equal(compiled, python)
    assert main(["verify", str(compiled)]) == 0
    counts = json.loads((compiled / "summary.json").read_text())["jobs"]["rejected_by"]
    assert set(counts) == {"larger_than_partition", "over_limit"}
    replayed = hpcsched.replay(hpcsched.load_scenario(linked_log(tmp_path), changed))
    assert replayed.in_python == ()
    assert replayed.jobs["start_time"].null_count == 0
    assert len(replayed.jobs) == 199 - sum(counts.values())


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("predict", "job 61: raised KeyError: 61"),
        ("observe", "job 61: raised KeyError: 61"),
        ("predict_wrongly", "job 61: expected a whole number of seconds, found 1.5"),
    ],
)
def test_a_predictor_that_fails(
    method: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fails in the middle of the log: what was predicted until then shows what it knew."""
    right = getattr(LastTwo, method.removesuffix("_wrongly"))

    def wrong(predictor: LastTwo, job: Job, *more: int) -> Any:
        if job.job_id == 61 and method == "predict_wrongly":
            return 1.5
        if job.job_id == 61:
            raise KeyError(61)
        return right(predictor, job, *more)

    monkeypatch.setattr(LastTwo, method.removesuffix("_wrongly"), wrong)
    scenario = hpcsched.load_scenario(SMALL, ["trace.jobs=200", "predictor=last-two"])

    def run(folder: Path) -> None:
        with pytest.raises(PluginError, match=f"^predictor last-two, {message}$"):
            hpcsched.run(scenario, folder)

    run(tmp_path / "compiled")
    with monkeypatch.context() as patch:
        patch.setattr(hpcsched.runs.runner, "obstacles", lambda _: [FORCED])
        run(tmp_path / "python")
    # How far the log is read ahead differs.
    check_equal(tmp_path / "compiled", tmp_path / "python", but="summary.json")


@pytest.mark.parametrize("line", [1, 40, 99])
def test_a_trace_that_cannot_be_read_on(line: int, tmp_path: Path) -> None:
    """What was replayed before the line at fault is written, and the message is the same."""
    lines = [f"{n} {n * 10} 0 {30 + n} 2 -1 -1 2 90" + " -1" * 9 for n in range(1, 100)]
    lines[line - 1] = "no numbers"
    (tmp_path / "log.swf").write_text("\n".join(lines) + "\n")
    (tmp_path / "scenario.yaml").write_text(
        "name: damaged\nsystem: {groups: [{name: node, count: 2, resources: {core: 2}}]}\n"
        "trace: {source: swf, path: log.swf}\ndispatcher: easy\n"
    )
    scenario = hpcsched.load_scenario(tmp_path / "scenario.yaml")
    said = []

    def run(folder: Path) -> None:
        with pytest.raises(HpcschedError) as caught:
            hpcsched.run(scenario, folder)
        said.append(str(caught.value))

    check_equal(*in_both_loops(run, tmp_path))
    assert said[0] == said[1]
    assert f"log.swf:{line}" in said[0]


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([traced(1, 0, 1, 50), traced(1, 9, 1, 50)], "expected each job number once"),
        (
            [traced(1, 9, 1, 5), traced(2, 0, 1, 5)],
            "job 2 is submitted at 0, before a job that was submitted at 9",
        ),
        ([traced(1, 0, 1, 1 << 40)], "expected times of 0"),
        ([traced(1, 0, 5, 5)], "1 jobs are left waiting: job 1"),
        ([traced(1, 0, 1, 5), traced(2, 0, 1, 5, after=(1,))], "jobs wait for others to end"),
    ],
)
def test_jobs_that_are_not_as_they_must_be(
    jobs: list[TracedJob], message: str, tmp_path: Path
) -> None:
    """The run fails, and says what is wrong."""
    workload = Workload(alike(2, core=2), tuple(jobs), {})
    dispatcher = assemble(hpcsched.load_scenario(SMALL)).dispatcher
    with pytest.raises(HpcschedError, match=message):
        assembled(workload, dispatcher, jobs, tmp_path / "run", resource=False)
    assert manifest(tmp_path / "run")["status"] == "failed"


def test_interrupted_between_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends both loops after the same instant: the same jobs have left, and are left."""
    monkeypatch.setattr(runner, "EventLoop", partial(EventLoop, seconds=0))
    interrupted: list[Monitor] = []
    replayed = Monitor.replayed

    def interrupt(monitor: Monitor, *part: Any) -> None:
        replayed(monitor, *part)
        if monitor.rounds >= 150 and monitor not in interrupted:
            interrupted.append(monitor)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Monitor, "replayed", interrupt)
    scenario = hpcsched.load_scenario(SMALL)

    def run(folder: Path) -> None:
        with pytest.raises(KeyboardInterrupt):
            hpcsched.run(scenario, folder)

    folders = in_both_loops(run, tmp_path)
    accounts = []
    for folder in folders:
        summary = json.loads((folder / "summary.json").read_text())
        # How far the trace was read ahead is another matter.
        for key in ("read", "skipped", "clipped", "not_yet_submitted"):
            del summary["jobs"][key]
        accounts.append(summary)
        (folder / "summary.json").unlink()
        assert manifest(folder)["status"] == "interrupted"
        assert not (folder / "state.json").exists()
    assert accounts[0] == accounts[1]
    assert accounts[0]["jobs"]["running"] > 0
    check_equal(*folders)


def test_an_interrupted_run_passes_the_audit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command says so, and what it leaves can be verified, and replayed as far as it came."""
    monkeypatch.setattr(runner, "EventLoop", partial(EventLoop, seconds=0))
    replayed = Monitor.replayed

    def interrupt(monitor: Monitor, *part: Any) -> None:
        replayed(monitor, *part)
        if monitor.rounds == 100:
            signal.raise_signal(signal.SIGINT)

    out = tmp_path / "out"
    with monkeypatch.context() as patch:
        patch.setattr(Monitor, "replayed", interrupt)
        jobs = ("--set", "trace.jobs=400")
        assert main(["run", str(SMALL), *jobs, "--out", str(out), "-v"]) == 130
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "jobs are replayed by the core",
        f"interrupted; what was done until then is in {out}",
    ]
    assert main(["verify", str(out), "--replay"]) == 0


def test_what_needs_python_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By `run -v` and in the manifest."""
    changed = ["--set", "trace.jobs=50", "--set", "dispatcher={name: best-of, solver: none}"]
    command = ["run", str(SMALL), "--explain", "--out", str(tmp_path / "run"), *changed]
    assert main([*command, "-v"]) == 0
    line = (
        "jobs are replayed event by event in Python: the dispatcher best-of, the observer reasons"
    )
    assert capsys.readouterr().err.splitlines()[0] == line
    assert manifest(tmp_path / "run")["in_python"] == [
        "the dispatcher best-of",
        "the observer reasons",
    ]
    assert main([*command, "--force"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["-v", *command, "--force"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == line


def test_forced(tmp_path: Path) -> None:
    """What forces Python in these tests does: otherwise they would compare a loop with itself."""
    scenario = hpcsched.load_scenario(SMALL, ["trace.jobs=20"])
    _, python = in_both_loops(lambda folder: hpcsched.run(scenario, folder), tmp_path)
    assert manifest(python)["in_python"] == [FORCED]
