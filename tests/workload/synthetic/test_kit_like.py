"""The trace source `kit-like` against what is published, see `measuring.KIT_FIGURES`."""

import pytest

from hpcsched.workload.synthetic.campaigns import read_figures
from tests.workload.synthetic import sequences
from tests.workload.synthetic.measuring import (
    DAY,
    HOUR,
    KIT_FIGURES,
    far_off,
    kit,
    mean_of,
    measure_kit,
)

GOLDEN = "2df2635ad6c3b002ee0a48538e29ead14544a6114a43375eaa305b8287d68249"
"""Of the first 2,000 jobs of seed 0; a changed workload must be meant, and said."""


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_published_figures(seed):
    """At the full number of jobs each is as close as the table says."""
    found = measure_kit(kit(seed))
    assert set(found) == set(KIT_FIGURES)
    assert list(far_off(found, KIT_FIGURES)) == []


def test_the_table_has_the_published_mean():
    """562,772 hours over 114,355 jobs."""
    run_times = read_figures("kit-like", None).kinds[0].run_times
    assert mean_of(run_times) == pytest.approx(562_772 * HOUR / 114_355, rel=0.001)


def test_first_jobs_of_a_seed():
    """The same on every machine."""
    assert sequences.digest(kit(), 2000) == GOLDEN


def test_stream():
    """Ascending, repeatable, different for another seed."""
    sequences.check_stream(kit)


def test_windows():
    """Slices of the whole."""
    sequences.check_windows(kit, begin=40 * DAY, days=3)


def test_load():
    """Denser or thinner."""
    sequences.check_load(kit)


def test_memory():
    """Flat."""
    sequences.check_memory(kit)


def test_requests():
    """Most jobs ask for whole nodes; all that fit, ask for no GPUs and keep to their limits."""
    source = kit(jobs=20_000)
    whole = 0
    for job, run_time in source.jobs():
        core, _, gpu = job.unit_request
        whole += core == 20
        assert core <= 20 or job.queue == 2
        assert gpu == 0
        assert run_time <= job.requested_time <= 72 * HOUR
        assert job.name is None
        assert job.application is None
    assert whole / 20_000 > 0.75
    assert not source.account.skipped
