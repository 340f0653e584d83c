"""Tables of jobs, CSV and Parquet: the fate of every row, and what a table has to be."""

import gzip
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from hpcsched.errors import InputError
from hpcsched.system.mig import MIG_PROFILES, MIG_SHARES
from hpcsched.system.system import Devices, NodeGroup, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.readers.table import TableParams, TableSource
from tests.builders import alike, traced

SYSTEM = alike(4, core=8, gpu=2)

GOLDEN = """\
id,submitted,elapsed,limit,nodes,cores_per_node,gpus,uid,what
1,10,60,100,2,4,0,alice,a job
2,10.9,59.1,100.0,1,8,2,bob,
3,12,70,50,1,1,0,alice,over its limit

4,12,60,100,5,8,0,carol,too large
5,13,-1,100,1,1,0,,no run time
6,13,0,100,1,1,0,,ran for nothing
7,14,60,100, 1 ,1,0,bob,"said, so"
"""
COLUMNS = {
    "job_id": "id", "submit_time": "submitted", "run_time": "elapsed", "requested_time": "limit",
    "units": "nodes", "user": "uid", "name": "what",
}  # fmt: skip
MAPPING = {
    "columns": COLUMNS,
    "requests": {"core": "cores_per_node", "gpu": "gpus"},
    "named": ["user"],
}


