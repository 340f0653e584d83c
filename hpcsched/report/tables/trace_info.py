"""Figures of traces side by side: a table in sections, content for JSON, recorded waits."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from hpcsched.dispatching.wait_statistics import WaitStatistics, expected_waits
from hpcsched.metrics.job_metrics import NAMES
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.workload.job import WaitClass
from hpcsched.workload.trace_source import TraceAccount
from hpcsched.workload.trace_statistics import (
    BINS_PER_DECADE,
    Distribution,
    TraceStatistics,
)

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BAR = 10
"""Characters of the longest bar, that of the largest share of a cycle."""

_BINS = (
    f"Quantiles are means of bins. Of whole numbers there are {BINS_PER_DECADE} bins a decade:"
    " within 11 %, exact below 10. Of ratios there are 100 below 1: within 0.01."
)
_SHOWN = 60
"""Maximum number of characters of a malformed record's fault."""

Rows = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TraceInfo:
    """Statistics of a trace, and the account of its records."""

    name: str
    account: TraceAccount
    statistics: TraceStatistics


def trace_table(infos: Sequence[TraceInfo]) -> Table:
    """Return a table in sections with a column for each trace."""
    sections, rows = [], []
    for title, section in SECTIONS.items():
        columns = [dict(section(info)) for info in infos]
        # Traces may differ in their rows, as by resource types; a missing one shows a dash.
        for label in dict.fromkeys(label for column in columns for label in column):
            sections.append(title)
            rows.append([label, *(column.get(label, MISSING) for column in columns)])
    return Table(
        ["", *(info.name for info in infos)],
        rows,
        "traces",
        "Traces",
        (_BINS, *map(_origin, infos)),
        words=1,
        sections=sections,
        heading=False,
    )


def _origin(info: TraceInfo) -> str:
    """Return the note on the instant from which the cycles of a trace are counted."""
    cycles = info.statistics.cycles
    if cycles.dated:
        return f"{info.name}: hours, weekdays and months from {cycles.counted_from}."
    left_out = "and months are left out"
    return f"{info.name}: hours and weekdays from {cycles.counted_from}, {left_out}."


def trace_content(info: TraceInfo) -> dict[str, Any]:
    """Return the exact figures of a trace for JSON."""
    account = info.account
    statistics = asdict(info.statistics)
    # `asdict` has only the numbers of classes; results go by their names.
    for name, group in zip(
        _class_names(info.statistics), statistics["run_times"]["classes"], strict=True
    ):
        group["class"] = name
    return {
        "scenario": info.name,
        "records": {
            "read": account.read,
            "skipped": dict(account.skipped),
            "clipped": dict(account.clipped),
            "changed": dict(account.changed),
            **({"faults": list(account.faults.values())} if account.faults else {}),
            "submitted": account.submitted,
        },
        **statistics,
    }


def _records(info: TraceInfo) -> Rows:
    account = info.account
    yield "read", f"{account.read:,}"
    for what in ("skipped", "clipped", "changed"):
        reasons: Mapping[str, int] = getattr(account, what)
        for reason, count in reasons.items():
            yield f"{what}: {reason}", f"{count:,}"
    for fault in account.faults.values():
        place, _, message = fault.partition(": ")
        yield f"  {place}", message if len(message) <= _SHOWN else f"{message[:_SHOWN]}…"
    yield "submitted", f"{account.submitted:,}"


def _arrivals(info: TraceInfo) -> Rows:
    arrivals, submitters = info.statistics.arrivals, info.statistics.submitters
    yield "jobs", f"{arrivals.jobs:,}"
    yield "first submission", _seconds(arrivals.first_submit_time_seconds)
    yield "last submission", _seconds(arrivals.last_submit_time_seconds)
    yield "span", _seconds(arrivals.span_seconds)
    yield "span in days", _number(arrivals.span_days)
    yield from _quantiles("interarrival time", arrivals.interarrival_time_seconds, _seconds)
    yield "users", f"{submitters.users:,}"
    yield "users with several jobs", _share(submitters.users_with_several_jobs_share)
    if submitters.jobs_without_user:
        yield "jobs without user", f"{submitters.jobs_without_user:,}"
    yield "queues", f"{submitters.queues:,}"
    if submitters.jobs_without_queue:
        yield "jobs without queue", f"{submitters.jobs_without_queue:,}"


def _offered_load(info: TraceInfo) -> Rows:
    load = info.statistics.offered_load
    yield "largest share of each job", _percent(load.by_demand_percent)
    for name, percent in load.by_resource_percent.items():
        yield name, _percent(percent)


