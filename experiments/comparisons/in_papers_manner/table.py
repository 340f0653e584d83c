"""The tables, as Markdown: the paper's times beside those of the runs, and how jobs were served."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from comparisons.finished import Finished, seconds_of
from comparisons.in_papers_manner.beside_lists import BesideLists, beside_lists
from comparisons.in_papers_manner.papers import Bars, Paper, Printing
from comparisons.in_papers_manner.spread import Served, ServedRuns, Spread
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.runs.directory import RunDirectory

TIMES = (
    "dispatcher", "decision, ms: paper", "decision, ms: ours", "simulation, s: paper",
    "simulation, s: ours", "jobs", "rounds", "without a plan", "variables",
)  # fmt: skip
ROUNDS = (
    "dispatcher", "solver asked", "two jobs or more", "proved", "better than the best list plan",
    "worse", "other jobs than by the best list plan", "other jobs than by priority", "fails",
)  # fmt: skip
SEARCHES = (
    "dispatcher", "solver asked", "jobs", "two jobs or more", "most jobs", "proved",
    "ended by the limit",
)  # fmt: skip


def run_of(finished: Finished, system: str, dispatcher: str, predictor: str) -> RunDirectory | None:
    """Return the run of a cell, None if it is not there."""
    found = finished.having(system=system, dispatcher=dispatcher, predictor=predictor)
    return found[0].run if found else None


def times(finished: Finished, paper: Paper, printing: Printing) -> str:
    """Return the paper's rows with its times and ours.

    Times are means over rounds and those of whole runs, by the clock. `variables` are the decision
    variables of a model, as a mean over the rounds that asked the solver.
    """
    return Table(TIMES, list(_times(finished, paper, printing)), words=1).as_markdown()


def _times(finished: Finished, paper: Paper, printing: Printing) -> Iterator[Sequence[str]]:
    for dispatcher, letter, printed in printing.rows:
        name = f"{paper.names[dispatcher]}-{letter}"
        told = ["∞" if time is None else f"{time:,}" for time in printed]
        run = run_of(finished, printing.system, dispatcher, letter)
        if run is None:
            yield name, told[0], MISSING, told[1], *[MISSING] * (len(TIMES) - 4)
            continue
        rounds = run.summary["rounds"]
        variables = _mean([call["variables"] for call in _calls(run)])
        yield (
            name,
            told[0],
            f"{1000 * run.timing['rounds']['decision_time_mean']:.1f}",
            told[1],
            f"{seconds_of(run):,.0f}",
            f"{run.summary['jobs']['completed']:,}",
            f"{rounds['count']:,}",
            f"{rounds['without_plan']:,}",
            f"{variables:,.1f}",
        )


def searches(finished: Finished, paper: Paper, printing: Printing) -> str:
    """Return how the searches of a table's runs ended, and the mean number of jobs in a model.

    Those in which the solver crashed or found no plan are in neither of the last two columns.
    """
    return Table(SEARCHES, list(_searches(finished, paper, printing)), words=1).as_markdown()


def _searches(finished: Finished, paper: Paper, printing: Printing) -> Iterator[Sequence[str]]:
    for dispatcher, letter, _ in printing.rows:
        name = f"{paper.names[dispatcher]}-{letter}"
        run = run_of(finished, printing.system, dispatcher, letter)
        if run is None:
            yield name, *[MISSING] * (len(SEARCHES) - 1)
            continue
        calls = _calls(run)
        jobs = [call["jobs"] for call in calls]
        ends = [call["status"] for call in calls]
        yield (
            name,
            f"{len(calls):,}",
            f"{_mean(jobs):.1f}",
            f"{sum(count > 1 for count in jobs):,}",
            f"{max(jobs, default=0):,}",
            f"{ends.count('optimal'):,}",
            f"{ends.count('feasible'):,}",
        )


def _calls(run: RunDirectory) -> Sequence[Mapping[str, Any]]:
    """Return how the solver fared in the rounds that asked it."""
    return [call for call in run.rounds.read("solver")["solver"].to_pylist() if call]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def served_table(paper: Paper, figure: Bars, served: ServedRuns) -> str:
    """Return slowdowns and wait times of a figure's runs: mean ± standard deviation."""
    header = ["dispatcher", "jobs", "slowdown", "wait time, s"]
    rows = []
    for dispatcher, letter in figure.bars:
        one = served.get((dispatcher, letter))
        name = f"{paper.names[dispatcher]}-{letter}"
        rows.append([name, *([MISSING] * 3 if one is None else _served(one))])
    return Table(header, rows, words=1).as_markdown()


def _served(one: Served) -> list[str]:
    return [f"{one.jobs:,}", _spread(one.slowdown, ",.2f"), _spread(one.wait_time, ",.0f")]


def _spread(spread: Spread, digits: str) -> str:
    if spread.mean != spread.mean:  # there is no job
        return MISSING
    return f"{spread.mean:{digits}} ± {spread.deviation:{digits}}"


def rounds(finished: Finished, paper: Paper, printing: Printing) -> str:
    """Return how the decisions of a table's runs compare with list scheduling, by rounds."""
    return Table(ROUNDS, list(_rounds(finished, paper, printing)), words=1).as_markdown()


def _rounds(finished: Finished, paper: Paper, printing: Printing) -> Iterator[Sequence[str]]:
    for dispatcher, letter, _ in printing.rows:
        name = f"{paper.names[dispatcher]}-{letter}"
        run = run_of(finished, printing.system, dispatcher, letter)
        if run is None:
            yield name, *[MISSING] * (len(ROUNDS) - 1)
            continue
        found: BesideLists = beside_lists(run)
        yield (
            name,
            f"{found.asked:,}",
            f"{found.choices:,}",
            *(_share(count, found.choices) for count in (found.proved, found.better, found.worse)),
            *(_share(count, found.choices) for count in (found.other_jobs, found.other_than_first)),
            f"{found.fails:,}",
        )


def _share(count: int, of: int) -> str:
    return f"{count:,} ({count / of:.0%})" if of else f"{count:,}"
