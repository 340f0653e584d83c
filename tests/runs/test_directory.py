"""Writing a run directory, reading it back, and what is said of a damaged one."""

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.metric import whole_column
from hpcsched.runs.directory import RunDirectory, create
from hpcsched.runs.manifest import ON_A_CLUSTER, content_sha256, finish_manifest, start_manifest
from hpcsched.runs.recorder import ROW_GROUP, RunRecorder
from hpcsched.runs.summary import ChosenMetric, ChosenObjective, Measures, summarize
from hpcsched.runs.tables import RunRecords
from hpcsched.simulation.records import JobRecord, RoundRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job
from hpcsched.workload.trace_source import TraceAccount, TraceAnswer
from tests.runs.hand_made import (
    JOBS,
    REJECTED,
    Placed,
    left_at,
    rounds_of,
    tamper_json,
    write_run,
)


def test_round_trip(tmp_path: Path) -> None:
    """What was recorded is read back; jobs that were rejected are left out of metrics."""
    jobs = [*JOBS, REJECTED]
    run = write_run(tmp_path / "run", jobs)
    in_order = [p.traced.job for p in sorted(jobs, key=left_at)]
    assert whole_column(run.all_jobs, "job_id").tolist() == [job.job_id for job in in_order]
    ran = [job for job in in_order if job != REJECTED.traced.job]
    assert whole_column(run.jobs, "job_id").tolist() == [job.job_id for job in ran]
    memory = whole_column(run.jobs, "unit_request.mem").tolist()
    assert memory == [job.unit_request[1] for job in ran]
    rounds = list(rounds_of(jobs))
    free = whole_column(run.rounds, "free_amounts.gpu").tolist()
    assert free == [r.free_amounts[2] for r in rounds]
    row = {row["job_id"]: row for row in pq.read_table(run.path / "jobs.parquet").to_pylist()}
    assert row[2]["nodes"] == [3] and row[2]["node_units"] == [2] and row[2]["user"] == 7
    assert row[4]["node_groups"] == ["thin"] and row[5]["exclusive"] and row[1]["user"] is None
    assert row[1]["one_unit_per_node"] and not row[2]["one_unit_per_node"]
    assert row[8]["state"] == "rejected" and row[8]["nodes"] is row[8]["run_time"] is None


def test_equal_runs_give_equal_bytes(tmp_path: Path) -> None:
    """`jobs.parquet` and `summary.json` hold nothing of when or where a run was made."""
    first, second = (write_run(tmp_path / name / "run") for name in _folders(tmp_path))
    for name in ("jobs.parquet", "rounds.parquet", "summary.json"):
        assert (first.path / name).read_bytes() == (second.path / name).read_bytes()


def _folders(tmp_path: Path) -> tuple[str, str]:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    return ("a", "b")


def test_many_row_groups(tmp_path: Path) -> None:
    """Records beyond a row group are streamed out, in order, with resource types named oddly."""
    system = System((NodeGroup("n", 1, {"gpu.a100": 2, "core": 2}),))
    recorder = RunRecorder(tmp_path, system)
    count = ROW_GROUP + 5
    for k in range(count):
        wanted = Job(k, k, Request(1, (1, 2)), 9)
        place = NodeAllocation((0,), (1,))
        recorder.job_ended(JobRecord(wanted, 1, 9, "completed", k, k + 3, place))
    recorder.close()
    assert pq.ParquetFile(tmp_path / "jobs.parquet").num_row_groups == 2
    run = RunDirectory(tmp_path, None)
    assert whole_column(run.jobs, "job_id").tolist() == list(range(count))
    assert set(whole_column(run.jobs, "unit_request.gpu.a100").tolist()) == {1}
    assert set(whole_column(run.jobs, "unit_request.core").tolist()) == {2}


def test_demands_beyond_64_bits(tmp_path: Path) -> None:
    """Where demands do not fit whole numbers they are floats, and metrics still work."""
    primes = {"core": 1_000_003, "mem": 2**38 - 45, "disk": 2**39 - 7}
    system = System((NodeGroup("n", 1, primes),))
    assert system.full_demand > 2**63
    recorder = RunRecorder(tmp_path, system)
    wanted = Job(1, 0, Request(1, (5, 6, 7)), 9)
    demand = system.demand(1, wanted.unit_request)
    place = NodeAllocation((0,), (1,))
    recorder.job_ended(JobRecord(wanted, demand, 9, "completed", 2, 5, place))
    recorder.close()
    run = RunDirectory(tmp_path, None)
    assert whole_column(run.jobs, "demand").tolist() == [float(demand)]


