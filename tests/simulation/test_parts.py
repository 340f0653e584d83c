"""Parts of a simulation: what they are where nothing is said."""

from hpcsched.prediction.predictor import OneSecond
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.event_loop import simulate
from hpcsched.simulation.parts import Parts
from tests.builders import NoObjective, Recorder, alike, easy, traced


def test_the_simplest_simulation() -> None:
    """A system that is always in service, without partitions, limits or latency."""
    recorder = Recorder()
    parts = Parts(
        alike(1, core=1), easy(), "easy", RequestedTime(), NoObjective(), observers=(recorder,)
    )
    assert not (parts.outages.all or parts.partitions or parts.dependencies)
    assert parts.latency is None
    assert isinstance(parts.correction, OneSecond)
    simulate(parts, iter([traced(1, 0, 1, 5), traced(2, 0, 1, 5)]))
    assert recorder.start_times == {1: 0, 2: 5}
