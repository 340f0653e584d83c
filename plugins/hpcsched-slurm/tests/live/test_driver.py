"""The driver on a made-up cluster: it places what is held, and copes with what goes wrong."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.cluster import ClusterJob, UnavailableError
from hpcsched.system.space import NodeAllocation
from hpcsched_slurm.live.driver import Limits
from hpcsched_slurm.live.journal import NAME
from live.fake_cluster import FakeCluster
from live.sessions import OPEN, ORIGIN, session


def test_places_all(tmp_path: Path) -> None:
    """Jobs start where there is room, the others when some ends; each once."""
    cluster = FakeCluster()
    for number in range(1, 7):
        cluster.submit(number, 3, 20)
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=300, until_idle=True))
    assert [call[1] for call in cluster.calls] == ["1", "2", "3", "4", "5", "6"]
    assert {job.phase for job in cluster.jobs.values()} == {"ended"}
    assert set(made.recorder.jobs) == {1, 2, 3, 4, 5, 6}
    assert made.following.account.submitted == 6


def test_its_own_starts_are_no_news(tmp_path: Path) -> None:
    """The next round comes when something else changes, as in a simulation."""
    cluster = FakeCluster(["a1"])
    for number in (1, 2, 3):
        cluster.submit(number, 3, 5)
    made = session(cluster, tmp_path)
    began = cluster.now()
    made.driver.run(Limits(seconds=30, until_idle=True))
    starts = [job.start_time - began for job in cluster.jobs.values() if job.start_time]
    assert starts == [1, 7, 13]  # a job starts in the second after it is told to
    assert [held.record.now + ORIGIN - began for held in made.rounds] == [0, 6, 12]


def test_advice_changes_nothing() -> None:
    """Without a journal the driver asks, and calls nothing else."""
    cluster = FakeCluster()
    cluster.submit(1, 3, 20, held=False)
    before = cluster.read()
    made = session(cluster, None)
    made.driver.run(Limits(rounds=1))
    assert [start.job_id for start in made.rounds[0].starts] == [1]
    assert not cluster.calls
    assert cluster.read() == before


def test_leaves_alone_what_is_not_held(tmp_path: Path) -> None:
    """A job that somebody has released is the cluster's; only held ones are placed."""
    cluster = FakeCluster()
    cluster.submit(1, 3, 20, held=False)
    cluster.submit(2, 3, 20)
    session(cluster, tmp_path).driver.run(Limits(seconds=5))
    assert [call[1] for call in cluster.calls] == ["2"]


def test_warnings(tmp_path: Path) -> None:
    """What the manager warns of is said once, and another warning when it comes."""
    cluster = FakeCluster()
    cluster.warnings = ("a GRES is not understood",)
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=3))
    assert made.lines == ["warning: a GRES is not understood", "no job waits"]
    cluster.warnings += ("another",)
    made.driver.run(Limits(seconds=3))
    assert made.lines[2:] == ["warning: another"]


def test_two_nodes(tmp_path: Path) -> None:
    """A job that asked for two nodes gets two, though one would hold both; its record says so."""
    cluster = FakeCluster()
    cluster.submit(1, 1, 20, units=2)
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=60, until_idle=True))
    assert cluster.calls[0] == ("start", "1", ("a1", "a2"))
    record = made.recorder.jobs[1]
    assert record.job.one_unit_per_node
    assert record.allocation == NodeAllocation((0, 1), (1, 1))


def test_two_nodes_in_the_end(tmp_path: Path) -> None:
    """A job that needs two nodes is not passed for ever by small ones."""
    cluster = FakeCluster()
    for number in range(1, 5):
        cluster.submit(number, 4, 7 + 2 * (number % 2))
    cluster.submit(5, 2, 5, units=2)
    for number in range(6, 40):
        cluster.submit(number, 4, 7 + 2 * (number % 2))
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=600, until_idle=True))
    starts = [call[1] for call in cluster.calls if call[0] == "start"]
    assert starts.index("5") < 12
    assert sorted(starts, key=int) == [str(number) for number in range(1, 40)]


def test_nodes_that_are_down(tmp_path: Path) -> None:
    """Nothing is placed on a node that is down."""
    cluster = FakeCluster()
    cluster.nodes["a1"] = False
    cluster.submit(1, 3, 20)
    session(cluster, tmp_path).driver.run(Limits(seconds=3))
    assert cluster.calls == [("start", "1", ("a2",))]


