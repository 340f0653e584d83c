"""What is written as a log or as a table is read back, and what is lost is said."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.swf import SwfParams, SwfSource
from hpcsched.workload.readers.table import TableParams, TableSource
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from hpcsched.workload.trace_writing import BOUND, Written, write_swf, write_table
from tests.builders import alike, traced
from tests.strategies import Workload, mixed_workloads, tries

SYSTEM = alike(4, core=4, mem=100)
KEEP: dict[str, Any] = {"zero_run_time": "keep", "over_requested_time": "keep"}
NUMBERS = st.none() | st.integers(0, 5)
TEXTS = st.none() | st.text(min_size=1, max_size=5).map(str.strip).filter(
    lambda text: text not in ("", "-1")
)
LABELS = ("user", "group", "application", "queue", "partition")


def written(
    write: Callable[..., Written], path: Path, jobs: Sequence[TracedJob], **more: Any
) -> Written:
    """Write jobs for a system."""
    system, comments = more.pop("system", SYSTEM), more.pop("comments", ())
    source = SyntheticSource(lambda: iter(jobs), system, comments=comments)
    return write(path, source, system, note="made up", **more)


def table(path: Path, system: System = SYSTEM) -> TableSource:
    """Return a source that reads a table, without being told how."""
    return TableSource(TableParams(path=str(path), **KEEP), system)


def swf(path: Path, system: System = SYSTEM) -> SwfSource:
    """Return a source that reads a log."""
    return SwfSource(SwfParams(path=str(path), **KEEP), system)


@st.composite
def workloads(draw) -> Workload:
    """Draw jobs with everything that a job can have, but for other jobs and shared resources."""
    system, jobs, predictions = draw(mixed_workloads())
    kept = []
    for job, run_time in jobs:
        numbers = {label: draw(NUMBERS) for label in LABELS}
        names = {label: draw(TEXTS) for label in ("name", "queue_name", "partition_name")}
        requested_time = draw(st.integers(1, 20))
        changed = job._replace(requested_time=requested_time, **numbers, **names)
        kept.append(TracedJob(changed, run_time))
    return Workload(system, tuple(kept), predictions)


@tries(40)
@given(workload=workloads())
def test_a_table_has_all_of_a_job(workload: Workload) -> None:
    """Every field comes back, and nothing is said to be lost."""
    system, jobs, _ = workload
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs.parquet"
        result = written(write_table, path, jobs, system=system)
        assert result == Written(path, len(jobs), path.stat().st_size)
        assert list(table(path, system).jobs()) == list(jobs)


@st.composite
def logs(draw) -> str:
    """Draw a log in the Standard Workload Format, of jobs on 1 to 16 cores."""
    lines, submit_time = [], 0
    for number in draw(st.lists(st.integers(0, 99), max_size=6, unique=True)):
        submit_time += draw(st.integers(0, 3))
        run_time, units = draw(st.integers(0, 9)), draw(st.integers(1, 16))
        requested_time, user, queue = (draw(st.integers(k, 9)) for k in (1, -1, -1))
        lines.append(
            f"{number} {submit_time} -1 {run_time} -1 -1 -1 {units} {requested_time} -1 1 {user}"
            f" -1 -1 {queue} -1 -1 -1\n"
        )
    return "; UnixStartTime: 843480031\n; Acknowledge: somebody\n" + "".join(lines)


@tries(40)
@given(log=logs(), packed=st.booleans())
def test_swf_there_and_back(log: str, packed: bool) -> None:
    """By way of a table nothing is lost, header comments included."""
    with tempfile.TemporaryDirectory() as name:
        folder, end = Path(name), ".gz" if packed else ""
        (folder / "log.swf").write_text(log)
        source = swf(folder / "log.swf")
        jobs = list(source.jobs())
        assert source.account.read == log.count("\n") - 2

        write_table(folder / "a.parquet", source, SYSTEM, note="n")
        again = table(folder / "a.parquet")
        kept = write_swf(folder / f"a.swf{end}", again, SYSTEM, note="n", keep_comments=True)
        assert kept.lost == {}
        found = swf(folder / f"a.swf{end}")
        assert list(found.jobs()) == jobs
        if jobs:
            assert found.comments[1:3] == ["UnixStartTime: 843480031", "Acknowledge: somebody"]


JOB = traced(
    7, 10, 2, 60, (1, 50), requested_time=90, user=3, name="a b", queue_name="long",
    node_groups=frozenset({"node"}), exclusive=True, after=(1, 2), shared_requests=(("disk", 1),),
)  # fmt: skip
PLAIN = traced(8, 11, 1, 60, (1, 0))


def test_what_a_table_and_a_log_cannot_say(tmp_path: Path) -> None:
    """A table has no preceding jobs and no shared draws; a log one preceding job."""
    shared_resources = {"jobs to wait for": 1, "draws from shared resources": 1}
    assert written(write_table, tmp_path / "a.parquet", [JOB, PLAIN]).lost == shared_resources
    result = written(write_swf, tmp_path / "a.swf", [JOB, PLAIN])
    assert result.lost == {
        **shared_resources, "bound to nodes, exclusive or with one unit per node": 1, "a name": 1,
        "the name of a queue or partition": 1,
    }  # fmt: skip
    assert result.lost.get(BOUND, 0) == 1
    one = PLAIN._replace(job=PLAIN.job._replace(after=(7,), name="a"))
    assert written(write_swf, tmp_path / "b.swf", [one]).lost == {}
    assert written(write_swf, tmp_path / "c.swf", [PLAIN, one]).lost == {"a name": 1}


def test_a_table_by_hand(tmp_path: Path) -> None:
    """The columns are those of the glossary."""
    path = tmp_path / "jobs.parquet"
    written(write_table, path, [JOB, PLAIN], comments=["UnixStartTime: 5"])
    first, second = pq.read_table(path).to_pylist()
    assert first == {
        "job_id": 7, "submit_time": 10, "run_time": 60, "requested_time": 90, "units": 2,
        "unit_request": {"core": 1, "mem": 50}, "user": 3, "group": None, "application": None,
        "queue": None, "partition": None, "name": "a b", "queue_name": "long",
        "partition_name": None, "node_groups": ["node"], "allowed_nodes": None, "exclusive": True,
        "one_unit_per_node": False,
    }  # fmt: skip
    assert second["exclusive"] is False
    assert table(path).comments == ["UnixStartTime: 5", "Note: made up"]


WRITERS = [(write_swf, "jobs.swf", swf), (write_table, "jobs.parquet", table)]


@pytest.mark.parametrize(("write", "name", "read"), WRITERS)
def test_files_are_not_replaced_unless_told(
    write: Callable[..., Written], name: str, read: Callable[[Path], Any], tmp_path: Path
) -> None:
    """What is there stays, unless with force; nothing unfinished is left."""
    path = tmp_path / name
    path.write_text("mine")
    for target, rule in ((path, "file-exists"), (tmp_path, "cannot-write")):
        with pytest.raises(InputError) as caught:
            written(write, target, [PLAIN])
        assert caught.value.findings[0].rule == rule
    assert path.read_text() == "mine"
    assert written(write, path, [PLAIN, PLAIN], force=True, limit=1).jobs == 1
    assert [found.job.job_id for found in read(path).jobs()] == [8]
    with pytest.raises(InputError, match="it is the trace that is to be read"):
        write(path, read(path), SYSTEM, note="", force=True)
    with pytest.raises(InputError, match="cannot be written"):
        written(write, tmp_path / "none" / name, [PLAIN])
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(("write", "name", "read"), WRITERS)
def test_nothing_and_twice(
    write: Callable[..., Written], name: str, read: Callable[[Path], Any], tmp_path: Path
) -> None:
    """A trace without jobs gives a file without jobs; the same jobs give the same bytes."""
    path = tmp_path / name
    assert written(write, path, []).jobs == 0
    assert list(read(path).jobs()) == []
    other = tmp_path / f"other-{name}"
    written(write, path, [PLAIN, JOB], force=True)
    written(write, other, [PLAIN, JOB])
    assert path.read_bytes() == other.read_bytes()


@pytest.mark.parametrize(("write", "name"), [writer[:2] for writer in WRITERS])
def test_a_source_that_ends_in_an_error(
    write: Callable[..., Written], name: str, tmp_path: Path
) -> None:
    """Nothing is written of a trace that cannot be used."""
    log = tmp_path / "log.swf"
    log.write_text("1 0 -1 5 -1 -1 -1 1 9 -1 1 -1 -1 -1 -1 -1 -1 -1\nnonsense\n")
    with pytest.raises(InputError, match="expected 18 fields, found 1"):
        write(tmp_path / name, swf(log), SYSTEM, note="")
    assert [file.name for file in tmp_path.iterdir()] == ["log.swf"]
