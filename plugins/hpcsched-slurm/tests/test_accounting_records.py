"""Records of slurmdbd as JSON.

`slurmdb.json` is what slurmrestd 22.05 (v0.0.38) answered, cut to the keys that are read, and
`sacct.txt` what sacct printed of the same jobs. Answers of later versions are made by hand: the
same objects, with numbers as in other recorded answers of these versions.
"""

import json
import time
from calendar import timegm
from pathlib import Path
from typing import Any

import pytest

from hpcsched import InputError
from hpcsched_slurm.accounting_answer import record_of
from hpcsched_slurm.arrays import first_array_number
from hpcsched_slurm.history import SlurmHistory
from hpcsched_slurm.params import SlurmHistoryParams
from recorded import FOLDER, MIB
from test_history import SYSTEM, history

SUBMIT, START, END = 1_795_285_000, 1_795_285_010, 1_795_285_060


def number(value: int | None) -> dict[str, object]:
    """Return a number as versions after v0.0.38 write it; None: it is missing."""
    return {"set": value is not None, "infinite": False, "number": value or 0}


def job(*, newer: bool, **changes: Any) -> dict[str, Any]:
    """Return a completed job with 8 CPUs and 2 GPUs on 2 nodes."""
    tres: list[tuple[str, str, int | None]] = [
        ("cpu", "", 8),
        ("mem", "", 2048),
        ("node", "", 2),
        ("billing", "", 8),
    ]
    tres += [("energy", "", None), ("gres", "gpu", 2), ("gres", "gpu:a100", 2)]
    listed = [{"type": kind, "name": name, "id": 1, "count": n} for kind, name, n in tres]
    usual = {
        "job_id": 5, "user": "root", "group": "root", "name": "x|y", "partition": "main",
        "association": {"account": "a", "cluster": "c", "partition": None, "user": "root"},
        "array": {"job_id": 0, "task_id": number(None) if newer else None},
        "state": {"current": ["COMPLETED"] if newer else "COMPLETED", "reason": "None"},
        "time": {
            "submission": SUBMIT, "start": START, "end": END, "elapsed": END - START,
            "limit": number(10) if newer else 10,
        },
        "tres": {"allocated": listed, "requested": listed},
    }  # fmt: skip
    return usual | changes


def answer(*jobs: object, newer: bool = True) -> str:
    """Return an answer of slurmdbd."""
    plugin = {"type": "openapi/dbv0.0.38"}
    if newer:
        plugin = {"type": "openapi/slurmdbd", "data_parser": "data_parser/v0.0.42"}
    return json.dumps({"meta": {"plugin": plugin}, "errors": [], "jobs": jobs})


def test_a_recorded_answer(tmp_path: Path) -> None:
    """It gives the jobs that sacct printed of the same cluster; sacct has no numbers of tasks."""
    header, *rows = (line.split("|") for line in (FOLDER / "sacct.txt").read_text().splitlines())
    printed = []
    for row in rows:
        one = dict(zip(header, row, strict=False))  # a name may hold the separator
        if one["End"] != "Unknown":
            start, end = (
                timegm(time.strptime(one[name], "%Y-%m-%dT%H:%M:%S")) for name in ("Start", "End")
            )
            printed.append((start, end - start, int(one["NNodes"]), int(one["UID"])))
    by_json = history(tmp_path, (FOLDER / "slurmdb.json").read_text())
    jobs = list(by_json.jobs())
    assert len(jobs) == 6
    assert by_json.account.skipped["never_ran"] == 1  # one still ran
    assert sorted((run, job.units, job.user) for job, run in jobs) == sorted(
        (run, nodes, user) for _, run, nodes, user in printed
    )
    numbers = {job.job_id for job, _ in jobs}
    assert numbers == {1, 2, 3, *(first_array_number(4) + task for task in (1, 2, 3))}


@pytest.mark.parametrize("newer", [False, True])
def test_a_job(newer: bool, tmp_path: Path) -> None:
    """It has its times, and on each node half of the amounts, whatever the types of devices."""
    told = job(newer=newer, name="x_y")
    ((found, run_time),) = history(tmp_path, answer(told, newer=newer)).jobs()
    assert (run_time, found.submit_time, found.requested_time) == (50, SUBMIT, 600)
    assert (found.units, found.unit_request) == (2, (4, 1024 * MIB, 1))
    assert (found.user, found.group, found.name) == (0, 0, "x_y")


def test_names_may_hold_anything(tmp_path: Path) -> None:
    """A separator of sacct is none here."""
    ((found, _),) = history(tmp_path, answer(job(newer=True))).jobs()
    assert found.name == "x|y"


@pytest.mark.parametrize(
    ("newer", "limit"),
    [
        (False, 2**32 - 1),
        (False, None),
        (True, number(None)),
        (True, number(5) | {"infinite": True}),
    ],
)
def test_jobs_without_a_limit(newer: bool, limit: object, tmp_path: Path) -> None:
    """They get the limit that the scenario sets."""
    told = job(newer=newer)
    told["time"]["limit"] = limit
    ((found, _),) = history(tmp_path, answer(told, newer=newer), no_limit=77).jobs()
    assert found.requested_time == 77


def test_account(tmp_path: Path) -> None:
    """Jobs that run or never ran, and objects of another form, are counted."""
    running, pending, odd = (job(newer=True, job_id=n) for n in (6, 7, 8))
    running["time"] = running["time"] | {"end": 0}
    pending["time"] = pending["time"] | {"start": 0, "end": 0}
    del odd["tres"]
    found = history(tmp_path, answer(job(newer=True), running, pending, odd, None))
    assert [traced.job.job_id for traced in found.jobs()] == [5]
    assert found.account.skipped == {"never_ran": 2, "malformed": 2}


@pytest.mark.parametrize("newer", [False, True])
def test_tasks_of_arrays(newer: bool, tmp_path: Path) -> None:
    """They have the numbers that live runs give them."""
    told = job(newer=newer, array={"job_id": 7, "task_id": number(0) if newer else 0})
    ((found, _),) = history(tmp_path, answer(told, newer=newer)).jobs()
    assert found.job_id == first_array_number(7)


def test_users_that_this_machine_does_not_know() -> None:
    """They get a number that always stands for their name."""
    one, other, again = (record_of(job(newer=True, user=u)) for u in ("no-ann", "no-bob", "no-ann"))
    assert one is not None and other is not None
    assert one == again
    assert one["UID"] != other["UID"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "expected slurmdbd's answer as JSON"),
        ('{"jobs": []}', "of version none"),
        (answer().replace("jobs", "jabs"), "no list of jobs"),
    ],
)
def test_other_files(text: str, message: str, tmp_path: Path) -> None:
    """They are one clear message."""
    path = tmp_path / "history"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        list(SlurmHistory(SlurmHistoryParams(path=str(path)), SYSTEM).jobs())


@pytest.mark.parametrize("newer", [False, True])
def test_suspended_jobs(newer: bool, tmp_path: Path) -> None:
    """Of 50 seconds a job was suspended for 20: it ran for 30."""
    times = job(newer=newer)["time"] | {"suspended": number(20) if newer else 20}
    found = history(tmp_path, answer(job(newer=newer, time=times), newer=newer))
    assert [run_time for _, run_time in found.jobs()] == [30]
    assert (record_of(job(newer=newer, time=times)) or {})["Suspended"] == "0:00:20"
