"""A log read as columns gives the jobs, the account and the error that its records give."""

import os
import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.system.system import System
from hpcsched.workload.job_batches import RequestNumbers, records_of
from hpcsched.workload.readers import swf
from hpcsched.workload.readers.swf import LineSource, SwfParams
from tests.builders import alike
from tests.real_traces import trace
from tests.strategies import tries
from tests.workload.readers.columns_and_records import check_alike
from tests.workload.readers.swf_files import record, source_of, write
from tests.workload.readers.swf_records import SwfRecords

SYSTEM = alike(4, core=2, mem=2**20, gpu=1)


SKIPPED: dict[str, Any] = {"unsorted": "skip", "limit": None, "block": 2**19}

POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "jobs": st.integers(1, 6),
        "zero_run_time": st.just("keep"),
        "over_requested_time": st.just("keep"),
        "missing_run_time": st.just("error"),
        "missing_requested_time": st.sampled_from(["run_time", "skip", 70, 2**40]),
        "larger_than_system": st.just("error"),
        "unsorted": st.sampled_from(["skip", "sort"]),
        "malformed": st.just("skip"),
        "missing_processors": st.sampled_from(["skip", "error"]),
        "mapping": st.just("whole_nodes"),
        "requested_memory": st.just("use"),
        "unit": st.just({"core": 2, "mem": 2**12}),
    },
)
FORGIVING = {
    "malformed": "skip", "unsorted": "skip", "missing_requested_time": "run_time",
}  # fmt: skip

ODD = st.sampled_from(
    [b"-1", b"0", b"-7", b"+5", b"007", b"-0", b"1_0", b"1.5", b"x", b"-", b"--1", b"\xff",
     b"99999", b"4294967297", b"9007199254740993", b"123456789012345678", b"1234567890123456789",
     b"-1234567890123456789012", b"9" * 30, b"0" * 25 + b"3", b"\xd9\xa3", b"\x00", b"\x1c5"]
) | st.binary(min_size=1, max_size=3)  # fmt: skip
"""What stands in a field where it should not, or is seldom seen there."""

HEADERS = st.sampled_from(
    [b"", b"; MaxNodes: 4\n", b"; UnitResources: core gpu\n", b"; JobNames: last\n",
     b"; UnitResources: core mem gpu\n; JobNames: last\n"]
)  # fmt: skip


@st.composite
def logs(draw: st.DrawFn) -> bytes:
    """Draw a log of which most fields are as they should be, and any may be odd."""
    header = draw(HEADERS)
    more = header.count(b"core") + header.count(b"mem") + header.count(b"gpu")
    lines, submit = [header], 0
    for number in range(1, draw(st.integers(0, 9)) + 1):
        submit += draw(st.sampled_from([0, 0, 1, 5]))
        run, processors, requested = (draw(st.integers(1, 9)) for _ in range(3))
        numbers = [number, submit, 5, run * 10, processors, -1, -1, processors, requested * 20]
        fields = [b"%d" % n for n in [*numbers, 2048, 1, 2, 3, 4, 0, -1, -1, -1]]
        fields += [b"%d" % draw(st.integers(0, 2)) for _ in range(more)]
        if b"JobNames" in header:
            fields.append(draw(st.sampled_from([b"-1", b"a_b", b"gro\xc3\x9f", b"\xff"])))
        for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
            fields[draw(st.integers(0, len(fields) - 1))] = draw(ODD)
        if draw(st.sampled_from([False] * 9 + [True])):
            fields = fields[: draw(st.integers(0, len(fields)))]
        before = draw(
            st.sampled_from([b"", b"", b"", b"  ", b"\t", b"\n", b"; a remark\n", b" ;x "])
        )
        space = draw(st.sampled_from([b" ", b" ", b"   ", b"\t", b" \v", b"\f"]))
        lines.append(before + space.join(fields) + draw(st.sampled_from([b"\n", b"\n", b"\r\n"])))
    return b"".join(lines).removesuffix(draw(st.sampled_from([b"", b"\n"])))


def check(path: Path, system: System = SYSTEM, **params: Any) -> LineSource:
    """Check that a source finds in a log what a reader of its records does; return the source."""
    records = SwfRecords(SwfParams(path=str(path), **params), system)
    return check_alike(source_of(path, system, **params), records)


