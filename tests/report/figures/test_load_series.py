"""The load of a run made by hand, as time series."""

import json
from pathlib import Path

import yaml

from hpcsched.report.figures.run_series import load_series, used_over_time
from hpcsched.runs.manifest import ON_A_CLUSTER
from tests.report.studies import pair, tables_of, write_studied


def test_queue_and_use(tmp_path: Path) -> None:
    """At most four jobs wait; the cores are all in use at some time, and none at the end.

    Both series reach from the first submission, at 0 s, to the last end, at 20,100 s.
    """
    queue, used, *others = load_series(tables_of(pair(tmp_path)), None)
    assert (queue.axis, used.axis) == ("jobs waiting", "core in use [%]")
    # Every type that nodes have.
    assert [one.axis for one in others] == ["mem in use [%]", "gpu in use [%]"]
    waiting, cores = queue.series["easy", "trace"], used.series["easy", "trace"]
    assert max(waiting.levels) == 4
    assert waiting.levels[-1] == 0
    for line in (waiting, cores):
        assert (line.instants[0], line.instants[-1]) == (0, 20_100)
    assert queue.limits == used.limits == {}


def test_the_first_seed_counts(tmp_path: Path) -> None:
    """Lines of several seeds would hide each other."""
    paths = [write_studied(tmp_path / f"{seed}", seed=seed) for seed in (0, 1)]
    queue, *_ = load_series(tables_of(paths), None)
    assert list(queue.series) == [("easy", "trace")]


def test_use_by_hand(tmp_path: Path) -> None:
    """Until 50 s the first job has 3 × 4 cores and the second 2 × 1; both GPUs are in use."""
    (one,) = tables_of([write_studied(tmp_path / "run")]).study.runs
    cores, gpus = used_over_time(one, "core"), used_over_time(one, "gpu")
    assert (cores.instants[0], cores.levels[0]) == (0, 14)
    assert (gpus.instants[:2].tolist(), gpus.levels[0]) == ([0, 50], 2)


def test_shared_resources_of_a_real_cluster(tmp_path: Path) -> None:
    """A run on one has no time series of them, and the figure does without."""
    path = write_studied(tmp_path / "run")
    scenario, manifest = path / "scenario.yaml", path / "manifest.json"
    declared = yaml.safe_load(scenario.read_text())
    licence = {"name": "license_a", "capacity": 3, "draw": "as_the_trace_says"}
    declared["system"]["shared_resources"] = [licence]
    scenario.write_text(yaml.safe_dump(declared))
    told = json.loads(manifest.read_text()) | {"not_reproducible_because": [ON_A_CLUSTER]}
    manifest.write_text(json.dumps(told))
    titles = [one.title for one in load_series(tables_of([path]), None)]
    assert titles == ["Queue", *(f"Utilization of {name}" for name in ("core", "mem", "gpu"))]
