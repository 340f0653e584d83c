"""The log's own schedule as a column of a comparison of runs."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

_FAR, _FAR_SECONDS = 2, 60
"""Ratio and difference of mean waits, in seconds, from which on replay and log are far apart."""


class LogFigures(NamedTuple):
    """Metrics by name, and the objective, over some jobs; None where there is no value."""

    metrics: Mapping[str, float | None]
    objective: float | None


class LogColumn(NamedTuple):
    """The column of the log's own schedule in a comparison.

    Attributes
    ----------
    same_jobs
        Figures of runs that ran other jobs as well, over the jobs of the column, by run.
    without_start
        Number of these of which the log records no start; the column is over the others.
    """

    name: str
    source: Path
    figures: LogFigures
    same_jobs: Mapping[str, LogFigures]
    ran: int
    without_start: int

    def in_words(self) -> str:
        """Return the origin of the column, and its jobs."""
        missing = (
            f"; {self.without_start} of the {self.ran} jobs that ran have no recorded start, and"
            " are left out"
            if self.without_start
            else f", for all {self.ran} jobs that ran"
        )
        return (
            "the log's own schedule, not a replay: each job starts when the log says that it did"
            f"{missing}"
        )

    def far_apart(
        self, waits: Sequence[float | None], percent: Sequence[float | None]
    ) -> Iterator[str]:
        """Yield a warning if jobs waited far longer, or far less, in the log than in every run.

        Parameters
        ----------
        percent
            The same in percent of the log's, over the jobs of the log.
        """
        there = waits[-1]
        if there is None:
            return
        runs = [
            wait if share is None else there * share / 100
            for wait, share in zip(waits[:-1], percent[:-1], strict=True)
            if wait is not None
        ]
        nearest = min(runs, key=lambda wait: abs(wait - there), default=there)
        # Runs on both sides of the log are not far from it.
        beside = min(runs, default=there) <= there <= max(runs, default=there)
        short, long = sorted((nearest, there))
        if not beside and long > _FAR * short and long - short > _FAR_SECONDS:
            why = (
                "the site may have had fewer nodes, outages, limits, partitions or priorities that"
                " the scenario does not declare, or the log lacks jobs"
                if there > nearest
                else "the site may have had more nodes, or the scenario has outages, limits or jobs"
                " that the site had not"
            )
            yield (
                f"replay and log are far apart: the mean wait is {there:,.0f} s in {self.name} and"
                f" {nearest:,.0f} s in the nearest run; {why}"
            )
