"""The load over time of runs made by hand."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.figures.load_figure import load_figure
from hpcsched.report.tables.study_tables import TABLES
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.figures.described import units
from tests.report.studies import pair, tables_of


def test_queue_and_use(tmp_path: Path) -> None:
    """The queue is drawn above, the use of the chosen type below."""
    above, below = units(load_figure(tables_of(pair(tmp_path)), "gpu").chart)
    assert (above.axis_title("y"), below.axis_title("y")) == ("jobs waiting", "gpu in use [%]")
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
        "jobs waiting", "core in use [%]", "power drawn", "nodes out of service",
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
    with pytest.raises(InputError, match="no system has 'tpu'; there are: core"):
        load_figure(tables_of(pair(tmp_path)), "tpu")
