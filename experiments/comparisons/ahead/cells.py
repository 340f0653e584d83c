"""What a dispatcher comes to in a cell: a log, or stretches of it, a predictor and an objective."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from comparisons.kept import Outcome

AXES = ("system", "predictor", "objective", "dispatcher", "trace.transforms[1].seed")
"""The axes of the experiment. Labels of the first are a log, a dash, and a stretch of it."""

TUNING = ("KTH-SP2", "CTC-SP2", "Lublin-1", "BLUE-1")
"""Logs on which parameters are chosen; all others are unseen."""

WHOLE = "whole"
"""The stretch that is all of a log."""

SEARCHES = ("order-search", "hyper")
"""Dispatchers that pursue the objective; all others are rules."""

METRICS = {
    "BSLD": "mean_bounded_slowdown",
    "AF": "mean_response_time",
    "AWF": "area_weighted_response_time",
    "P2SF": "p2sf",
}
"""The metric by the label of an objective."""

QUEUE = 2.0
"""Mean bounded slowdown of the best rule above which jobs queue."""


class Ratio(NamedTuple):
    """A dispatcher's mean by that of the best rule, and range of the ratios of single runs."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Cell:
    """The rule with the least mean over stretches and seeds, and others beside it.

    `ratios` lacks dispatchers of which no run is there.
    """

    best: str
    figure: float
    ratios: Mapping[str, Ratio]


class Cells:
    """The cells of these outcomes, of an experiment that has these axes.

    A stretch with a seed counts when all rules were run on it.
    """

    def __init__(self, axes: Mapping[str, Sequence[str]], outcomes: Iterable[Outcome]) -> None:
        self._rules = [name for name in axes["dispatcher"] if name not in SEARCHES]
        stretches: dict[str, list[str]] = defaultdict(list)
        for label in axes["system"]:
            stretches[label.rpartition("-")[0]].append(label)
        self.stretches: Mapping[str, Sequence[str]] = stretches
        """Labels of the stretches by log."""
        # Figures by dispatcher of each stretch, predictor and objective, by seed.
        self._figures: dict[tuple[str, str, str], dict[str, dict[str, float]]] = {}
        for labels, figures in outcomes:
            stretch, predictor, objective, name, seed = (labels[axis] for axis in AXES)
            for pursued in (objective,) if name in SEARCHES else METRICS:
                by_seed = self._figures.setdefault((stretch, predictor, pursued), {})
                by_seed.setdefault(seed, {})[name] = figures[METRICS[pursued]]

    def cell(self, stretches: Sequence[str], predictor: str, objective: str) -> Cell | None:
        """Return the cell of these stretches together; None without runs of all rules."""
        runs = [
            of_seed
            for stretch in stretches
            for of_seed in self._figures.get((stretch, predictor, objective), {}).values()
            if of_seed.keys() >= set(self._rules)
        ]
        if not runs:
            return None
        means = {rule: sum(run[rule] for run in runs) / len(runs) for rule in self._rules}
        best = min(means, key=means.__getitem__)
        ratios = {}
        for name in SEARCHES:
            pairs = [(run[name], run[best]) for run in runs if name in run]
            if pairs:
                mean = sum(one for one, _ in pairs) / sum(other for _, other in pairs)
                single = [one / other for one, other in pairs]
                ratios[name] = Ratio(mean, min(single), max(single))
        return Cell(best, means[best], ratios)

    def queues(self, stretches: Sequence[str], predictor: str) -> bool:
        """Return whether the least mean bounded slowdown of a rule is above `QUEUE`."""
        cell = self.cell(stretches, predictor, "BSLD")
        return cell is not None and cell.figure > QUEUE
