"""Tables of a comparison of two dispatchers on the same dispatching problems."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.runs.solver_rounds import in_words
from hpcsched.studies.problems.comparison import PERCENTS, Comparison, Ratio

NAMES = {
    "variables": "decision variables",
    "decision_time": "decision time",
    "fails": "fails",
    "objective": "objective",
}
"""Labels of the columns of a solved table."""


def comparison_content(comparison: Comparison) -> dict[str, Any]:
    """Return the exact figures of a comparison for JSON."""
    content = asdict(comparison)
    for ratio in content["ratios"]:
        names = (_percent_name(percent) for percent in PERCENTS)
        ratio["quantiles"] = dict(zip(names, ratio["quantiles"], strict=True))
    content["groups"]["groups"] = comparison.groups.groups
    return content


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return the tables of a comparison: ratios, objectives, objectives by time, and totals."""
    tables = [_ratios(comparison), _objectives(comparison), _totals(comparison)]
    if comparison.objectives.compared:
        tables.insert(2, _groups(comparison))
    return tables


def head(comparison: Comparison) -> str:
    """Return the lines above the tables: the problems and the two dispatchers."""
    a, b = comparison.a, comparison.b
    return "\n".join(
        [
            f"{comparison.problems:,} dispatching problems of {comparison.instances}"
            f" (SHA-256 {comparison.sha256[:12]}…)",
            f"A: {a.name}, dispatcher {a.dispatcher} ({a.table})",
            f"B: {b.name}, dispatcher {b.dispatcher} ({b.table})",
        ]
    )


def ratios_table(comparison: Comparison) -> Table:
    """Return a table of the exact ratios and counts, for CSV."""
    counts = ("quantity", "problems", "below_1", "at_1", "above_1")
    columns = (*counts, *map(_percent_name, PERCENTS))
    rows = (
        (ratio.quantity, ratio.problems, ratio.below, ratio.one, ratio.above, *ratio.quantiles)
        for ratio in comparison.ratios
    )
    title = "Ratios B / A"
    return Table("ratios", title, tuple((name, "") for name in columns), tuple(rows))


def _ratios(comparison: Comparison) -> Table:
    points = [{0: "min", 100: "max"}.get(percent, f"{percent} %") for percent in PERCENTS]
    header = ["ratio B / A", "problems", "below 1", "at 1", "above 1", *points]
    return Table.formatted(header, [_ratio(ratio) for ratio in comparison.ratios], name="ratios")


def _ratio(ratio: Ratio) -> list[str]:
    shares = (_share(part, ratio.problems) for part in (ratio.below, ratio.one, ratio.above))
    values = (MISSING if value is None else f"{value:.3g}" for value in ratio.quantiles)
    return [NAMES[ratio.quantity], f"{ratio.problems:,}", *shares, *values]


def _objectives(comparison: Comparison) -> Table:
    found = comparison.objectives
    counts = (
        ("better", found.better),
        ("same", found.same),
        ("worse", found.worse),
    )
    rows = [[f"  {name}", f"{n:,}", _share(n, found.compared)] for name, n in counts]
    others = (
        ("not solved by A", found.not_solved[0]),
        ("not solved by B", found.not_solved[1]),
        ("A asked no solver", found.not_asked[0]),
        ("B asked no solver", found.not_asked[1]),
        ("unlike models", found.unlike),
    )
    rows += [[f"  {name}", f"{n:,}", ""] for name, n in others]
    return Table.formatted(
        ["objective of B", "problems", f"of {found.compared:,} compared"], rows, name="objectives"
    )


def _groups(comparison: Comparison) -> Table:
    compared = comparison.objectives.compared
    names = ("better objective", "same objective", "worse objective")
    rows = [
        [f"  {name}", *(_share(count, compared) for count in counts)]
        for name, counts in zip(names, comparison.groups.counts, strict=True)
    ]
    rows.append(["", "group 1", "group 2", "group 3"])
    rows.append(["  together", *(_share(n, compared) for n in comparison.groups.groups)])
    return Table.formatted(
        ["objective and time of B", "better time", "same time", "worse time"], rows, name="groups"
    )


def _totals(comparison: Comparison) -> Table:
    started = comparison.started
    rows = [
        ["  decision time", *(f"{seconds:,.3f} s" for seconds in comparison.decision_time)],
        ["  fallbacks", *(f"{n:,}" for n in comparison.fallbacks)],
        ["  jobs started", *(f"{n:,}" for n in started.jobs)],
        ["  slowdown of these", *(f"{value:,.2f}" for value in started.slowdown)],
        [
            "  starts more slowdown",
            _share(started.less, comparison.problems),
            _share(started.more, comparison.problems),
        ],
    ]
    return Table.formatted(
        ["over all problems", "A", "B"], rows, name="totals", notes=list(_legend(comparison))
    )


def _legend(comparison: Comparison) -> Iterator[str]:
    """Yield lines that say how the figures are to be read."""
    for side, rounds in zip("AB", comparison.solver, strict=True):
        if rounds.unsolved:
            yield f"{side}: {in_words(rounds, 'problems')}."
    yield (
        "Ratios: over the problems where both values are above 0; B's fails may be 0. At p %: the"
        " ratio that p % of them do not exceed (nearest rank). Below 1, B is better."
    )
    if comparison.objectives.compared:
        yield (
            "Objectives: the solvers' own, where both gave one for models of as many jobs. The"
            f" same: apart by at most {comparison.same_objective:g} of the larger."
        )
        yield (
            "Times are the same where the longer exceeds the shorter by at most"
            f" {100 * comparison.same_time:g} %. Group 1: B is no worse in either; 2: better in"
            " one, worse in the other; 3: the rest."
        )
    yield (
        "Slowdown of what starts now: the sum of (now - submit time + predicted run time) /"
        " predicted run time. Starting more of it now may still be the worse plan."
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else MISSING


def _percent_name(percent: int) -> str:
    return {0: "min", 100: "max"}.get(percent, f"p{percent}")
