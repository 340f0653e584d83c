"""Histories of completed jobs, of both kinds."""

from pathlib import Path

import pytest
from recorded import MIB

from hpcsched import InputError, NodeGroup, System
from hpcsched_slurm.arrays import first_array_number
from hpcsched_slurm.history import SlurmHistory, SlurmHistoryParams

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
