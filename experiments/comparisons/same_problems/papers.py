"""What PCP'20 (preprint), the thesis of 2020 and CP 2021 show of problems that were asked twice."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

Kind = Literal["variables", "decision_time", "fails", "objective", "scatter", "both", "groups"]


class Pair(NamedTuple):
    """A dispatcher that is compared with another, both by label."""

    of: str
    over: str


class Figure(NamedTuple):
    """A figure: the name of its files, what it shows, and the pairs that it is about.

    `kind` is the column of which it has ratios as curves, or `scatter`: the values of both
    objectives; `both`: ratios of times and fails; `groups`: by queue and pressure.
    """

    name: str
    kind: Kind
    pairs: Sequence[Pair]


class Counts(NamedTuple):
    """A column of table 6.2: problems compared, by the objective, and those that were not solved.

    `not_solved` is that of the pair's dispatchers.
    """

    better: int
    same: int
    worse: int
    not_solved: tuple[int, int]


class Paper(NamedTuple):
    """A paper: its page, what it calls the dispatchers, its figures, and what its tables print.

    `counts` and `groups` are tables 6.2 and 6.3 of the thesis, by pair and letter; the latter in
    percent.
    """

    page: str
    names: Mapping[str, str]
    figures: Sequence[Figure]
    counts: Mapping[tuple[Pair, str], Counts] = {}
    groups: Mapping[tuple[Pair, str], tuple[float, float, float]] = {}

    def name_of(self, pair: Pair) -> str:
        """Return what the paper calls a pair."""
        return f"{self.names[pair.of]} / {self.names[pair.over]}"

    @property
    def pairs(self) -> Sequence[Pair]:
        """All pairs of its figures."""
        return list(dict.fromkeys(pair for figure in self.figures for pair in figure.pairs))


PCP4, PCP20, PCP21 = (Pair(label, "pcp19") for label in ("pcp4", "pcp20", "pcp21"))

PAPERS: Mapping[str, Paper] = {
    "cp2021": Paper(
        "cp2021.md",
        {"pcp19": "PCP'19", "pcp21": "PCP'21"},
        [
            Figure("figure-6", "variables", [PCP21]),
            Figure("figure-7", "decision_time", [PCP21]),
            Figure("figure-8", "fails", [PCP21]),
            Figure("figure-9", "both", [PCP21]),
        ],
    ),
    "pcp20": Paper(
        "pcp20.md",
        {"pcp19": "PCP'19", "pcp20": "PCP'20"},
        [
            Figure("figure-6", "variables", [PCP20]),
            Figure("figure-7", "decision_time", [PCP20]),
        ],
    ),
    "thesis2020": Paper(
        "thesis2020.md",
        {"pcp19": "PCP₃", "pcp4": "PCP₄", "pcp20": "PCP₅"},
        [
            Figure("figure-6.7", "variables", [PCP4, PCP20]),
            Figure("figure-6.8", "decision_time", [PCP4, PCP20]),
            Figure("figure-6.9", "scatter", [PCP4]),
            Figure("figure-6.10", "scatter", [PCP20]),
            Figure("figure-6.11", "objective", [PCP4, PCP20]),
            Figure("figure-6.12", "groups", [PCP4]),
            Figure("figure-6.13", "groups", [PCP20]),
        ],
        {
            (PCP4, "D"): Counts(23_427, 275_457, 12_622, (6, 254)),
            (PCP4, "R"): Counts(21_498, 279_513, 11_477, (38, 302)),
            (PCP20, "D"): Counts(23_734, 275_158, 12_286, (381, 254)),
            (PCP20, "R"): Counts(20_403, 279_662, 11_698, (823, 302)),
        },
        {
            (PCP4, "D"): (67.1, 3.9, 29.0),
            (PCP4, "R"): (49.6, 3.8, 46.6),
            (PCP20, "D"): (95.5, 3.9, 0.6),
            (PCP20, "R"): (95.0, 3.8, 1.2),
        },
    ),
}
"""What is shown, by the label of the paper."""
