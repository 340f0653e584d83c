"""Text of a first look at a log: a table and sentences."""

from collections.abc import Iterator, Sequence
from typing import Any

from hpcsched.first_look.first_look import Look, Tried
from hpcsched.metrics.column_sums import no_less
from hpcsched.report.tables.comparison_table import BEST
from hpcsched.report.tables.report_table import Cell, Table
from hpcsched.report.tables.run_account import account_of_jobs
from hpcsched.report.tables.table_parts import plain

_METRICS = ("mean_wait_time", "mean_bounded_slowdown", "utilization")


def account_text(tried: Sequence[Tried]) -> Iterator[str]:
    """Yield the account of the log's records, which is the same for all runs."""
    yield from account_of_jobs(tried[0].directory.summary)


def tried_table(tried: Sequence[Tried]) -> Table:
    """Return the dispatchers by ascending objective, the best marked."""
    objective = tried[0].directory.summary["objective"]["name"]
    first = tried[0].objective
    known = [one.objective for one in tried if one.objective is not None]
    equal = len(tried) > 1 and (
        not known or (len(known) == len(tried) and no_less(min(known), max(known)))
    )
    rows: list[tuple[Cell, ...]] = []
    for one in sorted(tried, key=_rank):
        value = one.objective
        change = None if value is None or not first else 100 * (value / first - 1)
        metrics = (one.metric(name) for name in _METRICS)
        audit = "ok" if one.audit.ok else "not ok"
        mark = BEST if value is not None and no_less(min(known), value) and not equal else ""
        rows.append((mark, one.label, value, change, *metrics, audit))
    return Table(
        "tried",
        f"Dispatchers by {objective}",
        (
            *plain("", "dispatcher", "objective"),
            (f"than_{tried[0].label}", "%"),
            ("mean_wait_time", "s"),
            *plain("mean_bounded_slowdown", "utilization", "audit"),
        ),
        tuple(rows),
        tuple(_footer(tried, objective, equal=equal)),
    )


def _footer(tried: Sequence[Tried], objective: str, *, equal: bool) -> Iterator[str]:
    if not equal:
        yield f"The objective is {objective}: lower is better. {BEST} is the best."
        return
    yield f"The objective is {objective}: it is equal under all dispatchers."
    if not any(one.metric("mean_wait_time") for one in tried):
        yield (
            "No job waited: the machine has room for all of them at any time. A smaller machine"
            " (--nodes) or more jobs (--jobs) tell dispatchers apart."
        )


def content_of(look: Look, tried: Sequence[Tried]) -> dict[str, Any]:
    """Return the look for JSON."""
    return {
        "log": str(look.log.path),
        "format": look.log.format.source,
        "machine": {**look.machine._asdict(), "others": dict(look.machine.others)},
        "jobs": tried[0].directory.summary["jobs"],
        "objective": tried[0].directory.summary["objective"]["name"],
        "dispatchers": [
            {
                "name": one.label,
                "objective": one.objective,
                "metrics": one.directory.summary["metrics"],
                "audit": one.audit.ok,
            }
            for one in sorted(tried, key=_rank)
        ],
    }


def _rank(one: Tried) -> tuple[bool, float]:
    return one.objective is None, one.objective or 0.0