def test_intervals_after_a_refusal(tmp_path: Path) -> None:
    """Tries follow 2, 4, 8 and 16 seconds after each other, whatever the tick is."""
    cluster = FakeCluster()
    cluster.submit(1, 4, 20)
    cluster.refuses.add("1")
    session(cluster, tmp_path).driver.run(Limits(seconds=35))
    lines = [json.loads(line) for line in (tmp_path / NAME).read_text().splitlines()]
    times = [line["time"] - 1_000_000 for line in lines if line.get("do") == "start"]
    assert times == [0, 2, 6, 14, 30]


def test_refused_jobs_are_tried_again(tmp_path: Path) -> None:
    """A start that is refused is decided again, ever more rarely, and holds up nobody."""
    cluster = FakeCluster()
    cluster.submit(1, 4, 20)
    cluster.submit(2, 4, 20)
    cluster.refuses.add("1")
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=60))
    tries = [call for call in cluster.calls if call[1] == "1"]
    assert 3 <= len(tries) <= 6
    assert cluster.jobs["2"].phase == "ended"
    cluster.refuses.clear()
    made.driver.run(Limits(seconds=200, until_idle=True))
    assert cluster.jobs["1"].phase == "ended"


def test_jobs_that_do_not_start_are_taken_back(tmp_path: Path) -> None:
    """One that was told to start and has not is taken back with the reason, and placed again."""
    cluster = FakeCluster()
    cluster.submit(1, 4, 20)
    cluster.jobs["1"] = cluster.jobs["1"]._replace(why="AssocGrpBilling")
    cluster.ignores.add("1")
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=8))
    assert ("hold", "1", ()) in cluster.calls
    told = "job 1 did not start in time, and is taken back: the cluster says AssocGrpBilling"
    assert told in made.lines
    cluster.ignores.clear()
    made.driver.run(Limits(seconds=100, until_idle=True))
    assert cluster.jobs["1"].phase == "ended"


def test_room_of_jobs_about_to_start(tmp_path: Path) -> None:
    """What a job was told to take is not given to another before it has started."""
    cluster = FakeCluster(("a1",))
    cluster.submit(1, 3, 20)
    cluster.ignores.add("1")
    made = session(cluster, tmp_path)
    made.driver.step()
    cluster.submit(2, 3, 20)
    made.driver.step()
    assert [call[1] for call in cluster.calls] == ["1"]


def test_a_cluster_that_is_away(tmp_path: Path) -> None:
    """The driver waits, says so once, and goes on."""
    cluster = FakeCluster()
    cluster.submit(1, 3, 5)
    cluster.away = True
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=20))
    assert len(made.lines) == 1
    cluster.away = False
    made.driver.run(Limits(seconds=60, until_idle=True))
    assert cluster.jobs["1"].phase == "ended"


def test_a_new_driver_goes_on(tmp_path: Path) -> None:
    """A driver that takes over reads what was done from cluster and journal."""
    cluster = FakeCluster()
    for number in range(1, 7):
        cluster.submit(number, 3, 20)
    session(cluster, tmp_path).driver.run(Limits(seconds=10))
    later = session(cluster, tmp_path)
    later.driver.run(Limits(seconds=300, until_idle=True))
    assert [call[1] for call in cluster.calls] == ["1", "2", "3", "4", "5", "6"]
    # What the first had started is recorded, as the journal tells that it was ours.
    assert set(later.recorder.jobs) == {1, 2, 3, 4, 5, 6}


def test_round_trips(tmp_path: Path) -> None:
    """The journal has the seconds from the beginning of a look to the answer on each start."""
    cluster = FakeCluster()
    cluster.submit(1, 3, 20)
    cluster.submit(2, 3, 20)
    cluster.answers_in = 0.25
    cluster.refuses.add("2")
    session(cluster, tmp_path).driver.run(Limits(seconds=15))
    lines = [json.loads(line) for line in (tmp_path / NAME).read_text().splitlines()]
    outcomes = [(line["outcome"], line["after"]) for line in lines if "of" in line]
    # One reading, one or two starts; the second is tried again.
    assert outcomes[:2] == [("made", 0.5), ("refused", 0.75)]


def test_cancelled_jobs(tmp_path: Path) -> None:
    """A job that vanishes while it waits is counted as cancelled."""
    cluster = FakeCluster(("a1",))
    cluster.submit(1, 4, 5)
    cluster.submit(2, 4, 5)
    made = session(cluster, tmp_path)
    made.driver.step()
    del cluster.jobs["2"]
    made.driver.run(Limits(seconds=60, until_idle=True))
    assert made.following.account.skipped == {"cancelled": 1}
    assert set(made.recorder.jobs) == {1}


