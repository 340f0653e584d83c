"""Gantt charts: jobs as rectangles on nodes over time, below the use of a resource type."""

import json
from bisect import insort
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.capacity import binned, spanning
from hpcsched.report.compared_study import ComparedStudy, checked_resource, percent_in_use
from hpcsched.report.figures.chart_parts import (
    INK,
    PALETTE,
    PAPER_WIDTH,
    STEPS,
    Chart,
    Figure,
    TimeAxis,
    chart_of,
    layers,
    panels,
    plot_width,
    rows,
    sized,
    time_axis,
)
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.runs.resource_records import recorded_outages
from hpcsched.scenario.resolved import read_system
from hpcsched.system.outages import down_time
from hpcsched.system.system import Devices, System
from hpcsched.workload.trace_calendar import simulated_second

LARGEST = 20_000
"""Largest number of rectangles; more could not be told apart."""

_BITS = 64
_Place = tuple[int, int]  # a node, and a part of its devices; -1: all of it
_Share = tuple[int, int]

Time = int | str
"""A time as `simulated_second` takes it."""


class GanttJob(NamedTuple):
    """A job within the window: amount of a unit, units by node, amount times seconds (`area`).

    `devices` has the parts of devices that each unit takes, as bits; empty where it takes none.
    """

    job_id: int
    start: int
    end: int
    user: int | None
    amount: int
    units: Mapping[int, int]
    area: int
    devices: tuple[int, ...] = ()


class JobRectangle(NamedTuple):
    """Rectangle of a job on a node, or on neighbouring nodes of a group that it fills.

    `low` and `high` bound its share of a node, from 0 to 1; 0 and *n* for *n* whole nodes.
    """

    job_id: int
    node: int
    begin: int
    end: int
    low: float
    high: float


class NodeOutage(NamedTuple):
    """Outage of a node, in simulated seconds."""

    node: int
    begin: int
    end: int


class Window(NamedTuple):
    """A run's jobs on the nodes that have a resource type, in a window of time."""

    run: StudiedRun
    resource: str
    begin: int
    end: int
    system: System
    rectangles: tuple[JobRectangle, ...]
    nodes: tuple[int, ...]
    down: tuple[NodeOutage, ...]
    jobs: Mapping[int, GanttJob]


def gantt_windows(
    runs: Sequence[StudiedRun],
    resource: str | None,
    begin: Time | None,
    end: Time | None,
) -> Iterator[Window]:
    """Yield the window of each run; without bounds, all runs of a trace share one."""
    spans = [(one.group, *_span(one)) for one in runs]
    for one in runs:
        starts, ends = zip(*(span for group, *span in spans if group == one.group), strict=True)
        since = min(starts) if begin is None else _second(one, begin)
        until = max(ends) if end is None else _second(one, end)
        system = read_system(one.run.scenario_path)
        wanted = checked_resource(one, system, resource or system.resource_types[0])
        yield _window(one, system, wanted, since, until)


def _second(one: StudiedRun, given: Time) -> int:
    return simulated_second(given, one.run.calendar, one.run.first_submit_time)


def _span(one: StudiedRun) -> tuple[int, int]:
    table = one.run.all_jobs.read("start_time", "end_time")
    return pc.min(table["start_time"]).as_py() or 0, pc.max(table["end_time"]).as_py() or 0


def _window(one: StudiedRun, system: System, resource: str, begin: int, end: int) -> Window:
    amounts = system.capacity[:, system.resource_types.index(resource)].tolist()
    devices = system.devices
    if devices is not None and devices.resource_type != resource:
        devices = None
    jobs = _jobs_in_window(one, resource, begin, end, by_device=devices is not None)
    found = _rectangles(jobs, amounts, system.group_of.tolist(), begin, end, devices=devices)
    down = tuple(
        NodeOutage(node, max(start, begin), min(over, end))
        for node, start, over in zip(
            *(column.tolist() for column in down_time(recorded_outages(one.run))), strict=True
        )
        if amounts[node] and start < end and over > begin
    )
    # Axes without any data have no size.
    if begin >= end or not (found or down):
        instant, (first, last) = one.run.calendar.instant, _span(one)
        message = (
            f"no job of {one.name} has {resource} from {instant(begin)} to {instant(end)}; its jobs"
            f" run from {instant(first)} to {instant(last)}"
        )
        raise InputError(Finding("empty-window", message))
    nodes = tuple(node for node, amount in enumerate(amounts) if amount)
    by_number = {job.job_id: job for job in jobs}
    return Window(one, resource, begin, end, system, found, nodes, down, by_number)


