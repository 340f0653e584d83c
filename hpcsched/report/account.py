"""What a run comes to, in a few lines."""

from collections.abc import Iterator, Mapping
from typing import Any


def account_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the account of a run's jobs, then its metrics with their units and parameters."""
    jobs = summary["jobs"]
    ended = ", ".join(
        f"{jobs[state]} {state}" for state in ("completed", "killed", "rejected") if jobs[state]
    )
    yield f"{jobs['read']} records read, {jobs['submitted']} jobs submitted: {ended or 'no end'}"
    for what in ("skipped", "clipped"):
        for reason, count in jobs[what].items():
            yield f"  {count} {what}: {reason}"
    width = max(map(len, summary["metrics"]))
    for name, value in summary["metrics"].items():
        definition = summary["definitions"][name]
        shown = "-" if value is None else f"{value:,.4f}"
        parameters = "".join(f"  ({k} = {v})" for k, v in definition["parameters"].items())
        yield f"  {name:{width}}  {shown:>18} {definition['unit']:<2}{parameters}".rstrip()