class Slow:
    """A dispatcher that takes too long."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return nothing, a second later."""
        time.sleep(1)
        return Decision()


class Wrong:
    """A dispatcher that starts a job that is not there."""

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Raise an error."""
        raise ValueError("no idea")


def test_late_answers(tmp_path: Path) -> None:
    """A round that takes too long is answered by list scheduling, and so are those behind it."""
    cluster = FakeCluster()
    cluster.submit(1, 3, 20)
    made = session(cluster, tmp_path, Slow(), 0.1)
    made.driver.step()
    cluster.submit(2, 3, 20)
    made.driver.step()
    assert [call[1] for call in cluster.calls] == ["1", "2"]
    assert all(held.record.fallback for held in made.rounds)
    assert "took more than" in made.lines[0]
    assert "an earlier round" in made.lines[1]


def test_dispatchers_that_fail(tmp_path: Path) -> None:
    """A dispatcher that raises an error does not stop the cluster."""
    cluster = FakeCluster()
    cluster.submit(1, 3, 20)
    made = session(cluster, tmp_path, Wrong())
    made.driver.step()
    assert [call[1] for call in cluster.calls] == ["1"]
    assert "no idea" in made.lines[0]


def test_one_look() -> None:
    """Of one look, an empty queue is told; a cluster that cannot be read is an error."""
    cluster = FakeCluster()
    made = session(cluster, None)
    began = cluster.time
    made.driver.run(Limits(once=True))
    assert (made.lines, made.rounds) == (["no job waits"], [])
    assert cluster.time == began
    cluster.submit(1, 3, 20)
    made.driver.run(Limits(once=True))
    assert len(made.rounds) == 1
    cluster.away = True
    with pytest.raises(UnavailableError, match="nobody answers"):
        made.driver.run(Limits(once=True))
    assert made.lines == ["no job waits"]


@pytest.mark.parametrize("busy", ["read", "sleep"])
def test_stop_breaks_off_what_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, busy: str
) -> None:
    """A stop during a reading or a pause ends the loop there, not after it."""
    cluster = FakeCluster()
    made = session(cluster, tmp_path)
    monkeypatch.setattr(cluster, busy, lambda *_: made.driver.stop())
    made.driver.run()
    assert made.driver.stopped
    assert not made.rounds


def test_no_look_begins_after_a_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stop between the pause and the reading is heeded before the reading."""
    cluster = FakeCluster()
    made = session(cluster, tmp_path)
    looks: list[str] = []
    step = made.driver.step

    def stopped_before(*, once: bool = False) -> bool:
        made.driver.stop()
        return step(once=once)

    monkeypatch.setattr(made.driver, "step", stopped_before)
    monkeypatch.setattr(cluster, "read", lambda: looks.append("read"))
    made.driver.run()
    assert not looks


def test_stop_between_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start that is being made is made whole and written down; no further one is begun."""
    cluster = FakeCluster()
    for number in (1, 2, 3):
        cluster.submit(number, 1, 20)
    made = session(cluster, tmp_path)
    start = cluster.start

    def stopped_meanwhile(job: ClusterJob, nodes: Sequence[str]) -> None:
        made.driver.stop()
        start(job, nodes)

    monkeypatch.setattr(cluster, "start", stopped_meanwhile)
    made.driver.run()
    assert [call[1] for call in cluster.calls] == ["1"]
    OPEN.pop().close()
    entries = map(json.loads, (tmp_path / NAME).read_text().splitlines())
    assert [entry["outcome"] for entry in entries if "outcome" in entry] == ["made"]


def test_jobs_are_not_taken_back_one_by_one_from_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call without an answer is the last of the look: each takes the time limit."""
    cluster = FakeCluster()
    for number in (1, 2, 3):
        cluster.submit(number, 1, 20)
        cluster.ignores.add(str(number))
    made = session(cluster, tmp_path)
    made.driver.run(Limits(seconds=2))
    assert len(cluster.calls) == 3
    asked: list[str] = []

    def unanswered(job: ClusterJob) -> None:
        asked.append(job.key)
        raise UnavailableError("nobody answers")

    monkeypatch.setattr(cluster, "hold", unanswered)
    cluster.time += 10
    made.driver.step()
    assert len(asked) == 1