def test_amounts_beyond_64_bits(tmp_path: Path) -> None:
    """A queue that waits for more than fits a whole number is recorded as waiting for the most."""
    recorder = RunRecorder(tmp_path, System((NodeGroup("n", 1, {"mem": 2**53}),)))
    amounts = ((2**70,), (2**53,))
    recorder.round_ended(RoundRecord(1, 0, 9, 0, 0, 0, 9, *amounts, 0, (0,), 0.5, False, None))
    recorder.close()
    run = RunDirectory(tmp_path, None)
    assert whole_column(run.rounds, "waiting_amounts.mem").tolist() == [2**63 - 1]


@pytest.mark.parametrize("content", ["", "nothing\n"])
def test_create_refuses_what_is_there(tmp_path: Path, content: str) -> None:
    """A directory with something in it is refused, with --force too if it holds no run."""
    (tmp_path / "notes.txt").write_text(content)
    with pytest.raises(InputError, match="holds no run; it is left as it is"):
        create(tmp_path)
    with pytest.raises(InputError, match="holds no run; it is left as it is"):
        create(tmp_path, force=True)
    with pytest.raises(InputError, match="is a file"):
        create(tmp_path / "notes.txt")


def test_create_replaces_a_run(tmp_path: Path) -> None:
    """With force the files of a run go, and what else lies there stays."""
    run = write_run(tmp_path / "run")
    (run.path / "notes.txt").write_text("keep")
    with pytest.raises(InputError, match="is not empty; --force or force=True"):
        create(run.path)
    create(run.path, force=True).release()
    assert [path.name for path in run.path.iterdir()] == ["notes.txt"]


