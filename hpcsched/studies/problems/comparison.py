"""Comparison of two dispatchers on the same problems, by the figures of the papers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.job_metrics import nearest_rank
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.runs.solver_rounds import SolverRounds, in_words, solver_rounds, warning
from hpcsched.studies.problems.solving import SolvedTable

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
Signs = npt.NDArray[np.int64]

SAME_OBJECTIVE = 1e-6
"""Objective values are the same if they differ by at most this share of the larger one."""
SAME_TIME = 0.1
"""Default relative tolerance below which two times count as equal."""


@dataclass(frozen=True)
class Pairing:
    """Tables A and B over the problems that both have; B is compared with A.

    Objective values are comparable where both solvers gave one for models of equally many jobs: a
    sum over other jobs is another quantity. Nothing is comparable if the objectives differ.
    """

    a: SolvedTable
    b: SolvedTable

    def __post_init__(self) -> None:
        """Check that both tables are about the same problems."""
        a, b = self.a.about.instances, self.b.about.instances
        if a.sha256 != b.sha256:
            files = (f"{one.file} (SHA-256 {one.sha256[:12]}…)" for one in (a, b))
            message = (
                f"{self.a.path} and {self.b.path} are about different dispatching problems:"
                f" {' and '.join(files)}"
            )
            raise InputError(Finding("other-instances", message))
        if not np.array_equal(*self.both("round")):
            message = f"{self.b.path} has other rounds than {self.a.path}"
            raise InputError(Finding("damaged-file", message))

    def __len__(self) -> int:
        return min(len(self.a), len(self.b))

    def warnings(self) -> Iterator[str]:
        """Yield the differences between the tables that limit the comparison."""
        a, b = self.a.about, self.b.about
        # A table made with `--limit` has the first problems of the file, so that the rest can be
        # left out.
        if len(self.a) != len(self.b):
            more, fewer = sorted((self.a, self.b), key=len, reverse=True)
            yield (
                f"{more.about.name} has {len(more)} dispatching problems,"
                f" {fewer.about.name} the first {len(fewer)}: only those are compared"
            )
        if a.objective != b.objective:
            yield f"{a.name} and {b.name} have different objectives: their values are not compared"
        if a.platform != b.platform:
            yield "the tables were made on different machines: their times are not comparable"
        for about, rounds in zip((a, b), self.solver, strict=True):
            warned = warning(rounds, "problems")
            if warned is not None:
                yield f"{about.name}: {warned}"

    def columns(self, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return a column of A and of B."""
        return self.a.columns[name][: len(self)], self.b.columns[name][: len(self)]

    def both(self, column: str) -> tuple[Floats, Floats]:
        """Return a column of numbers of A and B; nan where there is none."""
        a, b = self.columns(column)
        return a.astype(np.float64), b.astype(np.float64)

    @cached_property
    def asked(self) -> tuple[Mask, Mask]:
        """Masks of the problems for which A and B asked a solver."""
        a, b = (
            np.array([status is not None for status in column], np.bool_)
            for column in self.columns("solver_status")
        )
        return a, b

    @cached_property
    def solver(self) -> tuple[SolverRounds, SolverRounds]:
        """Counts of the problems for which A and B asked a solver, with those without a plan."""
        columns = zip(self.columns("solver_status"), self.asked, strict=True)
        a, b = (solver_rounds(Counter(statuses[asked])) for statuses, asked in columns)
        return a, b

    @cached_property
    def solved(self) -> tuple[Mask, Mask]:
        """Masks of the problems with an objective value by A's and by B's solver."""
        (asked_a, asked_b), (a, b) = self.asked, self.both("objective")
        return asked_a & np.isfinite(a), asked_b & np.isfinite(b)

    @cached_property
    def comparable(self) -> Mask:
        """Mask of the problems with comparable objective values."""
        jobs_a, jobs_b = self.both("modelled_jobs")
        alike = (jobs_a == jobs_b) & (self.a.about.objective == self.b.about.objective)
        return np.asarray(self.solved[0] & self.solved[1] & alike)

    @cached_property
    def objective_order(self) -> Signs:
        """-1 for a better value of B, 0 for an equal one, 1 for a worse one; if comparable."""
        return _order(*self.both("objective"))

    def time_order(self, tolerance: float) -> Signs:
        """Return -1 for a shorter time of B, 0 for an equal one, 1 for a longer one.

        Parameters
        ----------
        tolerance
            Relative tolerance, as a share of the shorter time, up to which times are equal.
        """
        a, b = self.both("decision_time")
        return order(a, b, tolerance * np.minimum(a, b))

    def ratios(self, column: str) -> Floats:
        """Return B / A of a column, ascending, where both are above 0.

        Objectives are taken where comparable. B may have no fails.
        """
        a, b = self.both(column)
        with np.errstate(invalid="ignore"):
            # A comparison with nan is False: a problem without a value has no ratio.
            known = (a > 0) & ((b > 0) | ((b == 0) & (column == "fails")))
        if column == "objective":
            known &= self.comparable
        return np.sort(b[known] / a[known])