def write(folder: Path, text: str, packed: bool = False) -> Path:
    """Write a CSV file and return its path."""
    path = folder / ("jobs.csv.gz" if packed else "jobs.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def write_parquet(folder: Path, **columns: Any) -> Path:
    """Write a Parquet file with these columns and return its path."""
    path = folder / "jobs.parquet"
    pq.write_table(pa.table(columns), path)
    return path


def source_of(path: Path, system: System = SYSTEM, **params: Any) -> TableSource:
    """Return a source that reads a table, with parameters as a scenario gives them."""
    return TableSource(TableParams.model_validate({"path": str(path), **params}), system)


def read(path: Path, **params: Any) -> tuple[TableSource, list[TracedJob]]:
    """Read a table, check its account, and return the source and its jobs."""
    source = source_of(path, **params)
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
def test_the_fate_of_every_row(tmp_path: Path, packed: bool) -> None:
    """Instants are rounded down, durations up; names are numbered as they appear."""
    source, jobs = read(write(tmp_path, GOLDEN, packed), **MAPPING)
    assert jobs == [
        traced(1, 10, 2, 60, (4, 0), requested_time=100, user=1, name="a job"),
        traced(2, 10, 1, 60, (8, 2), requested_time=100, user=2),
        traced(3, 12, 1, 50, (1, 0), requested_time=50, user=1, name="over its limit"),
        traced(7, 14, 1, 60, (1, 0), requested_time=100, user=2, name="said, so"),
    ]
    assert source.account.read == 7
    assert source.account.skipped == {
        "larger_than_system": 1, "missing_run_time": 1, "zero_run_time": 1,
    }  # fmt: skip
    assert source.account.clipped == {"over_requested_time": 1, "fractional_seconds": 1}
    assert source.comments == ["User: 1 alice", "User: 2 bob"]
    assert source.uniform_request is None
    assert source.fraction_read == 1.0
    assert list(source.jobs()) == jobs
    assert source.account.read == 7


def test_parquet_has_the_same_fate(tmp_path: Path) -> None:
    """The same rows in a Parquet file, where nulls are what is not given."""
    path = write_parquet(
        tmp_path,
        id=[1, 2, 3, 4, 5, 6, 7],
        submitted=[10, 10.9, 12, 12, 13, 13, 14],
        elapsed=[60, 59.1, 70, 60, None, 0, 60],
        limit=pa.array([100, 100, 50, 100, 100, 100, 100], pa.decimal128(9, 2)),
        nodes=pa.array([2, 1, 1, 5, 1, 1, 1], pa.int8()),
        cores_per_node=pa.array([4, 8, 1, 8, 1, 1, 1], pa.uint64()),
        gpus=[0, 2, 0, 0, 0, 0, 0],
        uid=pa.array(["alice", "bob", "alice", "carol", None, "", "bob"]).dictionary_encode(),
        what=["a job", None, "over its limit", "too large", "", "", "said, so"],
    )
    source, jobs = read(path, **MAPPING)
    expected, from_csv = read(write(tmp_path, GOLDEN), **MAPPING)
    assert jobs == from_csv
    assert source.account == expected.account
    assert source.fraction_read == 1.0


def test_columns_that_need_no_saying(tmp_path: Path) -> None:
    """Columns with the glossary's names are used, others are not."""
    text = "job_id,submit_time,run_time,requested_time,units,queue,colour,unit_request.core\n"
    path = write(tmp_path, text + "4,5,6,7,2,8,blue,3\n")
    _, jobs = read(path)
    assert jobs == [traced(4, 5, 2, 6, (3, 0), requested_time=7, queue=8)]
    _, jobs = read(path, columns={"queue": None, "job_id": None}, unit={"core": 1})
    assert jobs == [traced(1, 5, 2, 6, (1, 0), requested_time=7)]
    _, jobs = read(path, constants={"units": 3, "requested_time": "1min"})
    assert jobs == [traced(4, 5, 3, 6, (3, 0), requested_time=60, queue=8)]
    _, jobs = read(path, requests={"gpu": "units"}, unit={"core": 8})
    assert jobs[0].job.unit_request == (8, 2)


def test_without_columns_for_amounts(tmp_path: Path) -> None:
    """A unit asks for one core, or for what the scenario says; all jobs alike."""
    path = write(tmp_path, "submit_time,run_time,units\n0,5,2\n1,5,2\n")
    source, jobs = read(path, missing_requested_time="run_time")
    assert source.uniform_request == (1, 0)
    assert [found.job.job_id for found in jobs] == [1, 2]
    source, _ = read(path, missing_requested_time=9, unit={"core": 2, "gpu": 1})
    assert source.uniform_request == (2, 1)


def test_run_time_from_start_and_end(tmp_path: Path) -> None:
    """Where there is no run time, or the scenario names start and end."""
    header = "submit_time,start_time,end_time,units,requested_time\n"
    path = write(tmp_path, header + "0,5,12.5,1,9\n0,-1,12,1,9\n1,5,,1,9\n")
    source, jobs = read(path)
    assert [found.run_time for found in jobs] == [7]
    assert source.account.skipped == {"missing_run_time": 2}
    assert "column 'end_time': the job ends before it starts" in fault(
        write(tmp_path, header + "0,5,4,1,9\n")
    )
    both = write(tmp_path, "submit_time,run_time,begun,end_time,units,requested_time\n0,3,5,9,1,9")
    _, jobs = read(both)
    assert [found.run_time for found in jobs] == [3]
    _, jobs = read(both, columns={"start_time": "begun"})
    assert [found.run_time for found in jobs] == [4]
    no_end = write(tmp_path, "submit_time,run_time,start_time,units\n0,3,5,1")
    assert "trace.columns.end_time: the table has no column called 'end_time'" in fault(
        no_end, columns={"start_time": "start_time"}
    )


def test_times_of_the_calendar(tmp_path: Path) -> None:
    """Offsets are kept to; without one the scenario's zone holds, in summer and winter."""
    text = "submit_time,run_time,units,requested_time\n{},5,1,9\n"
    cases = {
        "1970-01-02T00:00:00Z": 86_400,
        "1970-01-02T01:00:00.999+01:00": 86_400,
        "2024-07-01 12:00:00": 1_719_828_000,
        "2024-01-01T12:00": 1_704_106_800,
        "2024-10-27T02:30:00": 1_729_989_000,  # shown twice: the first
        "2024-03-31T02:30:00": 1_711_848_600,  # never shown
    }
    for written, expected in cases.items():
        path = write(tmp_path, text.format(written))
        source, jobs = read(path, times="iso", time_zone="Europe/Paris")
        assert [found.job.submit_time for found in jobs] == [expected], written
    assert source.comments == ["TimeZoneString: Europe/Paris"]
    said = fault(path, times="iso")
    assert "column 'submit_time': the time has no offset from UTC, and no 'time_zone'" in said
    assert said.startswith(f"{path}:2: error: ")
    assert "'times: iso' reads times of the calendar" in fault(path)
    assert "expected an ISO 8601 time, found 'soon'" in fault(
        write(tmp_path, text.format("soon")), times="iso"
    )


def test_time_stamps_of_parquet(tmp_path: Path) -> None:
    """Time stamps, dates and durations of every unit are understood as such."""
    paris = {"time_zone": "Europe/Paris"}
    for unit in ("s", "ms", "us", "ns"):
        path = write_parquet(
            tmp_path,
            submit_time=pa.array([datetime(2024, 7, 1, 12, tzinfo=UTC)], pa.timestamp(unit, "UTC")),
            run_time=pa.array([timedelta(seconds=5)], pa.duration(unit)),
            requested_time=[9],
            units=[1],
        )
        assert read(path)[1] == [traced(1, 1_719_835_200, 1, 5, (1, 0), requested_time=9)]
        naive = pa.array([datetime(2024, 7, 1, 12)], pa.timestamp(unit))
        path = write_parquet(
            tmp_path, submit_time=naive, run_time=[5], requested_time=[9], units=[1]
        )
        assert read(path, **paris)[1][0].job.submit_time == 1_719_828_000
        assert "the time has no offset from UTC" in fault(path)
    path = write_parquet(
        tmp_path, submit_time=[date(2024, 7, 1)], run_time=[5], requested_time=[9], units=[1]
    )
    assert read(path, **paris)[1][0].job.submit_time == 1_719_784_800
    late = pa.array([2**62], pa.timestamp("ms"))
    path = write_parquet(tmp_path, submit_time=late, run_time=[5], requested_time=[9], units=[1])
    assert fault(path, **paris).endswith("[damaged-trace]")


def test_where_jobs_may_run(tmp_path: Path) -> None:
    """Bindings, from lists or from text between spaces; exclusive use; units on unlike nodes."""
    system = System((NodeGroup("a", 2, {"core": 8}), NodeGroup("b", 1, {"core": 16})))
    header = "submit_time,run_time,requested_time,units,node_groups,allowed_nodes,exclusive\n"
    rows = ["0,5,5,1,a b,,true", "0,5,5,1,,1 2,0", "0,5,5,17,b,,", "0,5,5,8,,0,FALSE"]
    source, jobs = read(write(tmp_path, header + "\n".join(rows)), system=system)
    assert jobs == [
        traced(1, 0, 1, 5, (1,), node_groups=frozenset("ab"), exclusive=True),
        traced(2, 0, 1, 5, (1,), allowed_nodes=frozenset({1, 2})),
        traced(4, 0, 8, 5, (1,), allowed_nodes=frozenset({0})),
    ]
    assert source.account.skipped == {"larger_than_system": 1}
    lists = write_parquet(
        tmp_path,
        submit_time=[0, 0],
        run_time=[5, 5],
        requested_time=[5, 5],
        units=[1, 1],
        node_groups=[["a", "b"], None],
        allowed_nodes=[None, [1, 2]],
        exclusive=[True, False],
    )
    assert read(lists, system=system)[1] == jobs[:2]
    for row, message in {
        "0,5,5,1,c,,": "column 'node_groups': there is no node group, or model of devices, 'c'",
        "0,5,5,1,,3,": "column 'allowed_nodes': expected numbers of nodes up to 2",
        "0,5,5,1,,x,": "column 'allowed_nodes': expected a number, found 'x'",
        "0,5,5,1,,,maybe": "column 'exclusive': expected true or false",
    }.items():
        assert message in fault(write(tmp_path, header + row), system=system)
    header = "submit_time,run_time,requested_time,units,one_unit_per_node\n"
    source, jobs = read(
        write(tmp_path, header + "0,5,5,3,true\n0,5,5,4,1\n0,5,5,4,0\n"), system=system
    )
    assert jobs == [traced(1, 0, 3, 5, (1,), one_unit_per_node=True), traced(3, 0, 4, 5, (1,))]
    assert source.account.skipped == {"larger_than_system": 1}
    assert source.uniform_request is None
    message = "column 'one_unit_per_node': expected true or false"
    assert message in fault(write(tmp_path, header + "0,5,5,1,no"), system=system)


def test_policies(tmp_path: Path) -> None:
    """Each policy does what it says."""
    header = "submit_time,run_time,requested_time,units,unit_request.core\n"
    path = write(tmp_path, header + "0,5,9,1,\n0,5,9,,1\n")
    assert "column 'unit_request.core': no amount is given" in fault(path)
    source, jobs = read(path, missing_request="skip", missing_units="skip")
    assert (jobs, source.account.skipped) == ([], {"missing_request": 1, "missing_units": 1})
    assert "at least one resource type" in fault(path, missing_request="zero")
    assert fault(path, missing_request="skip").endswith("[missing-units]")
    later = write(tmp_path, header + "5,5,9,1,1\n3,5,9,1,1\n")
    assert fault(later).endswith("[unsorted]")
    _, jobs = read(later, unsorted="sort")
    assert [found.job.job_id for found in jobs] == [2, 1]
    source, _ = read(later, unsorted="skip", jobs=1)
    assert source.account.read == 1
    limits = write(tmp_path, header + "5,5,,1,1\n")
    assert fault(limits).endswith("[missing-requested-time]")


GOOD = "1,10,60,100,2,4,0,alice,"

# A line after a good one, and what is said of it.
ROWS = {
    "too few": ("1,2", "expected 9 values, found 2"),
    "too many": (GOOD + "," * 5, "expected 9 values, found 14"),
    "a word for a number": ("2,10,long,100,2,4,0,b,", "column 'elapsed': expected a number"),
    "digits of a kind": ("2,10,6_0,100,2,4,0,b,", "column 'elapsed': expected a number"),
    "infinite": ("2,10,inf,100,2,4,0,b,", "column 'elapsed': expected a number, found 'inf'"),
    "overflow": ("2,10,1e999,100,2,4,0,b,", "column 'elapsed': expected a number"),
    "huge": ("2,10,60,100,99999999999999999999,4,0,b,", "column 'nodes': expected a number up to"),
    "half a node": ("2,10,60,100,1.5,4,0,b,", "column 'nodes': expected a whole number"),
    "no nodes": ("2,10,60,100,0,4,0,b,", "column 'nodes': expected at least 1"),
    "less than no cores": ("2,10,60,100,1,-4,0,b,", "column 'cores_per_node': expected 0 or more"),
    "half a core": ("2,10,60,100,1,0.5,0,b,", "column 'cores_per_node': expected a whole number"),
    "nothing asked for": ("2,10,60,100,1,0,0,b,", "at least one resource type"),
    "seen before": ("1,10,60,100,2,4,0,b,", "job number 1 was seen before"),
    "no number": (",10,60,100,2,4,0,b,", "expected a job number and a submit time"),
    "no submit time": ("2,,60,100,2,4,0,b,", "expected a job number and a submit time"),
    "an open quote": ('2,10,60,100,2,4,0,b,"x', "expected values of CSV: unexpected end of data"),
    "a quote within": ('2,10,60,100,2,4,0,b,"x"y', "expected values of CSV: "),
}


@pytest.mark.parametrize("kind", ROWS)
def test_rows_that_are_none(kind: str, tmp_path: Path) -> None:
    """The message names file, line and column; the policy can skip the row."""
    line, message = ROWS[kind]
    path = write(tmp_path, f"{GOLDEN.splitlines()[0]}\n{GOOD}\n\n{line}\n")
    said = fault(path, **MAPPING)
    assert said.startswith(f"{path}:4: error: ")
    assert message in said
    assert said.endswith("[malformed]")
    source, jobs = read(path, **MAPPING, malformed="skip")
    assert source.account.skipped == {"malformed": 1}
    assert len(jobs) == 1


def test_labels_that_are_names(tmp_path: Path) -> None:
    """Names must be said to be some; a queue keeps its name beside its number."""
    path = write(tmp_path, "submit_time,run_time,requested_time,units,queue\n0,5,9,1,long\n")
    said = fault(path)
    assert "column 'queue': expected a number, found 'long'; 'named: [queue]'" in said
    source, jobs = read(path, named=["queue"])
    assert jobs == [traced(1, 0, 1, 5, (1, 0), requested_time=9, queue=1, queue_name="long")]
    assert source.comments == ["Queue: 1 long"]


# What is no table, what a scenario says of it, and the message.
TABLES = {
    "nothing": ("", {}, "expected a line that names the columns, found nothing"),
    "a name twice": ("a,b,a\n", {}, "two columns are called 'a'"),
    "no times": ("units\n1\n", {}, "trace.columns.submit_time: the table has no column called"),
    "no units": ("submit_time,run_time\n1,1\n", {}, "trace.columns.units: the table has no column"),
    "a column that is not there": (
        GOLDEN, {**MAPPING, "columns": {**COLUMNS, "queue": "q"}},
        "trace.columns.queue: the table has no column called 'q'; there are: id, submitted,",
    ),
    "an amount that is not there": (
        GOLDEN, {**MAPPING, "requests": {"core": "cpus"}},
        "trace.requests.core: the table has no column called 'cpus'",
    ),
    "a type that is not there": (
        GOLDEN, {**MAPPING, "requests": {"mem": "gpus"}},
        "trace.requests: a unit asks for mem, which no node group has; there are: core, gpu",
    ),
    "a constant type that is not there": (
        GOLDEN, {**MAPPING, "unit": {"mem": 1}}, "trace.unit: a unit asks for mem",
    ),
    "a header that is no CSV": ('a,"b\n', {}, "expected values of CSV"),
}  # fmt: skip


@pytest.mark.parametrize("kind", TABLES)
def test_tables_that_are_none(kind: str, tmp_path: Path) -> None:
    """One message before any row is read."""
    text, params, message = TABLES[kind]
    path = write(tmp_path, text)
    with pytest.raises(InputError) as caught:
        source_of(path, **params)
    assert message in str(caught.value.findings[0])
    assert str(caught.value.findings[0]).startswith(str(path))


def test_other_bytes(tmp_path: Path) -> None:
    """Other encodings, other separators, binary data and folders."""
    path = tmp_path / "jobs.csv"
    path.write_bytes(GOLDEN.replace("carol", "caro\xe9").encode("latin-1"))
    assert len(read(path, **MAPPING)[1]) == 4
    path.write_bytes(GOLDEN.encode("utf-16"))
    assert "UTF-16" in fault(path, **MAPPING)
    path.write_bytes(b"\xef\xbb\xbf" + GOLDEN.replace("\n", "\r\n").encode())
    assert len(read(path, **MAPPING)[1]) == 4
    path.write_bytes(bytes(range(256)))
    assert fault(path, **MAPPING).startswith(str(path))
    write(tmp_path, "submit_time;run_time;units\n0;5;1\n")
    assert len(read(path, delimiter=";", missing_requested_time=9)[1]) == 1
    (tmp_path / "empty").mkdir()
    assert fault(tmp_path / "empty").endswith("[empty-trace]")
    assert fault(tmp_path / "none.csv").endswith("[unreadable-trace]")


@pytest.mark.parametrize("keep", [0.02, 0.5, 0.99])
def test_damaged_files(keep: float, tmp_path: Path) -> None:
    """Packed files and Parquet files that are cut off are damaged."""
    rows = "".join(f"{n},{n},60,100,2,4,0,alice,{n * 7919 % 10**6}\n" for n in range(14, 3000))
    packed = gzip.compress((GOLDEN + rows).encode())
    path = tmp_path / "jobs.csv.gz"
    path.write_bytes(packed[: max(2, int(len(packed) * keep))])
    assert fault(path, **MAPPING).endswith("[damaged-trace]")
    whole = write_parquet(tmp_path, submit_time=list(range(5000)), run_time=[5] * 5000)
    data = whole.read_bytes()
    whole.write_bytes(data[: max(4, int(len(data) * keep))])
    assert fault(whole).endswith("[damaged-trace]")


def test_parquet_that_is_damaged_within(tmp_path: Path) -> None:
    """What cannot be decoded is damage, and no traceback."""
    path = write_parquet(
        tmp_path, submit_time=list(range(5000)), run_time=[5] * 5000, units=[1] * 5000,
        requested_time=[9] * 5000,
    )  # fmt: skip
    data = bytearray(path.read_bytes())
    data[4:60] = bytes(56)
    path.write_bytes(bytes(data))
    assert fault(path).endswith("[damaged-trace]")


def test_rows_of_parquet_are_named(tmp_path: Path) -> None:
    """An error says which row and which column."""
    path = write_parquet(
        tmp_path, submit_time=[0, 1], run_time=[5, 5], units=[1, -3], requested_time=[9, 9],
        odd=[Decimal(1), None],
    )  # fmt: skip
    assert "column 'units': no number of units" not in fault(path)
    assert fault(path).startswith(f"{path}:2: error: ")
    assert "column 'odd': no amount is given" in fault(
        path, requests={"core": "odd"}, constants={"units": 1}
    )


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"time_zone": "Mars/Crater"}, "expected a time zone such as Europe/Prague"),
        ({"delimiter": '"'}, "should match pattern"),
        ({"unit": {"core": 0}}, "at least one resource type"),
        ({"columns": {"units": "u"}, "constants": {"units": 1}}, "units has both a column and a"),
        ({"columns": {"run_time": "r", "end_time": "e"}}, "has both run_time and end_time"),
        ({"requests": {"core": "c"}, "unit": {"core": 1}}, "core has both a column, under"),
        ({"columns": {"submit": "s"}}, "Extra inputs are not permitted"),
    ],
)
def test_what_a_scenario_cannot_say(params: dict[str, Any], message: str) -> None:
    """Contradictions are refused."""
    with pytest.raises(ValidationError, match=message):
        TableParams.model_validate({"path": "jobs.csv", **params})


