"""The state file is read with care."""

import json
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.runs.folder_lock import this_process
from hpcsched.runs.run_status import read_state, remove_state


def test_no_state(tmp_path: Path) -> None:
    """A run that has ended has none; taking it away twice does no harm."""
    assert read_state(tmp_path) is None
    remove_state(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object"),
        ('{"format": 99}', "it has format 99"),
        ('{"format": 1}', "scenario: Field required"),
    ],
)
def test_damaged(text: str, message: str, tmp_path: Path) -> None:
    """What is wrong is said, with the file."""
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_state(tmp_path)
    assert str(tmp_path / "state.json") in str(caught.value)


def test_damaged_instant(tmp_path: Path) -> None:
    """The instant must be one, with a time zone."""
    process = this_process().model_dump()
    times = {"mean": None, "last": None, "longest": None}
    counts = dict.fromkeys(("submitted", "waiting", "running", "ended", "rounds"), 0)
    for written in ("yesterday", "2020-01-01T00:00:00"):
        state = {
            "format": 1, "scenario": "s", "phase": "preparing", "process": process,
            "written": written, "elapsed": 0, "now": None, "progress": None,
            "decision_time": times, "resources": {}, **counts,
        }  # fmt: skip
        (tmp_path / "state.json").write_text(json.dumps(state))
        with pytest.raises(InputError, match="written"):
            read_state(tmp_path)
