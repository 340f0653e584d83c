"""The log of Gaia: the stretch that stands for it where versions of HCP and PCP are compared."""

import gzip
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import hpcsched
from hpcsched.studies.study_files import read_experiment
from tests.real_traces import trace

ROOT = Path(__file__).parents[2]
JOBS = 500
"""As many jobs are in a stretch."""

CHOSEN = 23
"""The number of stretches before the chosen one."""


@cache
def records() -> Sequence[str]:
    """Return the records of the log whose jobs ran (field 4)."""
    with gzip.open(trace("UniLu-Gaia-2014-1.swf.gz"), "rt") as log:
        lines = [line for line in log if line.strip() and not line.startswith(";")]
    return [line for line in lines if int(line.split()[3]) > 0]


def longest_queue(stretch: int, folder: Path) -> int:
    """Return the most jobs that wait after a round of EASY in a stretch replayed by itself."""
    path = folder / "stretch.swf"
    path.write_text("".join(records()[stretch * JOBS : (stretch + 1) * JOBS]))
    found = hpcsched.replay(
        hpcsched.load_scenario(ROOT / "scenarios" / "gaia-easy.yaml", [f"trace.path={path}"])
    )
    assert found.jobs.num_rows == JOBS
    return max(found.rounds["waiting"].to_pylist())


def test_the_stretch_of_the_experiment(tmp_path: Path) -> None:
    """Its cells have the 500 jobs of that stretch; in the next two the queue is shorter."""
    trace("UniLu-Gaia-2014-1.swf.gz")
    cell = read_experiment(ROOT / "experiments" / "in_papers_manner_gaia.yaml").cells[0]
    replayed = hpcsched.replay(cell.scenario.model_copy(update={"dispatcher": easy()}))
    ours = [int(line.split()[0]) for line in records()[CHOSEN * JOBS : (CHOSEN + 1) * JOBS]]
    assert sorted(replayed.jobs["job_id"].to_pylist()) == ours
    assert [longest_queue(stretch, tmp_path) for stretch in (CHOSEN, 33, 17)] == [36, 34, 21]


def easy() -> object:
    """Return the dispatcher of the scenario, which asks no solver."""
    return hpcsched.load_scenario(ROOT / "scenarios" / "gaia-easy.yaml").dispatcher


@pytest.mark.slow
def test_no_other_stretch_has_a_longer_queue(tmp_path: Path) -> None:
    """Of 51,859 jobs that ran, 103 stretches of 500 are whole."""
    found = [longest_queue(stretch, tmp_path) for stretch in range(len(records()) // JOBS)]
    assert len(found) == 103
    assert max(range(103), key=found.__getitem__) == CHOSEN
    assert sorted(found)[-3:] == [21, 34, 36]
