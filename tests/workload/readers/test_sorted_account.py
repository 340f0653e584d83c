"""The account of a log of which the first jobs by submission are replayed, in every format."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app
from tests.workload.readers.alea_files import record as alea_record
from tests.workload.readers.swf_files import record as swf_record

FROM = 1_709_280_000


class Record(NamedTuple):
    """A record: seconds, and the number of cores."""

    number: int
    submit: int
    run: int
    requested: int = 100
    cores: int = 1


RECORDS = [
    Record(1, FROM + 500, 200),
    Record(2, FROM + 10, 200),
    Record(3, FROM + 20, 0),
    Record(4, FROM + 600, 0),
    Record(5, FROM + 5, 50),
    Record(6, FROM + 30, 60, cores=99),
    Record(7, FROM + 700, 60, cores=99),
    Record(8, FROM + 40, 300),
]
"""In order of submission: 5, 2 (cut), 3 (no length), 6 (too large), 8 (cut), and 1, 4 and 7."""


def _swf(records: Iterable[Record]) -> str:
    return "".join(f"{swf_record(n, s, r, c, q)}\n" for n, s, r, q, c in records)


def _alea(records: Iterable[Record]) -> str:
    return "".join(f"{alea_record(n, s, r, q, ask=f'{c}:ppn=1')}\n" for n, s, r, q, c in records)


def _table(records: Iterable[Record]) -> str:
    rows = (f"{n},{s},{r},{q},{c}\n" for n, s, r, q, c in records)
    return "job_id,submit_time,run_time,requested_time,units\n" + "".join(rows)


def _sacct(records: Iterable[Record]) -> str:
    rows = (f"{n}|{s}|{s}|{s + r}|00:01:{q - 60}|{c}|{c}\n" for n, s, r, q, c in records)
    return "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS\n" + "".join(rows)


def _pbs(records: Iterable[Record]) -> str:
    return "".join(
        f"03/01/2024 11:05:00;E;{n}.srv;ctime={s} start={s} end={s + r}"
        f" Resource_List.select={c}:ncpus=1 Resource_List.walltime=00:01:{q - 60}\n"
        for n, s, r, q, c in records
    )


def _batsim(records: Iterable[Record]) -> str:
    jobs = [
        {"id": n, "subtime": s, "walltime": q, "res": c, "profile": str(r)}
        for n, s, r, q, c in records
    ]
    delays = {str(r.run): {"type": "delay", "delay": r.run} for r in records}
    return json.dumps({"nb_res": 4, "jobs": jobs, "profiles": delays})


FORMATS = {
    "swf": (_swf, {"source": "swf"}),
    "swf, with dependencies": (_swf, {"source": "swf", "dependencies": "honour"}),
    "alea": (_alea, {"source": "alea"}),
    "table": (_table, {"source": "table"}),
    "slurm-sacct": (_sacct, {"source": "slurm-sacct"}),
    "pbs-accounting": (_pbs, {"source": "pbs-accounting"}),
    "batsim": (_batsim, {"source": "batsim"}),
}


def account_of(folder: Path, log: str, trace: dict[str, Any]) -> dict[str, Any]:
    """Return the account in the summary of a run."""
    (folder / "log.csv").write_text(log)
    scenario = folder / "scenario.yaml"
    resources = {"core": 1, "mem": "4 GiB"}
    system = {"groups": [{"name": "node", "count": 4, "resources": resources}]}
    content = {
        "name": "first",
        "system": system,
        "trace": {"path": "log.csv", "unsorted": "sort", **trace},
        "dispatcher": "easy",
    }
    scenario.write_text(json.dumps(content))
    result = CliRunner().invoke(app, ["run", str(scenario), "--out", str(folder / "run")])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads((folder / "run" / "summary.json").read_text())["jobs"]
    return found


@pytest.mark.parametrize("name", FORMATS)
def test_the_first_jobs(tmp_path: Path, name: str) -> None:
    """Records without a job count by their reason, and cuts of the jobs that were replayed."""
    write, trace = FORMATS[name]
    account = account_of(tmp_path, write(RECORDS), {**trace, "jobs": 3})
    assert account["read"] == 8
    assert account["submitted"] == 3
    assert account["clipped"] == {"over_requested_time": 2}
    assert account["skipped"] == {
        "after_first_jobs": 1, "larger_than_system": 2, "zero_run_time": 2,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["swf", "swf, with dependencies"])
def test_two_of_three_run_over_and_neither_is_replayed(tmp_path: Path, name: str) -> None:
    """Nothing was cut in the one job that is."""
    write, trace = FORMATS[name]
    records = [Record(1, 0, 50), Record(2, 1, 300), Record(3, 2, 300)]
    account = account_of(tmp_path, write(records), {**trace, "jobs": 1})
    assert account["clipped"] == {}


@pytest.mark.parametrize("name", FORMATS)
def test_fewer_jobs_than_wanted(tmp_path: Path, name: str) -> None:
    """Every record has its own fate."""
    write, trace = FORMATS[name]
    account = account_of(tmp_path, write(RECORDS), {**trace, "jobs": 9})
    assert account["submitted"] == 4
    assert account["clipped"] == {"over_requested_time": 3}
    assert account["skipped"] == {"larger_than_system": 2, "zero_run_time": 2}


def test_a_transform_that_takes_the_first_jobs(tmp_path: Path) -> None:
    """Cuts in jobs that it does not ask for are not counted."""
    trace = {"source": "swf", "transforms": [{"name": "first", "jobs": 2}]}
    account = account_of(tmp_path, _swf(RECORDS), trace)
    assert account["clipped"] == {"over_requested_time": 1}


def test_a_preceding_job_that_is_submitted_later(tmp_path: Path) -> None:
    """Job 1 names job 2 as preceding, which is behind it once the log is sorted."""
    lines = [swf_record(2, 20), swf_record(1, 10), swf_record(3, 30), swf_record(4, 40)]
    for k, preceding in ((1, 2), (2, 1), (3, 9)):
        fields = lines[k].split()
        fields[16] = str(preceding)
        lines[k] = " ".join(fields)
    trace = {"source": "swf", "dependencies": "honour"}
    log = "\n".join([*lines, ""])
    for jobs, unknown in ((None, 2), (3, 1)):
        folder = tmp_path / str(jobs)
        folder.mkdir()
        account = account_of(folder, log, {**trace, "jobs": jobs})
        assert account["clipped"] == {"unknown_preceding_job": unknown}
