"""Two tables of the same dispatching problems, problem by problem."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.errors import Finding, InputError
from hpcsched.runs.solver_rounds import SolverRounds, solver_rounds, warning
from hpcsched.studies.problems.table import SolvedTable

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
        """Check that both tables are about the same problems.

        Raises
        ------
        InputError
            If they are not.
        """
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
