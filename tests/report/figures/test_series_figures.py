"""Figures of the load over time, and of decision times."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from hpcsched.errors import InputError
from hpcsched.report.compared_study import QueueBin, by_queue_length, load_series, used_over_time
from hpcsched.report.figures.run_figures import decision_time_figure, load_figure
from hpcsched.report.tables.study_tables import TABLES
from hpcsched.runs.manifest import ON_A_CLUSTER
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.figures.described import units
from tests.report.studies import pair, tables_of, write_studied


def test_the_first_seed_counts(tmp_path: Path) -> None:
    """Lines of several seeds would hide each other; at most four jobs wait, and none at the end."""
    paths = [write_studied(tmp_path / f"{seed}", seed=seed) for seed in (0, 1)]
    queue, *_ = units(load_figure(tables_of(paths)).chart)
    assert set(queue.column("configuration")) == {"easy"}
    values = queue.column("value")
    assert (max(values), values[-1]) == (4, 0)
    # From the first submission, at 0 s, to the last end, at 20,100 s, in hours.
    assert [queue.column("time")[k] for k in (0, -1)] == [0, pytest.approx(20_100 / 3600, rel=1e-5)]
    # Each time but the last, which ends the line, has a value of its own.
    assert len(set(queue.column("time"))) == len(values)


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
    compared = tables_of([path])
    (one,) = compared.study.runs
    found = [series.quantity for series in load_series(one, compared.jobs[one.name])]
    assert found == ["queue_length", *(f"utilization of {name}" for name in ("core", "mem", "gpu"))]


def test_queue_and_use(tmp_path: Path) -> None:
    """The queue is drawn above, the use of the chosen type below."""
    above, below = units(load_figure(tables_of(pair(tmp_path)), "gpu").chart)
    assert (above.axis_title("y"), below.axis_title("y")) == (
        "queue length [jobs]",
        "utilization of gpu [%]",
    )
    assert max(above.column("value")) == 4
    assert max(below.column("value")) == 100
    # The jobs of this run take 20,100 s.
    assert below.axis_title("x") == "hours since the trace's origin"


def test_shared_resources_and_outages(tmp_path: Path) -> None:
    """Below come draw and offer of a shared resource, and nodes out of service.

    Two jobs of a core draw 10 W each: from 0 to 86400 s and from 43200 s to 86400 s. A node is
    serviced for the first half of that day, and the cap falls from 30 to 20 W with its end.
    """
    (tmp_path / "jobs.swf").write_text(
        "".join(
            f"{k} {submit} -1 {time} 1 -1 -1 1 {time} -1 1 1 1 1 1 1 -1 -1\n"
            for k, submit, time in ((1, 0, 86_400), (2, 43_200, 43_200))
        )
    )
    (tmp_path / "both.yaml").write_text(
        """\
name: both
system:
  groups: [{name: node, count: 3, resources: {core: 1}}]
  shared_resources:
    - {name: power, capacity: 30, draw: {per: {core: 10}}, changes: [{at: 12h, capacity: 20}]}
outages:
  maintenance: [{name: service, nodes: [node-2], start: 0, duration: 12h}]
trace: {source: swf, path: jobs.swf, unit: {core: 1}}
dispatcher: easy
"""
    )
    result = run(load_scenario(tmp_path / "both.yaml"), tmp_path / "run")
    compared = tables_of([result.directory.path])
    found = units(load_figure(compared).chart)
    assert [one.axis_title("y") for one in found] == [
        "queue length [jobs]", "utilization of core [%]", "drawn from power [own unit]",
        "out of service [nodes]",
    ]  # fmt: skip
    power, down = (
        [(row["configuration"], row["time"], row["value"]) for row in one.rows] for one in found[2:]
    )
    # In hours; the last value of each line reaches to its end.
    assert power == [
        ("offered", 0, 30), ("offered", 12, 20), ("offered", 24, 20),
        ("both", 0, 10), ("both", 12, 20), ("both", 24, 20),
    ]  # fmt: skip
    assert down == [("both", 0, 1), ("both", 12, 0), ("both", 24, 0)]
    # Panels share the scale of colours: all have both names, or Vega repeats the first colour.
    (scale,) = {str(one.encoding["color"]["scale"]) for one in found}
    assert "'domain': ['both', 'offered']" in scale
    assert "'#999999'" in scale
    means = {row[1]: row[3] for row in TABLES["load"](compared).rows}
    assert (means["drawn from power"], means["out of service"]) == (15, 0.5)


def test_an_unknown_resource_type(tmp_path: Path) -> None:
    """It is an error with the names that there are."""
    with pytest.raises(InputError, match="the system of easy has no 'tpu'; there are: core"):
        load_figure(tables_of(pair(tmp_path)), "tpu")


def test_ranges_of_queue_lengths_double() -> None:
    """Ranges are 0, 1, 2 to 3, 4 to 7; those without rounds are left out.

    Of the rounds with two and three jobs, which took 1, 2 and 6 s, the mean is 3 s and the median
    2 s; the 90th percentile by nearest rank is the largest.
    """
    queued = np.array([3, 0, 2, 7, 3])
    seconds = np.array([6.0, 0.5, 1.0, 8.0, 2.0])
    assert list(by_queue_length(queued, seconds)) == [
        QueueBin(0, 0, 1, 0.5, 0.5, 0.5, 0.5),
        QueueBin(2, 3, 3, 3.0, 2.0, 6.0, 6.0),
        QueueBin(4, 7, 1, 8.0, 8.0, 8.0, 8.0),
    ]


def test_decision_times(tmp_path: Path) -> None:
    """Each run has a line of medians, on logarithmic scales."""
    line, _ = units(decision_time_figure(tables_of(pair(tmp_path))).chart)
    assert {line.encoding[axis]["scale"]["type"] for axis in "xy"} == {"log"}
    assert line.axis_title("y") == "median decision time (wall clock)"
    assert set(line.column("run")) == {"easy", "sjf"}
