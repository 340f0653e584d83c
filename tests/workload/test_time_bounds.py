"""Times that no job can have are errors at the trace's line, from readers, sources and transforms.

2³² s are 4,294,967,296 s; 2⁵³ s are 9,007,199,254,740,992 s.
"""

import gc
import io
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.cli import main
from hpcsched.system.system import Request
from hpcsched.workload.job import LARGEST_SUM, LONGEST, Job, TracedJob, time_fault

SYSTEM = "{groups: [{name: node, count: 4, resources: {core: 1}}]}"


def traced(submit_time: int, run_time: int, requested_time: int, think_time: int = 0) -> TracedJob:
    """Return a job with these times."""
    return TracedJob(
        Job(1, submit_time, Request(1, (1,)), requested_time, think_time=think_time), run_time
    )


def swf(submit: int, run: int, asked: int) -> str:
    """Return two records, of which the second has these times."""
    return (
        "1 0 -1 60 2 -1 -1 2 100 -1 1 1 1 1 1 1 -1 -1\n"
        f"2 {submit} -1 {run} 2 -1 -1 2 {asked} -1 1 1 1 1 1 1 -1 -1\n"
    )


def run(folder: Path, trace: str, dispatcher: str = "easy") -> int:
    """Run a scenario with a trace."""
    scenario = folder / "scenario.yaml"
    scenario.write_text(f"name: s\nsystem: {SYSTEM}\ntrace: {trace}\ndispatcher: {dispatcher}\n")
    return main(["run", str(scenario), "--out", str(folder / "out"), "--force"])


TOO_LARGE = {
    "submit": (LONGEST + 1, 60, 100),
    "run": (10, LONGEST + 1, LONGEST + 1),
    "requested": (10, 60, LONGEST + 1),
}


@pytest.mark.parametrize("which", TOO_LARGE)
def test_a_time_that_is_too_large(
    which: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error stands at the line, and says which time it is and what was found."""
    times = TOO_LARGE[which]
    (tmp_path / "t.swf").write_text(swf(*times))
    assert run(tmp_path, "{source: swf, path: t.swf}") == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{tmp_path / 't.swf'}:2: error: expected a {which} time of at most")
    assert "4294967296 s (136 years), found 4294967297" in said


def test_the_largest_times(tmp_path: Path) -> None:
    """2³² s itself is a time: the second job ends at 2³² + 2³² s."""
    (tmp_path / "t.swf").write_text(swf(LONGEST, LONGEST, LONGEST))
    assert run(tmp_path, "{source: swf, path: t.swf}") == 0
    assert max(pq.read_table(tmp_path / "out" / "jobs.parquet")["end_time"].to_pylist()) == 2**33


def test_records_can_be_skipped(tmp_path: Path) -> None:
    """They count as malformed in the account."""
    (tmp_path / "t.swf").write_text(swf(*TOO_LARGE["run"]))
    assert run(tmp_path, "{source: swf, path: t.swf, malformed: skip}") == 0
    jobs = json.loads((tmp_path / "out" / "summary.json").read_text())["jobs"]
    assert (jobs["submitted"], jobs["skipped"]) == (1, {"malformed": 1})


def batsim(folder: Path) -> str:
    """Write a workload for Batsim, whose second job runs for too long."""
    jobs = [{"id": k, "subtime": k, "res": 1, "walltime": 2**40, "profile": str(k)} for k in (1, 2)]
    profiles = {str(k): {"type": "delay", "delay": 2**40 * (k - 1) + 1} for k in (1, 2)}
    jobs[0]["walltime"] = 10
    text = json.dumps({"nb_res": 4, "jobs": jobs, "profiles": profiles})
    (folder / "w.json").write_text(text)
    return "{source: batsim, path: w.json}"


def table(folder: Path) -> str:
    """Write a table whose second row has a run time that is too long."""
    rows = {
        "job_id": [1, 2],
        "submit_time": [0, 1],
        "run_time": [1, 2**52],
        "requested_time": [1, 2**52],
        "units": [1, 1],
    }
    pq.write_table(pa.table(rows), folder / "t.parquet")
    return "{source: table, path: t.parquet}"


def earlier_run(folder: Path) -> str:
    """Write the jobs of a run, of which one ran for nearly 2⁶² s."""
    (folder / "t.swf").write_text(swf(10, 60, 100))
    assert run(folder, "{source: swf, path: t.swf}") == 0
    jobs = pq.read_table(folder / "out" / "jobs.parquet")
    at = jobs.schema.get_field_index("run_time")
    jobs = jobs.set_column(at, jobs.schema.field(at), pa.array([60, 2**62 - 1], pa.int64()))
    pq.write_table(jobs, folder / "jobs.parquet")
    return "{source: run, path: jobs.parquet}"


@pytest.mark.parametrize("dispatcher", ["easy", "order-search"])
@pytest.mark.parametrize("write", [batsim, table])
def test_other_readers(
    write: Callable[[Path], str],
    dispatcher: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They are checked in the same place, before a dispatcher is asked."""
    trace = write(tmp_path)
    assert run(tmp_path, trace, dispatcher) == 1
    said = capsys.readouterr().err
    assert "time of at most 4294967296 s (136 years)" in said
    assert str(tmp_path) in said


def test_an_earlier_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run time of a run is checked as it is replayed; the error names the job."""
    assert run(tmp_path, earlier_run(tmp_path)) == 1
    assert "job 2: expected times of 0 to 4294967296 s" in capsys.readouterr().err


def test_transforms(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a transform makes of times is checked too; the error names the job."""
    (tmp_path / "t.swf").write_text(swf(4294968, 60, 100))
    trace = "{source: swf, path: t.swf, transforms: [{name: scale-load, factor: 0.001}]}"
    assert run(tmp_path, trace) == 1
    said = capsys.readouterr().err
    assert "job 2: expected times of 0 to 4294967296 s" in said


def test_a_run_that_fails_closes_its_trace(tmp_path: Path) -> None:
    """At once, not when memory is next tidied up: nothing holds the error in a cycle."""
    (tmp_path / "t.swf").write_text(swf(4294968, 60, 100))
    trace = "{source: swf, path: t.swf, transforms: [{name: scale-load, factor: 0.001}]}"
    gc.collect()
    gc.disable()
    try:
        assert run(tmp_path, trace) == 1
        open_files = [
            # `isinstance` would ask through weak proxies, whose objects may be gone.
            one
            for one in gc.get_objects()
            if type(one) is io.BufferedReader and not one.closed
        ]
        assert "t.swf" not in {Path(str(one.name)).name for one in open_files}
    finally:
        gc.enable()


def test_a_sum_that_is_too_large() -> None:
    """2²¹ jobs of 2³² s are the most, when all are submitted at 0: 2²¹ · 2³² = 2⁵³."""
    assert time_fault(0, 5, LONGEST, 0, LARGEST_SUM - LONGEST) is None
    assert "found 9007199254740993" in str(time_fault(0, 1, 1, 0, LARGEST_SUM))


def test_think_times_count() -> None:
    """A job may begin no sooner than the think time after another's end."""
    assert "a think time of at most" in str(time_fault(0, 1, 1, LONGEST + 1, 0))
    assert time_fault(0, 3, 4, 6, LARGEST_SUM - 10) is None
    assert "sum up to at most" in str(time_fault(0, 3, 4, 7, LARGEST_SUM - 10))