def order(a: Floats, b: Floats, tolerance: Floats) -> Signs:
    """Return the sign of b - a; 0 within the tolerance or for nan."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(b - a) > tolerance, np.sign(b - a), 0).astype(np.int64)


def _order(a: Floats, b: Floats) -> Signs:
    # A sum in another order of jobs differs in its last bits, which is no better plan.
    return order(a, b, SAME_OBJECTIVE * np.maximum(np.abs(a), np.abs(b)))


def _counts(signs: Signs) -> tuple[int, int, int]:
    """Return the numbers of negative, zero and positive signs."""
    return int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())


PERCENTS = {"min": 0, "p1": 1, "p10": 10, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p99": 99,
            "max": 100}  # fmt: skip
"""Percentiles at which a ratio is given."""

RATIOS = {
    "variables": "decision variables",
    "decision_time": "decision time",
    "fails": "fails",
    "objective": "objective",
}
"""Columns with ratios, and their labels."""


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
    quantiles
        Ratio at each of `PERCENTS`, by nearest rank; None without problems.
    """

    quantity: str
    problems: int
    below: int
    one: int
    above: int
    quantiles: dict[str, float | None]


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
        and a worse time.
    groups
        Number of problems in group 1: B is the better choice, or as good; 2: one is given up for
        the other; 3: A is better.
    """

    counts: tuple[tuple[int, int, int], ...]
    groups: tuple[int, int, int]


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

    jobs: tuple[int, ...]
    slowdown: tuple[float, ...]
    more: int
    same: int
    less: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Answers of B compared with those of A."""

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
    fallbacks: tuple[int, ...]
    solver: tuple[SolverRounds, SolverRounds]
    decision_time: tuple[float, ...]
    warnings: tuple[str, ...]


def compare(pairing: Pairing, same_time: float = SAME_TIME) -> Comparison:
    """Compare two tables."""
    a, b = (
        Side(one.about.name, one.about.dispatcher["name"], str(one.path))
        for one in (pairing.a, pairing.b)
    )
    comparable, asked, solved = pairing.comparable, pairing.asked, pairing.solved
    # Only problems where the objectives can be compared: a shorter time for another model is no
    # gain.
    objective = pairing.objective_order[comparable]
    time = pairing.time_order(same_time)[comparable]
    not_solved_a, not_solved_b = (
        int((mask & ~with_plan).sum()) for mask, with_plan in zip(asked, solved, strict=True)
    )
    not_asked_a, not_asked_b = (int((~mask).sum()) for mask in asked)
    objectives = Objectives(
        int(comparable.sum()),
        *_counts(objective),
        (not_solved_a, not_solved_b),
        (not_asked_a, not_asked_b),
        int((solved[0] & solved[1] & ~comparable).sum()),
    )
    counts = tuple(_counts(time[objective == sign]) for sign in (-1, 0, 1))
    better, same, worse = counts
    groups = (sum(better[:2]) + sum(same[:2]), better[2] + worse[0], same[2] + sum(worse[1:]))
    slowdowns = pairing.both("started_slowdown")
    less, same_starts, more = _counts(_order(*slowdowns))
    return Comparison(
        a,
        b,
        pairing.a.about.instances.scenario,
        pairing.a.about.instances.sha256,
        len(pairing),
        same_time,
        SAME_OBJECTIVE,
        tuple(_ratio(name, pairing.ratios(name)) for name in RATIOS),
        objectives,
        Groups(counts, groups),
        StartedNow(
            tuple(int(column.sum()) for column in pairing.columns("started")),
            tuple(float(column.sum()) for column in slowdowns),
            more,
            same_starts,
            less,
        ),
        tuple(int(column.sum()) for column in pairing.columns("fallback")),
        pairing.solver,
        tuple(float(column.sum()) for column in pairing.both("decision_time")),
        tuple(pairing.warnings()),
    )


