"""Systems with more slots than memory can hold a row for."""

from pathlib import Path

import pytest

from hpcsched.runs.assembly import MOST_SLOTS, parts_of
from hpcsched.runs.runner import run
from tests.runs.test_run_lifecycle import begun

LOG = "1 0 -1 9 4 -1 -1 4 9 -1 1 -1 -1 -1 -1 -1 -1 -1\n"


def test_an_amount_of_a_tebibyte(tmp_path: Path) -> None:
    """It is no fault: the run is node by node, as its memory does not grow with the amount."""
    log = tmp_path / "log.swf"
    log.write_text(LOG + LOG.replace("1 0", "2 5", 1))
    resources = {"core": "1TiB"}
    made = run(
        {
            "name": "large",
            "system": {"groups": [{"name": "n", "count": 2, "resources": resources}]},
            "trace": {"source": "swf", "path": str(log)},
            "dispatcher": "easy",
        },
        tmp_path / "run",
    )
    assert made.jobs["start_time"].to_pylist() == [0, 5]
    assert made.verify().ok


@pytest.mark.parametrize(("count", "counted"), [(MOST_SLOTS // 64, True), (2**20 + 1, False)])
def test_the_largest_number_of_slots(count: int, counted: bool, tmp_path: Path) -> None:
    """Up to it slots are counted: 2^20 nodes of 64 cores."""
    group = f"{{name: n, count: {count}, resources: {{core: 64}}}}"
    log = tmp_path / "log.swf"
    log.write_text(LOG)
    trace = f"trace={{source: swf, path: {log}}}"
    parts = parts_of(begun(tmp_path / "run", f"system={{groups: [{group}]}}", trace), ())
    assert (parts.uniform_request is not None) is counted
