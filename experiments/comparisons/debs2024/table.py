"""The table of a comparison, as Markdown: the paper's values beside those of the runs."""

from comparisons.debs2024.declaration import Printed
from comparisons.debs2024.results import Comparison, Result, Results
from hpcsched.report.tables.report_table import MISSING, Table


def as_markdown(comparison: Comparison) -> str:
    """Return a row for each of the table's, with three columns for each half.

    These are the paper's share of the baseline, that of the run, and the mean time of a decision
    in milliseconds. A dash stands for what the paper does not print, and for a run that is not
    there.
    """
    shown = comparison.shown
    header = ["objective", "dispatcher"]
    for title in shown.halves.values():
        header += [f"{title}: paper", f"{title}: ours", f"{title}: ms"]
    rows = []
    for row in shown.table:
        line = [shown.objectives[row.objective].title, row.run]
        for name in shown.halves:
            line += [
                _printed(row.paper.get(name)),
                _ours(comparison, name, row.run, row.objective),
                _milliseconds(comparison.results.get((name, row.run))),
            ]
        rows.append(line)
    return Table(header, rows, words=2).as_markdown()


def effort(results: Results) -> str:
    """Say in a sentence how long the runs took."""
    seconds = sum(result.seconds for result in results.values())
    minutes = round(seconds / 60)
    if minutes >= 60:
        took = f"{minutes // 60} h {minutes % 60} min"
    else:
        took = f"{minutes} min" if minutes else f"{seconds:.0f} s"
    return f"The {len(results)} runs took {took}, added up."


def _printed(printed: Printed | None) -> str:
    if printed is None:
        return MISSING
    percent = "" if printed.percent is None else f"{printed.percent} %"
    return " ".join(part for part in (percent, printed.note) if part)


def _ours(comparison: Comparison, half: str, run: str, objective: str) -> str:
    value = comparison.share(half, run, objective)
    if value is None:
        return MISSING
    bound = comparison.bound(half, run, objective)
    return f"{value:.1f} %" + ("" if bound is None else f" (at least {bound:.1f} %)")


def _milliseconds(result: Result | None) -> str:
    if result is None or result.decision_time is None:
        return MISSING
    return f"{1000 * result.decision_time:.3g}"