def _jobs_in_window(
    one: StudiedRun, resource: str, begin: int, end: int, *, by_device: bool
) -> list[GanttJob]:
    """Return the jobs that run within a window, by start and number."""
    found = []
    names = ("job_id", "start_time", "end_time", "units", "nodes", "node_units", "unit_request")
    for part in one.run.jobs.parts(*names, "user", *["devices"] * by_device):
        start, over = part["start_time"], part["end_time"]
        # Jobs that take no time hold nothing, and would have no width.
        inside = pc.and_(pc.less(start, end), pc.greater(over, pc.max_element_wise(start, begin)))
        for row in part.filter(inside).to_pylist():
            start, over, amount = row["start_time"], row["end_time"], row["unit_request"][resource]
            area = amount * row["units"] * (min(over, end) - max(start, begin))
            units = dict(zip(row["nodes"], row["node_units"], strict=True))
            taken = tuple(row.get("devices") or ())
            job = GanttJob(row["job_id"], start, over, row["user"], amount, units, area, taken)
            found.append(job)
    # By start, then by number: equal runs give equal charts whatever the order of the file.
    return sorted(found, key=lambda job: (job.start, job.job_id))


def _rectangles(
    jobs: Sequence[GanttJob],
    capacity: Sequence[int],
    group_of: Sequence[int],
    begin: int,
    end: int,
    *,
    devices: Devices | None,
) -> tuple[JobRectangle, ...]:
    free: dict[_Place, list[_Share]] = {}
    leaving: list[tuple[int, list[tuple[_Place, _Share]]]] = []
    found: list[JobRectangle] = []
    for job in jobs:
        # Ends come before starts of the same second: the node is free again.
        while leaving and leaving[0][0] <= job.start:
            for place, share in heappop(leaving)[1]:
                insort(free[place], share)
        visible = max(job.start, begin), min(job.end, end)
        filled: int | None = None
        units_before = 0
        for node, units in sorted(job.units.items()):
            if not job.amount * units:
                continue
            scale = capacity[node]
            held: list[tuple[_Place, _Share]] = []
            if devices is None or not job.devices:
                own = free.setdefault((node, -1), [(0, scale)])
                held = [((node, -1), share) for share in take_shares(own, job.amount * units)]
            else:
                each, amount = devices.shares // devices.parts, devices.asked(job.amount).amount
                taken = job.devices[units_before : units_before + units]
                for part in [k for bits in taken for k in range(_BITS) if bits >> k & 1]:
                    own = free.setdefault((node, part), [(part * each, (part + 1) * each)])
                    held += [((node, part), share) for share in take_shares(own, amount)]
            units_before += units
            heappush(leaving, (job.end, held))
            shares = _merged(share for _, share in held)
            whole = shares == [(0, scale)]
            if whole and filled == node - 1 and group_of[node] == group_of[filled]:
                # One rectangle for neighbours: a wide job is seen as one, and drawn faster.
                found[-1] = found[-1]._replace(high=found[-1].high + 1)
            else:
                found += [
                    JobRectangle(job.job_id, node, *visible, low / scale, high / scale)
                    for low, high in shares
                ]
            filled = node if whole else None
        # Checked while collecting: a whole year of jobs must not fill the memory first.
        if len(found) > LARGEST:
            message = (
                f"more than {LARGEST:,} rectangles from {begin} s to {end} s: choose a shorter"
                " window with --from and --to"
            )
            raise InputError(Finding("window-too-large", message))
    return tuple(found)


def _merged(shares: Iterable[_Share]) -> list[_Share]:
    """Return shares with those that touch made one, ascending."""
    found: list[_Share] = []
    for low, high in sorted(shares):
        if found and found[-1][1] == low:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return found


def take_shares(free: list[_Share], amount: int) -> tuple[_Share, ...]:
    """Take the lowest free shares and return them merged; the free ones ascend and may touch."""
    taken: list[_Share] = []
    while amount > 0 and free:
        low, high = free.pop(0)
        if high - low > amount:
            free.insert(0, (low + amount, high))
            high = low + amount
        amount -= high - low
        taken.append((low, high))
    # Shares that touch become one rectangle, without a line in the middle of a job.
    return tuple(_merged(taken))


By = Literal["user", "size"]
"""Attributes of jobs that colours can show."""

_OTHERS, _DOWN, _OUT = "others", "#595959", "out of service"
_LARGEST_SHOWN = 7
"""Largest number of users with a colour of their own."""
_USER_COLOURS = ("blue", "orange", "green", "purple", "sky blue", "vermilion", "yellow", "grey")
_SIZES = {
    1: ("1 node", "#FDE725"),
    4: ("2 to 4 nodes", "#5EC962"),
    16: ("5 to 16 nodes", "#21918C"),
    64: ("17 to 64 nodes", "#3B528B"),
    np.inf: ("more than 64 nodes", "#440154"),
}
"""Name and colour of each class of sizes, light to dark, by its largest number of nodes."""
_FEW = 200
"""Largest number of rectangles with edges, and with job numbers where there is room."""
_LEGIBLE, _TALL = 0.02, 6.0
"""Least width, as a share of the window, and height, in points, for a number."""
_NAMED = 24
"""Largest number of nodes named one by one; of more, only their groups are."""
_ROW, _LEAST, _MOST, _ALL = 15, 60, 440, 900
"""Height of a node's row, least and largest height of a panel, and of all panels, in points."""
_STRIP = 36
"""Height of the strip of the use of the resource type, in points."""


