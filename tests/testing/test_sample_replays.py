"""What the checks of plugins share: a check for every kind, telling of events, and notes."""

from importlib.resources import files

import pytest

import hpcsched.testing
from hpcsched.errors import PluginError
from hpcsched.registration import KINDS
from hpcsched.testing import make_jobs, make_system, replay
from hpcsched.testing.replaying import backfilling, expect, noted, told

JOBS = "job_id submit_time run_time\n1 0 5\n2 1 5\n"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_a_check(kind: str) -> None:
    """It is part of the kit, and the template of new plugins calls it."""
    name = f"check_{kind}"
    assert name in hpcsched.testing.__all__
    template = files("hpcsched.plugins") / "templates" / f"{kind}_test.txt"
    assert f"    {name}(" in template.read_text(encoding="utf-8")


class Counts:
    """Counts starts, and keeps ends."""

    def __init__(self) -> None:
        self.started = 0
        self.ends: list[tuple[int, int]] = []

    def job_started(self, job) -> None:
        """Count it."""
        self.started += 1

    def job_ended(self, job, end_time: int) -> None:
        """Keep it."""
        self.ends.append((job.job_id, end_time))


def test_told() -> None:
    """Both jobs start, and end after 5 s each on one node; other objects are not told."""
    counts = Counts()
    system = make_system(1)
    replay(backfilling(), make_jobs(system, JOBS), system, observers=told(counts, object()))
    assert counts.started == 2
    assert counts.ends == [(1, 5), (2, 10)]


def test_notes() -> None:
    """The assertion of a check is raised for the error that was made of it."""
    with pytest.raises(AssertionError, match="it: wrong") as caught, noted("here"):
        try:
            expect("wrong", "it")
        except AssertionError as error:
            raise PluginError("dispatcher list: raised AssertionError") from error
    assert caught.value.__notes__ == ["here"]
    with pytest.raises(PluginError) as other, noted("there"):
        raise PluginError("solver x: not installed")
    assert other.value.__notes__ == ["there"]
    expect(None)