def test_units_of_times_and_missing_values(tmp_path: Path) -> None:
    """Milliseconds and minutes; numbers that mean nothing; jobs that have not ended."""
    path = write(
        tmp_path,
        "submit_time,start_time,end_time,requested_time,units,state\n"
        "1999,3000,63000,2,1,DONE\n2000,0,9000,5,1,DONE\n2000,3000,4000,0.5,1, RUNNING\n"
        "2500,3000,3001,99,1,DONE\n",
    )
    source, jobs = read(
        path,
        time_unit="ms",
        durations={"requested_time": "min"},
        not_given={"start_time": [0], "requested_time": [99]},
        not_ended={"column": "state", "values": ["RUNNING"]},
        missing_requested_time=7,
        zero_run_time="keep",
    )
    assert jobs == [
        traced(1, 1, 1, 60, (1, 0), requested_time=120),
        traced(4, 2, 1, 0, (1, 0), requested_time=7),
    ]
    assert source.account.skipped == {"missing_run_time": 1, "not_ended": 1}
    assert "has no column called 'stat'" in fault(
        path, not_ended={"column": "stat", "values": ["RUNNING"]}
    )


def test_a_node_for_each_unit_of_all_jobs(tmp_path: Path) -> None:
    """As a constant; units of a job that was spread may share nodes."""
    path = write(tmp_path, "submit_time,run_time,units,c\n0,5,2,4\n0,5,2,3\n0,5,5,5\n")
    given = {"constants": {"one_unit_per_node": True}, "missing_requested_time": 9}
    source, jobs = read(path, **given)
    assert source.uniform_request is None
    assert [found.job.request.one_unit_per_node for found in jobs] == [True, True]
    assert source.account.skipped == {"larger_than_system": 1}
    source, jobs = read(path, **given, requests={"core": "c"}, amounts="job")
    assert [found.job.units for found in jobs] == [2, 3]
    assert [found.job.request.one_unit_per_node for found in jobs] == [True, False]
    assert source.account.clipped == {"uneven_units": 1}


