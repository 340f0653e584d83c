"""Workloads of Batsim: the fate of every job, and what a file has to be."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.batsim import BatsimParams, BatsimSource
from tests.builders import alike, traced

SYSTEM = alike(4, core=2, gpu=1)

# Ten jobs, and what becomes of each on 8 cores by default.
GOLDEN = """\
{
  "description": "by hand",
  "nb_res": 8,
  "jobs": [
    {"id": 3, "subtime": 10, "walltime": 100, "res": 2, "profile": "minute"},
    {"id": "w0!12", "subtime": 4.9, "walltime": 60.5, "res": 1, "profile": "minute"},
    {"id": "7", "subtime": 12, "walltime": 50, "res": 8, "profile": "minute"},
    {"id": 8, "subtime": 12, "walltime": 100, "res": 9, "profile": "minute"},
    {"id": 9, "subtime": 12, "walltime": 100, "res": 1, "profile": "parallel"},
    {"id": 10, "subtime": 13, "walltime": 100, "res": 1, "profile": "nothing"},
    {"id": 11, "subtime": 13, "walltime": 100, "res": 1, "profile": "moment"},
    {"id": 13, "subtime": 14, "walltime": 100, "res": 1, "profile": "unsaid"},
    {"id": "a!b!14", "subtime": 2e1, "res": 1, "walltime": 10, "profile": "new",
     "dependencies": [3], "extra_data": "{}"},
    {"id": 0, "subtime": 0, "walltime": 1, "res": 1, "profile": 5}
  ],
  "profiles": {
    "minute": {"type": "delay", "delay": 60},
    "parallel": {"type": "parallel_homogeneous", "cpu": 1e6, "com": 0},
    "nothing": {"type": "delay", "delay": 0},
    "moment": {"type": "delay", "delay": 0.001},
    "unsaid": {"type": "delay"},
    "new": {"type": "DelayProfile", "delay": 9.5, "ret": 1},
    "5": {"type": "delay", "delay": 1}
  }
}
"""


def write(folder: Path, text: str, packed: bool = False) -> Path:
    """Write a workload and return its path."""
    path = folder / ("workload.json.gz" if packed else "workload.json")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def workload(*jobs: Any, **profiles: Any) -> str:
    """Return a workload with these jobs; a profile `d` is a delay of a minute."""
    known = {"d": {"type": "delay", "delay": 60}, **profiles}
    return json.dumps({"nb_res": 4, "jobs": list(jobs), "profiles": known})


def job(number: Any = 1, subtime: Any = 0, **more: Any) -> dict[str, Any]:
    """Return a job on one resource with the profile `d`."""
    return {"id": number, "subtime": subtime, "walltime": 100, "res": 1, "profile": "d", **more}


def read(path: Path, **params: Any) -> tuple[BatsimSource, list[TracedJob]]:
    """Read a workload, check its account, and return the source and its jobs."""
    source = BatsimSource(BatsimParams(path=str(path), **params), SYSTEM)
    jobs = list(source.jobs())
    account = source.account
    assert account.submitted == len(jobs)
    assert account.read == account.submitted + sum(account.skipped.values())
    return source, jobs


def fault(path: Path, **params: Any) -> str:
    """Return the one finding with which reading ends."""
    with pytest.raises(InputError) as caught:
        read(path, **params)
    (finding,) = caught.value.findings
    return str(finding)


@pytest.mark.parametrize("packed", [False, True])
def test_the_fate_of_every_job(tmp_path: Path, packed: bool) -> None:
    """Instants are rounded down, durations up; jobs come by submit time."""
    source, jobs = read(write(tmp_path, GOLDEN, packed))
    request = (1, 0)
    assert jobs == [
        traced(0, 0, 1, 1, request, requested_time=1),
        traced(12, 4, 1, 60, request, requested_time=61),
        traced(3, 10, 2, 60, request, requested_time=100),
        traced(7, 12, 8, 50, request, requested_time=50),
        traced(11, 13, 1, 1, request, requested_time=100),
        traced(14, 20, 1, 10, request, requested_time=10),
    ]
    assert source.account.read == 10
    assert source.account.skipped == {
        "larger_than_system": 1, "other_profile": 1, "zero_run_time": 1, "missing_run_time": 1,
    }  # fmt: skip
    assert source.account.clipped == {"over_requested_time": 1, "fractional_seconds": 3}
    assert source.comments == ["by hand"]
    assert source.uniform_request == request
    assert source.fraction_read == 1.0


def test_reading_again(tmp_path: Path) -> None:
    """A second pass gives the same jobs and a fresh account."""
    source, jobs = read(write(tmp_path, GOLDEN))
    assert list(source.jobs()) == jobs
    assert source.account.read == 10


def test_profiles_may_come_first(tmp_path: Path) -> None:
    """The order of the keys makes no difference."""
    text = '{"profiles": {"d": {"type": "delay", "delay": 1}}, "jobs": [%s]}'
    _, jobs = read(write(tmp_path, text % json.dumps(job())))
    assert [found.run_time for found in jobs] == [1]


def test_numbers_of_jobs(tmp_path: Path) -> None:
    """By position, skipped jobs have a number too."""
    path = write(tmp_path, workload(job("x"), job("y", res=99), job("x")))
    assert "id: expected a number, or one after '!', found 'x'" in fault(path)
    source, jobs = read(path, job_ids="position")
    assert [found.job.job_id for found in jobs] == [1, 3]
    assert source.account.skipped == {"larger_than_system": 1}
    same = write(tmp_path, workload(job("w0!1"), job("w1!1")))
    assert "job number 1 was seen before" in fault(same)


def test_what_a_unit_asks_for(tmp_path: Path) -> None:
    """Each resource of a job is a unit that asks for what the scenario says."""
    path = write(tmp_path, workload(job(1, res=4), job(2, res=5)))
    source, jobs = read(path, unit={"core": 2, "gpu": 1})
    assert [(found.job.units, found.job.unit_request) for found in jobs] == [(4, (2, 1))]
    assert source.account.skipped == {"larger_than_system": 1}
    assert "mem, which no node group has; there are: core, gpu" in fault(path, unit={"mem": 1})


def test_policies(tmp_path: Path) -> None:
    """Each policy does what it says."""
    later = workload(job(1, 5), job(2, 3))
    assert "[unsorted]" in fault(write(tmp_path, later), unsorted="error")
    source, _ = read(write(tmp_path, later), unsorted="skip")
    assert source.account.skipped == {"unsorted": 1}
    _, jobs = read(write(tmp_path, later), jobs=1)
    assert [found.job.job_id for found in jobs] == [2]
    unlimited = {key: value for key, value in job().items() if key != "walltime"}
    path = write(tmp_path, workload(unlimited))
    assert "[missing-requested-time]" in fault(path)
    _, jobs = read(path, missing_requested_time="run_time")
    assert jobs[0].job.requested_time == 60
    _, jobs = read(write(tmp_path, workload(job(walltime=-1))), missing_requested_time=70)
    assert jobs[0].job.requested_time == 70
    other = workload(job(profile="p"), p={"type": "smpi"})
    said = fault(write(tmp_path, other), other_profile="error")
    assert "the profile 'p' is of type 'smpi', from which no run time follows" in said
    _, jobs = read(write(tmp_path, workload(job(walltime=5))), over_requested_time="keep")
    assert jobs[0].run_time == 60


# A job that is no job, and what is said of it.
JOBS = {
    "no object": (5, "expected an object for a job"),
    "no id": ({"subtime": 0, "res": 1, "profile": "d"}, "the key 'id' is missing"),
    "a fraction for an id": (job(1.5), "id: expected a whole number, found 1.5"),
    "no subtime": ({"id": 1, "res": 1, "profile": "d"}, "the key 'subtime' is missing"),
    "a negative subtime": (job(subtime=-5), "a job number and a submit time, found -1"),
    "words for numbers": (job(subtime="soon"), "subtime: expected a number, found 'soon'"),
    "truth for a number": (job(res=True), "res: expected a number, found True"),
    "null for a number": (job(walltime=None), "walltime: expected a number, found None"),
    "half a resource": (job(res=1.5), "res: expected a whole number, found 1.5"),
    "no resources": (job(res=0), "res: expected at least 1"),
    "a huge number": (job(subtime=1e300), "subtime: expected a number up to 9007199254740992"),
    "no profile": ({"id": 1, "subtime": 0, "res": 1}, "profile: there is no profile 'None'"),
    "an unknown profile": (job(profile="x"), "profile: there is no profile 'x'"),
    "a list for a number": (job(res=[1]), "res: expected a number, found [1]"),
}


@pytest.mark.parametrize("kind", JOBS)
def test_jobs_that_are_none(kind: str, tmp_path: Path) -> None:
    """The message has the line on which the job begins; the policy can skip it."""
    found, message = JOBS[kind]
    text = workload(job(99), found).replace(', {"id"', ',\n\n{"id"')
    if not isinstance(found, dict) or "id" not in found:
        text = workload(job(99), found).replace('"d"}, ', '"d"},\n\n', 1)
    path = write(tmp_path, text)
    said = fault(path)
    assert said.startswith(f"{path}:3: error: ")
    assert message in said
    assert said.endswith("[malformed]")
    source, _ = read(path, malformed="skip")
    assert source.account.skipped == {"malformed": 1}


# What is no workload, where the message points, and what it says.
FILES = {
    "nothing": ("", ":1:1", "expected JSON: "),
    "a list": ("[]", "", "expected a workload, which begins with {"),
    "cut off in a job": (GOLDEN[:200], ":6:", "expected JSON: "),
    "no jobs": ('{"profiles": {}}', "", "expected a list under the key 'jobs'"),
    "no profiles": ('{"jobs": []}', "", "expected a dict under the key 'profiles'"),
    "no number": ('{"jobs": [{"id": NaN}]}', "", "expected JSON: found NaN"),
    "a huge number": (f'{{"jobs": [{"9" * 5000}]}}', "", "integer string conversion"),
    "more behind it": ('{"jobs": [], "profiles": {}} x', ":1:30", "expected JSON: Extra data"),
    "nested deeply": ('{"jobs": ' + "[" * 100_000, "", "recursion"),
    "swf": ("; Version: 2.2\n1 0 -1\n", ":1:1", "expected JSON: "),
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_files_that_are_none(kind: str, tmp_path: Path) -> None:
    """There is one message, with line and column."""
    text, place, message = FILES[kind]
    path = write(tmp_path, text)
    said = fault(path)
    assert said.startswith(f"{path}{place}")
    assert message in said
    assert said.endswith("[malformed]")


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.99])
def test_cut_off_gzip(keep: float, tmp_path: Path) -> None:
    """A packed file that is cut off is damaged."""
    packed = gzip.compress(GOLDEN.encode())
    path = tmp_path / "workload.json"
    path.write_bytes(packed[: max(2, int(len(packed) * keep))])
    assert fault(path).endswith("[damaged-trace]")


def test_other_bytes(tmp_path: Path) -> None:
    """Text in another encoding, binary data and folders give one message each."""
    path = tmp_path / "workload.json"
    path.write_bytes(GOLDEN.encode("utf-16"))
    assert "found UTF-16; write it as UTF-8 first" in fault(path)
    path.write_bytes(bytes(range(128)))
    assert "found zero bytes" in fault(path)
    path.write_bytes(b"\xef\xbb\xbf" + GOLDEN.encode())
    assert len(read(path)[1]) == 6
    assert fault(tmp_path).endswith("[unreadable-trace]")
    assert fault(tmp_path / "none").endswith("[unreadable-trace]")


TASKS = {
    "task": {"type": "parallel_homogeneous", "cpu": 10e9, "com": 0},
    "later": {"type": "ParallelTaskHomogeneousProfile", "cpu": 5e9},
    "total": {"type": "parallel_homogeneous_total", "cpu": 12e9, "com": 1e6},
    "spread": {
        "type": "ParallelTaskHomogeneousProfile", "cpu": 12e9,
        "generation_strategy": "DefinedAmountsSpreadUniformly",
    },
    "none": {"type": "parallel_homogeneous"},
}  # fmt: skip


def test_tasks_at_a_speed(tmp_path: Path) -> None:
    """At 4 Gflop/s: 10 / 4 and 5 / 4 s rounded up; 12 Gflop of 2 resources take 12 / (2 × 4) s."""
    jobs = [
        job(1, profile="task"), job(2, profile="later"), job(3, profile="total", res=2),
        job(4, profile="spread", res=2), job(5), job(6, profile="solver"),
    ]  # fmt: skip
    path = write(tmp_path, workload(*jobs, **TASKS, solver={"type": "smpi"}))
    source, found = read(path, speed=4e9)
    assert [(traced.job.job_id, traced.run_time) for traced in found] == [
        (1, 3), (2, 2), (3, 2), (4, 2), (5, 60),
    ]  # fmt: skip
    assert source.account.skipped == {"other_profile": 1}
    assert source.account.clipped == {"communication": 1, "fractional_seconds": 4}
    source, found = read(path)
    assert [traced.job.job_id for traced in found] == [5]
    assert source.account.skipped == {"other_profile": 5}
    assert "cpu" in fault(write(tmp_path, workload(job(1, profile="none"), **TASKS)), speed=1)
