"""The tables: ratios, and counts by objective and time, as Markdown."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from comparisons.same_problems.papers import Counts, Pair, Paper
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.studies.problems.solving import Floats, Groups, Pairing, groups_of, objectives_of

Pairings = Mapping[tuple[Pair, str], Pairing]
"""Answers of two dispatchers to the same problems, by pair and letter of the prediction."""

MEASURES = {
    "variables": "decision variables",
    "decision_time": "decision time",
    "fails": "fails",
    "objective": "objective",
}
"""What ratios are of, by column."""

RATIOS = ("ratio", "of", "problems", "25 %", "50 %", "75 %", "below 0.1", "below 1", "above 1")


def ratios_of(pairing: Pairing, column: str) -> Floats:
    """Return the ratios of a column, ascending, over problems of which both asked their solver."""
    if column != "decision_time":  # all others are known only where a solver was asked
        return pairing.ratios(column)
    asked = pairing.asked[0] & pairing.asked[1]
    a, b = pairing.both(column)
    return np.sort(b[asked] / a[asked])


def ratios(paper: Paper, pairings: Pairings) -> str:
    """Return the distribution of each ratio over the problems of which both values are known."""
    return Table(RATIOS, list(_ratios(paper, pairings)), words=2).as_markdown()


def _ratios(paper: Paper, pairings: Pairings) -> Iterator[Sequence[str]]:
    for (pair, letter), pairing in pairings.items():
        for column, measure in MEASURES.items():
            values = ratios_of(pairing, column)
            yield f"{paper.name_of(pair)}, {letter}", measure, f"{len(values)}", *_quantiles(values)


def _quantiles(values: Floats) -> list[str]:
    if not len(values):
        return [MISSING] * 6
    quartiles = np.quantile(values, (0.25, 0.5, 0.75))
    shares = [(values < 0.1).mean(), (values < 1).mean(), (values > 1).mean()]
    return [*(f"{value:.2g}" for value in quartiles), *(f"{share:.0%}" for share in shares)]


def counts(paper: Paper, pairings: Pairings) -> str:
    """Return table 6.2 of the thesis: problems by the value of the objective, paper's and ours."""
    header = ["", *(f"{paper.name_of(pair)}, {letter}: {whose}"
                    for pair, letter in pairings for whose in ("paper", "ours"))]  # fmt: skip
    columns: list[list[str]] = []
    for key, pairing in pairings.items():
        printed, found = paper.counts[key], objectives_of(pairing)
        # Not solved are told of the pair's first dispatcher, and of the one it is compared with.
        ours = Counts(found.better, found.same, found.worse, found.not_solved[::-1])
        columns += [_counts(printed), _counts(ours)]
    names = [
        "compared",
        "better",
        "same",
        "worse",
        "not solved by the first",
        "not solved by the other",
    ]
    return Table(header, list(zip(names, *columns, strict=True)), words=1).as_markdown()


def _counts(one: Counts) -> list[str]:
    compared = one.better + one.same + one.worse
    by_objective = [
        f"{count:,} ({count / compared:.0%})" if compared else f"{count}" for count in one[:3]
    ]
    return [f"{compared:,}", *by_objective, *(f"{count:,}" for count in one.not_solved)]


def groups(paper: Paper, pairings: Pairings) -> str:
    """Return table 6.3 of the thesis: the compared problems by group, in percent."""
    header = ["group", *(f"{paper.name_of(pair)}, {letter}: {whose}"
                         for pair, letter in pairings for whose in ("paper", "ours"))]  # fmt: skip
    columns: list[Sequence[str]] = []
    for key, pairing in pairings.items():
        columns += [[f"{share:.1f}" for share in paper.groups[key]], _groups(groups_of(pairing))]
    return Table(header, list(zip("123", *columns, strict=True)), words=1).as_markdown()


def _groups(found: Groups) -> Sequence[str]:
    total = sum(found.groups)
    return [f"{100 * count / total:.1f}" if total else MISSING for count in found.groups]