@pytest.mark.parametrize("limit", [1, 3, 4, 5, 9])
def test_the_first_jobs_of_a_table_in_any_order(tmp_path: Path, limit: int) -> None:
    """They are those with the earliest submissions, and ties keep their order."""
    path = write(tmp_path, "submit_time,run_time,units\n7,1,1\n3,2,1\n7,3,1\n3,4,1\n0,5,1\n")
    source, jobs = read(path, jobs=limit, unsorted="sort", missing_requested_time=9)
    assert [found.run_time for found in jobs] == [5, 2, 4, 1, 3][:limit]
    assert source.account.read == 5
    left = {"after_first_jobs": 5 - limit} if limit < 5 else {}
    assert source.account.skipped == left


def test_shares_and_mig_profiles(tmp_path: Path) -> None:
    """Of devices, a column has fractions; of those that are sliced, names of profiles too."""
    path = write(
        tmp_path,
        "submit_time,run_time,requested_time,units,gpus\n0,9,9,1,0.3\n1,9,9,1,1g.5gb\n2,9,9,1,2\n",
    )
    groups = (NodeGroup("a", 2, {"gpu": 4}, sliced=True),)
    read = {}
    for shares, profiles in ((1000, ()), (MIG_SHARES, MIG_PROFILES["a100-40gb"])):
        devices = Devices("gpu", shares, profiles)
        system = System(groups, {"gpu": Fraction(1, shares)}, devices=devices)
        source = source_of(path, system, requests={"gpu": "gpus"}, malformed="skip")
        read[shares] = {job.job_id: job.unit_request for job, _ in source.jobs()}
    assert read == {1000: {1: (300,), 3: (2000,)}, 112: {2: (15,), 3: (224,)}}
