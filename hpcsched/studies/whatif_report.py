"""Tables, figure and page of a what-if study."""

from collections.abc import Sequence

import altair as alt

from hpcsched.metrics.column_sums import no_less
from hpcsched.report.compared_study import QUANTITIES
from hpcsched.report.figures.chart_parts import (
    INK,
    PALETTE,
    PAPER_WIDTH,
    Figure,
    chart_of,
    layers,
    plot_width,
    rows,
    sized,
    time_unit,
)
from hpcsched.report.job_breakdown import KINDS, TITLES, job_classes
from hpcsched.report.page.page import PAGE_WIDTH, interactive, render
from hpcsched.report.tables.report_table import Cell, Table, duration_text
from hpcsched.report.tables.study_tables import INTERVAL_NOTE, ends
from hpcsched.studies.job_differences import (
    COMPARED,
    LEAST_JOBS,
    Difference,
    Figures,
    class_differences,
    winners_and_losers,
)
from hpcsched.studies.whatif import BASE
from hpcsched.studies.whatif_study import Variant, WhatIfStudy

_METRICS = ("mean_wait_time", "mean_bounded_slowdown", "utilization")
_INTERVALS = f"{INTERVAL_NOTE}, each of blocks of ⌈√n⌉ jobs submitted one after another."
_FEWER = f"Fewer than {LEAST_JOBS} jobs have no interval, and no verdict."


def verdict_lines(study: WhatIfStudy) -> list[str]:
    """Return the findings of the study as sentences."""
    lines = []
    best = study.variants[0] if study.variants else None
    ours = study.base.figures.objective
    value = None if best is None else best.outcome.figures.objective
    if best is None or value is None or ours is None or no_less(value, ours):
        lines.append(f"No variant has a lower {study.objective} than the base.")
    else:
        lines.append(
            f"{best.name} has the lowest {study.objective}:"
            f" {value:.6g}, {_change(value, ours)} compared with the base."
        )
    if best is not None:
        waits = best.differences["wait_time"]
        lines.append(
            f"Its mean wait is {_in_words(waits)}; {100 * waits.less:.0f} % of the jobs wait less,"
            f" and {100 * waits.more:.0f} % wait longer."
        )
    if study.failed:
        lines.append(f"Not replayed, for an error: {', '.join(study.failed)}.")
    return lines


def variants_table(study: WhatIfStudy) -> Table:
    """Return the figures of the base and of each variant, by ascending objective."""

    def row(name: str, changes: str, figures: Figures) -> tuple[Cell, ...]:
        value, ours = figures.objective, study.base.figures.objective
        change = None if value is None or not ours else _percent(value, ours)
        metrics = (figures.metrics.get(metric) for metric in _METRICS)
        return (name, changes, value, change, *metrics, figures.submitted, figures.ran)

    columns = (
        *("variant", "changes", "objective", "change [%]", "mean_wait_time [s]"),
        *("mean_bounded_slowdown", "utilization", "submitted", "ran"),
    )
    rows = [row(BASE, "", study.base.figures)]
    rows += [row(one.name, one.changes, one.outcome.figures) for one in study.variants]
    skipped = ", ".join(f"{count} {why}" for why, count in study.base.figures.skipped.items())
    return Table(
        columns,
        rows,
        "variants",
        f"Variants of {study.whatif.scenario}, by {study.objective}",
        (
            f"The base has read {study.base.figures.read} records"
            + (f" and skipped {skipped}." if skipped else "."),
            "Lower is better for the objective.",
        ),
    )


def differences_table(study: WhatIfStudy) -> Table:
    """Return the differences of the same jobs from the base, by variant and quantity."""
    rows = [
        (one.name, quantity, QUANTITIES[quantity].unit or "1", *_difference(found))
        for quantity in COMPARED
        for one in study.variants
        for found in (one.differences[quantity],)
    ]
    return Table(
        ("variant", "quantity", "unit", *_COLUMNS),
        rows,
        "differences",
        "Differences of the same jobs from the base",
        (
            "A difference is the variant's value less the base's: below 0 the jobs fare better.",
            "within noise: the interval of the mean difference contains 0. Of 20 variants that"
            " change nothing, about one is expected to be called lower or higher.",
            _INTERVALS,
        ),
    )


def class_table(study: WhatIfStudy, kind: str, variants: Sequence[Variant]) -> Table:
    """Return the differences of variants from the base, by class of jobs."""
    classes = job_classes(kind, study.base.job_attributes)
    rows = [
        (one.name, name, quantity, QUANTITIES[quantity].unit or "1", *_difference(found))
        for one in variants
        for quantity in COMPARED
        for name, found in class_differences(study.base, one.outcome, quantity, classes)
    ]
    return Table(
        ("variant", kind, "quantity", "unit", *_COLUMNS),
        rows,
        f"by_{kind}",
        f"Differences of the same jobs from the base, by {TITLES.get(kind, kind)}",
        (_FEWER, _INTERVALS),
    )


_MOST_SHOWN = 10