class _Colours(NamedTuple):
    """Colour of each category in the order of the legend, and category of each job by run."""

    of_category: Mapping[str, str]
    of_job: Mapping[tuple[str, int], str]


def gantt_figure(
    compared: ComparedStudy,
    resource: str | None = None,
    begin: Time | None = None,
    end: Time | None = None,
    *,
    by: By | None = None,
    width: int = PAPER_WIDTH,
) -> Figure:
    """Return the figure of a Gantt chart, with a panel for each run.

    Without a resource type it is the system's first; without bounds the first start and the last
    end; colours show the user if there are several, else the size.
    """
    study = compared.study
    found = list(gantt_windows(study.runs, resource, begin, end))
    colours = _colours(found, by)
    charts: list[Chart] = []
    for place, window in enumerate(found):
        # The axis of the last panel is that of all above it that have the same trace.
        last = place + 1 == len(found) or found[place + 1].run.group != window.run.group
        height = max(min(_ROW * len(window.nodes), _MOST, _ALL // len(found)), _LEAST)
        title = study.run_labels[window.run.name] if len(study.runs) > 1 else ""
        time = time_axis(window.begin, window.end, window.run.run.calendar)
        nodes = _nodes(window, time, colours, height, labelled=last)
        charts += [
            sized(_strip(window, time), (plot_width(width), _STRIP), title),
            sized(layers(*nodes), (plot_width(width), height)),
        ]
    caption = (
        "A rectangle for each job on its nodes, as high as its share of a node; dark grey where a"
        " node is out of service; GPUs that are devices lie one above the other. Above: use of the"
        " resource type, in percent of all nodes."
    )
    return Figure("gantt", "Jobs on nodes", caption, panels(charts, columns=1))


def _colours(found: Sequence[Window], by: By | None) -> _Colours:
    """Return the colours of jobs, alike in all panels."""
    jobs = {(one.run.name, number): job for one in found for number, job in one.jobs.items()}
    areas: Counter[int | None] = Counter()
    for job in jobs.values():
        areas[job.user] += job.area
    if by == "size" or (by is None and len(areas.keys() - {None}) < 2):
        of_job = {
            key: next(name for most, (name, _) in _SIZES.items() if len(job.units) <= most)
            for key, job in jobs.items()
        }
        used = set(of_job.values())
        of_category = {name: colour for name, colour in _SIZES.values() if name in used}
    else:
        largest = sorted(areas, key=lambda user: (-areas[user], user is None, user or 0))
        # A category of one user less would not be shorter.
        count = _LARGEST_SHOWN if len(largest) > len(_USER_COLOURS) else len(largest)
        names = {user: "no user" if user is None else f"user {user}" for user in largest[:count]}
        of_job = {key: names.get(job.user, _OTHERS) for key, job in jobs.items()}
        shades = [PALETTE[name] for name in _USER_COLOURS]
        of_category = dict(zip(names.values(), shades, strict=False))
        if count < len(largest):
            of_category[_OTHERS] = "#D5D5D5"
    if any(window.down for window in found):
        of_category[_OUT] = _DOWN
    return _Colours(of_category, of_job)


def _strip(window: Window, time: TimeAxis) -> alt.Chart:
    """Return the use of the resource type over time, as a strip without labels of time."""
    percent = percent_in_use(window.run, window.system, window.resource)
    edges, means, _ = binned(spanning(percent, window.begin, window.end), STEPS)
    # The last value is drawn up to the end of its span.
    data = rows(time=time.places(edges.tolist()), used=np.concatenate((means, means[-1:])))
    axis = alt.Axis(title=f"{window.resource} [%]", values=[0, 50, 100])
    chart: alt.Chart = (
        chart_of(data)
        .mark_area(interpolate="step-after", color="#8c8c8c", clip=True)
        .encode(
            x=time.x("time", labelled=False),
            y=alt.Y("used:Q", scale=alt.Scale(domain=[0, 100]), axis=axis),
        )
    )
    return chart


def _nodes(
    window: Window, time: TimeAxis, colours: _Colours, height: int, *, labelled: bool
) -> list[alt.Chart]:
    """Return the rectangles of jobs and outages on the nodes."""
    jobs, few = window.rectangles, len(window.rectangles) <= _FEW
    row_of = {node: row for row, node in enumerate(window.nodes)}
    categories = [colours.of_job[window.run.name, job.job_id] for job in jobs]
    data = rows(
        job=[job.job_id for job in jobs],
        node=[_nodes_text(window, job) for job in jobs],
        begin=time.places(job.begin for job in jobs),
        end=time.places(job.end for job in jobs),
        top=[row_of[job.node] + job.low for job in jobs],
        bottom=[row_of[job.node] + job.high for job in jobs],
        category=categories,
    )
    down = rows(
        category=_OUT,
        begin=time.places(one.begin for one in window.down),
        end=time.places(one.end for one in window.down),
        top=[row_of[one.node] for one in window.down],
        bottom=[row_of[one.node] + 1 for one in window.down],
    )
    axis = _node_axis(window)

    def y(field: str) -> alt.Y:
        scale = alt.Scale(domain=[0, len(window.nodes)], reverse=True, nice=False)
        # Layers merge their axes: one without this would thin out its labels.
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    x = time.x("begin", labelled=labelled)
    shown = alt.Scale(domain=list(colours.of_category), range=list(colours.of_category.values()))
    legend = alt.Legend(columns=4, symbolType="square", symbolSize=60, symbolStrokeWidth=0)
    places: dict[str, Any] = {
        "x": x,
        "x2": "end",
        "y": y("top"),
        "y2": "bottom:Q",
        "color": alt.Color("category:N", scale=shown, legend=legend),
    }
    told = ["job:Q", "node:N", "category:N", time.tooltip("begin"), time.tooltip("end")]
    edges: dict[str, Any] = {"stroke": "white", "strokeWidth": 0.3} if few else {}
    found = [
        # Descriptions for screen readers would be most of a file, one for each rectangle.
        chart_of(down).mark_rect(clip=True, aria=False).encode(**places),
        chart_of(data).mark_rect(clip=True, aria=False, **edges).encode(**places, tooltip=told),
        chart_of(rows(row=_borders(window))).mark_rule(strokeWidth=0.5).encode(y=y("row")),
    ]
    if few:
        least = _LEGIBLE * (window.end - window.begin)
        roomy = [
            (job, category)
            for job, category in zip(jobs, categories, strict=True)
            if job.end - job.begin > least
            and (job.high - job.low) * height / len(window.nodes) >= _TALL
        ]
        numbers = rows(
            job=[str(job.job_id) for job, _ in roomy],
            x=time.places((job.begin + job.end) / 2 for job, _ in roomy),
            y=[row_of[job.node] + (job.low + job.high) / 2 for job, _ in roomy],
            ink=[_ink_on(colours.of_category[category]) for _, category in roomy],
        )
        text = (
            chart_of(numbers)
            .mark_text(fontSize=6, clip=True)
            .encode(
                x=time.x("x", labelled=labelled),
                y=y("y"),
                text="job:N",
                color=alt.Color("ink:N", scale=None),
            )
        )
        found.append(text)
    return found


def _ink_on(colour: str) -> str:
    """Return the colour of text on an area: white on dark ones."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    # Weights of the luminance of the three colours, as the eye sees them (ITU-R BT.709).
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 110 else "#ffffff"


def _nodes_text(window: Window, job: JobRectangle) -> str:
    """Return the name of the node of a rectangle, or of the first and the last."""
    first = window.system.node_name(job.node)
    if job.high <= 1:
        return first
    return f"{first} to {window.system.node_name(job.node + round(job.high) - 1)}"


def _borders(window: Window) -> list[int]:
    """Return the rows at which another group of nodes begins."""
    groups = [int(window.system.group_of[node]) for node in window.nodes]
    return [row for row in range(1, len(groups)) if groups[row - 1] != groups[row]]


def _node_axis(window: Window) -> alt.Axis:
    """Return an axis that names each of a few nodes, else each group with its number of nodes."""
    nodes, system = window.nodes, window.system
    size = 6.5 if len(nodes) <= _NAMED else 8.0
    if len(nodes) <= _NAMED:
        names = {row + 0.5: system.node_name(node) for row, node in enumerate(nodes)}
    else:
        names = {
            (low + high)
            / 2: f"{system.groups[int(system.group_of[nodes[low]])].name} × {high - low}"
            for low, high in pairwise([0, *_borders(window), len(nodes)])
        }
    # Vega-Lite evaluates the expression for each mark; texts of JSON are texts there.
    label = f"{json.dumps(list(names.values()))}[indexof({json.dumps(list(names))}, datum.value)]"
    return alt.Axis(
        title=f"nodes, by share of {window.resource}", values=list(names), labelExpr=label,
        labelFontSize=size, labelOverlap=False, ticks=False, grid=False,
    )  # fmt: skip
