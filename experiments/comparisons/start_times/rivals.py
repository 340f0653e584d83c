"""What forecasts are measured against: the mean wait, and a regression on the state of the queue.

Both learn from the jobs of the first part of a log whose starts are known when the second begins.
"""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import threadpool_limits

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.studies.forecast.forecast_evaluation import INTERVALS, Scores, crps, scores_of
from hpcsched.studies.forecast.forecasting import users_of
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns

LEVELS = tuple(k / 20 for k in range(1, 20))
"""Quantiles that the regression learns; they hold the ends of all intervals."""
_DAY = 86_400


def features(columns: JobColumns, starts: IntArray) -> FloatColumn:
    """Return what is known of the queue as each job is submitted, `[J, features]`.

    The job's size, requested time, hour and weekday; of the jobs that wait: number, processors,
    requested area, and those of its user; of the running ones: number, processors, requested time
    that is left as an area, its least and its median; the mean wait of the last 20 starts.
    """
    submits, units = columns.submit_time, columns.units
    requested = np.maximum(columns.requested_time, 1)
    ends, waits, users = starts + columns.run_time, starts - submits, users_of(columns)
    by_start = np.argsort(starts, kind="stable")
    rows = []
    for k, now in enumerate(submits.tolist()):
        waiting = np.flatnonzero(starts[:k] > now)
        running = np.flatnonzero((starts[:k] <= now) & (ends[:k] > now))
        left = np.maximum(requested[running] - (now - starts[running]), 1)
        started = by_start[: np.searchsorted(starts[by_start], now, side="right")]
        recent = waits[started[started < k][-20:]]
        area = (units[waiting] * requested[waiting]).sum()
        rows.append(
            (
                *(units[k], requested[k], now % _DAY // 3600, now // _DAY % 7),
                *(len(waiting), units[waiting].sum(), area),
                *((users[waiting] == users[k]).sum(), len(running), units[running].sum()),
                *((units[running] * left).sum(), left.min(initial=_DAY)),
                *(np.median(left) if len(left) else 0, recent.mean() if len(recent) else 0),
            )
        )
    return np.array(rows, dtype=np.float64)


def rival_scores(
    columns: JobColumns, starts: IntArray, chosen: IntArray, first: float, seed: int
) -> dict[str, Scores]:
    """Return the scores of waits that are forecast for chosen jobs at their submission.

    Parameters
    ----------
    chosen
        Places of the jobs, behind the share `first` of all.
    """
    waits = (starts - columns.submit_time).astype(np.float64)
    split = int(np.ceil(first * len(starts)))
    known = np.flatnonzero((waits[:split] > 0) & (starts[:split] < columns.submit_time[split]))
    rows = features(columns, starts)
    told = np.empty((len(chosen), len(LEVELS)))
    # Threads that wait for each other on a busy machine take a hundred times as long as one.
    with threadpool_limits(1):
        for k, level in enumerate(LEVELS):
            model = HistGradientBoostingRegressor(
                loss="quantile", quantile=level, max_leaf_nodes=15, random_state=seed
            )
            # Waits span five orders of magnitude; quantiles of their logarithms are the same ones.
            model.fit(rows[known], np.log1p(waits[known]))
            told[:, k] = np.maximum(np.expm1(model.predict(rows[chosen])), 0)
    told.sort(axis=1)
    actual = waits[chosen]
    score = float(np.mean([crps(own, wait) for own, wait in zip(told, actual, strict=True)]))
    within = []
    for share in INTERVALS:
        low, high = (told[:, LEVELS.index(round((1 + sign * share) / 2, 2))] for sign in (-1, 1))
        within.append(float(((low <= actual) & (actual <= high)).mean()))
    return {
        "regression": scores_of(told[:, LEVELS.index(0.5)] - actual)._replace(
            crps=score, coverage=tuple(within)
        ),
        "mean wait": scores_of(waits[known].mean() - actual),
    }
