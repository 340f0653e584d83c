"""Comparison of two dispatchers on the same problems, by the figures of the papers."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
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

SAME_OBJECTIVE = 1e-6
"""Objective values are the same if they differ by at most this share of the larger one."""


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
        if self.a.about.instances.sha256 != self.b.about.instances.sha256:
            message = (
                f"{self.a.path} and {self.b.path} are about different dispatching problems:"
                f" {_file(self.a)} and {_file(self.b)}"
            )
            raise InputError(Finding("other-instances", message))
        if not np.array_equal(self.of_a("round"), self.of_b("round")):
            message = f"{self.b.path} has other rounds than {self.a.path}"
            raise InputError(Finding("damaged-file", message))

    def __len__(self) -> int:
        return min(len(self.a), len(self.b))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Differences between the tables that limit the comparison."""
        return tuple(self._warnings())

    def _warnings(self) -> Iterator[str]:
        # A table made with `--limit` has the first problems of the file, so that the rest can be
        # left out.
        for one, other in ((self.a, self.b), (self.b, self.a)):
            if len(one) > len(other):
                yield (
                    f"{one.about.name} has {len(one)} dispatching problems,"
                    f" {other.about.name} the first {len(other)}: only those are compared"
                )
        if not self.same_objective:
            yield (
                f"{self.a.about.name} and {self.b.about.name} have different objectives:"
                " their values are not compared"
            )
        if self.a.about.platform != self.b.about.platform:
            yield "the tables were made on different machines: their times are not comparable"
        for one, rounds in zip((self.a, self.b), self.solver, strict=True):
            warned = warning(rounds, "problems")
            if warned is not None:
                yield f"{one.about.name}: {warned}"

    @property
    def same_objective(self) -> bool:
        """True if both scenarios have the same objective with the same parameters."""
        return self.a.about.objective == self.b.about.objective

    def of_a(self, column: str) -> npt.NDArray[Any]:
        """Return a column of A."""
        return self.a.columns[column][: len(self)]

    def of_b(self, column: str) -> npt.NDArray[Any]:
        """Return a column of B."""
        return self.b.columns[column][: len(self)]

    def both(self, column: str) -> tuple[Floats, Floats]:
        """Return a column of numbers of A and B; nan where there is none."""
        return self.of_a(column).astype(np.float64), self.of_b(column).astype(np.float64)

    @cached_property
    def asked(self) -> tuple[Mask, Mask]:
        """Masks of the problems for which A and B asked a solver."""
        return tuple_of_masks(
            np.array([status is not None for status in column], dtype=np.bool_)
            for column in (self.of_a("solver_status"), self.of_b("solver_status"))
        )

    @cached_property
    def solver(self) -> tuple[SolverRounds, SolverRounds]:
        """Counts of the problems for which A and B asked a solver, with those without a plan."""
        columns = (self.of_a("solver_status"), self.of_b("solver_status"))
        a, b = (solver_rounds(Counter(s for s in column if s is not None)) for column in columns)
        return a, b

    @cached_property
    def solved(self) -> tuple[Mask, Mask]:
        """Masks of the problems with an objective value by A's and by B's solver."""
        values = self.both("objective")
        return tuple_of_masks(
            asked & np.isfinite(column) for asked, column in zip(self.asked, values, strict=True)
        )

    @cached_property
    def comparable(self) -> Mask:
        """Mask of the problems with comparable objective values."""
        jobs_a, jobs_b = self.both("modelled_jobs")
        alike = (jobs_a == jobs_b) & self.same_objective
        return np.asarray(self.solved[0] & self.solved[1] & alike)

    @cached_property
    def objective_order(self) -> npt.NDArray[np.int64]:
        """-1 for a better value of B, 0 for an equal one, 1 for a worse one; if comparable."""
        a, b = self.both("objective")
        return order(a, b, SAME_OBJECTIVE * np.maximum(np.abs(a), np.abs(b)))

    def time_order(self, tolerance: float) -> npt.NDArray[np.int64]:
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


def order(a: Floats, b: Floats, tolerance: Floats) -> npt.NDArray[np.int64]:
    """Return the sign of b - a; 0 within the tolerance or for nan."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(b - a) > tolerance, np.sign(b - a), 0).astype(np.int64)


def tuple_of_masks(masks: Iterator[Mask]) -> tuple[Mask, Mask]:
    """Return the masks of A and B."""
    first, second = masks
    return first, second


def _file(table: SolvedTable) -> str:
    instances = table.about.instances
    return f"{instances.file} (SHA-256 {instances.sha256[:12]}…)"


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
    fallbacks: tuple[int, int]
    solver: tuple[SolverRounds, SolverRounds]
    decision_time: tuple[float, float]
    warnings: tuple[str, ...]


def compare(pairing: Pairing, same_time: float = SAME_TIME) -> Comparison:
    """Compare two tables."""
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
    tables = [_short_ratios(comparison), _objectives_table(comparison), _totals_table(comparison)]
    if comparison.objectives.compared:
        tables.insert(2, _groups_table(comparison))
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


def _short_ratios(comparison: Comparison) -> Table:
    points = [{0: "min", 100: "max"}.get(percent, f"{percent} %") for percent in PERCENTS]
    header = ["ratio B / A", "problems", "below 1", "at 1", "above 1", *points]
    rows = [_ratio_cells(ratio) for ratio in comparison.ratios]
    return Table.formatted(header, rows, name="ratios")


def _ratio_cells(ratio: Ratio) -> list[str]:
    shares = (_share(part, ratio.problems) for part in (ratio.below, ratio.one, ratio.above))
    values = (MISSING if value is None else f"{value:.3g}" for value in ratio.quantiles)
    return [NAMES[ratio.quantity], f"{ratio.problems:,}", *shares, *values]


def _objectives_table(comparison: Comparison) -> Table:
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


def _groups_table(comparison: Comparison) -> Table:
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


def _totals_table(comparison: Comparison) -> Table:
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
