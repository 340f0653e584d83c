"""Whatever an accounting log holds, its reader ends in jobs or in an InputError."""

import tempfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.errors import InputError
from hpcsched.workload.readers.accounting_log import AccountingLogSource
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.trace_calendar import time_zone
from hpcsched_slurm.logs.local_clock import LocalClock
from tests.strategies import tries
from tests.workload.readers.accounting_log_files import (
    AWKWARD_ROWS as ROWS,
)
from tests.workload.readers.accounting_log_files import (
    HEADER,
    jobs_of,
    pbs_source,
    sacct_source,
)
from tests.workload.readers.test_pbs_accounting import AWKWARD as RECORDS

FORGIVING = {
    "malformed": "skip",
    "missing_requested_time": "run_time",
    "duplicate": "keep",
    "unknown_resource_type": "ignore",
}
MAPPINGS = st.sampled_from(["as_requested", "one_each"])
WORDS = st.sampled_from(
    [
        *("", "0", "1", "-1", "3", "16", "999999999", "9" * 30, "1e5", "1_0", "٣", "Unknown"),
        *("2024-03-01T10:00:00", "2024-03-31T02:30:00", "9999-12-31T23:59:59"),
        *(
            "0001-01-01T00:00:00+2359",
            "UNLIMITED",
            "1-",
            "1-00:00:00",
            ":",
            "16Gn",
            "4000Mc",
            "0.5K",
        ),
        *(
            "cpu=1,mem=1G,node=1",
            "gres/gpu:a100=4,gres/gpu=4",
            "gres/=1",
            "cpu=",
            "=",
            ",",
            "1_[2-3]",
        ),
        *(
            "1_2",
            "1+2",
            "1.batch",
            "9999999999",
            "1[2].srv",
            "1[].srv",
            "2:ncpus=8:mem=16gb+ncpus=1",
        ),
        *("node1+node2:ppn=2#excl", "01:02:03:04:05", '"', "a b", "\0", "ä", "|", ";"),
    ]
) | st.text(max_size=5)


def ends_well(open_source: Callable[..., AccountingLogSource], data: bytes, **params: Any) -> None:
    """Read bytes; the account must balance, and nothing but an InputError may be raised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log"
        path.write_bytes(data)
        try:
            jobs_of(open_source(path, **params))
        except InputError as error:
            assert str(error).startswith(str(path))


@tries(300)
@given(
    rows=st.lists(st.sampled_from([row for row, _ in ROWS]), min_size=1, max_size=6), data=st.data()
)
def test_dumps_with_anything_in_some_cells(rows: list[str], data: st.DataObject) -> None:
    """Rows of real shape, each with a cell or two that are not."""
    lines = [HEADER]
    for row in rows:
        cells = row.split("|")
        for _ in range(data.draw(st.integers(0, 2))):
            cells[data.draw(st.integers(0, len(cells) - 1))] = data.draw(WORDS)
        lines.append("|".join(cells))
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    ends_well(sacct_source, content, **FORGIVING, mapping=data.draw(MAPPINGS))
    ends_well(sacct_source, content)


@tries(300)
@given(
    records=st.lists(st.sampled_from([record for record, _ in RECORDS]), min_size=1, max_size=6),
    data=st.data(),
)
def test_logs_with_anything_in_some_attributes(records: list[str], data: st.DataObject) -> None:
    """Records of real shape, each with a value or two that are not."""
    lines = []
    for record in records:
        words = record.replace(";", " ; ").split(" ")
        for _ in range(data.draw(st.integers(0, 2))):
            k = data.draw(st.integers(0, len(words) - 1))
            words[k] = words[k].partition("=")[0] + "=" + data.draw(WORDS)
        lines.append(" ".join(words).replace(" ; ", ";"))
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    unlike = data.draw(st.sampled_from(["skip", "largest", "error"]))
    mapping = data.draw(MAPPINGS)
    ends_well(pbs_source, content, **FORGIVING, mapping=mapping, unlike_chunks=unlike)
    ends_well(pbs_source, content)


@pytest.mark.parametrize("open_source", [sacct_source, pbs_source])
@tries(200)
@given(content=st.binary(max_size=200), headed=st.booleans())
def test_any_bytes(
    open_source: Callable[..., AccountingLogSource], content: bytes, headed: bool
) -> None:
    """Bytes, with and without a header before them."""
    before = f"{HEADER}\n".encode() if headed else b""
    ends_well(open_source, before + content, **FORGIVING)


@tries(200)
@given(
    zone=st.sampled_from(["Europe/Prague", "America/New_York", "Australia/Lord_Howe", "UTC"]),
    instant=st.integers(1_700_000_000, 1_740_000_000),
)
def test_what_clocks_show_is_understood(zone: str, instant: int) -> None:
    """Every instant is found again from what local clocks show, in an ambiguous hour the first."""
    shown = datetime.fromtimestamp(instant, time_zone(zone))
    clock = LocalClock(time_zone(zone), WholeSeconds("outward"))
    found = clock.instant(shown.strftime("%Y-%m-%dT%H:%M:%S"))
    if clock.ambiguous:
        again = clock.instant(shown.strftime("%Y-%m-%dT%H:%M:%S"), not_before=found + 1)
        assert instant in {found, again}
        assert again - found in {1800, 3600}
    else:
        assert found == instant
