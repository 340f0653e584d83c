"""Jobs written as a log are the jobs that are read back."""

import gzip
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.synthetic_source import SyntheticSource
from hpcsched.workload.trace_writing import BOUND, Written, write_swf
from tests.builders import alike, easy, replay, traced
from tests.real_traces import KTH_SP2, trace
from tests.strategies import Workload, mixed_workloads, tries
from tests.workload.readers.swf_files import read, record, source_of, write

SYSTEM = alike(4, core=4, mem=100)
NUMBERS = st.none() | st.integers(0, 5)
NAMES = st.text("aZ09._+-", min_size=1).filter(lambda name: name != "-1")
NUMBERED = ("user", "group", "application", "queue", "partition")


def written(path: Path, jobs: Sequence[TracedJob], system: System = SYSTEM, **more: Any) -> Written:
    """Write jobs to a log."""
    comments = more.pop("comments", ())
    source = SyntheticSource(lambda: iter(jobs), system, comments=comments)
    return write_swf(path, source, system, note="made up", **more)


@st.composite
def workloads(draw) -> Workload:
    """Draw jobs that a log can hold, with numbers, and with names if the first has one."""
    system, jobs, predictions = draw(mixed_workloads(shortest=1))
    named = draw(st.booleans())
    kept = []
    for job, run_time in jobs:
        changed = job._replace(
            requested_time=run_time + draw(st.integers(0, 5)),
            request=Request(job.units, job.unit_request),
            name=draw(NAMES if named and not kept else st.none() | NAMES) if named else None,
            **{number: draw(NUMBERS) for number in NUMBERED},
        )
        kept.append(TracedJob(changed, run_time))
    return Workload(system, tuple(kept), predictions)


@tries(100)
@given(workload=workloads(), packed=st.booleans())
def test_what_is_written_is_read(workload: Workload, packed: bool) -> None:
    """Every field that a log can hold comes back, and EASY starts each job when it did."""
    system, jobs, _ = workload
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("log.swf.gz" if packed else "log.swf")
        result = written(path, jobs, system)
        assert result == Written(path, len(jobs), path.stat().st_size)
        source = source_of(path, system)
        found = list(source.jobs())
    assert found == list(jobs)
    assert source.account.skipped == {}
    assert replay(system, easy(), found).start_times == replay(system, easy(), jobs).start_times


def test_a_file_by_hand(tmp_path: Path) -> None:
    """Comments and records, with -1 for what is not given."""
    system = System(
        (NodeGroup("cpu", 2, {"core": 4, "mem": 100}), NodeGroup("gpu", 1, {"core": 4, "gpu": 2}))
    )
    jobs = [
        traced(7, 10, 2, 60, (1, 50, 0), requested_time=90, user=3, queue=0, name="a_b"),
        traced(8, 11, 1, 5, (1, 0, 2), group=4, application=5, partition=6),
    ]
    comments = ["Version: 9", "UnixStartTime: 5", "TimeZone: 3600", "TimeZoneString: Europe/Paris"]
    path = tmp_path / "log.swf"
    written(path, jobs, system, comments=comments)
    assert path.read_text().splitlines() == [
        "; Version: 2.2",
        "; Computer: 2 cpu (4 core, 100 mem), 1 gpu (4 core, 2 gpu)",
        "; Note: made up",
        "; UnixStartTime: 5",
        "; TimeZone: 3600",
        "; TimeZoneString: Europe/Paris",
        "; UnitResources: core mem gpu",
        "; JobNames: last",
        "7 10 -1 60 -1 -1 -1 2 90 -1 1 3 -1 -1 0 -1 -1 -1 1 50 0 a_b",
        "8 11 -1 5 -1 -1 -1 1 5 -1 1 -1 4 5 -1 6 -1 -1 1 0 2 -1",
    ]


