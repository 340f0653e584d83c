"""The tables of the comparison on the logs, as Markdown."""

from collections.abc import Mapping

from comparisons.debs2024_logs.paper import HALVES, LOGS, ROWS, Row
from comparisons.debs2024_logs.shares import BASELINE, Shares
from hpcsched.report.tables.report_table import MISSING, Table

ILLEGIBLE = "?"

CHANGED = 0.1
"""From which difference on, in points, a percentage without the last job is shown."""

Titles = Mapping[str, str]
"""What objectives are called, by label."""

DELAYED_LOG, DELAYED_HALF = "CTC-SP2", "requested-time"
"""Of which log and half the delayed arrivals are."""


def half_table(shares: Shares, titles: Titles, half: str) -> str:
    """Return the table of a half: for each log the paper's percentages and ours."""
    header = ["objective", "dispatcher"]
    for log in LOGS:
        header += [f"{log}: paper", "ours"]
    rows = []
    for row in ROWS:
        line = [titles[row.objective], row.dispatcher]
        for k, log in enumerate(LOGS):
            line += [_printed(row, half, k), _percent(shares.share(row, log, half))]
        rows.append(line)
    return Table(header, rows, words=2).as_markdown()


def baseline_table(shares: Shares, titles: Titles) -> str:
    """Return what the baseline comes to in full, of which all else is a percentage."""
    rows = []
    for half, name in HALVES.items():
        for log in LOGS:
            line = [f"run times {name}", log]
            for objective in titles:
                run = shares.run(Row(objective, BASELINE, {}), log, half)
                value = shares.value(run, objective)
                digits = 4 if objective == "BSLD" else 1
                line.append(MISSING if value is None else f"{value:.{digits}f}")
            rows.append(line)
    return Table(["half", "log", *titles.values()], rows, words=2).as_markdown()


def last_table(shares: Shares, titles: Titles) -> str:
    """Return the percentages that change by `CHANGED` or more without the jobs that end last."""
    rows = []
    for half, name in HALVES.items():
        for k, log in enumerate(LOGS):
            for row in ROWS:
                share = shares.share(row, log, half) if row.printed else None
                without = None if share is None else shares.share_without_last(row, log, half)
                if share is not None and without is not None and abs(share - without) >= CHANGED:
                    line = [name, log, titles[row.objective], row.dispatcher]
                    rows.append([*line, _printed(row, half, k), _percent(share), _percent(without)])
    header = [
        "run times",
        "log",
        "objective",
        "dispatcher",
        "paper",
        "all jobs",
        "without the last",
    ]
    return Table(header, rows, words=4).as_markdown()


def delayed_table(shares: Shares, titles: Titles) -> str:
    """Return mean and range over the logs with delayed jobs, beside the log as it is."""
    rows, log, half = [], DELAYED_LOG, DELAYED_HALF
    for row in ROWS:
        of_delayed = [shares.share(row, log, half, delays) for delays in shares.delayed]
        there = [share for share in of_delayed if share is not None]
        if there:
            rows.append(
                [
                    titles[row.objective],
                    row.dispatcher,
                    _printed(row, half, LOGS.index(log)),
                    _percent(shares.share(row, log, half)),
                    _percent(sum(there) / len(there)),
                    f"{min(there):.1f} to {max(there):.1f}",
                ]
            )
    return Table(
        ["objective", "dispatcher", "paper", "as logged", "mean", "range"], rows, words=2
    ).as_markdown()


def _printed(row: Row, half: str, k: int) -> str:
    if not row.printed:
        return MISSING
    percent = row.printed[half][k]
    return ILLEGIBLE if percent is None else str(percent)


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{share:.1f}"
