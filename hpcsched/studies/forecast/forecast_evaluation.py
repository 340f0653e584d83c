"""Evaluation of forecasts on a trace: at submission, and an hour before the start."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.runs.replaying import replay
from hpcsched.simulation.replay_branches import LaterJobs, ReplayBranch, branches
from hpcsched.studies.forecast.forecasting import (
    SAMPLES,
    PreparedReplay,
    forecast_starts,
)
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns

RECENT = 20
"""Number of similar jobs whose waits are averaged."""


def planned_start(branch: ReplayBranch, sequence: int) -> int:
    """Return the start of a job if all run for their requested times and none is submitted later.

    This is what `squeue --start` of Slurm tells: the plan of the dispatcher at the instant.
    """
    present = branch.present
    requested = present.requested_time
    starts = branch.start_times(requested[np.newaxis], [LaterJobs()], np.array([sequence]))
    return int(starts[0, 0])


class SimilarWaits:
    """Waits of jobs by size class: equal binary orders of magnitude of units and requested time.

    Parameters
    ----------
    start_times
        Their start times, `[J]`; those after an instant are not used for it.
    """

    def __init__(self, columns: JobColumns, start_times: IntArray) -> None:
        self._starts = start_times
        self._waits: FloatColumn = (start_times - columns.submit_time).astype(np.float64)
        units, requested = (
            np.frexp(values.astype(np.float64))[1]
            for values in (columns.units, np.maximum(columns.requested_time, 1))
        )
        self._classes = 64 * units.astype(np.int64) + requested

    def mean_wait(self, sequence: int, now: int) -> float:
        """Return the mean wait of the last similar jobs started by second `now`, in seconds."""
        started = np.flatnonzero(self._starts[:sequence] <= now)
        similar = started[self._classes[started] == self._classes[sequence]][-RECENT:]
        chosen = similar if len(similar) else started
        return float(self._waits[chosen].mean()) if len(chosen) else 0.0


HOUR = 3600
AT_SUBMISSION, HOUR_BEFORE = "at submission", "an hour before"
INTERVALS = (0.5, 0.9)
"""Central intervals whose coverage is measured."""
_SHARES = (0.5, *(end for share in INTERVALS for end in ((1 - share) / 2, (1 + share) / 2)))
"""Levels of the median and of the ends of the intervals."""
JOBS = 100
"""Number of jobs that are evaluated."""
FIRST = 0.1
"""Share of the jobs at the beginning that are left out, as there is hardly a past."""


class Scores(NamedTuple):
    """Scores of forecasts of one kind.

    Attributes
    ----------
    within_minute, within_ten_minutes
        Shares of forecasts that are at most 1 and 10 minutes off.
    mean_absolute_error, median_absolute_error
        In seconds. The median does not depend on single jobs, such as those behind hundreds of jobs
        that all fail at once.
    crps
        Mean continuous ranked probability score, in seconds; of a single value it is the absolute
        error.
    coverage
        Share of starts in each of `INTERVALS`; empty for a single value.
    """

    jobs: int
    within_minute: float
    within_ten_minutes: float
    mean_absolute_error: float
    median_absolute_error: float
    crps: float
    coverage: tuple[float, ...] = ()


class Evaluation(NamedTuple):
    """Scores by instant of the forecast and by its kind.

    Attributes
    ----------
    scores
        By `AT_SUBMISSION` or `HOUR_BEFORE`, then by `forecast`, `requested times` or `similar
        jobs`.
    """

    scores: Mapping[str, Mapping[str, Scores]]
    jobs: int
    waited: int


def evaluate(
    prepared: PreparedReplay,
    *,
    jobs: int = JOBS,
    samples: int = SAMPLES,
    seed: int = 0,
    first: float = FIRST,
    ended: Callable[[int, int], None] = lambda *_: None,
) -> Evaluation:
    """Return the scores of forecasts of some jobs of a trace.

    Parameters
    ----------
    first
        Share of the jobs at the beginning that are left out.
    """
    starts = replayed_starts(prepared)
    waited = int((starts > prepared.columns.submit_time).sum())
    if not waited:
        raise InputError(Finding("no-waits", "no job waits in this scenario", key="trace"))
    chosen = chosen_jobs(prepared, starts, jobs=jobs, seed=seed, first=first)
    instants = _instants(prepared.columns.submit_time, starts, chosen)
    outcomes = _outcomes(prepared, starts, instants, samples, seed=seed, ended=ended)
    scores = {when: _scores(of_instant) for when, of_instant in outcomes.items()}
    return Evaluation(scores, len(starts), waited)


def replayed_starts(prepared: PreparedReplay) -> IntArray:
    """Return the start time of each job in the replay, `[J]`, in seconds; -1 without one."""
    found = replay(prepared.scenario, prepared.workload).start_times
    return np.array([found.get(number, -1) for number in prepared.columns.job_id.tolist()])


def chosen_jobs(
    prepared: PreparedReplay, starts: IntArray, *, jobs: int, seed: int = 0, first: float = FIRST
) -> IntArray:
    """Return the places of the jobs that are evaluated: drawn from those that waited."""
    waited = np.flatnonzero(starts > prepared.columns.submit_time)
    draw = np.random.default_rng([seed, len(starts)])
    chosen: IntArray = np.sort(draw.permutation(waited[waited >= first * len(starts)])[:jobs])
    return chosen


def _instants(
    submits: IntArray, starts: IntArray, chosen: IntArray
) -> Mapping[int, Sequence[tuple[int, str]]]:
    """Return the jobs to forecast after a number of submissions, each with its instant's name."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for job in chosen.tolist():
        found[job + 1].append((job, AT_SUBMISSION))
        # The last submission that is at least an hour before the start.
        before = int(np.searchsorted(submits, starts[job] - HOUR, side="right"))
        if before > job:
            found[before].append((job, HOUR_BEFORE))
    return found


