"""Gantt charts of runs made by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.figures.figure_files import drawn
from hpcsched.report.figures.gantt import By
from hpcsched.report.figures.gantt_figure import gantt_figure
from hpcsched.report.studied_runs import Study
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.figures.described import Unit, texts, unit, units
from tests.report.studies import pair, tables_of, write_studied
from tests.runs.hand_made import JOBS


def test_panels(tmp_path: Path) -> None:
    """There is one for each run and type below its strip, with the jobs of the window."""
    chart = gantt_figure(tables_of(pair(tmp_path)).study, ("core", "gpu"), 0, 40).chart
    found = units(chart)
    strips = [one for one in found if one.mark == "area"]
    assert [one.title for one in strips] == ["easy", "easy", "sjf", "sjf"]
    assert [one.axis_title("y") for one in strips] == ["core [%]", "gpu [%]"] * 2
    jobs = next(one for one in found if one.mark == "rect" and one.rows)
    rectangles = [(row["begin"], row["end"], row["top"], row["bottom"]) for row in jobs.rows]
    assert sorted(rectangles) == [(0, 40, 0, 3), (0, 40, 3, 3.5)]
    assert jobs.column("node") == ["thin-0 to thin-2", "fat-0"]
    assert jobs.axis_title("y") == "nodes, by share of core"
    # Only the lowest panel has labels of time, which all share.
    times = [one.axis_title("x") for one in found if one.mark == "rect" and one.rows]
    assert times == [None, None, None, "seconds since the trace's origin"]


def test_the_strip(tmp_path: Path) -> None:
    """It shares the axis of time: 14 of 16 cores are in use until 40 s."""
    chart = gantt_figure(tables_of(pair(tmp_path)[:1]).study, ("core",), 0, 40).chart
    strip, jobs = unit(chart, "area"), unit(chart, "rect")
    assert [(row["time"], row["used"]) for row in strip.rows] == [(0, 87.5), (40, 87.5)]
    assert strip.encoding["x"]["scale"]["domain"] == jobs.encoding["x"]["scale"]["domain"]


def test_names_and_numbers(tmp_path: Path) -> None:
    """Each of a few nodes is named at its middle, and jobs with room have their numbers."""
    chart = gantt_figure(tables_of(pair(tmp_path)).study, ("core",), 0, 40).chart
    axis = unit(chart, "rect").encoding["y"]["axis"]
    assert axis["values"] == [0.5, 1.5, 2.5, 3.5]
    assert axis["labelExpr"].startswith('["thin-0", "thin-1", "thin-2", "fat-0"][indexof(')
    numbers = unit(chart, "text")
    assert sorted(set(numbers.column("job"))) == ["1", "2"]
    # Another group of nodes begins below the third.
    assert unit(chart, "rule").column("row") == [3]


def test_one_axis_of_time(tmp_path: Path) -> None:
    """Runs that end at different times have one window, from the first start to the last end."""
    short = [job for job in JOBS if job.start is not None and job.end < 20_100]
    folders = [write_studied(tmp_path / "long"), write_studied(tmp_path / "short", short)]
    found = units(gantt_figure(tables_of(folders).study).chart)
    rectangles = [one for one in found if one.mark == "rect"]
    assert {tuple(one.encoding["x"]["scale"]["domain"]) for one in rectangles} == {
        (0.0, 20_100 / 3600)
    }


def test_edges_of_large_rectangles_alone(tmp_path: Path) -> None:
    """A job of an hour in ten days is 2 points wide: its white edges would hide it."""
    study = tables_of([_wide(tmp_path / "log")]).study
    jobs = next(one for one in units(gantt_figure(study).chart) if one.mark == "rect" and one.rows)
    assert set(jobs.column("edge")) == {0.0}
    day = gantt_figure(study, (), "1d", "48h").chart
    jobs = next(one for one in units(day) if one.mark == "rect" and one.rows)
    assert set(jobs.column("edge")) == {0.3}


def _many(folder: Path, nodes: int) -> Path:
    """Replay 4,000 jobs of one node and 100 s, one user's and another's by turns."""
    folder.mkdir()
    jobs = [
        f"{job} {job // nodes * 100} -1 100 1 -1 -1 1 100 -1 1 {1 + job // 2000} 1 1 1 1 -1 -1\n"
        for job in range(4000)
    ]
    (folder / "jobs.swf").write_text("".join(jobs))
    scenario = SCENARIO.replace("count: 30", f"count: {nodes - 10}")
    (folder / "wide.yaml").write_text(scenario)
    return run(load_scenario(folder / "wide.yaml"), folder / "run").directory.path


def test_many_jobs_are_merged(tmp_path: Path) -> None:
    """Two users fill the machine one after the other: two rectangles, not 4,000, one panel high."""
    study = tables_of([_many(tmp_path / "log", 100)]).study
    figure = gantt_figure(study)
    found = units(figure.chart)
    jobs = next(one for one in found if one.mark == "rect" and one.rows)
    places = [[row[key] for key in ("begin", "end", "top", "bottom")] for row in jobs.rows]
    # 100 jobs at a time, for 20 × 100 s each user.
    assert places == [
        [0, pytest.approx(2000 / 60, abs=0.2), 0, pytest.approx(100)],
        [pytest.approx(2000 / 60, abs=0.2), pytest.approx(4000 / 60), 0, pytest.approx(100)],
    ]
    assert jobs.column("category") == ["user 1", "user 2"]
    assert "more jobs than can be told apart" in figure.caption
    assert len(drawn(figure.chart, "svg")) < 30_000


def test_ten_runs_are_not_ten_times_as_high(tmp_path: Path) -> None:
    """Panels share a height of 900 points, and have 60 at least."""
    study = tables_of([_many(tmp_path / "log", 40)]).study
    runs = tuple(replace(study.runs[0], name=f"run {k}") for k in range(10))
    heights = [
        view["height"] for view in gantt_figure(replace(study, runs=runs)).chart.to_dict()["concat"]
    ]
    assert heights == [36, 90] * 10


SCENARIO = """\
name: wide
system:
  groups:
    - {name: cpu, count: 30, resources: {core: 1}}
    - {name: fat, count: 10, resources: {core: 1}}
