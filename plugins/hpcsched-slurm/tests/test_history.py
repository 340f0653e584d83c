"""Histories of completed jobs, of both kinds."""

import gzip
from pathlib import Path

import pytest

from hpcsched import InputError, NodeGroup, System
from hpcsched_slurm.arrays import first_array_number
from hpcsched_slurm.history import SlurmHistory
from hpcsched_slurm.params import SlurmHistoryParams
from recorded import MIB

SYSTEM = System((NodeGroup("c", 4, {"core": 16, "mem": 64000 * MIB, "gpu": 4}),))
LINE = (
    "JobId={id} UserId=ann(1001) GroupId=ann(100) Name={name} JobState=COMPLETED Partition=main"
    " TimeLimit={limit} StartTime={start} EndTime=2026-11-21T18:30:01 NodeList=c[1-2] NodeCnt=2"
    " ProcCnt=20 WorkDir=/home/a b ReservationName= Tres=cpu=20,mem=200M,node=2,billing=20 Account="
    " QOS= WcKey= Cluster=unknown SubmitTime=2026-11-21T18:29:00 EligibleTime=2026-11-21T18:29:30"
    "{array} DerivedExitCode=0:0 ExitCode=0:0 \n"
)


def line(**changes: str) -> str:
    """Return a line of a job completion file."""
    usual = {"id": "1", "name": "a", "limit": "60", "start": "2026-11-21T18:29:31", "array": ""}
    return LINE.format(**(usual | changes))


def history(tmp_path: Path, text: str, **parameters: int) -> SlurmHistory:
    """Return a history of a text."""
    path = tmp_path / "history"
    path.write_text(text)
    return SlurmHistory(SlurmHistoryParams(path=str(path), **parameters), SYSTEM)


def test_job_completion_file(tmp_path: Path) -> None:
    """Jobs have units on nodes of their own, requests, times and users; names may hold spaces."""
    found = history(tmp_path, line(name="my job", limit="UNLIMITED"), no_limit=500)
    ((job, run_time),) = found.jobs()
    assert (run_time, job.units, job.unit_request) == (30, 2, (10, 100 * MIB, 0))
    assert job.one_unit_per_node
    assert (job.user, job.name, job.requested_time) == (1001, "my job", 500)


def test_account(tmp_path: Path) -> None:
    """What is no job, never ran or ran twice is counted."""
    text = line() + "rubbish\n" + line(id="2", start="Unknown") + line() + line(id="3")
    found = history(tmp_path, text)
    assert [traced.job.job_id for traced in found.jobs()] == [1, 3]
    assert found.account.skipped == {"malformed": 1, "never_ran": 1, "repeated": 1}
    assert found.account.read == 5


def test_tasks_of_arrays(tmp_path: Path) -> None:
    """They have the numbers that live runs give them."""
    found = history(tmp_path, line(id="9", array=" ArrayJobId=7 ArrayTaskId=2"))
    assert next(found.jobs()).job.job_id == first_array_number(7) + 2


def test_numbers_of_ten_digits(tmp_path: Path) -> None:
    """Federated clusters give them; a longer one is malformed."""
    found = history(tmp_path, line(id="4227858433") + line(id="42278584331"))
    assert [traced.job.job_id for traced in found.jobs()] == [4_227_858_433]
    assert found.account.skipped == {"malformed": 1}
    array = " ArrayJobId=4227858432 ArrayTaskId=2"
    found = history(tmp_path, line(id="4227858433", array=array))
    assert next(found.jobs()).job.job_id == first_array_number(4_227_858_432) + 2


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is one clear message."""
    with pytest.raises(InputError, match="cannot be read"):
        list(SlurmHistory(SlurmHistoryParams(path=str(tmp_path / "no")), SYSTEM).jobs())


def test_the_last_run_of_a_requeued_job_counts(tmp_path: Path) -> None:
    """It has a record of each run."""
    found = history(tmp_path, line() + line(start="2026-11-21T18:29:41"))
    assert [run_time for _, run_time in found.jobs()] == [20]
    assert found.account.skipped == {"repeated": 1}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (line().replace("NodeCnt=2", "NodeCnt="), "expected a line of jobcomp/filetxt, found"),
        (line(start="18:29:00"), "expected a time such as 2024-03-01T12:00:00, found '18:29:00'"),
        ("rubbish\n", "expected a file of jobcomp/filetxt, or output of sacct --json; found 'rub"),
    ],
)
def test_what_is_no_history(tmp_path: Path, text: str, told: str) -> None:
    """One clear message with the line, what was expected and what was found."""
    with pytest.raises(InputError) as caught:
        list(history(tmp_path, text).jobs())
    (finding,) = caught.value.findings
    assert told in finding.message
    assert finding.place is not None
    assert (finding.place.file, finding.place.line) == (str(tmp_path / "history"), 1)


def test_a_warning_of_some_lines(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where others can be read, the first bad line is told, and counted with its like."""
    found = history(tmp_path, line() + "JobId=7\n")
    assert len(list(found.jobs())) == 1
    assert found.account.skipped == {"malformed": 1}
    assert "history:2: 1 of 2 records are malformed and left out" in caplog.text


def test_an_empty_history_has_no_jobs(tmp_path: Path) -> None:
    """A new cluster has completed none."""
    assert list(history(tmp_path, "").jobs()) == []


def test_packed_files(tmp_path: Path) -> None:
    """A file may be packed by gzip; one that is cut off is one clear message."""
    path = tmp_path / "history"
    packed = gzip.compress(line().encode())
    path.write_bytes(packed)
    found = SlurmHistory(SlurmHistoryParams(path=str(path)), SYSTEM)
    assert [traced.job.job_id for traced in found.jobs()] == [1]
    path.write_bytes(packed[:-9])
    with pytest.raises(InputError, match="expected a whole gzip file"):
        list(found.jobs())