def _outcomes(
    prepared: PreparedReplay,
    starts: IntArray,
    instants: Mapping[int, Sequence[tuple[int, str]]],
    samples: int,
    *,
    seed: int,
    ended: Callable[[int, int], None],
) -> Mapping[str, Sequence[Sequence[float]]]:
    """Return the forecasts by instant: the start, its CRPS and forecasts, then ends of intervals.

    Times are in seconds from the instant.
    """
    past, similar = prepared.past(), SimilarWaits(prepared.columns, starts)
    found: dict[str, list[list[float]]] = {when: [] for when in (AT_SUBMISSION, HOUR_BEFORE)}
    forecasts = branches(prepared.parts, prepared.columns, sorted(instants))
    for number, (submitted, branch, left) in enumerate(forecasts):

        def count(futures: int, before: int = number * samples) -> None:
            ended(before + futures, len(instants) * samples)

        past.run_times.ended(left.tolist())
        wanted = np.array(sorted({job for job, _ in instants[submitted]}))
        forecast = forecast_starts(branch, past, wanted, samples=samples, seed=seed, ended=count)
        for job, when in instants[submitted]:
            place, start = int(np.searchsorted(wanted, job)), int(starts[job])
            wait = similar.mean_wait(job, branch.now)
            waited = branch.now - int(prepared.columns.submit_time[job])
            score = crps(forecast.samples[:, place], start)
            planned = planned_start(branch, job) - branch.now
            told = [int(forecast.quantile(level)[place]) - forecast.now for level in _SHARES]
            others = [score, planned, max(wait - waited, 0.0)]
            found[when].append([start - branch.now, *others, *told])
    return found


def crps(samples: IntArray | FloatColumn, outcome: float) -> float:
    """Return the continuous ranked probability score of samples.

    It is E|X − y| − E|X − X′| / 2 for independent X and X′ of the samples (Gneiting and Raftery
    2007, equation 21).

    Parameters
    ----------
    samples
        Samples, ascending, `[S]`.

    Examples
    --------
    >>> crps(np.array([0, 10]), 10)
    2.5
    """
    count = len(samples)
    # The sum of all |x − x′| of ascending samples: each has as many before as its place says.
    weights = 2 * np.arange(count) - count + 1
    spread = 2 * float((weights * samples).sum()) / count**2
    return float(np.abs(samples - outcome).mean()) - spread / 2


def _scores(outcomes: Sequence[Sequence[float]]) -> Mapping[str, Scores]:
    if not outcomes:
        return {}
    start, score, planned, similar, median, *ends = np.array(outcomes, dtype=np.float64).T
    bounds = zip(ends[::2], ends[1::2], strict=True)
    coverage = tuple(float(((low <= start) & (start <= high)).mean()) for low, high in bounds)
    mean = float(score.mean())
    return {
        "forecast": scores_of(median - start)._replace(crps=mean, coverage=coverage),
        "requested times": scores_of(planned - start),
        "similar jobs": scores_of(similar - start),
    }


def scores_of(errors: FloatColumn) -> Scores:
    """Return the scores of forecasts of a single value, given their errors in seconds."""
    off = np.abs(errors)
    minute, ten_minutes = (float((off <= seconds).mean()) for seconds in (60, 600))
    mean = float(off.mean())
    return Scores(len(off), minute, ten_minutes, mean, float(np.median(off)), mean)


def evaluation_table(found: Evaluation) -> Table:
    """Return the scores of forecasts and baselines as a table."""
    rows: list[tuple[Cell, ...]] = []
    for instant, by_kind in found.scores.items():
        for kind, scores in by_kind.items():
            jobs, minute, ten_minutes, *errors, coverage = scores
            within = (100 * minute, 100 * ten_minutes)
            inside = [100 * share for share in coverage] if coverage else [None] * len(INTERVALS)
            rows.append((instant, kind, jobs, *within, *errors, *inside))
    return Table(
        (
            *("instant", "forecast by", "jobs", "within 1 min [%]", "within 10 min [%]"),
            *("mean error [s]", "median error [s]", "CRPS [s]"),
            *(f"in {100 * share:g} % interval [%]" for share in INTERVALS),
        ),
        rows,
        "forecast-evaluation",
        "Forecasts of start times, compared with the starts",
        (
            f"Population: drawn from the {found.waited:,} of {found.jobs:,} jobs that waited, after"
            " the first tenth of the trace.",
            "An hour before: at the last submission at least an hour before the start.",
            "Errors are absolute ones of the forecast median. CRPS: mean continuous ranked"
            " probability score; of a single value it is the absolute error.",
        ),
    )


def evaluation_content(found: Evaluation) -> dict[str, Any]:
    """Return an evaluation as content for JSON; times in seconds, shares from 0 to 1."""
    return {
        "jobs": found.jobs,
        "waited": found.waited,
        "intervals": list(INTERVALS),
        "scores": {
            instant: {kind: scores._asdict() for kind, scores in by_kind.items()}
            for instant, by_kind in found.scores.items()
        },
    }