def gains_table(study: WhatIfStudy, variant: Variant) -> Table:
    """Return the classes of jobs with a difference of wait times beyond chance."""
    found = winners_and_losers(study.base, variant.outcome)
    shown = found
    if len(found) > 2 * _MOST_SHOWN:
        shown = [*found[:_MOST_SHOWN], *found[-_MOST_SHOWN:]]
    left_out = len(found) - len(shown)
    return Table(
        ("kind", "class", *_COLUMNS),
        [(kind, name, *_difference(one)) for kind, name, one in shown],
        "gains",
        f"Who waits less and who waits longer: {variant.name}",
        (
            "Wait times in seconds; from the largest gain over all jobs of the class to the"
            " largest loss.",
            *([f"{left_out} more between them are left out."] if left_out else []),
            _FEWER,
        ),
    )


_COLUMNS = (
    *("jobs", "base", "variant_mean", "mean_difference", "lower", "upper"),
    *("less [%]", "more [%]", "verdict"),
)


def _difference(one: Difference) -> tuple[Cell, ...]:
    bounds = ends(one.interval)[1:]
    shares = (100 * one.less, 100 * one.more)
    return (one.jobs, one.base, one.variant, one.mean, *bounds, *shares, one.verdict)


def _in_words(one: Difference) -> str:
    if one.verdict == "within noise" or one.mean is None:
        return "the same as the base's, within noise"
    longer = "shorter" if one.mean < 0 else "longer"
    seconds = round(abs(one.mean))
    told = duration_text(seconds) if seconds else "less than 1 s"
    return f"{told} {longer} than the base's"


def _percent(value: float, ours: float) -> float:
    """Return the change of a value in percent; 0 if it is none beyond the rounding of values."""
    return 0.0 if no_less(value, ours) and no_less(ours, value) else 100 * (value / ours - 1)


def _change(value: float, ours: float) -> str:
    """Return a decrease in percent; below 0.05 as "under 0.1 %"."""
    percent = _percent(value, ours)
    return f"{percent:+.1f} %" if percent <= -0.05 else "under 0.1 % less"


_ROW = 14
_COLOURS = {
    "lower": PALETTE["green"],
    "higher": PALETTE["vermilion"],
    "within noise": PALETTE["grey"],
}


def differences_figure(
    study: WhatIfStudy, quantity: str = "wait_time", width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of the differences of variants from the base."""
    about = QUANTITIES[quantity]
    found = [(one.name, one.differences[quantity]) for one in study.variants]
    drawn = [(name, one, one.interval) for name, one in found]
    largest = max(
        (abs(end) for _, _, interval in drawn if interval for end in interval), default=0.0
    )
    size, unit = time_unit(largest) if about.unit == "s" else (1, about.unit)
    data = [
        row
        for name, one, interval in drawn
        if interval is not None
        for row in rows(
            variant=name,
            mean=interval.mean / size,
            lower=min(interval.lower, interval.mean) / size,
            upper=max(interval.upper, interval.mean) / size,
            colour=_COLOURS[one.verdict],
            verdict=one.verdict,
        )
    ]
    title = f"difference in mean {about.title}" + (f" [{unit}]" if unit else "")
    x = alt.X("lower:Q", axis=alt.Axis(title=title), scale=alt.Scale(zero=True))
    names = [name for name, _, _ in drawn]
    y = alt.Y("variant:N", sort=names, axis=alt.Axis(title=None, grid=False, labelLimit=220))
    colour = alt.Color("colour:N", scale=None)
    tooltip = ["variant:N", "mean:Q", "lower:Q", "upper:Q", "verdict:N"]
    base = chart_of(data)
    chart = layers(
        base.mark_rule(strokeWidth=2).encode(x=x, x2="upper:Q", y=y, color=colour, tooltip=tooltip),
        base.mark_point(filled=True, size=40).encode(x="mean:Q", y=y, color=colour),
        chart_of(rows(at=0.0)).mark_rule(color=INK, strokeDash=[3, 2]).encode(x="at:Q"),
    )
    caption = (
        "Points: the mean difference of the same jobs from the base; lines: 95 % intervals. Left of"
        " 0 the jobs fare better. Variants are sorted by the objective; grey ones are within noise."
    )
    plot = plot_width(width), _ROW * max(len(drawn), 3)
    return Figure(f"differences-{quantity}", f"Mean {about.title}", caption, sized(chart, plot))


MOST_DETAILED = 10
"""Number of variants with details, the best by the objective."""


def whatif_page(study: WhatIfStudy) -> str:
    """Return the page of a study as HTML, the same for the same outcomes."""
    figures = [differences_figure(study, quantity, PAGE_WIDTH) for quantity in COMPARED]
    detailed = study.variants[:MOST_DETAILED]
    return render(
        "whatif.html",
        "hpcsched.studies",
        title=study.whatif.name,
        verdict=verdict_lines(study),
        objective=study.objective,
        figures=figures,
        drawings={figure.name: interactive(figure.chart, ()) for figure in figures},
        tables=[variants_table(study), differences_table(study)],
        details=[(one.name, one.changes, _details(study, one)) for one in detailed],
        left_out=len(study.variants) - len(detailed),
    )


def _details(study: WhatIfStudy, variant: Variant) -> list[Table]:
    tables = [class_table(study, kind, [variant]) for kind in KINDS]
    # A class that holds all jobs says what the tables above say.
    return [gains_table(study, variant), *(one for one in tables if len(one.rows) > len(COMPARED))]
