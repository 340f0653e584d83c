"""A log of Alea read as columns gives the jobs, the account and the error that its records give."""

import tempfile
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job_batches import RequestNumbers
from hpcsched.workload.readers import swf_lines
from hpcsched.workload.readers.alea import AleaParams, AleaSource
from tests.real_traces import trace
from tests.strategies import tries
from tests.workload.readers.alea_files import GIB, SYSTEM, record, source_of
from tests.workload.readers.alea_records import AleaRecords
from tests.workload.readers.columns_and_records import check_alike
from tests.workload.readers.swf_files import write

POLICIES = st.fixed_dictionaries(
    {"malformed": st.just("skip"), "unlike_processors": st.sampled_from(["request", "skip"])},
    optional={
        "jobs": st.integers(1, 6),
        "zero_run_time": st.just("keep"),
        "over_requested_time": st.just("keep"),
        "missing_requested_time": st.sampled_from(["run_time", "skip", 70]),
        "unsorted": st.sampled_from(["skip", "sort"]),
        "mapping": st.sampled_from(["one_each", "whole_nodes"]),
        "unknown_property": st.sampled_from(["skip", "error"]),
        "fractional_processors": st.just("skip"),
        "missing_memory": st.sampled_from(["zero", "skip"]),
    },
)
ASKS = (
    "1:ppn=1", "2:ppn=8", "2:ppn=8:cl_a", "1:ppn=2#excl", "1:ppn=1.5", "1:ppn=1:unheard",
    "1:ppn=1+3:ppn=2", "40:ppn=12", "1:ppn=1:^cl_b", "gr\u00f6\u00dfe", "ppn",
)  # fmt: skip


LIKE_CERIT = System(
    (
        NodeGroup("zewura", 20, {"core": 80, "mem": 505 * GIB}),
        NodeGroup("zegox", 48, {"core": 12, "mem": 89 * GIB}),
    )
)


@st.composite
def records(draw: st.DrawFn) -> list[str]:
    """Draw lines of which most fields are as they should be."""
    lines, submit = [], 1_357_000_000
    for number in range(1, draw(st.integers(0, 9)) + 1):
        submit += draw(st.sampled_from([0, 0, 1, 5, -3]))
        line = record(
            draw(st.sampled_from([number] * 6 + [1, -1, "1_0", "x"])),
            submit,
            draw(st.sampled_from([60, 60, 200, 0, -1])),
            draw(st.sampled_from([100, 100, 100, -1])),
            ask=draw(st.sampled_from(ASKS)),
            processors=draw(st.sampled_from([-1, -1, 1, 16])),
            memory=draw(st.sampled_from([GIB, GIB, 2 * GIB, -1, 2**60])),
            queue=draw(st.sampled_from(["q_1d", "q_2h", "short", "fr\u00fch"])),
            nodes=draw(st.sampled_from(["{7,7}", "{7,7}", "{7,7}", "7"])),
        )
        lines.append(line if draw(st.integers(0, 9)) else line.rsplit(maxsplit=1)[0])
    return lines


@tries(400)
@given(lines=records(), params=POLICIES, block=st.sampled_from([1, 100, 300, 2**19]))
def test_odd_logs(lines: list[str], params: dict[str, Any], block: int) -> None:
    """Odd requests, missing fields, queues that only skipped records name, under any policies."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(swf_lines, "BLOCK", block):
        path = write(Path(folder), lines)
        check_alike(
            source_of(path, **params), AleaRecords(AleaParams(path=str(path), **params), SYSTEM)
        )


def test_queues_are_numbered_in_the_order_of_their_jobs(tmp_path: Path) -> None:
    """Record 1 is skipped, so its queue has no number; 3 is clipped, and read by itself."""
    path = write(
        tmp_path,
        [
            record(1, run=0, queue="unused"),
            record(2, queue="second"),
            record(3, queue="third", ask="1:ppn=1.5"),
            record(4, queue="second"),
            record(5, queue="fifth"),
        ],
    )
    source = source_of(path)
    (batch,) = source.job_columns(RequestNumbers())
    assert batch.job_id.tolist() == [2, 3, 4, 5]
    assert batch.details.column("queue").to_pylist() == [1, 2, 1, 3]
    assert source.comments == ["Queue: 1 second", "Queue: 2 third", "Queue: 3 fifth"]


def test_only_odd_lines_are_read_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line of digits never is, whatever becomes of its job."""
    lines = [record(k, ask=f"{1 + k % 2}:ppn=2") for k in range(20)]
    lines[7] = record(7, run=0)
    lines[9] = record(9, run="60.0", ask="2:ppn=2")
    given: list[bytes] = []
    read = AleaSource.odd_numbers
    monkeypatch.setattr(
        AleaSource, "odd_numbers", lambda self, line: given.append(line) or read(self, line)
    )
    (batch,) = source_of(write(tmp_path, lines)).job_columns(RequestNumbers())
    assert batch.job_id.tolist() == [k for k in range(20) if k != 7]
    assert batch.units.tolist() == [1 + k % 2 for k in range(20) if k != 7]
    assert given == [lines[9].encode()]


def test_a_real_log() -> None:
    """CERIT-SC, on nodes like its own."""
    path = trace("CERIT-SC-2013.swf.gz")
    records = AleaRecords(AleaParams(path=str(path)), LIKE_CERIT)
    check_alike(source_of(path, LIKE_CERIT), records)
