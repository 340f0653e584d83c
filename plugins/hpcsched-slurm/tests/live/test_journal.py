"""The journal, the lock and the heartbeat of a driver."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched_slurm.live.journal import NAME, Heartbeat, Journal, driver_lock


def test_reads_what_it_wrote(tmp_path: Path) -> None:
    """A journal that is opened again knows what was placed, and not what was taken back."""
    journal = Journal(tmp_path)
    first, second, third = journal.intend(
        5.0, 1, [("start", "1", ["a"]), ("start", "2", ["b", "c"]), ("start", "3", ["a"])]
    )
    journal.outcome(first, 0.2)
    journal.outcome(second, 0.3, "it is gone")
    journal.outcome(third, 0.4)
    journal.intend(6.0, 2, [("hold", "3", [])])
    journal.close()
    again = Journal(tmp_path)
    assert set(again.placed) == {"1"}
    assert again.placed["1"].nodes == ("a",)
    assert again.intend(7.0, 3, [("start", "4", [])])[0].number == 5
    again.close()


def test_written_before_it_is_made(tmp_path: Path) -> None:
    """An intention is on the disk when the change may be made."""
    journal = Journal(tmp_path)
    journal.intend(5.0, 1, [("start", "1", ["a"])])
    line = json.loads((tmp_path / NAME).read_text())
    assert (line["do"], line["job"], line["nodes"]) == ("start", "1", ["a"])
    journal.close()


def test_a_line_that_was_broken_off(tmp_path: Path) -> None:
    """A last line without its end was not made, and is left out; others must be whole."""
    journal = Journal(tmp_path)
    journal.intend(5.0, 1, [("start", "1", ["a"])])
    journal.close()
    path = tmp_path / NAME
    with path.open("a") as file:
        file.write('{"number": 2, "do": "sta')
    again = Journal(tmp_path)
    assert set(again.placed) == {"1"}
    again.close()
    assert path.read_text().endswith("\n")
    path.write_text("not json\n")
    with pytest.raises(InputError, match="damaged"):
        Journal(tmp_path)


def test_one_lock(tmp_path: Path) -> None:
    """A lock is refused while it is held, names the process, and is free when that is killed."""
    code = (
        "import sys, time; from pathlib import Path\n"
        "from hpcsched_slurm.live.journal import driver_lock\n"
        "with driver_lock(Path(sys.argv[1])):\n"
        "    print('held', flush=True); time.sleep(60)\n"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    with pytest.raises(InputError, match=f"process {other.pid}"), driver_lock(tmp_path):
        pass
    other.kill()
    other.wait()
    other.stdout.close()
    with driver_lock(tmp_path):
        assert f"process {os.getpid()} on" in (tmp_path / "driver.lock").read_text()
    assert not (tmp_path / "driver.lock").exists()


def test_heartbeat(tmp_path: Path) -> None:
    """It says when, whose and for which partitions, and is not written more than once a second."""
    heartbeat = Heartbeat(tmp_path, ["main"], 60)
    heartbeat.beat(100.0)
    heartbeat.beat(100.5)
    content = json.loads((tmp_path / "heartbeat.json").read_text())
    assert content == {
        "time": 100.0, "process": os.getpid(), "partitions": ["main"], "release_after": 60,
    }  # fmt: skip
    heartbeat.beat(101.0)
    assert json.loads((tmp_path / "heartbeat.json").read_text())["time"] == 101.0
    heartbeat.beat(50.0)  # the clock was put back
    assert json.loads((tmp_path / "heartbeat.json").read_text())["time"] == 50.0
