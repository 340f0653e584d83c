"""Comparison of two dispatchers on the same problems, by the figures of the papers.

Ratios are as in figures 6 to 8 of Galleguillos et al., CP 2021, and figures 6.7, 6.8 and 6.11 of
Galleguillos's thesis, 2020; counts as in its tables 6.2 and 6.3.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hpcsched.metrics.job_metrics import nearest_rank
from hpcsched.runs.solver_rounds import SolverRounds
from hpcsched.studies.problems.pairing import SAME_OBJECTIVE, Floats, Pairing

PERCENTS = (0, 1, 10, 25, 50, 75, 90, 99, 100)
"""Percentiles at which a ratio is given; 0 is the smallest, 100 the largest."""
SAME_TIME = 0.1
"""Default relative tolerance below which two times count as equal."""

RATIOS = ("variables", "decision_time", "fails", "objective")
"""Columns with ratios."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two tables: name of its scenario, its dispatcher, and its path."""

    name: str
    dispatcher: str
    table: str


@dataclass(frozen=True, slots=True)
class Ratio:
    """Distribution of B / A over the problems where both values are above 0.

    Attributes
    ----------
    quantity
        Column of the tables.
    problems
        Number of these problems.
    below, one, above
        Number of them by ratio.
    quantiles
        Ratio at each of `PERCENTS`, by nearest rank; None without problems.
    """

    quantity: str
    problems: int
    below: int
    one: int
    above: int
    quantiles: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Objectives:
    """Table 6.2: problems by B's value of the objective.

    Attributes
    ----------
    compared
        Number of problems where both values are comparable.
    better, same, worse
        Number of them by B's value.
    not_solved, not_asked
        Problems for which the solver of A and of B gave no value, and was not asked.
    unlike
        Problems where both solved models of different numbers of jobs, or of different objectives.
    """

    compared: int
    better: int
    same: int
    worse: int
    not_solved: tuple[int, int]
    not_asked: tuple[int, int]
    unlike: int


@dataclass(frozen=True, slots=True)
class Groups:
    """Table 6.3: the compared problems by B's objective and time.

    Attributes
    ----------
    counts
        Rows for a better, the same and a worse objective; in each a count for a better, the same
        and a worse time. Group 1: B is the better choice, or as good; 2: one is given up for the
        other; 3: A is better.
    """

    counts: tuple[tuple[int, int, int], ...]

    @property
    def groups(self) -> tuple[int, int, int]:
        """Numbers of problems in groups 1, 2 and 3."""
        (a, b, c), (d, e, f), (g, h, i) = self.counts
        return a + b + d + e, c + g, f + h + i


@dataclass(frozen=True, slots=True)
class StartedNow:
    """Jobs that A and B start now, with or without a solver.

    Attributes
    ----------
    jobs, slowdown
        Totals of A and of B over all problems: jobs, and their slowdowns at present.
    more, same, less
        Number of problems by B's slowdown against A's.
    """

    jobs: tuple[int, int]
    slowdown: tuple[float, float]
    more: int
    same: int
    less: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Answers of B compared with those of A.

    Attributes
    ----------
    a, b
        The two tables.
    instances, sha256
        File of dispatching problems, and its hash.
    same_time, same_objective
        Relative tolerances of times and of objectives.
    fallbacks
        Problems that A and B answered by a fallback.
    solver
        Problems for which A and B asked a solver.
    """

    a: Side
    b: Side
    instances: str
    sha256: str
    problems: int
    same_time: float
    same_objective: float
    ratios: tuple[Ratio, ...]
    objectives: Objectives
    groups: Groups
    started: StartedNow
    fallbacks: tuple[int, int]
    solver: tuple[SolverRounds, SolverRounds]
    decision_time: tuple[float, float]
    warnings: tuple[str, ...]


def compare(pairing: Pairing, same_time: float = SAME_TIME) -> Comparison:
    """Compare two tables.

    Parameters
    ----------
    pairing
        The tables, problem by problem.
    same_time
        Relative tolerance below which two times count as equal.
    """
    a, b = pairing.a.about, pairing.b.about
    time_a, time_b = pairing.both("decision_time")
    return Comparison(
        Side(a.name, a.dispatcher["name"], str(pairing.a.path)),
        Side(b.name, b.dispatcher["name"], str(pairing.b.path)),
        a.instances.scenario,
        a.instances.sha256,
        len(pairing),
        same_time,
        SAME_OBJECTIVE,
        tuple(_ratio(name, pairing.ratios(name)) for name in RATIOS),
        _objectives(pairing),
        _groups(pairing, same_time),
        _started(pairing),
        (int(pairing.of_a("fallback").sum()), int(pairing.of_b("fallback").sum())),
        pairing.solver,
        (float(time_a.sum()), float(time_b.sum())),
        pairing.warnings,
    )


def _ratio(quantity: str, ratios: Floats) -> Ratio:
    count = len(ratios)
    below, above = int((ratios < 1).sum()), int((ratios > 1).sum())
    quantiles = tuple(
        float(ratios[nearest_rank(percent, count)]) if count else None for percent in PERCENTS
    )
    return Ratio(quantity, count, below, count - below - above, above, quantiles)


def _objectives(pairing: Pairing) -> Objectives:
    comparable = pairing.comparable
    better, same, worse = _counts(pairing.objective_order[comparable])
    asked, solved = pairing.asked, pairing.solved
    return Objectives(
        int(comparable.sum()),
        better,
        same,
        worse,
        (int((asked[0] & ~solved[0]).sum()), int((asked[1] & ~solved[1]).sum())),
        (int((~asked[0]).sum()), int((~asked[1]).sum())),
        int((solved[0] & solved[1] & ~comparable).sum()),
    )


def _groups(pairing: Pairing, same_time: float) -> Groups:
    comparable = pairing.comparable
    objective = pairing.objective_order[comparable]
    time = pairing.time_order(same_time)[comparable]
    # Only problems where the objectives can be compared: a shorter time for another model is no
    # gain.
    return Groups(tuple(_counts(time[objective == sign]) for sign in (-1, 0, 1)))


def _started(pairing: Pairing) -> StartedNow:
    jobs_a, jobs_b = pairing.both("started")
    a, b = pairing.both("started_slowdown")
    scale = np.maximum(np.abs(a), np.abs(b))
    # A sum of slowdowns in another order of jobs differs in its last bits, which is no better plan.
    signs = np.where(np.abs(b - a) > SAME_OBJECTIVE * scale, np.sign(b - a), 0).astype(np.int64)
    less, same, more = _counts(signs)
    return StartedNow(
        (int(jobs_a.sum()), int(jobs_b.sum())), (float(a.sum()), float(b.sum())), more, same, less
    )


def _counts(signs: npt.NDArray[np.int64]) -> tuple[int, int, int]:
    """Return the numbers of negative, zero and positive signs."""
    return int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())
