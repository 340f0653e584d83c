"""Recording saves the problems of a replay, all or some, and changes nothing."""

import errno
import io
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.studies.problems.problem_files import InstancesFile, Selection, record
from tests.studies.problems.samples import small, tiny


@pytest.fixture(scope="module")
def rounds(tmp_path_factory):
    """The rounds of a run of the scenario, as `(round, now, queued, running)`."""
    folder = tmp_path_factory.mktemp("run") / "run"
    run(small(), folder)
    table = pq.read_table(folder / "rounds.parquet")
    names = ("round", "now", "queued", "running")
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def saved(selection, path):
    """Record and return what was saved, as `rounds` has it, with the account."""
    done = record(small(), path, selection, force=True)
    problems = InstancesFile(path).problems()
    found = [(p.round, p.now, len(p.queue), len(p.running)) for p in problems]
    assert done.saved == len(found)
    return done, found


def test_all(rounds, tmp_path):
    """Every round's problem."""
    done, found = saved(Selection(), tmp_path / "x")
    assert found == rounds
    assert done.rounds == done.matching == len(rounds)


@pytest.mark.parametrize("every", [2, 7, 10_000])
def test_every(every, rounds, tmp_path):
    """The first, and every so many after it."""
    done, found = saved(Selection(every=every), tmp_path / "x")
    assert found == rounds[::every]
    assert done.matching == len(rounds)


def test_by_queue(rounds, tmp_path):
    """Between two lengths of the queue, both included; every third of those."""
    matching = [entry for entry in rounds if 2 <= entry[2] <= 4]
    assert 0 < len(matching) < len(rounds)
    done, found = saved(Selection(min_queued=2, max_queued=4), tmp_path / "x")
    assert found == matching
    assert (done.rounds, done.matching) == (len(rounds), len(matching))
    _, found = saved(Selection(min_queued=2, max_queued=4, every=3), tmp_path / "x")
    assert found == matching[::3]


def test_limit(rounds, tmp_path):
    """The replay ends with the round in which the last one wanted is saved."""
    done, found = saved(Selection(limit=5, every=2), tmp_path / "x")
    assert found == rounds[:10:2]
    assert done.rounds == 9
    done, found = saved(Selection(limit=len(rounds) + 1), tmp_path / "x")
    assert found == rounds


def test_limits(tmp_path):
    """With one job of each user at a time, the users of a problem differ."""
    one = "partitions=[{name: all, limits: {per_user: {jobs: 1}}}]"
    scenario = load_scenario("scenarios/small-easy.yaml", ["trace.jobs=300", one])
    record(scenario, tmp_path / "x")
    for problem in InstancesFile(tmp_path / "x").problems():
        users = [job.job.user for job in problem.queue]
        users += [running.waiting.job.user for running in problem.running]
        assert len(set(users)) == len(users)


def test_none(tmp_path):
    """Nothing may match."""
    done, found = saved(Selection(min_queued=1000), tmp_path / "x")
    assert (found, done.matching) == ([], 0)
    assert done.rounds > 0


def test_equal_bytes(tmp_path):
    """Equal replays give equal bytes, wherever and whenever they are written."""
    first, second = (tmp_path / name for name in ("a.jsonl.gz", "b.gz"))
    record(small(), first)
    record(small(), second)
    assert first.read_bytes() == second.read_bytes()


def test_targets(tmp_path):
    """A file that is there is not touched unless that is asked for; nothing is left of faults."""
    path = tmp_path / "x.jsonl.gz"
    path.write_text("mine")
    with pytest.raises(InputError, match="it is there already; --force or force=True replaces it"):
        record(small(), path)
    with pytest.raises(InputError, match="it is a directory"):
        record(small(), tmp_path, force=True)
    with pytest.raises(InputError, match="it cannot be written: No such file or directory"):
        record(small(), tmp_path / "none" / "x")
    scenario = load_scenario(tiny(tmp_path))
    with pytest.raises(InputError, match="it is the trace that is to be read"):
        record(scenario, tmp_path / "log.swf", force=True)
    (tmp_path / "log.swf").write_text("nonsense\n")
    with pytest.raises(InputError, match="malformed"):
        record(scenario, path, force=True)
    assert path.read_text() == "mine"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["log.swf", "tiny.yaml", "x.jsonl.gz"]


class FullDisk(io.RawIOBase):
    """Takes so many bytes and no more, as a disk does that is full."""

    def __init__(self, room):
        self._room = room

    def writable(self):
        """It is."""
        return True

    def write(self, data):
        """Take the data while there is room."""
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(data)


@pytest.mark.parametrize("room", [0, 20, 2000])
def test_a_full_disk(room, tmp_path, monkeypatch):
    """What cannot be written is said as such, and not as a fault of the dispatcher."""
    unfinished = tmp_path / ".x.unfinished"
    real = Path.open

    def opened(path, mode="r", *arguments, **options):
        if path == unfinished:
            return FullDisk(room)
        return real(path, mode, *arguments, **options)

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(InputError, match="it cannot be written: No space left on device"):
        record(small(), tmp_path / "x")
    assert not list(tmp_path.iterdir())


def test_observers_are_left_out(tmp_path, monkeypatch):
    """They would write into a run directory, of which there is none."""
    monkeypatch.chdir(tmp_path)
    record(small("observers=[event-log]"), tmp_path / "x", Selection(limit=3))
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