def test_amounts_are_as_declared(tmp_path: Path) -> None:
    """Where a system counts memory in pages of 8, the log has what the pages come to."""
    system = System((NodeGroup("node", 4, {"core": 4, "mem": 800}),), {"mem": 8})
    path = tmp_path / "log.swf"
    jobs = [traced(1, 0, 1, 60, (1, 3))]
    written(path, jobs, system)
    assert path.read_text().endswith(" 1 24\n")
    assert list(source_of(path, system).jobs()) == jobs


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("a b;c", "a_b_c"),
        ("Ärger/1\n", "_rger_1_"),
        ("-1", "_1"),
        ("", "-1"),
        ("x.y+z-1_", "x.y+z-1_"),
    ],
)
def test_names_are_one_field(tmp_path: Path, name: str, field: str) -> None:
    """What would break a record, or mean none, is replaced."""
    path = tmp_path / "log.swf"
    jobs = [traced(1, 0, 1, 60, (1, 0), name=name)]
    written(path, jobs)
    assert path.read_text().split()[-1] == field
    (found,) = source_of(path, SYSTEM).jobs()
    assert found.job.name == (None if field == "-1" else field)


def test_the_first_job_decides_on_names(tmp_path: Path) -> None:
    """Without a name of the first job, there are none."""
    path = tmp_path / "log.swf"
    written(path, [traced(1, 0, 1, 60, (1, 0)), traced(2, 0, 1, 60, (1, 0), name="late")])
    assert "JobNames" not in path.read_text()
    assert [found.job.name for found in source_of(path, SYSTEM).jobs()] == [None, None]


def test_reading_names(tmp_path: Path) -> None:
    """The last field is the name, also where `unit` is given; `_` is still no digit elsewhere."""
    header = ("; UnitResources: core mem", "; JobNames: last")
    lines = (*header, record(1, more="1 5 two_words"), record(2, more="1 5 -1"))
    _, jobs = read(tmp_path, *lines, system=SYSTEM)
    assert [(found.job.unit_request, found.job.name) for found in jobs] == [
        ((1, 5), "two_words"), ((1, 5), None),
    ]  # fmt: skip
    source, jobs = read(tmp_path, *lines, system=SYSTEM, unit={"core": 2})
    assert [found.job.name for found in jobs] == ["two_words", None]
    assert source.uniform_request == (2, 0)
    _, jobs = read(tmp_path, "; JobNames: last", record(1, more="é"))
    assert jobs[0].job.name == "é"
    for bad in (
        record(1, more="1_0 5 x"),
        record(1, run="6_0", more="1 5 x"),
        record(1, more="1 5"),
    ):
        source, jobs = read(tmp_path, *header, bad, system=SYSTEM, malformed="skip")
        assert (jobs, source.account.skipped) == ([], {"malformed": 1})


def test_what_a_log_cannot_say_is_counted(tmp_path: Path) -> None:
    """Jobs are written without bounds to nodes or on sharing, and each is counted once."""
    jobs = [
        traced(1, 0, 1, 60, (1, 0), node_groups=frozenset({"node"}), exclusive=True),
        traced(2, 0, 1, 60, (1, 0), allowed_nodes=frozenset({0})),
        traced(3, 0, 1, 60, (1, 0), exclusive=True),
        traced(4, 0, 1, 60, (1, 0)),
        traced(5, 0, 2, 60, (1, 0), one_unit_per_node=True),
    ]
    path = tmp_path / "log.swf"
    result = written(path, jobs)
    assert (result.jobs, result.lost.get(BOUND, 0)) == (5, 4)
    found = [job for job, _ in source_of(path, SYSTEM).jobs()]
    assert [(job.exclusive, job.one_unit_per_node) for job in found] == [(False, False)] * 5


def test_packed_logs_have_the_same_bytes(tmp_path: Path) -> None:
    """Neither the time nor the file's name is in them."""
    jobs = [traced(1, 0, 1, 60, (1, 0))]
    one, other = tmp_path / "one.swf.gz", tmp_path / "other.swf.gz"
    written(one, jobs)
    written(other, jobs)
    assert one.read_bytes() == other.read_bytes()
    assert one.read_bytes()[3:8] == bytes(5)  # no flags, no time
    assert gzip.decompress(one.read_bytes()).startswith(b"; Version: 2.2\n")


