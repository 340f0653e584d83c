"""How each solver did with each of the papers' models, as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from comparisons.finished import Finished, seconds_of
from comparisons.in_papers_manner.spread import Served, read_served
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.runs.directory import RunDirectory

MODELS = {
    "hcp19": "HCP'19", "pcp19": "PCP'19", "pcp20": "PCP'20", "pcp21": "PCP'21", "pcp21s": "PCP'21s",
}  # fmt: skip
SOLVERS = {
    "search": "schedule-or-postpone", "cp-sat": "CP-SAT", "choco": "Choco",
    "charged": "schedule-or-postpone, time charged",
}  # fmt: skip
COLUMNS = (
    "model", "solver", "decision, ms", "run, s", "rounds", "solver asked", "without a plan",
    "proved", "variables", "fails", "slowdown", "wait time, s",
)  # fmt: skip


def calls_of(run: RunDirectory) -> Sequence[Mapping[str, Any]]:
    """Return what the solver did in the rounds that asked it."""
    return [call for call in run.rounds.read("solver")["solver"].to_pylist() if call]


def models_table(finished: Finished, system: str) -> str:
    """Return a row for each model and solver on one log.

    Decision times are means over all rounds, by the clock. Counts of plans are of the rounds that
    asked the solver.
    """
    return Table(COLUMNS, list(_rows(finished, system)), words=2).as_markdown()


def _rows(finished: Finished, system: str) -> Iterator[Sequence[str]]:
    for model, name in MODELS.items():
        for solver, title in SOLVERS.items():
            run = run_of(finished, system, model, solver)
            if run is not None:
                yield name, title, *_figures(run)
            elif solver != "charged":
                yield name, title, *[MISSING] * (len(COLUMNS) - 2)


def run_of(finished: Finished, system: str, model: str, solver: str) -> RunDirectory | None:
    """Return the run of a cell; None if it is not there."""
    labels = {"system": system, "dispatcher": model, "dispatcher.solver": solver}
    found = finished.having(**labels)
    return found[0].run if found else None


def _figures(run: RunDirectory) -> Iterator[str]:
    calls = calls_of(run)
    served: Served = read_served(run)
    ends = [call["status"] for call in calls]
    yield f"{1000 * run.timing['rounds']['decision_time_mean']:,.1f}"
    yield f"{seconds_of(run):,.0f}"
    yield f"{run.summary['rounds']['count']:,}"
    yield f"{len(calls):,}"
    yield _share(len(calls) - ends.count("optimal") - ends.count("feasible"), len(calls))
    yield _share(ends.count("optimal"), len(calls))
    yield f"{sum(call['variables'] for call in calls) / max(1, len(calls)):,.1f}"
    fails = [call["fails"] for call in calls]
    yield MISSING if None in fails else f"{sum(fails):,}"
    yield f"{served.slowdown.mean:,.2f} ± {served.slowdown.deviation:,.2f}"
    yield f"{served.wait_time.mean:,.0f} ± {served.wait_time.deviation:,.0f}"


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.0%})" if of else f"{count:,}"
