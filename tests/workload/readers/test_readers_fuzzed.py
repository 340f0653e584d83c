"""Whatever a file holds, the readers of workloads and tables end in jobs or in an InputError."""

import json
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.workload.readers.batsim import BatsimParams, BatsimSource
from hpcsched.workload.readers.log_source import RecordSource
from hpcsched.workload.readers.table import TableParams, TableSource
from tests.builders import alike
from tests.strategies import tries

SYSTEM = alike(4, core=4, gpu=1)
FORGIVING = {
    "malformed": "skip", "unsorted": "sort", "missing_requested_time": "run_time",
}  # fmt: skip

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-3, 12)
    | st.integers(2**50, 2**70)
    | st.floats(-1, 20)
    | st.sampled_from([float("inf"), float("-inf"), float("nan"), 1e300])
    | st.sampled_from(
        [
            "",
            "d",
            "w0!3",
            "5",
            "1_0",
            "-1",
            "1e5",
            "٣",
            "\ud800".encode("utf-8", "replace").decode(),
        ]
    )
    | st.text(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
KEYS = st.sampled_from(["id", "subtime", "walltime", "res", "profile", "extra"])
JOBS = st.dictionaries(KEYS, VALUES, max_size=6) | VALUES
PROFILES = st.dictionaries(
    st.sampled_from(["d", "5", ""]),
    st.dictionaries(st.sampled_from(["type", "delay"]), VALUES | st.just("delay"), max_size=2)
    | VALUES,
)  # fmt: skip


def check(source: RecordSource) -> None:
    """Read it all, and check that every record counts once and every job is one."""
    jobs = list(source.jobs())
    account = source.account
    assert account.submitted == len(jobs)
    assert account.read == account.submitted + sum(account.skipped.values())
    assert len({found.job.job_id for found in jobs}) == len(jobs)
    for job, run_time in jobs:
        assert job.submit_time >= 0
        assert job.units >= 1
        assert run_time >= 1
        assert job.requested_time >= 1
        assert any(job.unit_request)
    times = [found.job.submit_time for found in jobs]
    assert times == sorted(times)


def read_batsim(data: bytes, **params: Any) -> None:
    """Read bytes as a workload; an InputError is an answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "workload.json"
        path.write_bytes(data)
        try:
            check(BatsimSource(BatsimParams(path=str(path), **params), SYSTEM))
        except InputError as error:
            assert all("\n" not in finding.message for finding in error.findings)


def read_table(data: bytes, **params: Any) -> None:
    """Read bytes as a table; an InputError is an answer."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table"
        path.write_bytes(data)
        try:
            given = TableParams.model_validate({"path": str(path), **params})
            check(TableSource(given, SYSTEM))
        except InputError as error:
            assert all("\n" not in finding.message for finding in error.findings)


@tries(150)
@given(
    jobs=st.lists(JOBS, max_size=6), profiles=PROFILES, ids=st.sampled_from(["number", "position"])
)
def test_workloads_of_anything(jobs: list[Any], profiles: dict[str, Any], ids: str) -> None:
    """JSON with anything in the place of anything."""
    text = json.dumps({"jobs": jobs, "profiles": profiles, "nb_res": 4})
    read_batsim(text.encode(), job_ids=ids, **FORGIVING)
    read_batsim(text.encode(), job_ids=ids)


WORKLOAD = json.dumps(
    {
        "nb_res": 4,
        "jobs": [
            {"id": "w0!1", "subtime": 0.5, "walltime": 10, "res": 1, "profile": "d"},
            {"id": 2, "subtime": 1, "walltime": 10, "res": 1, "profile": "d"},
        ],
        "profiles": {"d": {"type": "delay", "delay": 5}},
    }
).encode()


@st.composite
def damaged(draw, data: bytes):
    """Draw the data with a piece cut out, another put in, or the end cut off."""
    start = draw(st.integers(0, len(data)))
    end = draw(st.integers(start, min(len(data), start + 8)) | st.just(len(data)))
    return data[:start] + draw(st.binary(max_size=6)) + data[end:]


@tries(200)
@given(data=damaged(WORKLOAD) | st.binary(max_size=60))
def test_damaged_workloads(data: bytes) -> None:
    """Any bytes."""
    read_batsim(data, **FORGIVING)


FIELDS = (
    "job_id", "submit_time", "start_time", "end_time", "run_time", "requested_time", "units",
    "user", "queue", "name", "node_groups", "allowed_nodes", "exclusive", "one_unit_per_node",
    "unit_request.core", "unit_request.gpu",
)  # fmt: skip
CELLS = st.sampled_from(
    ["", "0", "1", "2", "5", "-1", "1.5", "x", '"a,b"', '"', "true", "node", "0 1", "1e400", "nan",
     "2024-05-01", "2024-05-01T10:00:00Z", "9999-12-31T23:59:59-23:59", "0001-01-01",
     "99999999999999999999"]
) | st.text(max_size=3)  # fmt: skip


@tries(200)
@given(
    columns=st.lists(st.sampled_from(FIELDS), min_size=1, max_size=9),
    rows=st.lists(st.lists(CELLS, max_size=9), max_size=5),
    times=st.sampled_from(["seconds", "iso"]),
    zone=st.none() | st.just("Europe/Paris"),
    named=st.sampled_from([[], ["user"], ["queue", "user"]]),
)
def test_tables_of_anything(
    columns: list[str], rows: list[list[str]], times: str, zone: str | None, named: list[str]
) -> None:
    """CSV with anything in any cell."""
    lines = [columns, *([*row, *["1"] * len(columns)][: len(columns)] for row in rows)]
    data = "\n".join(",".join(line) for line in lines).encode()
    params = {"times": times, "time_zone": zone, "named": named}
    read_table(data, **params, **FORGIVING, missing_request="zero")
    read_table(data, **params)


@tries(200)
@given(data=damaged(b"submit_time,run_time,requested_time,units\n0,5,9,1\n1,5,9,1\n") | st.binary())
def test_damaged_tables(data: bytes) -> None:
    """Any bytes."""
    read_table(data, **FORGIVING)


def _parquet() -> bytes:
    sink = pa.BufferOutputStream()
    columns = {name: [0, 1, 2] for name in ("submit_time", "run_time", "requested_time", "units")}
    pq.write_table(pa.table({**columns, "name": ["a", None, "b"]}), sink, compression="NONE")
    return bytes(sink.getvalue())


@tries(100)
@given(data=damaged(_parquet()))
def test_damaged_parquet(data: bytes) -> None:
    """A Parquet file with a piece changed."""
    read_table(data, **FORGIVING)


TYPES = (
    pa.int8(), pa.uint64(), pa.float32(), pa.string(), pa.large_string(), pa.binary(), pa.bool_(),
    pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.duration("us"), pa.date32(), pa.date64(),
    pa.time32("s"), pa.decimal128(9, 2), pa.list_(pa.int64()), pa.list_(pa.string()),
    pa.list_(pa.list_(pa.int64())), pa.struct([("core", pa.int64())]), pa.null(),
)  # fmt: skip
SAMPLES = {
    pa.string(): "5", pa.large_string(): "x", pa.binary(): b"5", pa.bool_(): True,
    pa.list_(pa.int64()): [1], pa.list_(pa.string()): ["node"],
    pa.list_(pa.list_(pa.int64())): [[1]], pa.struct([("core", pa.int64())]): {"core": 2},
    pa.null(): None,
}  # fmt: skip


@tries(200)
@given(types=st.lists(st.sampled_from(TYPES), min_size=len(FIELDS), max_size=len(FIELDS)))
def test_parquet_of_any_types(types: list[pa.DataType]) -> None:
    """A column of any type in the place of any field."""
    arrays = [pa.array([SAMPLES.get(kind, 5), None, SAMPLES.get(kind, 6)], kind) for kind in types]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(arrays, names=list(FIELDS)), sink)
    read_table(bytes(sink.getvalue()), **FORGIVING, missing_request="zero")
    read_table(bytes(sink.getvalue()), time_zone="Europe/Paris", unit={"core": 1}, requests={})