def test_limit_and_nothing(tmp_path: Path) -> None:
    """The first jobs only; a source without jobs gives a log without records."""
    path = tmp_path / "log.swf"
    jobs = [traced(n, n, 1, 60, (1, 0)) for n in range(5)]
    assert written(path, jobs, limit=2).jobs == 2
    assert [found.job.job_id for found in source_of(path, SYSTEM).jobs()] == [0, 1]
    assert written(path, [], force=True).jobs == 0
    assert list(source_of(path, SYSTEM).jobs()) == []


def rule_of(path: Path, jobs: Sequence[TracedJob] = (), **more: Any) -> str:
    """Return the rule that writing breaks."""
    with pytest.raises(InputError) as caught:
        written(path, jobs, **more)
    assert caught.value.findings[0].place.file == str(path)
    return caught.value.findings[0].rule


def test_files_are_not_replaced_unless_told(tmp_path: Path) -> None:
    """What is there stays, unless with force."""
    path = tmp_path / "log.swf"
    path.write_text("mine")
    assert rule_of(path) == "file-exists"
    assert path.read_text() == "mine"
    written(path, [], force=True)
    assert path.read_text().startswith("; Version")
    assert [file.name for file in tmp_path.iterdir()] == ["log.swf"]


def test_targets_that_cannot_be_written(tmp_path: Path) -> None:
    """A directory, a folder that is not there, and a folder that is a file."""
    assert rule_of(tmp_path, force=True) == "cannot-write"
    assert rule_of(tmp_path / "none" / "log.swf") == "cannot-write"
    (tmp_path / "file").touch()
    assert rule_of(tmp_path / "file" / "log.swf") == "cannot-write"


def test_a_trace_is_not_written_over_itself(tmp_path: Path) -> None:
    """Not even with force."""
    path = write(tmp_path, [record(1)])
    before = path.read_bytes()
    source = source_of(path)
    with pytest.raises(InputError, match="the trace that is to be read"):
        write_swf(tmp_path / "." / "log.swf", source, SYSTEM, note="", force=True)
    assert path.read_bytes() == before


def test_a_trace_that_breaks_off_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """An error of the trace is raised as it is, and nothing unfinished stays."""
    (tmp_path / "from").mkdir()
    source = source_of(write(tmp_path / "from", [record(1), "nonsense"]))
    path = tmp_path / "log.swf"
    path.write_text("mine")
    with pytest.raises(InputError, match="malformed"):
        write_swf(path, source, alike(4, core=2), note="", force=True)
    assert path.read_text() == "mine"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["from", "log.swf"]


@pytest.mark.parametrize("name", ["copy.swf", "copy.swf.gz"])
def test_kth_sp2(tmp_path: Path, name: str) -> None:
    """A real log comes back job by job, and says when it was."""
    system = alike(100, core=1)
    source = source_of(trace(KTH_SP2), system)
    result = write_swf(tmp_path / name, source, system, note="KTH-SP2")
    assert (result.jobs, result.lost.get(BOUND, 0)) == (28481, 0)
    copy = source_of(tmp_path / name, system)
    assert all(a == b for a, b in zip(source.jobs(), copy.jobs(), strict=True))
    assert "UnixStartTime: 843480031" in copy.comments
    assert "TimeZoneString: Europe/Stockholm" in copy.comments


def test_preceding_jobs(tmp_path: Path) -> None:
    """The job that a job waits for and the think time come back; of several jobs, the last."""
    path = tmp_path / "log.swf"
    jobs = [
        traced(1, 0, 1, 5, (1, 0)),
        traced(2, 0, 1, 5, (1, 0), after=(1,), think_time=9),
        traced(3, 0, 1, 5, (1, 0), after=(1, 2)),
    ]
    written(path, jobs)
    again = list(source_of(path, SYSTEM, dependencies="honour").jobs())
    assert again == [*jobs[:2], jobs[2]._replace(job=jobs[2].job._replace(after=(2,)))]
    assert [item.job.after for item in source_of(path, SYSTEM).jobs()] == [(), (), ()]
