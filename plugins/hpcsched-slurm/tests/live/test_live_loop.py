"""The loop of a live run: what it leaves, and when it is complete."""

from pathlib import Path

from hpcsched.runs.assembly import assemble
from hpcsched.runs.observers import ReasonRecorder
from hpcsched.runs.recorder import RunRecorder
from hpcsched.scenario import load_scenario
from hpcsched.simulation.observer import Observer
from hpcsched_slurm.live.driver import Limits
from hpcsched_slurm.live.session import LiveLoop, live_observers
from live.fake_cluster import FakeCluster
from live.sessions import Session, session

SCENARIO = Path(__file__).parents[4] / "scenarios" / "small-easy.yaml"


class Closing(Observer):
    """An observer that notes when it is closed."""

    def __init__(self, told: list[str]) -> None:
        self._told = told

    def close(self) -> None:
        """Note it."""
        self._told.append("closed")


def loop_of(driving: Session, told: list[str], limits: Limits) -> LiveLoop:
    """Return the loop of a driver; it tells what it writes, in order."""
    return LiveLoop(
        driving.driver,
        limits,
        driving.following,
        [Closing(told)],
        write=lambda started, nodes: told.append(f"{sorted(started)} on {sorted(nodes.values())}"),
    )


def test_it_runs_until_the_cluster_is_idle(tmp_path: Path) -> None:
    """A held job is placed, runs for a minute and ends; the advice is written before the tables."""
    cluster, told = FakeCluster(), list[str]()
    cluster.submit(7, 4, 60)
    driving = session(cluster, tmp_path)
    loop = loop_of(driving, told, Limits(None, None, until_idle=True))
    loop.run()
    assert loop.complete
    loop.close()
    assert told == ["[7] on [('a1',)]", "closed"]
    assert (loop.end.remaining.waiting, loop.end.remaining.running) == (0, 0)


def test_what_is_left_when_it_is_stopped(tmp_path: Path) -> None:
    """After one round a job runs, and the run is not complete."""
    cluster = FakeCluster()
    for number in (7, 8, 9):
        cluster.submit(number, 4, 600)
    driving = session(cluster, tmp_path)
    loop = loop_of(driving, [], Limits(None, 2, until_idle=False))
    loop.run()
    assert not loop.complete
    assert loop.end.remaining.waiting + loop.end.remaining.running == 3
    assert "a real cluster" in " ".join(loop.end.in_python)
    assert loop.more_figures({}, complete=False) == {}


def test_reasons_are_recorded_once(tmp_path: Path) -> None:
    """Whether the scenario lists their observer or not."""
    assembly = assemble(load_scenario(SCENARIO), folder=tmp_path)
    recorder = RunRecorder(tmp_path, assembly.system)
    own = live_observers(assembly, recorder, [])
    assert [type(one) for one in own] == [RunRecorder, ReasonRecorder]
    listed = [one for one in own if isinstance(one, ReasonRecorder)]
    assert len(live_observers(assembly, recorder, listed)) == 2
    for one in own:
        one.close()