trace: {source: swf, path: jobs.swf, unit: {core: 1}}
dispatcher: easy
"""
HEADER = "; UnixStartTime: 843480000\n; TimeZoneString: Europe/Stockholm\n"


def _wide(folder: Path, header: str = HEADER) -> Path:
    """Replay jobs of ten users on 40 nodes: user k has k nodes for an hour, one day later each."""
    folder.mkdir()
    jobs = [
        f"{user} {86_400 * (user - 1)} -1 3600 {user} -1 -1 {user} 3600 -1 1 {user} 1 1 1 1 -1 -1\n"
        for user in range(1, 11)
    ]
    (folder / "jobs.swf").write_text(header + "".join(jobs))
    (folder / "wide.yaml").write_text(SCENARIO)
    return run(load_scenario(folder / "wide.yaml"), folder / "run").directory.path


def test_groups_users_and_dates(tmp_path: Path) -> None:
    """Of many nodes groups are named, of many users the largest; times are the log's dates.

    Second 0 is 23 September 1996, 14:00 in Stockholm, which is UTC+2 then.
    """
    study = tables_of([_wide(tmp_path / "log")]).study
    chart = gantt_figure(study).chart
    jobs = next(one for one in units(chart) if one.mark == "rect" and one.rows)
    assert jobs.encoding["color"]["scale"]["domain"] == [
        *(f"user {user}" for user in (10, 9, 8, 7, 6, 5, 4)), "others",
    ]  # fmt: skip
    assert jobs.column("category")[:4] == ["others", "others", "others", "user 4"]
    assert jobs.axis_title("x") == "1996, local time (UTC+02:00)"
    # The clocks show 14:00, as milliseconds of 14:00 UTC: 843480000 s is 12:00 UTC.
    assert jobs.column("begin")[0] == 1000 * (843_480_000 + 7200)
    out = tmp_path / "gantt.svg"
    out.write_bytes(drawn(chart, "svg"))
    written = texts(out)
    for text in ("cpu × 30", "fat × 10", "user 10", "others", "24 Sep", "core [%]"):
        assert text in written


def test_a_window_by_dates_and_durations(tmp_path: Path) -> None:
    """A day may be given by its date, or by the time since the origin."""
    study = tables_of([_wide(tmp_path / "log")]).study
    by_date = gantt_figure(study, (), "1996-09-24T14:00", "1996-09-25T14:00").chart
    by_time = gantt_figure(study, (), "1d", "48h").chart
    rows = [unit(chart, "text").column("job") for chart in (by_date, by_time)]
    assert rows == [["2"], ["2"]]


def _jobs(study: Study, by: By) -> Unit:
    """Return the rectangles of jobs, not those of outages."""
    found = units(gantt_figure(study, by=by).chart)
    return next(one for one in found if one.mark == "rect" and one.rows)


def test_other_attributes(tmp_path: Path) -> None:
    """Colours may show sizes, run times or states; by job they only tell neighbours apart."""
    study = tables_of([_wide(tmp_path / "log", "")]).study
    legends = {}
    attributes: tuple[By, ...] = ("size", "run-time", "state")
    for by in attributes:
        jobs = _jobs(study, by)
        legends[by] = jobs.encoding["color"]["scale"]["domain"]
    assert legends["size"] == ["1 node", "2 to 4 nodes", "5 to 16 nodes"]
    assert legends["run-time"] == ["medium"]
    assert legends["state"] == ["completed"]
    plain = _jobs(study, "job")
    assert plain.encoding["color"]["scale"] is None
    # Without a date in the log the axis counts days.
    assert plain.axis_title("x") == "days since the trace's origin"


def test_nodes_out_of_service(tmp_path: Path) -> None:
    """They have a colour of their own in the legend, if there are any."""
    folder = tmp_path / "log"
    _wide(folder)
    outage = "outages:\n  maintenance:\n"
    outage += "    - {name: service, nodes: [fat-0], start: 0, duration: 12h}\n"
    (folder / "wide.yaml").write_text(SCENARIO + outage)
    path = run(load_scenario(folder / "wide.yaml"), folder / "again").directory.path
    whole = gantt_figure(tables_of([path]).study, by="size").chart
    down, jobs = (one for one in units(whole) if one.mark == "rect")
    assert [(row["top"], row["bottom"]) for row in down.rows] == [(30, 31)]
    assert down.column("category") == ["out of service"]
    assert jobs.encoding["color"]["scale"]["domain"][-1] == "out of service"


def test_marked_spans(tmp_path: Path) -> None:
    """A span is shaded in the strip and on the nodes, from 1d to the date 1.5 days after second 0.

    Second 0 is 14:00 by the clocks, so that 25 September, 02:00 is 36 h later. Begins are clipped.
    """
    study = tables_of([_wide(tmp_path / "log")]).study
    marks = [("1d", "1996-09-25T02:00"), (0, 86_400 * 3 + 60)]
    figure = gantt_figure(study, (), "12h", "4d", marks=marks)
    assert "Shaded: the marked spans of time." in figure.caption
    shades = [one for one in units(figure.chart) if one.mark == "rect" and "y" not in one.encoding]
    # Below and above the jobs, in the strip and on the nodes.
    assert len(shades) == 4
    zero = 1000 * (843_480_000 + 7200)
    hours = [
        [((row["begin"] - zero) / 3.6e6, (row["end"] - zero) / 3.6e6) for row in one.rows]
        for one in shades
    ]
    assert hours == [[(24, 36), (12, pytest.approx(72 + 1 / 60))]] * 4
    lines = [one for one in units(figure.chart) if one.mark == "rule" and "x" in one.encoding]
    assert [len(one.rows) for one in lines] == [4, 4]
    out = tmp_path / "marked.svg"
    out.write_bytes(drawn(figure.chart, "svg"))
    assert "Shaded" not in gantt_figure(study).caption


@pytest.mark.parametrize(
    ("mark", "message"),
    [
        ((40, 40), "the marked span from 1996-09-23 14:00:40 to 1996-09-23 14:00:40 is empty"),
        (("2d", "3d"), "is outside the window of wide, which is from .* to 1996-09-24 14:00:00"),
        (("1d", "soon"), "or a date: expected a duration .* found 'soon'"),
    ],
)
def test_spans_that_cannot_be_marked(
    mark: tuple[int | str, int | str], message: str, tmp_path: Path
) -> None:
    """The message says when they are, and when the window is."""
    study = tables_of([_wide(tmp_path / "log")]).study
    with pytest.raises(InputError, match=message):
        gantt_figure(study, (), 0, "1d", marks=[mark])
