"""Pictures: what is in them, not which pixels; and that they are the same every time."""

import re
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure

from hpcsched.errors import InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures import pictures
from hpcsched.report.figures.figure_style import STYLE, colours_of, looks
from hpcsched.report.figures.gantt_picture import draw_gantt
from hpcsched.report.figures.picture_files import write_picture
from hpcsched.report.figures.pictures import Draw
from hpcsched.report.page.page_figures import page_figures
from hpcsched.report.tables.study_tables import TABLES
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.studies import pair, tables_of, write_experiment, write_studied

DRAWINGS: dict[str, Callable[[ComparedStudy], Draw]] = {
    "boxes": lambda tables: pictures.draw_boxes(tables, "wait_time"),
    "shares": lambda tables: pictures.draw_shares(tables, "bounded_slowdown"),
    "bars": lambda tables: pictures.draw_bars(tables, "mean_wait_time"),
    "load": lambda tables: pictures.draw_load(tables, None),
    "decision-time": pictures.draw_decision_times,
    "gantt": lambda tables: draw_gantt(tables.study, ("core",), 0, 200),
}


def drawn(draw: Draw) -> Figure:
    """Return a figure in the style of pictures."""
    with mpl.rc_context(STYLE):
        figure = Figure(layout="constrained")
        draw(figure)
        figure.canvas.draw()
    return figure


def labels_of(figure: Figure) -> list[str]:
    """Return what the legend names."""
    return [text.get_text() for text in figure.legends[0].get_texts()]