@tries(600)
@given(
    log=logs(), params=POLICIES | st.just(FORGIVING), block=st.sampled_from([1, 100, 300, 2**19])
)
def test_odd_logs(log: bytes, params: dict[str, Any], block: int) -> None:
    """Odd fields, remarks, short lines, other line ends, duplicates, under any policies."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(swf, "BLOCK", block):
        path = Path(folder) / "log.swf"
        path.write_bytes(log)
        check(path, **params)


@tries(300)
@example(jobs=[(k, submit, 1) for k, submit in enumerate([5, 3, 7, 6, 7])], **SKIPPED)
@example(jobs=[(k, submit, submit % 2) for k, submit in enumerate([5, 8, 6, 3, 7])], **SKIPPED)
@example(jobs=[(1, 0, 1), (1, 1, 1), (2, 2, 0), (2, 3, 1), (3, 4, 1)], **SKIPPED)
@given(
    jobs=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 2)), max_size=12),
    unsorted=st.sampled_from(["skip", "sort", "error"]),
    limit=st.none() | st.integers(1, 6),
    block=st.integers(1, 600),
)
def test_numbers_and_times(
    jobs: list[tuple[int, int, int]], unsorted: str, limit: int | None, block: int
) -> None:
    """Numbers that come twice and times that go back, next to records that give no job."""
    lines = [record(number, submit, run * 30) for number, submit, run in jobs]
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(swf, "BLOCK", block):
        path = write(Path(folder), lines)
        check(path, malformed="skip", unsorted=unsorted, jobs=limit)


@pytest.mark.parametrize("read", ["job_columns", "jobs"])
def test_a_log_is_closed_at_an_error(tmp_path: Path, read: str) -> None:
    """Not only when the error, and what its traceback holds, is forgotten."""
    open_files = Path("/proc/self/fd")
    if not open_files.is_dir():
        pytest.skip("this system has no list of open files")
    path = write(tmp_path, [record(1, 0, 30), "2 nonsense", record(3, 9, 30)])
    source = source_of(path)
    jobs = source.jobs() if read == "jobs" else source.job_columns(RequestNumbers())
    with mock.patch.object(swf, "BLOCK", 1), pytest.raises(InputError) as caught:
        list(jobs)
    assert path not in [Path(os.path.realpath(file)) for file in open_files.iterdir()]
    assert "log.swf:2" in str(caught.value)


@pytest.mark.parametrize("unsorted", ["error", "sort"])
def test_times_that_are_too_large_in_all(tmp_path: Path, unsorted: str) -> None:
    """A job with which the sum of times is over its bound is not taken, a shorter one later is.

    2²¹ jobs of 2³² s would be 2⁵³ s. To need fewer jobs, the bound is taken to be 5 · 2³² s: after
    three jobs of 2³² s, submitted at second 2³², there is room for one of 2³² s, and for no other.
    """
    longest = 2**32
    lines = [record(k, longest, longest, requested=longest) for k in range(1, 7)]
    lines.append(record(8, longest, 1, requested=1))
    path = write(tmp_path, lines)
    with mock.patch("hpcsched.workload.job.LARGEST_SUM", 5 * longest):
        source = check(path, malformed="skip", unsorted=unsorted)
        assert source.account.submitted == 4
        check(path, unsorted=unsorted)


def test_jobs_that_wait_for_others(tmp_path: Path) -> None:
    """Columns say whom they wait for, and how long."""
    lines = [record(1), record(2).rsplit(maxsplit=2)[0] + " 1 30"]
    source = source_of(write(tmp_path, lines), dependencies="honour")
    (batch,) = source.job_columns(RequestNumbers())
    assert batch.details.column("after").to_pylist() == [None, [1]]
    assert batch.details.column("think_time").to_pylist() == [0, 30]
    assert list(records_of([batch])) == list(source.jobs())


LOGS: dict[str, dict[str, Any]] = {
    "KTH-SP2-1996-2.swf.gz": {},
    "KTH-SP2-1996-2.1-cln.swf.gz": {},
    "SDSC-BLUE-2000-4.2-cln.swf.gz": {},
    "CTC-SP2-1996-3.1-cln.swf.gz": {"missing_requested_time": "run_time", "unsorted": "skip"},
    "CEA-Curie-2011-2.1-cln.swf.gz": {"missing_requested_time": 86400, "unsorted": "sort"},
    "RICC-2010-2.swf.gz": {"requested_memory": "use", "malformed": "skip", "unsorted": "skip"},
    "UniLu-Gaia-2014-1.swf.gz": {"mapping": "whole_nodes"},
    "Lublin-1.swf.gz": {"missing_requested_time": "run_time"},
    "Lublin-2.swf.gz": {"missing_requested_time": "run_time", "over_requested_time": "keep"},
}
"""Real logs, each with policies under which it can be read."""

LARGE = alike(6000, core=16, mem=2**36, gpu=1)


@pytest.mark.parametrize("name", LOGS)
def test_the_first_lines_of_real_logs(name: str) -> None:
    """The first 2,000 jobs of each log."""
    params = {"missing_requested_time": 60, **LOGS[name], "unsorted": "skip"}
    check(trace(name), LARGE, **params, jobs=2000)


@pytest.mark.slow
@pytest.mark.parametrize("name", LOGS)
def test_real_logs(name: str) -> None:
    """The whole logs."""
    check(trace(name), LARGE, **{"missing_requested_time": 60, **LOGS[name]})
