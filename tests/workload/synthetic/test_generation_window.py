"""Parts of synthetic workloads, by hand."""

from hpcsched.system.system import Request
from hpcsched.workload.synthetic.campaigns import (
    Asked,
    Campaign,
    Levels,
    Regime,
    Stratum,
    WindowParams,
    jobs_within,
)
from tests.workload.synthetic.scripted import Scripted

ASKED = Asked(Request(2, (1,)), 3600, 7, 1, None, 3)
TIMES = (0, 10, 15, 29, 30)


def within(*uniform: float, **window: object) -> list[tuple[int, int, int]]:
    """Return number, submit time and run time of the jobs of a window; times around 100 s."""
    levels = Levels(Stratum(5, 1, 10_000, 1))
    campaign = Campaign(ASKED, [Regime(levels, 5, 100, 0.5)], 1, 1, lambda: "a")
    params = WindowParams.model_validate(window)
    jobs = jobs_within(params, Scripted(*uniform), ((time, campaign) for time in TIMES))
    found = list(jobs)
    assert all(one.job[2:6] == (*ASKED[:3], 1) and one.job.name == "a" for one in found)
    return [(one.job.job_id, one.job.submit_time, one.run_time) for one in found]


def test_window_and_load() -> None:
    """From 10 on and before 30; 5 s and 19 s after its begin are 2 and 9 s at double load.

    Draws of 0, 0.1, … give 50, 60, … s: the job before the window is drawn as well, so that job 2
    has 60 s.
    """
    drawn = (0.0, 0.1, 0.2, 0.3, 0.4)
    window = {"start": 10, "duration": 20, "load": 2}
    assert within(*drawn, jobs=9, **window) == [(2, 0, 60), (3, 2, 70), (4, 9, 80)]
    assert within(*drawn, jobs=2, **window) == [(2, 0, 60), (3, 2, 70)]


def test_the_number_of_jobs_is_known_only_without_a_window() -> None:
    """A part of the time may have fewer."""
    assert WindowParams(jobs=9).expected_jobs == 9
    assert WindowParams(jobs=9, start=1).expected_jobs is None
    assert WindowParams(jobs=9, duration=60).expected_jobs is None


def test_comments() -> None:
    """Second 0 of the trace is when the window begins."""
    comments = WindowParams(jobs=9, start=60).comments("Toy", "toy-like", 1000, "UTC")
    assert "UnixStartTime: 1060" in comments
    assert "Note: made up by hpcsched's toy-like; no real log is behind it" in comments