def _ratio(quantity: str, ratios: Floats) -> Ratio:
    count = len(ratios)
    quantiles = {
        name: float(ratios[nearest_rank(percent, count)]) if count else None
        for name, percent in PERCENTS.items()
    }
    return Ratio(quantity, count, *_counts(np.sign(ratios - 1).astype(np.int64)), quantiles)


def comparison_tables(found: Comparison) -> list[Table]:
    """Return the tables of a comparison: ratios, objectives, objectives by time, and totals."""
    points = [name.removeprefix("p") + " %" * name.startswith("p") for name in PERCENTS]
    ratios = [
        [
            RATIOS[one.quantity],
            f"{one.problems:,}",
            *(_share(part, one.problems) for part in (one.below, one.one, one.above)),
            *(MISSING if value is None else f"{value:.3g}" for value in one.quantiles.values()),
        ]
        for one in found.ratios
    ]
    header = ["ratio B / A", "problems", "below 1", "at 1", "above 1", *points]
    tables = [Table(header, ratios, name="ratios", words=1), _objectives_table(found.objectives)]
    if found.objectives.compared:
        tables.append(_groups_table(found))
    return [*tables, _totals_table(found)]


def head(found: Comparison) -> str:
    """Return the lines above the tables: the problems and the two dispatchers."""
    sides = (
        f"{letter}: {side.name}, dispatcher {side.dispatcher} ({side.table})"
        for letter, side in (("A", found.a), ("B", found.b))
    )
    problems = f"{found.problems:,} dispatching problems of {found.instances}"
    return "\n".join([f"{problems} (SHA-256 {found.sha256[:12]}…)", *sides])


def ratios_table(comparison: Comparison) -> Table:
    """Return a table of the exact ratios and counts, for CSV."""
    names = ("quantity", "problems", "below_1", "at_1", "above_1", *PERCENTS)
    rows = tuple(
        (one.quantity, one.problems, one.below, one.one, one.above, *one.quantiles.values())
        for one in comparison.ratios
    )
    return Table(names, rows, "ratios", "Ratios B / A")


def _objectives_table(found: Objectives) -> Table:
    rows = [
        [f"  {name}", f"{count:,}", _share(count, found.compared)]
        for name, count in zip(
            ("better", "same", "worse"), (found.better, found.same, found.worse), strict=True
        )
    ]
    others = (
        ("not solved by A", found.not_solved[0]),
        ("not solved by B", found.not_solved[1]),
        ("A asked no solver", found.not_asked[0]),
        ("B asked no solver", found.not_asked[1]),
        ("unlike models", found.unlike),
    )
    rows += [[f"  {name}", f"{count:,}", ""] for name, count in others]
    header = ["objective of B", "problems", f"of {found.compared:,} compared"]
    return Table(header, rows, name="objectives", words=1)


def _groups_table(found: Comparison) -> Table:
    compared = found.objectives.compared
    rows = [
        [f"  {name} objective", *(_share(count, compared) for count in counts)]
        for name, counts in zip(("better", "same", "worse"), found.groups.counts, strict=True)
    ]
    rows.append(["", "group 1", "group 2", "group 3"])
    rows.append(["  together", *(_share(count, compared) for count in found.groups.groups)])
    header = ["objective and time of B", "better time", "same time", "worse time"]
    return Table(header, rows, name="groups", words=1)


def _totals_table(found: Comparison) -> Table:
    started = found.started
    rows = [
        ["  decision time", *(f"{seconds:,.3f} s" for seconds in found.decision_time)],
        ["  fallbacks", *(f"{count:,}" for count in found.fallbacks)],
        ["  jobs started", *(f"{count:,}" for count in started.jobs)],
        ["  slowdown of these", *(f"{value:,.2f}" for value in started.slowdown)],
        [
            "  starts more slowdown",
            *(_share(count, found.problems) for count in (started.less, started.more)),
        ],
    ]
    header = ["over all problems", "A", "B"]
    return Table(header, rows, name="totals", notes=list(_legend(found)), words=1)


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
