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
SACCT = (
    "JobIDRaw|UID|GID|JobName|Partition|State|Submit|Start|End|TimelimitRaw|NNodes|NCPUS|AllocTRES"
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


def test_sacct(tmp_path: Path) -> None:
    """What sacct prints has generic resources too."""
    row = (
        "5|1001|100|x|main|COMPLETED|2026-11-21T18:29:00|2026-11-21T18:29:10|2026-11-21T18:30:00"
        "|10|2|8|billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=2G,node=2"
    )
    ((job, run_time),) = history(tmp_path, f"{SACCT}\n{row}\n").jobs()
    assert (run_time, job.unit_request, job.requested_time) == (50, (4, 1024 * MIB, 1), 600)
    with pytest.raises(InputError, match="AllocTRES of sacct are missing"):
        list(history(tmp_path, SACCT.removesuffix("|AllocTRES")).jobs())


@pytest.mark.parametrize(
    ("limit", "tres", "seconds", "request_"),
    [
        ("90", "cpu=8,mem=1.5G,gres/gpu=2", 5400, (4, 768 * MIB, 1)),
        ("UNLIMITED", "gres/gpu:2080ti=4", 500, (4, 0, 2)),
        ("Partition_Limit", "N/A", 500, (4, 0, 0)),
        ("0", "", 500, (4, 0, 0)),
    ],
)
def test_values(
    limit: str, tres: str, seconds: int, request_: tuple[int, ...], tmp_path: Path
) -> None:
    """Limits, sizes and resources are read as everywhere."""
    row = (
        "5|1001|100|x|main|COMPLETED|2026-11-21T18:29:00|2026-11-21T18:29:10|2026-11-21T18:30:00"
        f"|{limit}|2|8|{tres}"
    )
    ((job, _),) = history(tmp_path, f"{SACCT}\n{row}\n", no_limit=500).jobs()
    assert (job.requested_time, job.unit_request) == (seconds, request_)


def test_missing_file(tmp_path: Path) -> None:
    """A file that is not there is one clear message."""
    with pytest.raises(InputError, match="cannot be read"):
        list(SlurmHistory(SlurmHistoryParams(path=str(tmp_path / "no")), SYSTEM).jobs())


def sacct_row(number: str = "5", **changes: str) -> str:
    """Return a row of sacct of a job of 50 seconds."""
    values = {
        "JobIDRaw": number, "UID": "1001", "GID": "100", "JobName": "x", "Partition": "main",
        "State": "COMPLETED", "Submit": "2026-11-21T18:29:00", "Start": "2026-11-21T18:29:10",
        "End": "2026-11-21T18:30:00", "TimelimitRaw": "10", "NNodes": "2", "NCPUS": "8",
        "AllocTRES": "cpu=8,mem=2G,node=2",
    }  # fmt: skip
    return "|".join((values | changes).values())


@pytest.mark.parametrize("separator", ["|", ";", "\t"])
@pytest.mark.parametrize("packed", [False, True])
def test_forms_of_sacct(tmp_path: Path, separator: str, packed: bool) -> None:
    """Other delimiters, `--parsable`, gzip; steps are counted and are no jobs."""
    rows = [SACCT, sacct_row(), sacct_row("5.batch"), sacct_row("5.0")]
    text = "".join(f"{row}|\n" for row in rows).replace("|", separator)
    path = tmp_path / "history"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    found = SlurmHistory(SlurmHistoryParams(path=str(path)), SYSTEM)
    ((job, run_time),) = found.jobs()
    assert (job.job_id, run_time) == (5, 50)
    assert found.account.skipped == {"job_step": 2}


def test_commas_are_refused(tmp_path: Path) -> None:
    """Lists of resources contain them."""
    text = f"{SACCT}\n{sacct_row()}\n".replace("|", ",")
    with pytest.raises(InputError, match="lists such as AllocTRES: call sacct without --delimiter"):
        list(history(tmp_path, text).jobs())


def test_names_with_bars_and_suspension(tmp_path: Path) -> None:
    """JobName may come last; a job of 50 seconds that was suspended for 20 of them ran for 30."""
    header = SACCT.replace("JobName|", "").replace("End|", "End|Suspended|") + "|JobName"
    row = sacct_row(JobName="").replace("||", "|").replace("18:30:00|", "18:30:00|00:00:20|")
    found = history(tmp_path, f"{header}\n{row}|a|b\n")
    ((job, run_time),) = found.jobs()
    assert (job.name, run_time) == ("a|b", 30)


def test_the_last_run_of_a_requeued_job_counts(tmp_path: Path) -> None:
    """With --duplicates it has a record of each; one that waits again is none."""
    again = {"Submit": "2026-11-21T18:30:00", "Start": "2026-11-21T18:31:00"}
    rows = (
        sacct_row(State="REQUEUED"),
        sacct_row(**again, End="2026-11-21T18:33:00", State="NODE_FAIL"),
        sacct_row(**again | {"Start": "Unknown"}, End="Unknown", State="PENDING"),
    )
    found = history(tmp_path, "\n".join((SACCT, *rows)))
    assert [run_time for _, run_time in found.jobs()] == [120]
    assert found.account.skipped == {"repeated": 1, "never_ran": 1}


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (
            f"{SACCT}\n{sacct_row(Submit='18:29:00')}\n{sacct_row(Start='Unknown')}\n",
            2,
            "1 of 2 records are malformed and left out; the first: expected a time such as"
            " 2024-03-01T12:00:00,"
            " found '18:29:00'; unset SLURM_TIME_FORMAT",
        ),
        (f"{SACCT}\n\n5|x\n", 3, "expected 13 columns with '|' between them, found 2"),
        (f"{SACCT}\n{sacct_row('5_3')}\n", 2, "expected the number of a job as JobIDRaw"),
        (f"{SACCT}\n{sacct_row(NCPUS='many')}\n", 2, "expected a number of NCPUS, found 'many'"),
        (line().replace("NodeCnt=2", "NodeCnt="), 1, "expected a line of jobcomp/filetxt, found"),
        ("JobID   JobName\n", 1, "the table that sacct prints for people: add --parsable2"),
        ("rubbish\n", 1, "expected a file of jobcomp/filetxt, or output of sacct --parsable2"),
        (f"{sacct_row()}\n", 1, "the first line is a job: call sacct without --noheader"),
        (f"{SACCT}\n".replace("JobIDRaw", "JobID"), 1, "the columns JobIDRaw of sacct are missing"),
    ],
)
def test_what_is_no_history(tmp_path: Path, text: str, line: int, told: str) -> None:
    """One clear message with the line, what was expected and what was found."""
    with pytest.raises(InputError) as caught:
        list(history(tmp_path, text).jobs())
    (finding,) = caught.value.findings
    assert told in finding.message
    assert finding.place is not None
    assert (finding.place.file, finding.place.line) == (str(tmp_path / "history"), line)


def test_a_warning_of_some_lines(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Where others can be read, the first bad line is told, and counted with its like."""
    found = history(tmp_path, f"{SACCT}\n{sacct_row()}\n{sacct_row('6', JobName='a|b')}\n")
    assert len(list(found.jobs())) == 1
    assert found.account.skipped == {"malformed": 1}
    assert "history:3: 1 of 2 records are malformed and left out" in caplog.text
    assert "does no harm where JobName is the last column" in caplog.text


def test_an_empty_history_has_no_jobs(tmp_path: Path) -> None:
    """A new cluster has completed none."""
    assert list(history(tmp_path, "").jobs()) == []
    assert list(history(tmp_path, f"{SACCT}\n").jobs()) == []


def test_a_damaged_file(tmp_path: Path) -> None:
    """A packed file that is cut off is one clear message."""
    path = tmp_path / "history"
    path.write_bytes(gzip.compress(f"{SACCT}\n".encode() * 100)[:-9])
    with pytest.raises(InputError, match="expected a whole gzip file"):
        list(SlurmHistory(SlurmHistoryParams(path=str(path)), SYSTEM).jobs())
