"""Writes a comparison of two dispatchers on the same problems as text or JSON."""

import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from hpcsched.problems.comparison import PERCENTS, Comparison, Ratio
from hpcsched.report.tables.tables import MISSING
from hpcsched.results.solver_rounds import in_words

NAMES = {
    "variables": "decision variables",
    "decision_time": "decision time",
    "fails": "fails",
    "objective": "objective",
}
"""What is said of the columns of a table."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table: a header, of which the first cell is its title, and rows as long."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


def as_json(comparison: Comparison) -> str:
    """Return the comparison as JSON, with exact values."""
    content = asdict(comparison)
    for ratio in content["ratios"]:
        names = (_percent_name(percent) for percent in PERCENTS)
        ratio["quantiles"] = dict(zip(names, ratio["quantiles"], strict=True))
    content["groups"]["groups"] = comparison.groups.groups
    return json.dumps(content, indent=2, ensure_ascii=False)


def as_text(comparison: Comparison, *, terminal: bool, width: int | None = None) -> str:
    """Return the tables of a comparison, and below them what their figures mean.

    On a terminal tables are drawn and fit its width; otherwise they are plain and aligned.
    """
    sections = [_ratios(comparison), _objectives(comparison), _totals(comparison)]
    if comparison.objectives.compared:
        sections.insert(2, _groups(comparison))
    drawn = [_drawn(part, width) if terminal else _aligned(part) for part in sections]
    return "\n\n".join(["\n".join(_head(comparison)), *drawn, "\n".join(_legend(comparison))])


def _head(comparison: Comparison) -> list[str]:
    a, b = comparison.a, comparison.b
    return [
        f"{comparison.problems:,} dispatching problems of {comparison.instances}"
        f" (SHA-256 {comparison.sha256[:12]}…)",
        f"A: {a.name}, dispatcher {a.dispatcher} ({a.table})",
        f"B: {b.name}, dispatcher {b.dispatcher} ({b.table})",
    ]


def _ratios(comparison: Comparison) -> Section:
    points = [{0: "min", 100: "max"}.get(percent, f"{percent} %") for percent in PERCENTS]
    header = ["ratio B / A", "problems", "below 1", "at 1", "above 1", *points]
    return Section(header, [_ratio(ratio) for ratio in comparison.ratios])


def _ratio(ratio: Ratio) -> list[str]:
    shares = (_share(part, ratio.problems) for part in (ratio.below, ratio.one, ratio.above))
    values = (MISSING if value is None else f"{value:.3g}" for value in ratio.quantiles)
    return [NAMES[ratio.quantity], f"{ratio.problems:,}", *shares, *values]


def _objectives(comparison: Comparison) -> Section:
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
    return Section(["objective of B", "problems", f"of {found.compared:,} compared"], rows)


def _groups(comparison: Comparison) -> Section:
    compared = comparison.objectives.compared
    names = ("better objective", "same objective", "worse objective")
    rows = [
        [f"  {name}", *(_share(count, compared) for count in counts)]
        for name, counts in zip(names, comparison.groups.counts, strict=True)
    ]
    rows.append(["", "group 1", "group 2", "group 3"])
    rows.append(["  together", *(_share(n, compared) for n in comparison.groups.groups)])
    return Section(["objective and time of B", "better time", "same time", "worse time"], rows)


def _totals(comparison: Comparison) -> Section:
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
    return Section(["over all problems", "A", "B"], rows)


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


def _drawn(section: Section, width: int | None) -> str:
    table = Table(box=box.SIMPLE, show_edge=False)
    for k, name in enumerate(section.header):
        table.add_column(name, justify="right" if k else "left", overflow="fold")
    for row in section.rows:
        table.add_row(*row)
    out = io.StringIO()
    Console(file=out, force_terminal=True, width=width, markup=False).print(table)
    return out.getvalue().rstrip("\n")


def _aligned(section: Section) -> str:
    lines = [section.header, *section.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if k else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