def _run_times(info: TraceInfo) -> Rows:
    run_times = info.statistics.run_times
    yield from _quantiles("run time", run_times.run_time_seconds, _seconds)
    for name, group in zip(_class_names(info.statistics), run_times.classes, strict=True):
        least, most = group.run_time_from_seconds, group.run_time_to_seconds
        bounds = f"{least:,} s and more" if most is None else f"{least:,} to {most:,} s"
        yield f"jobs: {name} ({bounds})", _share(group.jobs_share)
        yield f"run time: {name} ({bounds})", _share(group.run_time_share)


def _sizes(info: TraceInfo) -> Rows:
    sizes = info.statistics.sizes
    yield "one unit", _share(sizes.serial_share)
    yield "a power of two (1 is one)", _share(sizes.power_of_two_share)
    yield from _quantiles("units", sizes.units, _number)
    for kind in sizes.kinds:
        yield f"{kind.resources}: jobs", f"{kind.jobs:,}"
        yield f"{kind.resources}: share", _share(kind.jobs_share)
        yield f"{kind.resources}: mean run time", _seconds(kind.mean_run_time_seconds)


def _accuracy(info: TraceInfo) -> Rows:
    accuracy = info.statistics.accuracy
    yield from _quantiles("requested time", accuracy.requested_time_seconds, _seconds)
    error = accuracy.mean_absolute_error_minutes
    yield "mean absolute error", MISSING if error is None else f"{error:,.1f} min"
    yield "under: ran longer than requested", _share(accuracy.under_share)
    yield "exact", _share(accuracy.exact_share)
    yield "over: requested more", _share(accuracy.over_share)
    yield "ratio 0.75 to 1.25", _share(accuracy.near_share)
    for name in ("p25", "p50", "p75"):
        yield f"ratio, {name}", _number(getattr(accuracy.ratio, name))


def _months(info: TraceInfo) -> Rows:
    cycles = info.statistics.cycles
    return _bars(MONTHS, cycles.month_shares) if cycles.dated else iter(())


_HOURS = [f"{hour:02} h" for hour in range(24)]
SECTIONS: Mapping[str, Callable[[TraceInfo], Rows]] = {
    "records": _records,
    "submissions": _arrivals,
    "offered load, of capacity × span": _offered_load,
    "run times": _run_times,
    "sizes, in units per job": _sizes,
    "requested times; ratio is run time / requested time": _accuracy,
    "jobs by hour of day": lambda info: _bars(_HOURS, info.statistics.cycles.hour_shares),
    "jobs by weekday": lambda info: _bars(WEEKDAYS, info.statistics.cycles.weekday_shares),
    "jobs by month": _months,
}
"""Function that yields the rows of a section, by its title."""


def _quantiles(what: str, values: Distribution, show: Callable[[float | None], str]) -> Rows:
    for name in ("mean", "p50", "p90", "p99", "max"):
        yield f"{what}, {name}", show(getattr(values, name))


def _bars(labels: Sequence[str], shares: Sequence[float]) -> Rows:
    largest = max(shares)
    for label, share in zip(labels, shares, strict=True):
        bar = "█" * round(_BAR * share / largest) if largest else ""
        yield label, f"{bar:{_BAR}} {_share(share):>7}"


def _class_names(statistics: TraceStatistics) -> Sequence[str]:
    """Return the names of the classes of run times, as results have them."""
    count = len(statistics.run_times.classes)
    return NAMES.get(count) or [f"class {k}" for k in range(1, count + 1)]


def _seconds(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.0f} s"


def _number(value: float | None) -> str:
    return MISSING if value is None else f"{value:,.2f}".removesuffix(".00")


def _percent(value: float | None) -> str:
    return MISSING if value is None else f"{value:.1f} %"


def _share(value: float | None) -> str:
    return _percent(None if value is None else 100 * value)


def waits_as_json(tally: WaitStatistics) -> str:
    """Return mean recorded waits on one line, for `--set dispatcher.expected_wait=...`."""
    return json.dumps(expected_waits(tally))


def waits_as_yaml(tally: WaitStatistics, name: str) -> str:
    """Return mean recorded waits in seconds, by class, as YAML of a scenario's dispatcher."""
    lines = [f"# {name}: mean recorded waits by {tally.by}, in seconds"]
    if tally.without_wait:
        left_out = f"{tally.without_wait:,} of {tally.jobs:,} jobs have no recorded wait"
        lines.append(f"# {left_out}: left out")
    lines += ["expected_wait:", f"  other: {tally.all.mean}  # all {tally.all.jobs:,} jobs"]
    lines.append(f"  by_{tally.by}:" if tally.classes else f"  # no job has a {tally.by}")
    for number in sorted(tally.classes):
        waits = tally.classes[number]
        parts = [f"{waits.jobs:,} jobs"]
        if tally.by is WaitClass.UNITS:
            parts.append("of 1 unit" if number < 2 else f"of {number} units and more")
        if waits.name is not None:
            parts.append(json.dumps(waits.name))
        lines.append(f"    {number}: {waits.mean}  # {', '.join(parts)}")
    return "\n".join(lines)
