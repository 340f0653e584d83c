"""The log of Eurora, as it was and under EASY."""

import gzip
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

import hpcsched
from hpcsched.audit.auditing import audit_directory
from hpcsched.runs.runner import run
from hpcsched.studies.study_files import read_experiment
from tests.experiments.test_experiments import EURORA_WAITS
from tests.real_traces import trace

LOG = "Eurora-2014-04.csv.gz"
SCENARIOS = Path(__file__).parents[2] / "scenarios"


def used_nodes() -> Mapping[int, Mapping[int, int]]:
    """Return, by job, how many parts of it the log has on each node, counted from 0."""
    with gzip.open(trace(LOG), "rt") as log:
        rows = [line.rstrip("\n").split(";") for line in log][1:]
    return {
        int(row[1]): Counter(int(part.split(":")[0]) - 1 for part in row[9].split()) for row in rows
    }


def test_the_log_as_it_was(tmp_path: Path) -> None:
    """All 5,930 jobs run, on the nodes of the log, and nearly all when it says.

    Where a job had several chunks on one of several nodes, nothing says how many of them: 16 jobs
    have other numbers, for which 24 jobs start late.
    """
    used = used_nodes()
    done = run(hpcsched.load_scenario(SCENARIOS / "eurora-log-recorded.yaml"), tmp_path / "run")
    assert audit_directory(done.directory).ok
    counts = done.summary["jobs"]
    assert (counts["read"], counts["completed"], counts["skipped"]) == (5930, 5930, {})
    found = done.summary["recorded_starts"]
    assert (found["jobs"], found["without_start"], found["later"]) == (5930, 0, 24)
    placed = done.directory.jobs.read("job_id", "nodes", "node_units").to_pylist()
    other = [
        job["job_id"]
        for job in placed
        if dict(zip(job["nodes"], job["node_units"], strict=True)) != used[job["job_id"]]
    ]
    assert len(other) == 16
    for job in placed:
        assert set(job["nodes"]) <= set(used[job["job_id"]])


def test_under_easy() -> None:
    """Every record is a job; 722 are cut to their requested time; queues are numbered."""
    trace(LOG)
    scenario = hpcsched.load_scenario(SCENARIOS / "eurora-log-easy.yaml")
    workload = hpcsched.read_workload(scenario)
    found = hpcsched.replay(scenario, workload)
    assert (found.jobs.num_rows, workload.account.read) == (5930, 5930)
    assert workload.account.clipped == {"over_requested_time": 722}
    queues = Counter(found.jobs["queue"].to_pylist())
    assert queues == {1: 2412, 2: 200, 3: 360, 4: 2958}


def test_expected_waits_are_those_of_the_log() -> None:
    """By the names of the queues; `R` has the reservations."""
    lines = trace("Eurora-2014-04.queues").read_text(encoding="utf-8").split("\n")
    waits = {name: int(wait) for name, wait in (line.split() for line in lines if line.strip())}
    with gzip.open(trace(LOG), "rt") as log:
        queues = dict.fromkeys(line.split(";")[2] for line in list(log)[1:])
    names = {"R": "reservation"}
    numbered = {n: waits[names.get(queue, queue)] for n, queue in enumerate(queues, 1)}
    assert numbered == EURORA_WAITS


def test_the_stretch_of_the_experiment(tmp_path: Path) -> None:
    """The 300 jobs that are replayed are the ninth stretch, which has 54 jobs in the queue."""
    experiment = Path(__file__).parents[2] / "experiments" / "in_papers_manner_eurora.yaml"
    scenario = read_experiment(experiment).cells[0].scenario
    declared = hpcsched.load_scenario(SCENARIOS / "eurora-log-easy.yaml")
    found = hpcsched.replay(scenario.model_copy(update={"dispatcher": declared.dispatcher}))
    assert found.jobs.num_rows == 300
    assert max(found.rounds["waiting"].to_pylist()) == longest_queue(8, tmp_path) == 54
    assert [longest_queue(stretch, tmp_path) for stretch in (13, 7)] == [40, 31]


@pytest.mark.slow
def test_no_other_stretch_has_a_longer_queue(tmp_path: Path) -> None:
    """19 stretches of 300 are whole."""
    found = [longest_queue(stretch, tmp_path) for stretch in range(19)]
    assert sorted(found)[-3:] == [31, 40, 54]


def longest_queue(stretch: int, folder: Path) -> int:
    """Return the most jobs that wait after a round of EASY in a stretch replayed by itself."""
    with gzip.open(trace(LOG), "rt") as log:
        header, *rows = log
    path = folder / "stretch.csv"
    path.write_text("".join([header, *rows[stretch * 300 : (stretch + 1) * 300]]))
    scenario = SCENARIOS / "eurora-log-easy.yaml"
    found = hpcsched.replay(hpcsched.load_scenario(scenario, [f"trace.path={path}"]))
    return max(found.rounds["waiting"].to_pylist())
