"""The tables, as Markdown: the paper's times beside those of the runs."""

from collections.abc import Iterator

from comparisons.cp2021.paper import DISPATCHERS, PRINTED, Printed
from comparisons.finished import Finished, seconds_of
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.runs.directory import RunDirectory

HEADER = (
    "dispatcher",
    "decision, ms: paper",
    "decision, ms: ours",
    "simulation, s: paper",
    "simulation, s: ours",
    "jobs",
    "rounds",
    "fallbacks",
    "mean slowdown",
    "mean wait, s",
)


def as_markdown(finished: Finished, trace: str) -> str:
    """Return the table of a trace, with the paper's rows in its order.

    Times are means over rounds and those of whole runs, by the clock. *Fallbacks* are
    the rounds in which the solver had no plan, and a list plan was carried out.
    """
    return Table(HEADER, list(_rows(finished, trace)), words=1).as_markdown()


def _rows(finished: Finished, trace: str) -> Iterator[tuple[str, ...]]:
    for (of, dispatcher, predictor), printed in PRINTED.items():
        if of != trace:
            continue
        found = finished.having(system=of, dispatcher=dispatcher, predictor=predictor)
        run = found[0].run if found else None
        yield (f"{DISPATCHERS[dispatcher]}-{predictor}", *_row(printed, run))


def _row(printed: Printed, run: RunDirectory | None) -> tuple[str, ...]:
    paper = ["∞" if time is None else f"{time:,}" for time in printed]
    if run is None:
        return paper[0], MISSING, paper[1], *[MISSING] * (len(HEADER) - 4)
    summary, rounds = run.summary, run.summary["rounds"]
    return (
        paper[0],
        f"{1000 * run.timing['rounds']['decision_time_mean']:.1f}",
        paper[1],
        f"{seconds_of(run):,.0f}",
        f"{summary['jobs']['completed']:,}",
        f"{rounds['count']:,}",
        f"{rounds['fallbacks']:,}",
        f"{summary['metrics']['mean_slowdown']:.2f}",
        f"{summary['metrics']['mean_wait_time']:,.0f}",
    )
