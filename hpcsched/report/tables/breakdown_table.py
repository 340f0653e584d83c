"""Tables of metrics by class of jobs, for people and with exact values."""

from collections.abc import Iterator

from hpcsched.report.job_breakdown import ALL, ClassValues, JobBreakdown
from hpcsched.report.run_labels import short_labels
from hpcsched.report.tables.comparison_table import value_text
from hpcsched.report.tables.report_table import Cell, Table, shown
from hpcsched.report.tables.run_comparison import percent_of
from hpcsched.report.tables.table_parts import plain


def breakdown_table(breakdown: JobBreakdown, *, sections: bool = True) -> Table:
    """Return a table of formatted metrics, with a row for each metric and class.

    Parameters
    ----------
    breakdown
        The metrics. Values of other schedules than the baseline have their percentage of the
        baseline's value in brackets.
    """
    base = breakdown.baseline
    labels = _labels(breakdown)
    titles = [f"{label} (baseline)" if k == base else label for k, label in enumerate(labels)]
    rows: list[tuple[Cell, ...]] = []
    begins = []
    for metric, unit in breakdown.units.items():
        title = f"{metric}, in {unit}" if unit else metric
        begins.append((len(rows), title))
        for one in breakdown.classes:
            share = one.area_percent[base]
            values = one.values[metric]
            cells = (
                value_text(value, None if k == base else percent_of(value, values[base]))
                for k, value in enumerate(values)
            )
            area = shown(None) if share is None else f"{share:.1f}"
            first = () if sections else (title,)
            rows.append((*first, one.name, one.jobs[base], area, *cells))
    header = (*plain(breakdown.kind, "jobs"), ("area", "%"), *plain(*titles))
    if not sections:
        header = (*plain("metric"), *header)
    return Table(
        f"by_{breakdown.kind}",
        f"By {breakdown.title}",
        header,
        tuple(rows),
        tuple(_notes(breakdown)),
        frozenset(range(1 if sections else 2, len(header))),
        tuple(begins) if sections else (),
    )


def breakdown_values(breakdown: JobBreakdown) -> Table:
    """Return a table of exact values with a row for each class, metric and schedule.

    Returns
    -------
    Table
        Columns: the kind of class, metric, unit, run, directory, jobs, share of the area in
        percent, value, percent of the baseline's value.
    """
    columns = (breakdown.kind, "metric", "unit", "run", "directory", "jobs", "area_percent")
    return Table(
        f"by_{breakdown.kind}",
        f"By {breakdown.title}",
        plain(*columns, "value", "percent_of_baseline"),
        tuple(row for one in breakdown.classes for row in _exact(breakdown, one)),
        tuple(_notes(breakdown)),
    )


def _exact(breakdown: JobBreakdown, one: ClassValues) -> Iterator[tuple[Cell, ...]]:
    for metric, unit in breakdown.units.items():
        values = one.values[metric]
        for k, schedule in enumerate(breakdown.schedules):
            about = (one.name, metric, unit, schedule.name, str(schedule.source))
            percent = percent_of(values[k], values[breakdown.baseline])
            yield (*about, one.jobs[k], one.area_percent[k], values[k], percent)


def _labels(breakdown: JobBreakdown) -> list[str]:
    """Return the labels of the runs, and the name of the log's own schedule."""
    labels = short_labels(one.name for one in breakdown.schedules if not one.note)
    return [labels.get(one.name, one.name) for one in breakdown.schedules]


def _notes(breakdown: JobBreakdown) -> Iterator[str]:
    baseline = _labels(breakdown)[breakdown.baseline]
    of_log = [one for one in breakdown.schedules if one.note]
    population = "jobs that ran and whose start the log records" if of_log else "all jobs that ran"
    yield f"In brackets: percent of {baseline}. Over {population}."
    for one in of_log:
        yield f"{one.name}: {one.note}."
    yield (
        f"jobs and area are those of {baseline}: area is the share of demand × run time, summed"
        " over the jobs."
    )
    if breakdown.left_out:
        count = len([one for one in breakdown.classes if one.name != ALL]) - 1
        yield (
            f"Shown are the {count} with the largest area; the {breakdown.left_out} others are one"
            " row."
        )
    about = _ABOUT.get(breakdown.kind)
    if about is not None:
        yield about


_ABOUT = {
    "partition": "Partitions are those of the scenario, or the log's where it declares none.",
    "size": "The number of units that a job asks for, in classes that end at powers of two.",
    "gpu": "GPU: jobs that ask for a resource type with gpu in its name.",
    "hour": "Hours of the day by the clock of the log.",
}
"""Notes on kinds of classes."""