@pytest.mark.parametrize(
    ("name", "kind"), [*((name, "svg") for name in DRAWINGS), ("boxes", "pdf"), ("boxes", "png")]
)
def test_equal_runs_give_equal_bytes(name: str, kind: str, tmp_path: Path) -> None:
    """A picture drawn twice is the same file."""
    tables = tables_of(pair(tmp_path / "runs"))
    paths = [tmp_path / f"{k}.{kind}" for k in range(2)]
    for path in paths:
        write_picture(DRAWINGS[name](tables), path)
    first, second = (path.read_bytes() for path in paths)
    assert first == second
    assert first.startswith({"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[kind])


def test_boxes(tmp_path: Path) -> None:
    """There is a box for each contender and trace, with quartiles where they belong."""
    write_experiment(tmp_path)
    figure = drawn(pictures.draw_boxes(tables_of([tmp_path]), "wait_time"))
    (axes,) = figure.axes
    assert axes.get_yscale() == "symlog"
    assert axes.get_ylabel() == "wait time [s]"
    assert [text.get_text() for text in axes.get_xticklabels()] == ["kth", "ctc"]
    assert labels_of(figure) == ["easy", "sjf"]
    assert len(axes.patches) == 4
    extents = axes.patches[0].get_path().vertices[:, 1]
    assert (extents.min(), extents.max()) == (0, 80)


def test_queue_sizes(tmp_path: Path) -> None:
    """Boxes may be of rounds: by the queue before each, of all seeds."""
    paths = pair(tmp_path)
    compared = tables_of(paths)
    drawing = pictures.draw_boxes(compared, "queue_size")
    (axes,) = drawn(drawing).axes
    assert axes.get_ylabel() == "jobs in the queue before a round"
    queued = compared.study.runs[0].run.rounds.whole()["queued"].to_pylist()
    assert pictures.pooled(compared, "queue_size")["easy", compared.study.groups[0]].tolist() == (
        queued
    )
    shares = drawn(pictures.draw_shares(compared, "queue_size")).axes[0]
    assert shares.get_ylabel() == "rounds up to it [%]"


def test_shares(tmp_path: Path) -> None:
    """A line climbs to 100 percent, and is where it should be."""
    figure = drawn(pictures.draw_shares(tables_of(pair(tmp_path)), "wait_time"))
    (axes,) = figure.axes
    line = axes.lines[0]
    assert line.get_color() == colours_of(["easy"])["easy"]
    assert line.get_xdata().tolist() == [0, 0, 20, 30, 80, 90]
    assert line.get_ydata().tolist() == pytest.approx([0, 200 / 7, 300 / 7, 500 / 7, 600 / 7, 100])
    assert axes.get_ylabel() == "jobs up to it [%]"


def test_bars(tmp_path: Path) -> None:
    """Bars have the height of the metric, and whiskers the interval over jobs."""
    tables = tables_of(pair(tmp_path))
    figure = drawn(pictures.draw_bars(tables, "mean_wait_time"))
    (axes,) = figure.axes
    heights = [patch.get_height() for patch in axes.patches]
    assert heights == pytest.approx([250 / 7, 310 / 7])
    found = pictures.bars_of(tables, "mean_wait_time")["easy", "trace"]
    assert found.lower < 250 / 7 < found.upper
    assert axes.get_ylabel() == "mean_wait_time [s]"
    # What is no mean over jobs has no interval with one run.
    makespan = pictures.bars_of(tables, "makespan")["easy", "trace"]
    assert makespan == (20_100, 20_100, 20_100)


def test_bars_over_seeds(tmp_path: Path) -> None:
    """With several seeds a bar is their mean."""
    paths = [write_studied(tmp_path / f"{seed}", seed=seed) for seed in (0, 1, 2)]
    found = pictures.bars_of(tables_of(paths), "mean_wait_time")
    assert found == {("easy", "trace"): pytest.approx((250 / 7,) * 3)}


def test_load(tmp_path: Path) -> None:
    """The queue is drawn above, the use of the chosen type below."""
    figure = drawn(pictures.draw_load(tables_of(pair(tmp_path)), "gpu"))
    above, below = figure.axes
    assert (above.get_ylabel(), below.get_ylabel()) == ("jobs waiting", "gpu in use [%]")
    assert max(above.patches[0].get_data().values) == 4
    assert max(below.patches[0].get_data().values) == 100
    assert below.get_xlabel() == "days since the trace's origin"


def test_load_of_shared_resources_and_outages(tmp_path: Path) -> None:
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
    axes = drawn(pictures.draw_load(compared, None)).axes
    assert [one.get_ylabel() for one in axes] == [
        "jobs waiting", "core in use [%]", "power drawn", "nodes out of service",
    ]  # fmt: skip
    offered, power = (patch.get_data() for patch in axes[2].patches)
    assert (list(offered.values), list(offered.edges)) == ([30, 20], [0, 0.5, 1])
    assert (list(power.values), list(power.edges)) == ([10, 20], [0, 0.5, 1])
    (down,) = (patch.get_data() for patch in axes[3].patches)
    assert (list(down.values), list(down.edges)) == ([1, 0], [0, 0.5, 1])
    table = TABLES["load"](compared)
    means = {row[1]: row[3] for row in table.rows}
    assert (means["drawn from power"], means["out of service"]) == (15, 0.5)
    titles = [figure.title for figure in page_figures(compared)]
    assert "Drawn from power over time, jobs" in titles, titles


def test_decision_times(tmp_path: Path) -> None:
    """Each run has dots and a line of medians, on logarithmic scales."""
    figure = drawn(pictures.draw_decision_times(tables_of(pair(tmp_path))))
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert len(axes.collections) == len(axes.lines) == 2
    assert axes.get_ylabel() == "decision time [real s]"


def test_gantt(tmp_path: Path) -> None:
    """There is a panel for each run and type, with the jobs of the window as rectangles."""
    study = tables_of(pair(tmp_path)).study
    figure = drawn(draw_gantt(study, ("core", "gpu"), 0, 40))
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["easy: core", "easy: gpu", "sjf: core", "sjf: gpu"]
    (rectangles,) = (c for c in figure.axes[0].collections if isinstance(c, PolyCollection))
    extents = [path.get_extents() for path in rectangles.get_paths()]
    assert sorted((e.x0, e.x1, e.y0, e.y1) for e in extents) == [
        (0, 40, 0, 1), (0, 40, 1, 2), (0, 40, 2, 3), (0, 40, 3, 3.5),
    ]  # fmt: skip
    names = [text.get_text() for text in figure.axes[1].get_yticklabels()]
    assert len(names) == 1
    assert names[0].startswith("fat")


def test_a_dispatcher_has_one_colour_everywhere() -> None:
    """It does not depend on what else is in the picture; contenders that share it differ else."""
    everything = looks({"a": "easy", "b": "list", "c": "easy"})
    assert everything["a"].colour == everything["c"].colour == colours_of(["easy"])["easy"]
    assert everything["a"].line != everything["c"].line
    assert everything["a"].hatch != everything["c"].hatch
    six = looks(dict.fromkeys("abcdef", "easy")).values()
    assert len({look.hatch for look in six}) == len({str(look.line) for look in six}) == 6
    assert looks({"c": "easy"})["c"].colour == colours_of(["easy"])["easy"]
    seen = ["easy", "of-a-plugin", "prb", "conservative", "of-another", "slack"]
    colours = colours_of(seen)
    assert len(set(colours.values())) == len(seen)
    assert all(re.fullmatch("#[0-9A-F]{6}", colour) for colour in colours.values())
    many = colours_of([*map(str, range(30)), "easy"])
    assert len(many) == 31
    assert many["easy"] == colours["easy"]


@pytest.mark.parametrize("name", ["mean_fun", "gpu-hours"])
def test_an_unknown_metric(name: str, tmp_path: Path) -> None:
    """It is an error with the names that there are."""
    with pytest.raises(InputError, match=f"no run has a value of '{name}'; there are: area_"):
        pictures.draw_bars(tables_of(pair(tmp_path)), name)


def test_an_unknown_resource_type(tmp_path: Path) -> None:
    """It is an error with the names that there are."""
    with pytest.raises(InputError, match="no system has 'tpu'; there are: core"):
        pictures.draw_load(tables_of(pair(tmp_path)), "tpu")


def test_values_above_zero_have_a_logarithmic_scale(tmp_path: Path) -> None:
    """Only where there are values of 0 is the scale linear near it."""
    figure = drawn(pictures.draw_shares(tables_of(pair(tmp_path)), "bounded_slowdown"))
    assert figure.axes[0].get_xscale() == "log"
    assert np.all(figure.axes[0].lines[0].get_xdata() >= 1)