def test_create_replaces_a_run_that_was_killed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Its process is gone, as its lock is, and it left no figures; on a cluster its log is kept."""
    folder = write_run(tmp_path / "run").path
    _set(status="running")(folder)
    with create(folder), pytest.raises(InputError, match="another run is being written there"):
        create(folder)
    assert caplog.messages == [f"{folder}: replacing the run in it, which was killed"]
    (folder / ".manifest.json.unfinished").write_text("{")
    create(folder).release()
    folder = write_run(tmp_path / "live").path
    _set(status="running", not_reproducible_because=[ON_A_CLUSTER])(folder)
    with pytest.raises(InputError, match="is not empty; --force or force=True"):
        create(folder)


def _remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def _garble(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_bytes(b"\x00not what it was")


def _truncate(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return change


def _set(**values: object) -> Callable[[Path], None]:
    return lambda folder: tamper_json(folder / "manifest.json", lambda m: m.update(values))


def _drop_jobs(folder: Path) -> None:
    tamper_json(folder / "summary.json", lambda summary: summary.pop("jobs"))


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (_remove("manifest.json"), "is not a run directory"),
        (_remove("jobs.parquet"), "jobs.parquet: error: it is missing"),
        (_remove("summary.json"), "summary.json: error: it is missing"),
        (_garble("manifest.json"), "manifest.json: error: it is damaged"),
        (_truncate("manifest.json"), "manifest.json: error: it is damaged"),
        (_garble("summary.json"), "summary.json: error: it is damaged"),
        (_drop_jobs, "summary.json: error: it is damaged: 'jobs' is missing"),
        (_garble("jobs.parquet"), "jobs.parquet: error: it is damaged"),
        (_truncate("rounds.parquet"), "rounds.parquet: error: it is damaged"),
        (_set(format=1), "has format 1; this version of hpcsched reads format 6"),
        (_set(seed="x"), "manifest.json: error: it is damaged: seed"),
        (_set(status="running"), "is still going on, or was killed"),
    ],
)
def test_damaged_directories(tmp_path: Path, damage: Callable[[Path], None], expected: str) -> None:
    """A damaged run directory gives one clear error that names the file."""
    folder = write_run(tmp_path / "run").path
    damage(folder)
    with pytest.raises(InputError) as error:
        run = RunDirectory.open(folder)
        list(run.summary)
        whole_column(run.jobs, "job_id")
        whole_column(run.rounds, "now")
    assert expected in str(error.value)
    assert len(error.value.findings) == 1


def test_damage_within_a_parquet_file(tmp_path: Path) -> None:
    """Bytes changed within a column are an error too, once the column is read."""
    folder = write_run(tmp_path / "run").path
    content = bytearray((folder / "jobs.parquet").read_bytes())
    content[4:200] = bytes(196)
    (folder / "jobs.parquet").write_bytes(content)
    with pytest.raises(InputError, match=r"jobs\.parquet: error: it is damaged"):
        whole_column(RunDirectory.open(folder).jobs, "job_id")


def test_no_directory(tmp_path: Path) -> None:
    """What is not there is not a run."""
    with pytest.raises(InputError, match="is not a directory"):
        RunDirectory.open(tmp_path / "nowhere")


def test_unknown_column(tmp_path: Path) -> None:
    """A column that no run has is an error with its name."""
    run = write_run(tmp_path / "run")
    for column in ("colour", "unit_request.colour", "job_id.colour"):
        with pytest.raises(InputError, match=f"has no column '{column}'"):
            whole_column(run.jobs, column)


def test_manifest(tmp_path: Path) -> None:
    """The manifest says with what a run was made, and why it may not be reproducible."""
    run = write_run(tmp_path / "run", status="interrupted")
    manifest = run.manifest
    assert run.partial
    assert manifest.trace_files[0].bytes == len("a trace")
    assert manifest.trace_comments == ["made by hand"]
    assert {"hpcsched", "python", "numpy", "pyarrow", "pydantic"} == set(manifest.versions)
    assert manifest.reproducible
    other = start_manifest(
        tmp_path,
        scenario="x",
        seed=1,
        trace_files=(),
        plugins={},
        not_reproducible_because=["a wall-clock limit"],
    )
    assert not other.reproducible


def test_answers_of_programs(tmp_path: Path) -> None:
    """The hash and the size of the content are recorded; nothing is looked for on the disk."""
    answers = [TraceAnswer("unix:/s/jobs", b"[]")]
    begun = start_manifest(
        tmp_path, scenario="x", seed=1, trace_files=(), plugins={}, trace_answers=answers
    )
    (read,) = finish_manifest(tmp_path, begun, "complete", ()).trace_files
    assert (read.path, read.bytes, read.answer, read.changed) == ("unix:/s/jobs", 2, True, False)
    digest = "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945"
    assert read.sha256 == content_sha256(b"[]") == digest


@pytest.mark.parametrize(
    ("written", "jobs", "expected"),
    [
        (["scenario.yaml"], (), "failed before it had results: it broke; again [no-results]"),
        (
            ["scenario.yaml", "jobs.parquet", "rounds.parquet"],
            JOBS,
            "failed before it had results: it broke; again [no-results]",
        ),
        # It was there when the run had ended.
        (["summary.json"], JOBS, "summary.json: error: it is missing [missing-file]"),
    ],
)
def test_a_failed_run_without_a_summary(
    written: list[str], jobs: tuple[Placed, ...], expected: str, tmp_path: Path
) -> None:
    """It is told why there is none, in one line, unless it was lost later."""
    folder = write_run(tmp_path / "run", jobs, status="failed").path
    (folder / "summary.json").unlink()
    files = dict.fromkeys(written, "a hash")
    _set(files=files, error="it broke\nagain")(folder)
    with pytest.raises(InputError) as refused:
        RunDirectory.open(folder)
    assert str(refused.value).endswith(expected)
    assert "\n" not in str(refused.value)


def test_missing_trace_file(tmp_path: Path) -> None:
    """A trace file that cannot be read is the user's error."""
    with pytest.raises(InputError, match="cannot be read"):
        start_manifest(tmp_path, scenario="x", seed=0, trace_files=[tmp_path / "none"], plugins={})


class Broken:
    """A metric that answers with something that is no figure, or not at all."""

    unit = population = ""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def measure(self, run: object) -> object:
        """Answer."""
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def test_metrics_of_plugins(tmp_path: Path) -> None:
    """A figure that is not finite becomes null, as does one that fails, with the reason."""
    folder = write_run(tmp_path / "run").path

    def value(answer: object) -> object:
        metrics = {"odd": ChosenMetric(Broken(answer), {})}
        objective = ChosenObjective("none", Broken(None), {})
        measures = Measures({"core": 16}, metrics, objective, (), ())
        summary = summarize(RunRecords(folder), measures, TraceAccount())
        json.dumps(summary, allow_nan=False)
        failed.clear()
        failed.update(summary.get("not_measured", {}))
        return summary["metrics"]["odd"]

    failed: dict[str, str] = {}
    assert value(float("nan")) is value(float("inf")) is value(None) is None
    assert value(1.5) == 1.5
    assert failed == {}
    assert value(KeyError("x")) is None
    assert failed == {"metric odd": "raised KeyError: 'x'"}
    assert value("much") is None
    assert failed == {"metric odd": "expected a finite number, or None, found 'much'"}
    with pytest.raises(InputError, match="damaged"):
        value(InputError(Finding("damaged-file", "a table is damaged")))
