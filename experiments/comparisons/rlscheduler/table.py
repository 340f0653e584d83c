"""The tables, as Markdown: the figures of the paper and of the runs, means and each window."""

from collections.abc import Iterator, Mapping, Sequence

from comparisons.finished import Finished
from comparisons.rlscheduler.paper import BACKFILLED, PRINTED, SCHEDULERS
from hpcsched.report.tables.report_table import MISSING, Table

LOG, WINDOW, SCHEDULER = AXES = ("trace.path", "trace.transforms[0].skip", "dispatcher")
"""The axes of the experiment: logs, windows by the number of jobs before them, and schedulers."""

YARDSTICK = "EASY-SJF"
"""The scheduler that others of ours should never be much behind of."""

ALLOWED = 0.02
"""By which share of its figure others may be behind it in a window."""

Figures = Mapping[tuple[str, str, str], float]
"""The mean bounded slowdown of each run, by log, window and scheduler."""


def figures_of(finished: Finished) -> Figures:
    """Return the figures of the runs that are there."""
    return {
        (one.labels[LOG], one.labels[WINDOW], one.labels[SCHEDULER]): one.run.summary["metrics"][
            "mean_bounded_slowdown"
        ]
        for one in finished.runs
    }


def ours(finished: Finished) -> Sequence[str]:
    """Return the schedulers that the paper does not have."""
    printed = {name for of_log in PRINTED.values() for name in of_log}
    return [name for name in finished.axes[SCHEDULER] if name not in printed]


def means_table(finished: Finished) -> str:
    """Return table V, with columns of ours beside the paper's, and rows of other schedulers.

    A dash stands for what the paper does not have, and where not all windows are there.
    """
    figures, header = figures_of(finished), ["scheduler"]
    for log in finished.axes[LOG]:
        for backfilling in ("without", "with"):
            header += [f"{log}, {backfilling}: paper", "ours"]
    rows = []
    for name in (*SCHEDULERS, *ours(finished)):
        row = [name]
        for log in finished.axes[LOG]:
            # What the paper does not have plans, which is more than to backfill.
            labels = (name, name + BACKFILLED) if name in SCHEDULERS else ("", name)
            for label in labels:
                row += [
                    _shown(PRINTED.get(log, {}).get(label)),
                    _shown(_mean(figures, log, finished.axes[WINDOW], label)),
                ]
        rows.append(row)
    return Table(header, rows, words=1).as_markdown()


def windows_table(finished: Finished, log: str) -> str:
    """Return the figures of each window of a log under what backfills or plans."""
    figures, others = figures_of(finished), [one for one in ours(finished) if one != YARDSTICK]
    backfilled = (one for one in finished.axes[SCHEDULER] if one.endswith(BACKFILLED))
    names = [*backfilled, *ours(finished)]
    header = ["jobs before", *names, *(f"{one} / {YARDSTICK}" for one in others)]
    rows = []
    for window in finished.axes[WINDOW]:
        found = [figures.get((log, window, name)) for name in names]
        ratios = [_ratio(figures, log, window, name) for name in others]
        rows.append([f"{int(window):,}", *map(_shown, found), *map(_shown, ratios)])
    return Table(header, rows, words=0).as_markdown()


def behind(finished: Finished) -> Iterator[str]:
    """Yield a sentence for each other scheduler of ours: in how many windows it is behind."""
    figures = figures_of(finished)
    for name in ours(finished):
        ratios = [
            ratio
            for log in finished.axes[LOG]
            for window in finished.axes[WINDOW]
            if (ratio := _ratio(figures, log, window, name)) is not None
        ]
        if name == YARDSTICK or not ratios:
            continue
        late = sum(ratio > 1 + ALLOWED for ratio in ratios)
        yield (
            f"`{name}` is behind {YARDSTICK} by more than {ALLOWED * 100:.0f} % in {late} of"
            f" {len(ratios)} windows. Its figure is {min(ratios):.2f} to {max(ratios):.2f} times"
            f" that of {YARDSTICK}."
        )


def _mean(figures: Figures, log: str, windows: Sequence[str], name: str) -> float | None:
    found = [figures[log, one, name] for one in windows if (log, one, name) in figures]
    return sum(found) / len(found) if len(found) == len(windows) else None


def _ratio(figures: Figures, log: str, window: str, name: str) -> float | None:
    one, other = figures.get((log, window, name)), figures.get((log, window, YARDSTICK))
    return None if one is None or other is None else one / other


def _shown(figure: float | None) -> str:
    return MISSING if figure is None else f"{figure:.2f}"
