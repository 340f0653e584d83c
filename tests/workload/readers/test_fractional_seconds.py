"""Fractions of a second in logs, by one policy in every reader."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hpcsched
from hpcsched import cli
from tests.workload.readers.accounting_log_files import pbs_record

SWF = "1 {} -1 {} 1 -1 -1 1 {} -1 1 1 1 1 1 1 -1 -1\n"
ISO = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\n1|{}|{}|{}|1|1|1\n"
ALEA = "1 {} -1 {} 1 -1 -1 1 {} 1024 1 1 1 1 1 1 -1 -1 {{7}} q 1:ppn=1\n"
LOGS = {
    "swf": SWF.format("100.6", "12.7", "20.5"),
    "alea": ALEA.format("100.6", "12.7", "20.5"),
    "table": "submit_time,run_time,units,requested_time\n100.6,12.7,1,20.5\n",
    "batsim": '{"jobs": [{"id": 1, "subtime": 100.6, "walltime": 20.5, "res": 1, "profile": "d"}],'
    ' "profiles": {"d": {"type": "delay", "delay": 12.7}}}',
}
"""A job that was submitted at 100.6 s, ran 12.7 s and asked for 20.5 s, by source."""

TIMES = (100, 13, 21)
"""Submit time, run time and requested time, rounded outwards."""


def scenario(folder: Path, source: str, log: str, trace: str) -> Path:
    """Write a log and a scenario that reads it."""
    (folder / "log").write_text(log)
    path = folder / "scenario.yaml"
    path.write_text(
        "name: fractions\n"
        "system: {groups: [{name: node, count: 2, resources: {core: 8, mem: 1GiB}}]}\n"
        f"trace: {{source: {source}, path: log{trace}}}\n"
        "dispatcher: easy\n"
    )
    return path


def times_of(path: Path) -> tuple[int, int, int]:
    """Return submit, run and requested time of the only job of a run, which is counted."""
    result = hpcsched.run(path, path.parent / "run", force=True)
    assert result.summary["jobs"]["clipped"] == {"fractional_seconds": 1}
    assert result.verify().ok
    (job,) = result.jobs.to_pylist()
    return job["submit_time"], job["run_time"], job["requested_time"]


@pytest.mark.parametrize("source", LOGS)
def test_rounding(source: str, tmp_path: Path) -> None:
    """The same numbers in every format."""
    given = ", fractional_seconds: outward"
    assert times_of(scenario(tmp_path, source, LOGS[source], given)) == TIMES


@pytest.mark.parametrize("source", LOGS)
def test_refusal(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The error names the line and the key; left out, the record is counted."""
    path = scenario(tmp_path, source, LOGS[source], ", fractional_seconds: error")
    assert cli.main(["run", str(path), "--out", str(tmp_path / "run")]) == 1
    said = capsys.readouterr().err
    line = 2 if source == "table" else 1
    assert said.startswith(f"{tmp_path / 'log'}:{line}: error: expected whole seconds, found ")
    assert "the policy 'fractional_seconds' of the trace source says what else to do" in said
    path = scenario(tmp_path, source, LOGS[source], ", fractional_seconds: skip")
    assert cli.main(["trace", "info", str(path)]) == 0
    rows = [row.split() for row in capsys.readouterr().out.splitlines()]
    assert ["skipped:", "fractional_seconds", "1"] in rows


@pytest.mark.parametrize("source", ["swf", "alea"])
def test_formats_of_whole_seconds(source: str, tmp_path: Path) -> None:
    """Where a format has whole seconds, others are refused unless a scenario says more."""
    path = scenario(tmp_path, source, LOGS[source], "")
    with pytest.raises(hpcsched.InputError, match=r"expected whole seconds, found 100\.6"):
        hpcsched.run(path, tmp_path / "run")


@pytest.mark.parametrize(
    "times",
    [
        ("100.4", "200.2", "212.9"),
        ("1970-01-01T01:01:40.4", "1970-01-01T01:03:20.2", "1970-01-01T01:03:32.9"),
        ("1970-01-01T00:01:40.4Z", "1970-01-01T00:03:20.2Z", "1970-01-01T00:03:32.9Z"),
    ],
)
def test_times_of_sacct(times: tuple[str, ...], tmp_path: Path) -> None:
    """Submitted at 100.4, from 200.2 to 212.9: it ran from 200 to 212."""
    trace = ", time_zone: Europe/Prague, fractional_seconds: outward"
    path = scenario(tmp_path, "slurm-sacct", ISO.format(*times), trace)
    assert times_of(path) == (100, 12, 60)


def test_times_of_pbs(tmp_path: Path) -> None:
    """A wall time of 20.5 s asks for 21 s, which is counted."""
    record = pbs_record(
        "1",
        ctime="100.6",
        start="101",
        end="114",
        Resource_List_select="1:ncpus=1",
        Resource_List_walltime="00:00:20.5",
    )
    path = scenario(tmp_path, "pbs-accounting", record, "")
    assert times_of(path) == (100, 13, 21)


def test_time_stamps_of_parquet(tmp_path: Path) -> None:
    """Milliseconds in columns with a type of time."""
    path = scenario(tmp_path, "table", "", "")
    table = pa.table(
        {
            "submit_time": pa.array([100_600], pa.timestamp("ms", "UTC")),
            "run_time": pa.array([12_700], pa.duration("ms")),
            "requested_time": [20.5],
            "units": [1],
        }
    )
    pq.write_table(table, tmp_path / "log")
    assert times_of(path) == TIMES


def test_iso_times_of_a_table(tmp_path: Path) -> None:
    """Tenths of a second in ISO 8601; the run time is end (113) less start (100)."""
    log = (
        "submit_time,start_time,end_time,units,requested_time\n"
        "1970-01-01T00:01:40.6Z,1970-01-01T00:01:40.6Z,1970-01-01T00:01:53.2Z,1,60\n"
    )
    path = scenario(tmp_path, "table", log, ", times: iso")
    assert times_of(path) == (100, 13, 60)


@pytest.mark.parametrize("policy", ["outward", "skip"])
def test_columns_and_records(policy: str, tmp_path: Path) -> None:
    """Read in compiled code or not, a log with fractions in some lines gives the same jobs."""
    lines = [
        SWF.format(n, "60.5" if n % 3 == 0 else "60", 90).replace("1", str(n + 1), 1)
        for n in range(12)
    ]
    path = scenario(tmp_path, "swf", "".join(lines), f", fractional_seconds: {policy}")
    jobs = hpcsched.run(path, tmp_path / "run").jobs
    expected = range(1, 13) if policy == "outward" else [n for n in range(1, 13) if n % 3 != 1]
    assert sorted(jobs["job_id"].to_pylist()) == list(expected)
    assert set(jobs["run_time"].to_pylist()) <= {60, 61}
