"""Gantt charts of runs made by hand."""

from dataclasses import replace
from pathlib import Path

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import file_content
from hpcsched.report.figures.gantt_figure import By, gantt_figure
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.report.figures.described import Unit, texts, unit, units
from tests.report.studies import pair, tables_of, write_studied
from tests.runs.hand_made import JOBS


def test_panels(tmp_path: Path) -> None:
    """There is one for each run below its strip, with the jobs of the window."""
    chart = gantt_figure(tables_of(pair(tmp_path)), "core", 0, 40).chart
    found = units(chart)
    strips = [one for one in found if one.mark == "area"]
    assert [one.title for one in strips] == ["easy", "sjf"]
    assert [one.axis_title("y") for one in strips] == ["core [%]"] * 2
    jobs = next(one for one in found if one.mark == "rect" and one.rows)
    rectangles = [(row["begin"], row["end"], row["top"], row["bottom"]) for row in jobs.rows]
    assert sorted(rectangles) == [(0, 40, 0, 3), (0, 40, 3, 3.5)]
    assert jobs.column("node") == ["thin-0 to thin-2", "fat-0"]
    assert jobs.axis_title("y") == "nodes, by share of core"
    # Only the lowest panel has labels of time, which all share.
    times = [one.axis_title("x") for one in found if one.mark == "rect" and one.rows]
    assert times == [None, "seconds since the trace's origin"]


def test_the_strip(tmp_path: Path) -> None:
    """It shares the axis of time: 14 of 16 cores are in use until 40 s."""
    chart = gantt_figure(tables_of(pair(tmp_path)[:1]), "core", 0, 40).chart
    strip, jobs = unit(chart, "area"), unit(chart, "rect")
    assert [(row["time"], row["used"]) for row in strip.rows] == [(0, 87.5), (40, 87.5)]
    assert strip.encoding["x"]["scale"]["domain"] == jobs.encoding["x"]["scale"]["domain"]


def test_names_and_numbers(tmp_path: Path) -> None:
    """Each of a few nodes is named at its middle, and jobs with room have their numbers."""
    chart = gantt_figure(tables_of(pair(tmp_path)), "core", 0, 40).chart
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
    found = units(gantt_figure(tables_of(folders)).chart)
    rectangles = [one for one in found if one.mark == "rect"]
    assert {tuple(one.encoding["x"]["scale"]["domain"]) for one in rectangles} == {
        (0.0, 20_100 / 3600)
    }


def test_ten_runs_are_not_ten_times_as_high(tmp_path: Path) -> None:
    """Panels share a height of 900 points, and have 60 at least."""
    compared = tables_of([_wide(tmp_path / "log")])
    run = compared.study.runs[0]
    runs = tuple(replace(run, name=f"run {k}") for k in range(10))
    compared = ComparedStudy(replace(compared.study, runs=runs))
    heights = [view["height"] for view in gantt_figure(compared).chart.to_dict()["concat"]]
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
    study = tables_of([_wide(tmp_path / "log")])
    chart = gantt_figure(study).chart
    jobs = next(one for one in units(chart) if one.mark == "rect" and one.rows)
    assert jobs.encoding["color"]["scale"]["domain"] == [
        *(f"user {user}" for user in (10, 9, 8, 7, 6, 5, 4)), "others",
    ]  # fmt: skip
    assert jobs.column("category")[:4] == ["others", "others", "others", "user 4"]
    assert jobs.axis_title("x") == "from 1996-09-23, local time (UTC+02:00)"
    # The clocks show 14:00, as milliseconds of 14:00 UTC: 843480000 s is 12:00 UTC.
    assert jobs.column("begin")[0] == 1000 * (843_480_000 + 7200)
    out = tmp_path / "gantt.svg"
    out.write_bytes(file_content(chart, "svg"))
    written = texts(out)
    for text in ("cpu × 30", "fat × 10", "user 10", "others", "24 Sep", "core [%]"):
        assert text in written


def _jobs(study: ComparedStudy, by: By | None = None, **window: str) -> Unit:
    """Return the rectangles of jobs, not those of outages."""
    found = units(gantt_figure(study, by=by, **window).chart)
    return next(one for one in found if one.mark == "rect" and one.rows)


def test_a_window_by_dates_and_durations(tmp_path: Path) -> None:
    """A day may be given by its date, or by the time since the origin."""
    study = tables_of([_wide(tmp_path / "log")])
    for begin, end in (("1996-09-24T14:00", "1996-09-25T14:00"), ("1d", "48h")):
        assert _jobs(study, begin=begin, end=end).column("job") == [2]


def test_other_attributes(tmp_path: Path) -> None:
    """Colours may show sizes."""
    study = tables_of([_wide(tmp_path / "log", "")])
    jobs = _jobs(study, "size")
    sizes = jobs.encoding["color"]["scale"]["domain"]
    assert sizes == ["1 node", "2 to 4 nodes", "5 to 16 nodes"]
    # Without a date in the log the axis counts days.
    assert jobs.axis_title("x") == "days since the trace's origin"


def test_nodes_out_of_service(tmp_path: Path) -> None:
    """They have a colour of their own in the legend, if there are any."""
    folder = tmp_path / "log"
    _wide(folder)
    outage = "outages:\n  maintenance:\n"
    outage += "    - {name: service, nodes: [fat-0], start: 0, duration: 12h}\n"
    (folder / "wide.yaml").write_text(SCENARIO + outage)
    path = run(load_scenario(folder / "wide.yaml"), folder / "again").directory.path
    whole = gantt_figure(tables_of([path]), by="size").chart
    down, jobs = (one for one in units(whole) if one.mark == "rect")
    assert [(row["top"], row["bottom"]) for row in down.rows] == [(30, 31)]
    assert down.column("category") == ["out of service"]
    assert jobs.encoding["color"]["scale"]["domain"][-1] == "out of service"
