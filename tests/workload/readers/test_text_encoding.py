"""Logs that are not UTF-8, in every reader of text alike."""

import gzip
from pathlib import Path

import pytest

import hpcsched
from hpcsched import cli
from tests.workload.readers.accounting_log_files import pbs_record

SWF = (
    "; JobNames: last\n"
    "1 0 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1 one\n"
    "2 5 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1 día\n"
)
LOGS = {
    "swf": SWF,
    "table": "submit_time,run_time,units,requested_time,name\n0,60,1,90,one\n5,60,1,90,día\n",
    "slurm-sacct": "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|JobName\n"
    "1|100|100|160|1|1|1|one\n2|105|105|165|1|1|1|día\n",
    "pbs-accounting": pbs_record("1", Resource_List_select="1:ncpus=1")
    + "\n"
    + pbs_record("2", Resource_List_select="1:ncpus=1", jobname="día"),
    "batsim": '{"jobs": [\n{"id": 1, "subtime": 0, "walltime": 90, "res": 1, "profile": "d"},\n'
    '{"id": 2, "subtime": 5, "walltime": 90, "res": 1, "profile": "d", "name": "día"}],\n'
    '"profiles": {"d": {"type": "delay", "delay": 60}}}\n',
}
"""A log of two jobs by source; the name of the second is not ASCII."""


def scenario(folder: Path, source: str, log: bytes) -> Path:
    """Write a log and a scenario that reads it."""
    (folder / "log").write_bytes(log)
    path = folder / "scenario.yaml"
    path.write_text(
        "name: encodings\n"
        "system: {groups: [{name: node, count: 2, resources: {core: 8}}]}\n"
        f"trace: {{source: {source}, path: log}}\n"
        "dispatcher: easy\n"
    )
    return path


def run(path: Path) -> int:
    """Return the exit code of a run."""
    return cli.main(["run", str(path), "--out", str(path.parent / "run"), "--force"])


@pytest.mark.parametrize("source", LOGS)
def test_a_log_in_utf_16(source: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two bytes a letter are no text here, plain or packed."""
    log = LOGS[source].encode("utf-16")
    for content in (log, gzip.compress(log)):
        assert run(scenario(tmp_path, source, content)) == 1
        assert "found UTF-16; write it as UTF-8 first" in capsys.readouterr().err


@pytest.mark.parametrize("source", sorted(set(LOGS) - {"batsim"}))
def test_other_bytes(source: str, tmp_path: Path) -> None:
    """They are escaped: names that differ stay apart."""
    path = scenario(tmp_path, source, LOGS[source].encode("latin-1"))
    result = hpcsched.run(path, tmp_path / "run")
    assert result.jobs["name"].to_pylist()[1] == "d\\xeda"


def test_comments_are_no_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The name of a person in a header keeps no log from being read."""
    log = f"; Conversion: Dror é\n{SWF.replace('í', 'i')}".encode("latin-1")
    assert run(scenario(tmp_path, "swf", log)) == 0
    assert "2 jobs submitted" in capsys.readouterr().out
